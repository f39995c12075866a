# The tests of dist, run by annudf's test/install with -Dtools=FOLDERS (dist-opt's, annudf's, LLVM's).
import os

import lit.formats

config.name = "dist"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["out"]
config.environment["PATH"] = os.pathsep.join(lit_config.params["tools"].split(",") + [os.environ["PATH"]])
config.substitutions.append(("%python", lit_config.params["python"]))
for name in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
