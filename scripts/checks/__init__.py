# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the subcommands of scripts/check share."""
import difflib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def differing(wanted, source, update):
    """Names of the files that are not as wanted, {path: text}, whose differences are printed; with `update` they are written."""
    names = []
    for path, text in wanted.items():
        found, name = path.read_text() if path.exists() else "", str(path.relative_to(ROOT))
        if found == text:
            continue
        if update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            print(f"wrote {name}")
            continue
        names.append(name)
        sys.stderr.writelines(difflib.unified_diff(found.splitlines(True), text.splitlines(True), name, source))
    return names
