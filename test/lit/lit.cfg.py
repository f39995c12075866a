# The lit suite: what annudf's tools print, checked with FileCheck.
import os
import lit.formats

config.name = "annudf"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.annudf_source_dir, "test", "lit")
config.test_exec_root = os.path.join(config.annudf_binary_dir, "test", "lit", "out")

# Names match only where they are used: a variable of one function cannot leak into the next.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"

# Each tool is built into a folder of its own name; those not built make their tests unsupported.
tools = os.path.join(config.annudf_binary_dir, "tools")
paths = [config.llvm_tools_dir]
for name in ("annudf-opt", "annudf-translate", "annudf-lsp-server", "annudf-reduce", "annudf"):
    if os.access(os.path.join(tools, name, name), os.X_OK):
        paths.append(os.path.join(tools, name))
        config.available_features.add(name)
# Packaged programs take no library that was built with a sanitizer.
plugin = os.path.join(tools, "annudf-mlir-plugin", "annudf-mlir-plugin.so")
if os.path.exists(plugin) and not config.sanitized and os.access(os.path.join(config.llvm_tools_dir, "mlir-opt"), os.X_OK):
    config.available_features.add("mlir-plugin")
config.substitutions.append(("%plugin", plugin))
if config.sanitized:
    config.available_features.add("sanitized")
if os.path.exists("/dev/full"):
    config.available_features.add("dev-full")
if config.have_cuda:
    config.available_features.add("cuda-toolkit")
    paths.append(config.cuda_tools_dir)  # ptxas
config.environment["PATH"] = os.pathsep.join(paths + [config.environment.get("PATH", "")])
for name in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "ANNUDF_LIBNVVM", "VIRTUAL_ENV", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%examples", os.path.join(config.annudf_source_dir, "docs", "examples", "metrics")))
config.substitutions.append(("%filters", os.path.join(config.annudf_source_dir, "docs", "examples", "filters")))
config.substitutions.append(("%scripts", os.path.join(config.annudf_source_dir, "scripts")))
config.substitutions.append(("%source", config.annudf_source_dir))
