# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's diagnostics, their tests and docs/spec/abi.md."""
import hashlib
import re
import subprocess
import sys
from pathlib import Path

from . import ROOT

LABEL = re.compile(r"\[([A-Z]\d+)\] ?")
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
    """(file, line, template) of every diagnostic in lib/."""
    found = []
    for path in sorted((ROOT / "lib").rglob("*.cpp")):
        text = path.read_text()
        for match in re.finditer(r"\bemit(?:OpError|Error|Remark|Warning)\s*\(", text):
            if text.rfind("//", text.rfind("\n", 0, match.start()), match.start()) >= 0:
                continue
            statement = text[match.start() : end_of_statement(text, match.start())]
            template = template_of(statement)
            if template:
                found.append((path.relative_to(ROOT), text.count("\n", 0, match.start()) + 1, template))
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
    text = "".join((folder / name).read_text() for name in ("AnnudfOps.td", "AnnudfExternOps.td"))
    return re.findall(r'^def \w+ : Annudf_(?:Hook)?Op<"(\w+)"', text, re.M)


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
        for part in parts(path.read_text()):
            run = subprocess.run([tool, "-"], input=part, capture_output=True, text=True, check=False)
            printed |= set(re.findall(r"^[^\n]*?:(\d+):\d+: error: (.*)$", run.stderr, re.M))
        for _, message, line in negatives(path):
            if (str(line), message) not in printed:
                said = [text for at, text in printed if at == str(line)]
                problems.append(f"{path.relative_to(ROOT)}:{line}: this is not all of the message, {said}: {message}")
    return problems


def rows_in_docs(text):
    """Cells of each rule's row of docs/spec/abi.md: label, reason, message, file."""
    for line in text.splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)]
        if len(cells) >= 6 and re.fullmatch(r"[A-Z]\d+", cells[1]):
            yield cells[1:5]


def rules_in_docs(text):
    """label -> message of each table row of docs/spec/abi.md."""
    rows = rows_in_docs(text)
    return {label: (message.strip("`").replace("\\|", "|"), path.strip("`")) for label, _, message, path in rows}


def spelled(labels):
    """M1, M2, M3, H1 -> M1–M3, H1."""
    runs = []
    for label in labels:
        letter, number = label[0], int(label[1:])
        if runs and runs[-1][0] == letter and runs[-1][2] == number - 1:
            runs[-1][2] = number
        else:
            runs.append([letter, number, number])
    names = []
    for letter, first, last in runs:
        names += [f"{letter}{first}–{letter}{last}"] if last > first + 1 else [f"{letter}{n}" for n in range(first, last + 1)]
    return ", ".join(names)


AT_READING = re.compile(r"((?:[A-Z]\d+(?:–[A-Z]\d+)?(?:, )?)+) are checked whenever a module is read")


def reading_problem(docs, found, documented):
    """None if docs/spec/abi.md names the rules that ops check by themselves, which is whenever a module is read."""
    rules = {match[1] for path, _, text in found if path.is_relative_to("lib/Dialect/IR") and (match := LABEL.match(text))}
    letters = list(dict.fromkeys(label[0] for label in documented))
    should = spelled(sorted(rules & set(documented), key=lambda label: (letters.index(label[0]), int(label[1:]))))
    said = AT_READING.search(" ".join(docs.split()))
    if said and said[1] == should:
        return None
    return f"docs/spec/abi.md: the rules that are checked whenever a module is read are {should}, not {said[1] if said else 'told'}"


# Beside the rows: the ops that rule B1 allows, and the limits.
ALSO_RULES = (r"^The ops of rule B1 are .*?(?=\n\n)", r"<!-- table limits:.*?<!-- end table -->")
RECORD = re.compile(r"<!-- rules: edition (\d+), digest ([0-9a-f]+) -->")


def edition_problem(text, confirm=None):
    """None if the rules in docs/spec/abi.md are those that were recorded for the edition of Artifact.h; else what is wrong.

    With `confirm`, a path, the record is written there.
    """
    edition = int(re.search(r"kRulesEdition = (\d+);", (ROOT / "include/annudf/Artifact/Artifact.h").read_text())[1])
    rows = sorted("\t".join(row[:3]) for row in rows_in_docs(text))
    rows += [" ".join(re.search(part, text, re.M | re.S)[0].split()) for part in ALSO_RULES]
    digest = hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
    record = RECORD.search(text)
    if not record:
        return "docs/spec/abi.md has no line <!-- rules: edition N, digest ... -->"
    if (int(record[1]), record[2]) == (edition, digest):
        return None
    if confirm:
        confirm.write_text(RECORD.sub(f"<!-- rules: edition {edition}, digest {digest} -->", text))
        return None
    if int(record[1]) != edition and record[2] == digest:
        return (f"docs/spec/abi.md: the rules are those of edition {record[1]}, but kRulesEdition of Artifact.h is {edition}; put it back, "
                f"or, if what a rule refuses changed without its text, run scripts/check diagnostics --confirm")
    return (f"docs/spec/abi.md: the rules are not those that were recorded for edition {record[1]}. If one was added or refuses more, "
            f"raise kRulesEdition of include/annudf/Artifact/Artifact.h (it is {edition}): artifacts say by which rules they "
            f"were verified. If only words changed, or a rule refuses less, leave it. Then run scripts/check diagnostics --confirm")


def check_diagnostics(options):
    """Compares the compiler's diagnostics with its tests and with docs/spec/abi.md.

    Every emitOpError, emitError, emitWarning and emitRemark below lib/ has to be expected, word for word, by a test
    below test/. One that starts with a label such as [B4] is a rule: it needs a row in docs/spec/abi.md with the same text,
    where an ellipsis stands for a value, and every row needs its diagnostic. The page names the rules of lib/Dialect/IR,
    which are checked whenever a module is read.

    Every op of the dialect has at least MIN_NEGATIVES inputs that are refused with messages which differ in more than
    names, types and numbers. An input counts for the op that its message names, or else for the op in the line that
    the message is at.

    Artifacts say by which edition of the rules they were verified (kRulesEdition of Artifact.h), so docs/spec/abi.md records
    a digest of the edition's rules: label, reason and message of each, ops and limits. Rules that are not those of the
    record fail until somebody has said whether they are a new edition.
    """
    problems, seen = [], {}
    found = diagnostics()
    if options.list:
        for path, _, template in found:
            label = LABEL.match(template)
            if label:
                print(f"| {label.group(1)} | | `{LABEL.sub('', template, count=1)}` | `{path.name}` |")
        return 0

    docs = options.docs.read_text()
    expected, documented = expectations(), rules_in_docs(docs)
    for path, line, template in found:
        where = f"{path}:{line}"
        # Text that ends in a space goes on with values streamed later.
        end = "" if template.endswith(" ") else "$"
        pattern = re.compile(".*".join(map(re.escape, template.split("…"))) + end)
        if not any(pattern.search(text) for text in expected):
            problems.append(f"{where}: no test expects: {template}")
        label = LABEL.match(template)
        if not label:
            continue
        name, text = label.group(1), LABEL.sub("", template, count=1)
        if name in seen and seen[name] != text:
            problems.append(f"{where}: [{name}] is also the label of another message: {seen[name]}")
        seen[name] = text
        if name not in documented:
            problems.append(f"{where}: [{name}] has no row in docs/spec/abi.md")
        elif documented[name] != (text, path.name):
            problems.append(f"{where}: docs/spec/abi.md has for [{name}]\n    {documented[name][0]} ({documented[name][1]})\n"
                            f"  but the code\n    {text} ({path.name})")
    problems += [f"docs/spec/abi.md: [{name}] is no diagnostic of the compiler" for name in documented if name not in seen]

    reading = reading_problem(docs, found, documented)
    problems += [reading] if reading else []
    few, kinds = too_few_negatives()
    problems += few
    if options.opt:
        problems += partial_messages(options.opt)
    # Only rules that are what the code says can be recorded.
    edition = edition_problem(docs, options.docs if options.confirm and not problems else None)
    problems += [edition] if edition else []

    for problem in problems:
        print(problem, file=sys.stderr)
    counts = ", ".join(f"{op} {len(ways)}" for op, ways in kinds.items())
    print(f"{len(found)} diagnostics, {len(seen)} rules, {len(problems)} problems; ways in which ops are refused: {counts}")
    return 1 if problems else 0


SUBCOMMANDS = [
    (
        "diagnostics",
        check_diagnostics,
        {
            "--list": {"action": "store_true", "help": "print a row of docs/spec/abi.md for each rule"},
            "--confirm": {"action": "store_true", "help": "record the digest of the rules as they are"},
            "--opt": {
                "help": "annudf-opt, all of whose messages are compared with test/lit/Dialect: a directive of "
                "-verify-diagnostics is content with a part of the text"
            },
            "--docs": {"type": Path, "default": ROOT / "docs/spec/abi.md", "help": "another docs/spec/abi.md, for tests"},
        },
    )
]
