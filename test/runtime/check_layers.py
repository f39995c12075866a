# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each folder of the runtime includes its own headers and those of the folders below it only."""

import re
import sys
from pathlib import Path

BELOW = {
    "support": set(),
    "vectors": {"support"},
    "captures": {"support", "vectors"},
    "coarse": {"support", "vectors"},
    "ivf_flat": {"support", "vectors", "coarse"},
    "engine": {"support", "vectors", "captures", "coarse", "ivf_flat"},
    "cpu": {"support", "vectors", "captures", "coarse", "ivf_flat", "engine"},
    "cuda": {"support", "vectors", "captures", "coarse", "ivf_flat", "engine"},
}


def main(root: Path) -> None:
    faults, seen = [], 0
    for base in (root / "runtime/lib", root / "runtime/include/annudf/runtime"):
        for path in sorted(base.rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            folder = path.relative_to(base).parts[0]
            if folder not in BELOW:
                faults.append(f"{path}: the folder is not in this list")
                continue
            for name in re.findall(r'#include "(?:annudf/runtime/)?(\w+)/[^"]*"', path.read_text(encoding="utf-8")):
                seen += 1
                if name in BELOW and name != folder and name not in BELOW[folder]:
                    faults.append(f"{path}: {folder} includes {name}")
    if faults or seen < 40:
        sys.exit("\n".join(faults) or f"only {seen} includes found")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
