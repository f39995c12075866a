# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's diagnostics, their tests and docs/spec/rules.md."""
import difflib
import hashlib
import re
import subprocess
import sys
import textwrap
from pathlib import Path

from . import ROOT, tables

LABEL = re.compile(r"\[([A-Z]\d+)\] ?")
DOCS = ROOT / "docs/spec/rules.md"
MIN_NEGATIVES = 8
DIRECTIVE = re.compile(r"expected-error\s*@(?:below|\+1)\s*\{\{(.*)\}\}")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def tokens_at_depth_zero(statement):
    """The operands of `<<` outside parentheses and strings."""
    operands, current, depth, i = [], "", 0, 0
    while i < len(statement):
        literal = STRING.match(statement, i)
        if literal:
            current += literal.group(0)
            i = literal.end()
            continue
        if statement.startswith("<<", i) and depth == 0:
            operands.append(current)
            current = ""
            i += 2
            continue
        depth += statement[i] in "([{"
        depth -= statement[i] in ")]}"
        current += statement[i]
        i += 1
    return operands + [current]


def end_of_statement(text, start):
    i = start
    while text[i] != ";":
        literal = STRING.match(text, i)
        i = literal.end() if literal else i + 1
    return i


def template_of(statement):
    """Text of a diagnostic with an ellipsis for every value; None if it has no text."""
    parts, any_text = [], False
    first = True
    for operand in tokens_at_depth_zero(statement):
        rest = STRING.sub("", operand).strip()
        literals = "".join(m.group(1) for m in STRING.finditer(operand))
        if first:  # emitError(loc, "text") holds its first words in the call
            first = False
            if literals:
                parts.append(literals)
                any_text = True
            continue
        if rest and "(" in rest or (rest and not literals):
            parts.append("…")
        else:
            parts.append(literals)
            any_text = True
            if rest:  # a macro beside a literal
                parts.append("…")
    if not any_text:
        return None
    text = "".join(parts).replace('\\"', '"')
    return re.sub("…+", "…", text)


def diagnostics():
    """(file, line, template, severity) of every diagnostic in lib/."""
    found = []
    for path in sorted((ROOT / "lib").rglob("*.cpp")):
        text = path.read_text()
        for match in re.finditer(r"\bemit(OpError|Error|Remark|Warning)\s*\(", text):
            if text.rfind("//", text.rfind("\n", 0, match.start()), match.start()) >= 0:
                continue
            statement = text[match.start() : end_of_statement(text, match.start())]
            template = template_of(statement)
            if template:
                severity = match[1].lower().removeprefix("op")
                found.append((path.relative_to(ROOT), text.count("\n", 0, match.start()) + 1, template, severity))
    return found


def expectations():
    """Every message that a test expects: verify-diagnostics directives and CHECK lines."""
    texts = []
    for path in sorted((ROOT / "test" / "lit").rglob("*")):
        if path.suffix in (".mlir", ".test"):
            text = path.read_text()
            texts += re.findall(r"expected-(?:error|warning|remark)(?:-re)?\s*[^{]*\{\{(.*)\}\}", text)
            texts += re.findall(r"(?://|#) *[A-Z0-9-]+(?:-NEXT|-SAME)?: (.*(?:error|remark): .*)", text)
    for path in sorted((ROOT / "test").rglob("*.cpp")):
        texts += [m.group(1).replace('\\"', '"') for m in STRING.finditer(path.read_text())]
    return texts


def ops():
    """Names of the dialect's ops."""
    folder = ROOT / "include/annudf/Dialect/IR"
    text = "".join((folder / name).read_text() for name in ("AnnudfOps.td", "AnnudfExternOps.td", "AnnudfHookCallOps.td", "AnnudfPairwiseOps.td"))
    return re.findall(r'^def \w+ : Annudf_(?:Hook|HookCall)?Op<"(\w+)"', text, re.M)


def negatives(path):
    """(op or None, message, line that it is at) of every input that a file expects to be refused."""
    lines = path.read_text().splitlines()
    for i, line in enumerate(lines):
        directive = DIRECTIVE.search(line)
        if not directive:
            continue
        at = i + 1
        while at + 1 < len(lines) and "expected-" in lines[at]:
            at += 1
        text = directive.group(1)
        op = re.search(r"'annudf\.(\w+)' |for op annudf\.(\w+):", text)
        op = op or re.match(r'\s*(?:%\S+ = )?"?annudf\.(\w+)', lines[at])
        yield op and next(name for name in op.groups() if name), text, at + 1


def kind_of(message):
    """A message without what is only of this input; whose it is, is said by the op."""
    message = re.sub(r"\{.*\}(?= for op)", "…", message)
    return re.sub(r"-?\d+(?![\w\]])", "…", re.sub(r"'[^']*'|\"[^\"]*\"", "…", message))


def too_few_negatives():
    kinds = {op: set() for op in ops()}
    for path in sorted((ROOT / "test/lit").rglob("*.mlir")):
        for op, message, _ in negatives(path):
            if op in kinds:
                kinds[op].add(kind_of(message))
    few = [
        f"test/lit: annudf.{op} is refused in {len(found)} ways, fewer than {MIN_NEGATIVES}; write more"
        for op, found in kinds.items()
        if len(found) < MIN_NEGATIVES
    ]
    return few, kinds


def parts(text):
    """What -split-input-file makes of a file, each at its own lines."""
    above = ""
    for part in text.split("// -----\n"):
        yield above + part
        above += "\n" * (part.count("\n") + 1)


def partial_messages(tool):
    """Directives of test/lit/Dialect that are not the whole message."""
    problems = []
    for path in sorted((ROOT / "test/lit/Dialect").glob("*_invalid.mlir")):
        printed = set()
        text = path.read_text()
        options = ["--allow-unregistered-dialect"] if "--allow-unregistered-dialect" in text else []
        for part in parts(text):
            run = subprocess.run([tool, "-", *options], input=part, capture_output=True, text=True, check=False)
            printed |= set(re.findall(r"^[^\n]*?:(\d+):\d+: error: (.*)$", run.stderr, re.M))
        for _, message, line in negatives(path):
            if (str(line), message) not in printed:
                said = [text for at, text in printed if at == str(line)]
                problems.append(f"{path.relative_to(ROOT)}:{line}: this is not all of the message, {said}: {message}")
    return problems


def rules_of(found):
    """{label: (message, file below lib/, severity)} of the diagnostics with a label, and what is wrong with labels."""
    rules, problems = {}, []
    for path, line, template, severity in found:
        label = LABEL.match(template)
        if not label:
            continue
        name, text = label[1], LABEL.sub("", template, count=1)
        if name in rules and rules[name][0] != text:
            problems.append(f"{path}:{line}: [{name}] is also the label of another message: {rules[name][0]}")
        rules[name] = (text, str(path.relative_to("lib")), severity)
    return rules, problems


def body_ops():
    """Names of the ops that rule B1 allows."""
    source = (ROOT / "lib/Dialect/Transforms/BodyRules.cpp").read_text()
    return STRING.findall(re.search(r"kAllowedOps\[\] = \{(.*?)\};", source, re.S)[1])


def spelled_ops(names):
    """A line for each dialect, wrapped."""
    of = {}
    for dialect, op in (name.split(".") for name in names):
        of.setdefault(dialect, []).append(op)
    lines = [textwrap.wrap(" ".join(ops), 100) for ops in of.values()]
    return "\n".join(f"{dialect:8}" + "\n        ".join(part) for dialect, part in zip(of, lines))


ROW = re.compile(r"^\| ([A-Z]\d+) \| .* \| (.*?) \| `[\w/]+\.cpp` \|$", re.M)
ROWS = re.compile(r"(<!-- rules ([A-Z]): [^>]*-->\n).*?<!-- end rules -->", re.S)
OPS = re.compile(r"(<!-- body ops: [^>]*-->\n).*?<!-- end ops -->", re.S)


def page_with(text, rules, ops):
    """(docs/spec/rules.md as the code has it, problems). The words of the column why stay."""
    whys, seen, problems = dict(ROW.findall(text)), set(), []

    def rows(match):
        lines = ["| rule | message | why | file |", "|---|---|---|---|"]
        for name in sorted((name for name in rules if name[0] == match[2]), key=lambda name: int(name[1:])):
            message, path, severity = rules[name]
            kind = "" if severity == "error" else severity + ": "
            seen.add(name)
            if not whys.get(name):
                problems.append(f"docs/spec/rules.md: [{name}] has no reason; write one in the column why of its row")
            lines.append(f"| {name} | {kind}`{message.replace('|', chr(92) + '|')}` | {whys.get(name, '')} | `{path}` |")
        return match[1] + "\n" + "\n".join(lines) + "\n\n<!-- end rules -->"

    text = ROWS.sub(rows, text)
    text = OPS.sub(lambda match: f"{match[1]}\n```text\n{spelled_ops(ops)}\n```\n\n<!-- end ops -->", text)
    problems += [f"docs/spec/rules.md: [{name}] has no table <!-- rules {name[0]}: ... -->" for name in rules if name not in seen]
    return text, problems


RECORD = re.compile(r"<!-- rules: edition (\d+), digest ([0-9a-f]+) -->")


def digest_of(rules, ops, limits):
    """What an edition of the rules is: labels with their messages, the ops of rule B1, and the limits."""
    lines = sorted(f"{name}\t{message}" for name, (message, _, _) in rules.items())
    lines += sorted(ops) + sorted(f"{row['NAME']}\t{row['VALUE']}" for row in limits)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def edition_problem(text, digest, confirm=None):
    """None if the digest of the rules is the one recorded for the edition of Artifact.h; else what is wrong.

    With `confirm`, a path, the record is written there.
    """
    edition = int(re.search(r"kRulesEdition = (\d+);", (ROOT / "include/annudf/Artifact/Artifact.h").read_text())[1])
    record = RECORD.search(text)
    if not record:
        return "docs/spec/rules.md has no line <!-- rules: edition N, digest ... -->"
    if (int(record[1]), record[2]) == (edition, digest):
        return None
    if confirm:
        confirm.write_text(RECORD.sub(f"<!-- rules: edition {edition}, digest {digest} -->", text))
        return None
    if int(record[1]) != edition and record[2] == digest:
        return (f"docs/spec/rules.md: the rules are those of edition {record[1]}, but kRulesEdition of Artifact.h is {edition}; put it back, "
                f"or, if what a rule refuses changed without its text, run scripts/check diagnostics --confirm")
    return (f"docs/spec/rules.md: the rules are not those that were recorded for edition {record[1]}. If one was added or refuses more, "
            f"raise kRulesEdition of include/annudf/Artifact/Artifact.h (it is {edition}): artifacts say by which rules they "
            f"were verified. If only words changed, or a rule refuses less, leave it. Then run scripts/check diagnostics --confirm")


def untested(found):
    """Diagnostics that no test expects."""
    expected = expectations()
    for path, line, template, _ in found:
        # Text that ends in a space goes on with values streamed later.
        end = "" if template.endswith(" ") else "$"
        pattern = re.compile(".*".join(map(re.escape, template.split("…"))) + end)
        if not any(pattern.search(text) for text in expected):
            yield f"{path}:{line}: no test expects: {template}"


def check_diagnostics(options):
    """Compares the compiler's diagnostics with its tests and with docs/spec/rules.md.

    Every emitOpError, emitError, emitWarning and emitRemark below lib/ has to be expected, word for word, by a test
    below test/. One that starts with a label such as [B4] is a rule. The rows of docs/spec/rules.md are generated from
    the rules, with an ellipsis for a value; only the column why is written by hand.

    Every op of the dialect has at least MIN_NEGATIVES inputs that are refused with messages which differ in more than
    names, types and numbers. An input counts for the op that its message names, or else for the op in the line that
    the message is at.

    Artifacts say by which edition of the rules they were verified (kRulesEdition of Artifact.h), so docs/spec/rules.md
    records a digest of the edition's rules: label and message of each, the ops of rule B1 and the limits. Rules that are
    not those of the record fail until somebody has said whether they are a new edition.
    """
    found, allowed = diagnostics(), body_ops()
    rules, problems = rules_of(found)
    docs = options.docs.read_text()
    wanted, faults = page_with(docs, rules, allowed)
    if options.update and wanted != docs:
        options.docs.write_text(wanted)
        print(f"wrote {options.docs}")
        docs = wanted
    if docs != wanted:
        sys.stderr.writelines(difflib.unified_diff(docs.splitlines(True), wanted.splitlines(True), "docs/spec/rules.md", "lib/"))
        problems.append("docs/spec/rules.md is not what the code says; run scripts/check diagnostics --update")
    problems += faults
    problems += untested(found)
    few, kinds = too_few_negatives()
    problems += few
    if options.opt:
        problems += partial_messages(options.opt)
    digest = digest_of(rules, allowed, tables.read_tables(tables.HEADER.read_text())["LIMITS"])
    # Only rules that are what the code says can be recorded.
    edition = edition_problem(docs, digest, options.docs if options.confirm and not problems else None)
    problems += [edition] if edition else []

    for problem in problems:
        print(problem, file=sys.stderr)
    counts = ", ".join(f"{op} {len(ways)}" for op, ways in kinds.items())
    print(f"{len(found)} diagnostics, {len(rules)} rules, {len(problems)} problems; ways in which ops are refused: {counts}")
    return 1 if problems else 0


SUBCOMMANDS = [
    (
        "diagnostics",
        check_diagnostics,
        {
            "--update": {"action": "store_true", "help": "write the rows of docs/spec/rules.md, all but their column why"},
            "--confirm": {"action": "store_true", "help": "record the digest of the rules as they are"},
            "--opt": {
                "help": "annudf-opt, all of whose messages are compared with test/lit/Dialect: a directive of "
                "-verify-diagnostics is content with a part of the text"
            },
            "--docs": {"type": Path, "default": DOCS, "help": "another docs/spec/rules.md, for tests"},
        },
    )
]
