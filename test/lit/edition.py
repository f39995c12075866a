# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A change of the rules that nobody confirmed fails scripts/check diagnostics, which says what to do."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "scripts"))
from checks import diagnostics, tables  # noqa: E402

DOCS = diagnostics.DOCS.read_text()
EDITION, DIGEST = re.search(r"<!-- rules: edition (\d+), digest (\w+) -->", DOCS).groups()
RAISE = f"raise kRulesEdition of include/annudf/Artifact/Artifact.h (it is {EDITION})"
STALE = "is not what the code says; run scripts/check diagnostics --update"
# What changes in the page, and what is said about it; None: nothing.
CASES = [
    (None, None),
    (("A repeated type is a slip.", "A type that stands there twice is a slip."), None),
    (("| A repeated type is a slip. |", "|  |"), "[M6] has no reason"),
    (("`holds no annudf.metric, annudf.filter or annudf.function; write one`", "`holds no metric; write one`"), STALE),
    (("addf ", ""), STALE),
    ((re.search(r"\| M6 \|.*\n", DOCS)[0], ""), STALE),
    (("<!-- rules M:", "<!-- rule M:"), "[M6] has no table <!-- rules M: ... -->"),
    (("warning: `numerics", "`numerics"), STALE),
    ((f"digest {DIGEST}", "digest 0123456789abcdef"), RAISE),
    ((f"<!-- rules: edition {EDITION}, ", "<!-- rules: edition 99, "), "the rules are those of edition 99, but kRulesEdition"),
    (("<!-- rules: ", "<!-- rule: "), "has no line <!-- rules: edition N"),
    (("Each rule is one diagnostic", "A rule is a diagnostic"), None),
]


def run(path, *options):
    command = [sys.executable, ROOT / "scripts/check", "diagnostics", "--docs", path, *options]
    return subprocess.run(command, capture_output=True, text=True)


def digests():
    """The rules as they are, and with one thing changed."""
    rules, _ = diagnostics.rules_of(diagnostics.diagnostics())
    ops, limits = diagnostics.body_ops(), tables.read_tables(tables.HEADER.read_text())["LIMITS"]
    yield diagnostics.digest_of(rules, ops, limits)
    yield diagnostics.digest_of(rules | {"T3": ("holds no metric; write one", *rules["T3"][1:])}, ops, limits)
    yield diagnostics.digest_of({name: rule for name, rule in rules.items() if name != "T3"}, ops, limits)
    yield diagnostics.digest_of(rules, [op for op in ops if op != "arith.addf"], limits)
    yield diagnostics.digest_of(rules, ops, [row | {"VALUE": "2048"} if row["NAME"] == "MAX_TRIP_COUNT" else row for row in limits])


def main():
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "rules.md"
        for change, expected in CASES:
            text = DOCS.replace(*change) if change else DOCS
            path.write_text(text)
            done = run(path)
            if (done.returncode == 0) != (expected is None) or (expected and expected not in done.stderr):
                faults.append(f"{change}: {done.stdout}{done.stderr}")
            if change and text == DOCS:
                faults.append(f"{change}: docs/spec/rules.md does not hold that")
        # A digest can be confirmed, a page that is not what the code says cannot.
        for change, confirmed in ((CASES[8][0], True), (CASES[3][0], False)):
            path.write_text(DOCS.replace(*change))
            run(path, "--confirm")
            done = run(path)
            if (done.returncode == 0) != confirmed:
                faults.append(f"--confirm after {change}: {done.stdout}{done.stderr}")
        # Rows that were lost are written again, and only their reasons are missing.
        path.write_text(DOCS.replace(*CASES[5][0]))
        run(path, "--update")
        if path.read_text() != DOCS.replace(*CASES[2][0]):
            faults.append("--update does not restore the row of M6")
    found = list(digests())
    if found[0] != DIGEST or len(set(found)) != len(found):
        faults.append(f"the page records {DIGEST}; of the rules, and with one change each, it is {found}")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
