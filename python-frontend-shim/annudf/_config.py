# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What this installation is and what it found: :func:`show_config`, ``python -m annudf``."""

from __future__ import annotations

import sys
from typing import Any, Literal, overload

_PACKAGES = ("numpy", "numba-cuda-mlir", "scikit-learn", "cupy-cuda13x", "torch", "nvidia-nvvm", "nvidia-nvjitlink")


def config() -> dict[str, Any]:
    """Versions, devices and libraries, as a dictionary that JSON can hold."""
    import importlib.metadata
    import platform

    from annudf import _core
    from annudf._metric import cache
    from annudf._support.checks import printable

    environment = dict(_core.describe_environment())
    packages: dict[str, str | None] = {}
    for name in _PACKAGES:
        try:
            packages[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            packages[name] = None
    folder = cache.directory()
    return {
        "annudf": environment.pop("version"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "archs": [f"sm_{number}" for number in _core.supported_archs()],
        **environment,
        "packages": packages,
        "cache": None if folder is None else printable(str(folder)),
    }


@overload
def show_config(mode: Literal["stdout"] = "stdout") -> None: ...


@overload
def show_config(mode: Literal["dicts"]) -> dict[str, Any]: ...


def show_config(mode: Literal["stdout", "dicts"] = "stdout") -> dict[str, Any] | None:
    """Prints versions, what was found, and what each missing part is needed for.

    Parameters
    ----------
    mode : {"stdout", "dicts"}, default "stdout"
        "dicts" returns a dictionary instead, as ``numpy.show_config`` does.
    """
    from annudf._support.checks import check_choice

    check_choice(mode, "mode", ("stdout", "dicts"))
    found = config()
    if mode == "dicts":
        return found
    sys.stdout.write(_text(found))
    return None


def _text(found: dict[str, Any]) -> str:
    def line(name: str, value: object, use: str = "", there: bool = True) -> str:
        missing = "" if there or not use else f"\n{'':18}missing for: {use}"
        return f"{name:<16}  {value}{missing}\n"

    text = line("annudf", f"{found['annudf']}, LLVM {found['llvm']}, Python {found['python']}")
    text += line("platform", found["platform"])
    text += line("CPU search", found["cpu"], "searching host arrays", found["cpu_built"])
    text += line("NVPTX", found["nvptx"], "device_backend='nvptx'", found["nvptx_found"])
    text += line("libNVVM", found["libnvvm"], "code for GPUs; pip install 'annudf[cu13]'", found["libnvvm_found"])
    text += line("NVRTC", found["nvrtc"], "cuda_source_metric; pip install 'annudf[cu13]'", found["nvrtc_found"])
    if found["cuda_built"]:
        text += line("NVIDIA driver", found["driver"], "searching on a GPU", found["driver_found"])
        text += line(
            "nvJitLink", found["linker"], "searching on a GPU; pip install 'annudf[cu13]'", found["linker_found"]
        )
    else:
        text += line("GPU search", "not in this build")
    for device in found["devices"]:
        text += line("GPU", device)
    text += line("architectures", ", ".join(found["archs"]))
    for name, version in found["packages"].items():
        text += line(name, version or "not installed")
    text += line("cache", found["cache"] or "off (ANNUDF_CACHE_DISABLE)")
    return text
