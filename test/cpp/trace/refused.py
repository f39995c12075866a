# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hands programs to a compiler that must refuse each with the message that the program says after "REFUSED:", and name its file."""

import re
import subprocess
import sys
from pathlib import Path


def main() -> None:
    folder, compiler, include = sys.argv[1:]
    programs = sorted(Path(folder).glob("*.cpp"))
    failures = []
    for program in programs:
        (expected,) = re.findall(r"// REFUSED: (.*)", program.read_text(encoding="utf-8"))
        ran = subprocess.run(
            [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", str(program)],
            capture_output=True,
            text=True,
            check=False,
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        )
        errors = [line for line in ran.stderr.splitlines() if "error:" in line]
        where = re.search(rf"{re.escape(program.name)}:\d+", ran.stderr)
        # Clang wraps nothing; GCC repeats the line of the source, where the message is two strings.
        if ran.returncode == 0 or not where or not any(expected in line for line in errors):
            failures.append(f"{program.name}: expected an error with\n  {expected}\ngot\n{ran.stderr or '  no error'}")
    if failures or not programs:
        sys.exit("\n".join(failures) or f"no programs in {folder}")
    print(f"{len(programs)} programs refused")


if __name__ == "__main__":
    main()
