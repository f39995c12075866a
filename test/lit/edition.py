# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A change of the rules that nobody confirmed fails scripts/check diagnostics, which says what to do."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1])
DOCS = (ROOT / "docs/spec/abi.md").read_text()
EDITION = int(re.search(r"<!-- rules: edition (\d+), ", DOCS)[1])
RAISE = f"raise kRulesEdition of include/annudf/Artifact/Artifact.h (it is {EDITION})"
# What changes, and what is said of it; None: nothing.
CASES = [
    (None, None),
    (("An empty module is a mistake", "An empty module is no mistake"), RAISE),
    (("`holds no annudf.metric, annudf.filter or annudf.function; write one`", "`holds no metric; write one`"), RAISE),
    (("| `ANNUDF_MAX_TRIP_COUNT` | 4096 |", "| `ANNUDF_MAX_TRIP_COUNT` | 2048 |"), RAISE),
    (("`arith`: `addf`, ", "`arith`: "), RAISE),
    ((f"<!-- rules: edition {EDITION}, ", "<!-- rules: edition 99, "), "the rules are those of edition 99, but kRulesEdition"),
    (("<!-- rules: ", "<!-- rule: "), "has no line <!-- rules: edition N"),
    (("M23–M25, ", "M23, M24, "), "the rules that are checked whenever a module is read are M1–M11, "),
    (("Each rule is one diagnostic", "A rule is a diagnostic"), None),
]


def run(path, *options):
    command = [sys.executable, ROOT / "scripts/check", "diagnostics", "--docs", path, *options]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "abi.md"
        for change, expected in CASES:
            text = DOCS.replace(*change) if change else DOCS
            path.write_text(text)
            done = run(path)
            if (done.returncode == 0) != (expected is None) or (expected and expected not in done.stderr):
                faults.append(f"{change}: {done.stdout}{done.stderr}")
            if change and text == DOCS:
                faults.append(f"{change}: docs/spec/abi.md does not hold that")
        # Words that were confirmed are the edition's; of what is not the code's, nothing is confirmed.
        for change, confirmed in ((CASES[1][0], True), (CASES[2][0], False)):
            path.write_text(DOCS.replace(*change))
            run(path, "--confirm")
            done = run(path)
            if (done.returncode == 0) != confirmed:
                faults.append(f"--confirm after {change}: {done.stdout}{done.stderr}")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
