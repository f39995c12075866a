# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages: their examples run, the generated ones are fresh, their links lead somewhere."""
import re
import shlex
import subprocess
import sys
import urllib.parse
from pathlib import Path

from . import ROOT, differing

LICENSE = "<!-- Generated from the td files by the target annudf-doc; edit those. -->\n"
DEFAULT_INIT = "annudf.init {\n%zero = arith.constant 0.0 : f32\nannudf.yield %zero : f32\n}\n"
DEFAULT_UPDATE = "annudf.update (%acc: f32, %x: f32, %y: f32) {\nannudf.yield %acc : f32\n}\n"
CAPTURES = '%w = annudf.capture "w" : !annudf.capture<dim x f32>\n%s = annudf.capture "s" : !annudf.capture<f32>\n'
CAPTURES += '%age = annudf.capture "age" : !annudf.capture<row x f32>\n'


def metric(block):
    if "annudf.init" not in block:
        block += DEFAULT_INIT
    if "annudf.update" not in block:
        block += DEFAULT_UPDATE
    return "annudf.metric @example order(min) coarse(l2) elements(f32) {\n" + block + "}\n"


def whole_module(example):
    """The example as a module, wrapped as far as it needs to be."""
    first = next(line.strip() for line in example.splitlines() if line.strip() and not line.strip().startswith("//"))
    if first.startswith(("annudf.metric", "annudf.filter", "annudf.function", "annudf.extern", "annudf.pairwise", "module", "func.func")):
        return example
    if first.startswith("!"):
        types = [line.split("//")[0].strip() for line in example.splitlines() if line.strip()]
        return "".join(f"func.func private @f{i}({t})\n" for i, t in enumerate(types))
    if first.startswith("annudf.keep"):
        return "annudf.filter @example {\n" + example + "}\n"
    if first.startswith("annudf.distance"):
        return "annudf.pairwise @example order(min) coarse(l2) elements(f32) {\n" + example + "}\n"
    if any(f"annudf.{op} " in first for op in ("scratch", "get", "put")):
        value = "" if "annudf.get" in first else ", %v: f64"
        arguments = f"%costs: !annudf.scratch<dim + 1 x f64>, %inf: f64, %i: index{value}"
        return f"func.func private @example({arguments}) {{\n{example.replace('%costs = ', '%made = ')}return\n}}\n"
    if "annudf.at" in first:
        return "func.func private @example(%x: !annudf.vector<f32>, %i: index) {\n" + example + "return\n}\n"
    if first.startswith("annudf.body"):
        return "annudf.function @example convention(raw) (f32, f32) -> f32 {\n" + example + "}\n"
    if re.match(r"(%\w+ = annudf\.capture|annudf\.(init|update|finalize))", first):
        return metric(example)
    body = "" if re.search(r"%d\s*=", example) else "%d = annudf.index dim\n"
    body += "" if re.search(r"%row\s*=", example) else "%row = annudf.index row\n"
    body += "" if re.search(r"%r\s*=", example) else "%r = arith.addf %acc, %x : f32\n"
    body += example
    if "annudf.yield" not in example:
        body += "\nannudf.yield %r : f32\n"
    linked = 'annudf.extern @scaled convention(c) (f32, f32) -> f32 link(cuda_source "x")\n' if "annudf.call" in body else ""
    return linked + metric(CAPTURES + "annudf.update (%acc: f32, %x: f32, %y: f32) {\n" + body + "}\n")


# Where pages include files from, as mkdocs.yml has it.
SNIPPETS = [ROOT / folder for folder in ("docs/examples", "docs/results", "lib/Metrics", "test/install/outside")]


def with_included(block):
    """The block with the files that it includes."""

    def text_of(line):
        return next(path for path in (folder / line[1] for folder in SNIPPETS) if path.exists()).read_text()

    return re.sub(r'^--8<-- "(.*)"$', text_of, block, flags=re.M)


def examples_of(path):
    """(line, flags, text) of every ```mlir block; flags are those that the words before it name."""
    text = path.read_text()
    for match in re.finditer(r"^( *)```mlir\n(.*?)^ *```", text, re.M | re.S):
        before = text[max(0, match.start() - 200) : match.start()]
        named = re.findall(r"`(--annudf-[^`]*)`", before[before.rfind("Example") :] if "Example" in before else "")
        yield text.count("\n", 0, match.start()) + 2, named, with_included(match.group(2))


def check_examples(options):
    """Runs every ```mlir block of the td files and of the pages.

    An example that is not a whole module is put into a metric: captures and hooks into its block, other ops into its
    update, where %acc, %x, %y, %d (the dimension), %w (a capture of extent dim) and %s (a scalar capture) are there to
    be used.
    """
    sources = sorted((ROOT / "include").rglob("*.td")) + sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "README.md"]
    count = failures = 0
    for path in sources:
        for line, named, text in examples_of(path):
            module = whole_module(text)
            flags = [word for flag in named for word in shlex.split(flag)]
            if re.search(r"annudf\.(metric|filter|function|pairwise)", module) and not flags:
                passes = ("reads-to-loops", "carry-prefixes", "carry-earlier", "hoist-prepare", "raise-pairwise", "verify-abi")
                flags = [f"--annudf-{one}" for one in passes]
            for extra in ([], ["--mlir-print-op-generic"]):
                done = subprocess.run([options.opt, *flags, *extra], input=module, capture_output=True, text=True)
                if done.returncode:
                    failures += 1
                    print(f"{path.relative_to(ROOT)}:{line}: the example does not run:\n{done.stderr}\n{module}",
                          file=sys.stderr)
                    break
            count += 1
    print(f"{count} examples, {failures} failures")
    return 1 if failures or count == 0 else 0


def undocumented(records):
    """Ops, types and attributes of the dialect without an example."""
    return [name for name, body in records
            if re.search(r"\bstring opName = ", body) and "```mlir" not in body]


def records_of(tblgen):
    done = subprocess.run([tblgen, "--print-records", *includes(tblgen), str(ROOT / "include/annudf/Dialect/IR/AnnudfOps.td")],
                          capture_output=True, text=True, check=True)
    return re.findall(r"^def (\w+) \{[^\n]*\n(.*?)^\}", done.stdout, re.M | re.S)


def since_table(tblgen):
    """Which minor of the ABI each part of the dialect appeared in."""
    def field(body, name):
        found = re.search(rf'^  string {name} = "(.*)";', body, re.M)
        return found.group(1) if found else ""

    records = records_of(tblgen)
    enum_of = {}
    for _, body in records:
        listed = re.search(r"^  list<EnumCase> enumerants = \[(.*)\];", body, re.M)
        for case in listed.group(1).split(", ") if listed else ():
            enum_of[case] = field(body, "className")
    rows = []
    for name, body in records:
        since = re.search(r"^  int since = (\d+);", body, re.M)
        if not since or not field(body, "opName") + field(body, "mnemonic") + enum_of.get(name, ""):
            continue
        if field(body, "opName"):
            kind, shown = "op", "annudf." + field(body, "opName")
        elif name in enum_of:
            kind, shown = "enum case", f"{enum_of[name]} {field(body, 'str')}"
        else:
            kind, shown = ("type", "!annudf.") if name.endswith("Type") else ("attribute", "#annudf.")
            shown += field(body, "mnemonic")
        rows.append((kind, shown, f"1.{since.group(1)}"))
    order = ["op", "type", "attribute", "enum case"]
    rows.sort(key=lambda row: (order.index(row[0]), row[1]))
    table = ("\n## Since\n\nThe version of `annudf.accumulator.v1` in which each part appeared. Operands and attributes of an op "
             "are\nas old as the op, unless its definition says otherwise.\n\n| kind | name | since |\n|---|---|---|\n")
    return table + "".join(f"| {kind} | `{name}` | {since} |\n" for kind, name, since in rows)


def includes(tblgen):
    prefix = Path(tblgen).resolve().parent.parent
    return [f"-I{ROOT / 'include'}", f"-I{prefix / 'include'}"]


def generate(tblgen, arguments, td):
    done = subprocess.run([tblgen, *arguments, *includes(tblgen), str(ROOT / td)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"scripts/check generated: {tblgen} failed on {td}:\n{done.stderr}")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return LICENSE + re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def check_generated(options):
    """Compares docs/generated with the td files, whose ops all have an example."""
    tblgen = options.tblgen
    pages = {
        "Dialect.md": generate(tblgen, ["-gen-dialect-doc", "-dialect=annudf"], "include/annudf/Dialect/IR/AnnudfOps.td")
                      + since_table(tblgen),
        "TransformsPasses.md": generate(tblgen, ["-gen-pass-doc"], "include/annudf/Dialect/Transforms/Passes.td"),
        "FrontendPasses.md": generate(tblgen, ["-gen-pass-doc"], "include/annudf/Frontend/Passes.td"),
        "ConversionPasses.md": generate(tblgen, ["-gen-pass-doc"], "include/annudf/Conversion/Passes.td"),
    }
    stale = differing({ROOT / "docs" / "generated" / name: text for name, text in pages.items()}, "the td files", options.update)
    bare = undocumented(records_of(tblgen))
    for name in bare:
        print(f"{name}: its description has no example", file=sys.stderr)
    if stale:
        print(f"{len(stale)} pages are stale: build the target annudf-doc", file=sys.stderr)
    return 1 if stale or bare else 0


def unfenced(text):
    """With empty lines for blocks of code, whose comments are no headings and whose brackets no links."""
    return re.sub(r"^( *)(```+|~~~+).*?^\1\2 *$", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)


def anchors_of(text):
    """What GitHub gives headings, numbered where they repeat, and those that are written as HTML.

    The site has more: mkdocstrings anchors what api.md only names.
    """
    found = {}
    for heading in re.findall(r"^#{1,6} +(.*?)[ #]*$", text, re.M):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found[slug] = found.get(slug, 0) + 1
    anchors = {f"{slug}-{i}" if i else slug for slug, count in found.items() for i in range(count)}
    return anchors | set(re.findall(r'<\w+ (?:id|name)="([^"]+)"', text))


def check_links(_):
    """Follows links between Markdown files, as GitHub shows them."""
    pages = {path: unfenced(path.read_text()) for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]}
    anchors = {path: anchors_of(text) for path, text in pages.items()}
    count = failures = 0
    for path, text in pages.items():
        shown = re.sub(r"`[^`\n]+`", "", text)
        for match in re.finditer(r"\]\(([^)\s]+)\)", shown):
            parts = urllib.parse.urlsplit(match[1])
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                why = "there is no such file"
            elif parts.fragment and target in anchors and urllib.parse.unquote(parts.fragment) not in anchors[target]:
                why = "GitHub shows no heading of that name there"
            else:
                continue
            failures += 1
            line = shown.count("\n", 0, match.start()) + 1
            print(f"{path.relative_to(ROOT)}:{line}: {match[1]}: {why}", file=sys.stderr)
    print(f"{count} links, {failures} dead")
    return 1 if failures or count == 0 else 0


SUBCOMMANDS = [
    ("examples", check_examples, {"--opt": {"default": "annudf-opt", "help": "path of annudf-opt"}}),
    (
        "generated",
        check_generated,
        {
            "--tblgen": {"default": "/usr/lib/llvm-22/bin/mlir-tblgen", "help": "path of mlir-tblgen"},
            "--update": {"action": "store_true", "help": "write docs/generated"},
        },
    ),
    ("links", check_links, {}),
]
