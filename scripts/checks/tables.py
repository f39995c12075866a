# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is made of include/annudf/ABI/annudf_tables.h, or has to be equal to it."""
import csv
import re
import sys
from pathlib import Path

from . import ROOT, differing

HEADER = ROOT / "include/annudf/ABI/annudf_tables.h"
ENUMS = ROOT / "include/annudf/Dialect/IR/AnnudfTables.td"
DOCS = ROOT / "docs/spec/tables.md"

COLUMNS = {
    "ELEMENTS": "NAME VALUE SPELLING BITS KIND SINCE",
    "COMPUTE_TYPES": "NAME VALUE SPELLING BITS KIND SINCE",
    "ACCUMULATORS": "NAME VALUE SPELLING BITS KIND SINCE",
    "ORDERS": "NAME VALUE SPELLING SINCE",
    "COARSES": "NAME VALUE SPELLING ORDER SINCE",
    "NUMERICS": "NAME VALUE SPELLING SINCE",
    "EXTENTS": "NAME VALUE SPELLING SINCE",
    "CAPTURE_ELEMENTS": "NAME VALUE SPELLING BITS KIND SINCE",
    "ROLES": "NAME VALUE SPELLING SINCE",
    "HOOKS": "NAME VALUE SPELLING PRESENCE SINCE",
    "PACKED_TERMS": "NAME VALUE SPELLING SINCE",
    "FEATURES": "NAME VALUE SPELLING SINCE",
    "LIMITS": "NAME VALUE SPELLING",
}
# Tables that the dialect has as enums: table, name, mnemonic, summary.
DIALECT = [
    ("ORDERS", "Order", "order", "which end of the distances is best"),
    ("COARSES", "Coarse", "coarse", "what ranks the lists before the scan"),
    ("ELEMENTS", "Element", "element", "element type of stored vectors and queries"),
    ("ACCUMULATORS", "Accumulator", "accumulator", "type of the accumulator, signedness included"),
    ("NUMERICS", "Numerics", "numerics", "whether partial sums over dimensions may be combined"),
]


def read_tables(text):
    """{table: [row]}; a row is a dict of columns. Reserved rows have no SINCE."""
    tables = {}
    text = text.replace("\\\n", " ")
    for name, body in re.findall(r"^#define ANNUDF_([A-Z_]+)\(X\)(.*)$", text, re.M):
        table = name.removesuffix("_RESERVED").removesuffix("_STRUCT")
        if table not in COLUMNS:
            sys.exit(f"scripts/check tables: {HEADER}: table {name} is unknown; add its columns to this script")
        if name.endswith("_RESERVED"):
            columns = "NAME VALUE SPELLING".split()
        elif name.endswith("_STRUCT"):
            columns = "NAME VALUE SPELLING SINCE".split()
        else:
            columns = COLUMNS[table].split()
        for row in re.findall(r"X\(((?:[^()\"]|\"[^\"]*\")*)\)", body):
            values = [v.strip() for v in next(csv.reader([row], skipinitialspace=True))]
            if len(values) != len(columns):
                sys.exit(f"scripts/check tables: {HEADER}: {name} has a row of {len(values)} columns, expected {columns}: {row}")
            tables.setdefault(table, []).append(dict(zip(columns, values)))
    missing = set(COLUMNS) - set(tables)
    if missing:
        sys.exit(f"scripts/check tables: {HEADER} has no table {', '.join(sorted(missing))}")
    return tables


def camel(name):
    return "".join(part[:1] + part[1:].lower() for part in name.split("_"))


def enums_td(tables):
    lines = [
        "//===- AnnudfTables.td - Enums of the annudf dialect -*- tablegen -*-===//",
        "//",
        "// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.",
        "// See LICENSE for license information.",
        "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
        "//",
        "//===----------------------------------------------------------------------===//",
        "//",
        "// Made from annudf_tables.h by scripts/check tables --update; edit the tables.",
        "//",
        "//===----------------------------------------------------------------------===//",
        "",
        "#ifndef ANNUDF_TABLES_TD",
        "#define ANNUDF_TABLES_TD",
        "",
        'include "annudf/Dialect/IR/AnnudfEnum.td"',
    ]
    for table, name, mnemonic, summary in DIALECT:
        cases = [
            f'  Annudf_Case<"{camel(row["NAME"])}", {row["VALUE"]}, "{row["SPELLING"]}", {row["SINCE"]}>'
            for row in tables[table]
            if "SINCE" in row
        ]
        lines += [
            "",
            f'def Annudf_{name} : Annudf_Enum<"{name}", "{summary}", [',
            ",\n".join(cases),
            "]>;",
            f'def Annudf_{name}Attr : Annudf_EnumAttr<Annudf_{name}, "{mnemonic}">;',
        ]
    return "\n".join(lines + ["", "#endif // ANNUDF_TABLES_TD", ""])


def markdown(table, rows):
    """A table for people: reserved rows are listed with no minor."""
    if table == "LIMITS":
        lines = ["| limit | value | of |", "|---|---|---|"]
        return lines + [f"| `ANNUDF_{row['NAME']}` | {row['VALUE']} | {row['SPELLING']} |" for row in rows]
    extra = [c for c in COLUMNS[table].split() if c not in ("NAME", "VALUE", "SPELLING", "SINCE")]
    number = "bit" if table == "FEATURES" else "value"
    titles = ["spelling", number] + [c.lower() for c in extra] + ["since"]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for row in rows:
        since = f"1.{row['SINCE']}" if "SINCE" in row else "reserved"
        cells = [f"`{row['SPELLING']}`", row["VALUE"]] + [row.get(c, "").lower() for c in extra] + [since]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def docs_with(text, tables):
    seen = set()

    def fill(match):
        table = match[2].upper()
        if table not in tables:
            sys.exit(f"scripts/check tables: {DOCS} asks for table {match[2]}, which annudf_tables.h does not have")
        seen.add(table)
        return match[1] + "\n\n" + "\n".join(markdown(table, tables[table])) + "\n\n<!-- end table -->"

    text = re.sub(r"(<!-- table ([a-z_]+):[^>]*-->)\n.*?<!-- end table -->", fill, text, flags=re.S)
    if set(tables) - seen:
        sys.exit(f"scripts/check tables: {DOCS} shows no table {', '.join(sorted(set(tables) - seen)).lower()}")
    return text


def unenforced(tables):
    """Limits of which no source of the compiler or the runtime speaks."""
    sources = [*ROOT.glob("lib/**/*.cpp"), *ROOT.glob("runtime/lib/**/*.cpp"), *ROOT.glob("include/annudf/[!A]*/**/*.h")]
    words = set(re.findall(r"\bANNUDF_MAX_\w+", "\n".join(path.read_text() for path in sources)))
    return [row["NAME"] for row in tables["LIMITS"] if f"ANNUDF_{row['NAME']}" not in words]


def check_tables(options):
    """Compares the enums of the dialect and the tables of docs/spec/tables.md with annudf_tables.h.

    In docs/spec/tables.md the tables stand between `<!-- table NAME: ... -->` and `<!-- end table -->`.
    A limit that no source names is enforced by nobody, and refused too.
    """
    tables = read_tables(options.header.read_text())
    if forgotten := unenforced(tables):
        sys.exit(f"scripts/check tables: nothing enforces limit {', '.join(forgotten)} of annudf_tables.h")
    wanted = {ENUMS: enums_td(tables), DOCS: docs_with(DOCS.read_text(), tables)}
    if differing(wanted, "annudf_tables.h", options.update):
        sys.exit("scripts/check tables: not what annudf_tables.h says; run scripts/check tables --update")
    return 0


SUBCOMMANDS = [
    (
        "tables",
        check_tables,
        {
            "--update": {"action": "store_true", "help": "write the enums of the dialect and the tables of docs/spec/tables.md"},
            "--header": {"type": Path, "default": HEADER, "help": "another annudf_tables.h, for tests"},
        },
    )
]
