# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the program of docs/cpp.md with a compiler, runs it and compares what it prints with what the page says."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def block(text: str, kind: str) -> str:
    found = re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        sys.exit(f"the page has {len(found)} blocks of {kind}, not one")
    return found[0]


def main() -> None:
    page, compiler, include, library, *more = sys.argv[1:]
    text = Path(page).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "program.cpp"), Path(folder, "program")
        source.write_text(block(text, "cpp"), encoding="utf-8")
        flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{include}", *more]
        where = Path(library).resolve().parent
        # The folder of the link, which has the soname; the resolved one where both are the same.
        subprocess.run(
            [compiler, *flags, str(source), "-o", str(program), library, f"-Wl,-rpath,{where}"], check=True
        )
        ran = subprocess.run([str(program)], capture_output=True, text=True, check=False, cwd=folder)
    expected = block(text, "text")
    if ran.returncode or ran.stdout != expected:
        sys.exit(f"exit {ran.returncode}, printed:\n{ran.stdout}{ran.stderr}\nthe page says:\n{expected}")


if __name__ == "__main__":
    main()
