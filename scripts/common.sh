# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by the other scripts: finds the tree, installs what is missing, says what runs and how long it took.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
preset=${ANNUDF_PRESET:-release}
build="$root/build/$preset"
jobs=${ANNUDF_JOBS:-$(nproc)}

# step TEXT COMMAND...: runs it with a heading and its time; a failure names the step.
step() {
  local text=$1 started=$SECONDS
  shift
  printf '\n== %s\n' "$text"
  "$@" || { local status=$?; printf '== FAILED after %d s (exit %d): %s\n' $((SECONDS - started)) "$status" "$text" >&2; return "$status"; }
  printf '== done in %d s: %s\n' $((SECONDS - started)) "$text"
}

apt_packages=(clang-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools lld-22 libclang-rt-22-dev
  cmake ninja-build ccache g++ zlib1g-dev libzstd-dev libgtest-dev nlohmann-json3-dev libcli11-dev python3 python3-dev python3-venv)
# What .ci/run checks with, beyond what scripts/demo and scripts/test take.
check_packages=(clang-format-22 clang-tidy-22 doxygen)

# Debian packages that are missing; as root, or through sudo. Nothing is done where all are there.
install_packages() {
  local missing=() package
  for package in "${apt_packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then echo "all Debian packages are there"; return; fi
  echo "installing: ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "not root and no sudo: install these packages and run again: ${missing[*]}" >&2; return 1; }
    sudo=(sudo)
  fi
  # A step's functions run without errexit, so what depends on success says so.
  "${sudo[@]}" apt-get update -q &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# What pyproject.toml says that annudf and its tests need, one name a line.
python_requirements() {
  python3 - <<'END'
import tomllib
from pathlib import Path
project = tomllib.loads(Path("pyproject.toml").read_text())
extras = project["project"]["optional-dependencies"]
docs = [name for name in project["dependency-groups"]["docs"] if name not in extras["test"]]
print(*project["project"]["dependencies"], *extras["test"], *docs, sep="\n")
print(*(name for name in project["build-system"]["requires"] if name.startswith("nanobind")), sep="\n")
END
}

# Python packages into .venv: CUDA's libraries where no toolkit is installed; with "tests" what annudf and its tests need, too.
install_python() {
  local wheels=(nvidia-cuda-nvdisasm==13.2.78) venv="$root/.venv"
  if [ ! -e "${CUDA_HOME:-/usr/local/cuda}/lib64/libnvJitLink.so.13" ]; then
    wheels+=(nvidia-nvvm==13.0.88 nvidia-nvjitlink==13.0.88)
  fi
  if [ "${1:-}" = tests ]; then
    local requirements
    requirements=$(python_requirements) || return
    mapfile -t -O ${#wheels[@]} wheels <<< "$requirements"
  fi
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv" || return
  local want="${wheels[*]}" marker="$venv/installed-${1:-libraries}"
  if [ "$(cat "$marker" 2>/dev/null)" = "$want" ]; then echo "all Python packages are there"; return; fi
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint scripts/constraints.txt "${wheels[@]}" &&
    echo "$want" > "$marker"
}

# The Python that the package of this build is made for, since another one may lack what its tests need; for a new build .venv's, or python3.
build_python() {
  local python
  for python in "$(sed -n 's/^ANNUDF_PYTHON_EXECUTABLE:INTERNAL=//p' "$build/CMakeCache.txt" 2>/dev/null)" "$root/.venv/bin/python"; do
    if [ -x "$python" ]; then echo "$python"; return; fi
  done
  command -v python3
}

# configure [CMAKE-ARGUMENTS...]: and says what the build will contain, but for lines with $unsaid.
configure() {
  [ ! -x /usr/local/cuda/bin/nvcc ] || export PATH="$PATH:/usr/local/cuda/bin"
  local log="$root/build/configure.log" python status=0
  python=$(build_python)
  mkdir -p "$root/build"
  cmake --preset "$preset" -DPython3_EXECUTABLE="$python" -DPython_EXECUTABLE="$python" "$@" > "$log" 2>&1 || status=$?
  if [ "$status" -eq 0 ]; then grep 'annudf:' "$log" | grep -v "${unsaid:-^$}"; else cat "$log" >&2; fi
  return "$status"
}

# One at a time in a folder: ninja does not see another that builds there.
compile() { flock "$build" cmake --build "$build" -j "$jobs" -- --quiet "$@"; }
