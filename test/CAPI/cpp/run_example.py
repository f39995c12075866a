# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the C++ programs of pages, runs them and compares what they print with the block of text that follows."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_BLOCK = re.compile(r"^```([\w+]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs(page: Path) -> list[tuple[int, str, str | None]]:
    """Line, source and expected output of each program; None where no text follows it."""
    text = page.read_text(encoding="utf-8")
    blocks = [(text.count("\n", 0, found.start()) + 1, *found.groups()) for found in _BLOCK.finditer(text)]
    following = [*blocks[1:], (0, "", "")]
    return [
        (line, source, after[2] if after[1] == "text" else None)
        for (line, kind, source), after in zip(blocks, following, strict=True)
        if kind == "cpp"
    ]


def run(where: str, source: str, expected: str | None, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, program = Path(folder, "program.cpp"), Path(folder, "program")
        file.write_text(source, encoding="utf-8")
        flags = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fno-rtti", f"-I{options.include}"]
        # The folder of the link, which has the soname; the resolved one where both are the same.
        library = Path(options.library)
        link = [str(library), f"-Wl,-rpath,{library.resolve().parent}"]
        subprocess.run([options.compiler, *flags, str(file), "-o", str(program), *link], check=True)
        ran = subprocess.run([str(program)], capture_output=True, text=True, check=False, cwd=folder)
    if ran.returncode or (expected is not None and ran.stdout != expected):
        sys.exit(f"{where}: exit {ran.returncode}, printed:\n{ran.stdout}{ran.stderr}\nthe page says:\n{expected}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path)
    for name in ("compiler", "include", "library"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    for page in options.pages:
        found = programs(page)
        if not found:
            sys.exit(f"{page} has no C++ program")
        for line, source, expected in found:
            run(f"{page}:{line}", source, expected, options)


if __name__ == "__main__":
    main()
