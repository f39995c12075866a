#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Cuts this folder's subset out of a full set of 70,000 sentences with their embeddings.

usage: make_subset.py FULL [OUT]

FULL holds base.fbin, query.fbin, attributes.i32bin, query_attributes.i32bin, base_texts.tsv.gz and
query_texts.tsv.gz (BigANN files: two little-endian uint32, rows and dims, then the rows). The same
input gives the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path

import numpy as np

SEED = 20261121
ROWS = 8192
NEIGHBOURS = 40
# Those of the full set's sources whose terms are short to state; see README.md.
SOURCES = {0: "wordnet", 2: "jargon", 3: "devil", 4: "fortunes", 6: "debian-changelogs", 7: "linux-changelog"}
QUERIES = {0: 30, 2: 24, 3: 6, 4: 12, 6: 14, 7: 10}
# Rows beside the neighbours of the queries.
FILL = {2: 1300, 3: 400, 4: 900, 6: 900, 7: 700}


def read(path: Path, dtype: str) -> np.ndarray:
    """A BigANN file as an array of two dimensions."""
    return np.fromfile(path, dtype, offset=8).reshape(np.fromfile(path, "<u4", 2))


def texts(path: Path) -> list[str]:
    """The third column of a file of texts."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t", 2)[2] for line in file]


def suitable(text: str) -> bool:
    """Whether a text can stand in a tutorial as a query."""
    return not any(word in text.lower() for word in ("@", "sex", "terror", "extremist"))


def write_texts(path: Path, rows: list[str], sources: np.ndarray) -> None:
    """Lines of id, source and text; no time stamp in the header, so that bytes repeat."""
    lines = "".join(f"{i}\t{SOURCES[s]}\t{t}\n" for i, (t, s) in enumerate(zip(rows, sources, strict=True)))
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(lines.encode())


def main() -> None:
    """Writes the subset and its checksums."""
    full = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).resolve().parent
    base, query = read(full / "base.fbin", "<f4"), read(full / "query.fbin", "<f4")
    attributes, query_attributes = (read(full / f"{name}attributes.i32bin", "<i4") for name in ("", "query_"))
    base_texts, query_texts = (texts(full / f"{name}_texts.tsv.gz") for name in ("base", "query"))

    # Texts with an address of a person stay out.
    usable = np.isin(attributes[:, 0], list(SOURCES)) & np.array(["@" not in t for t in base_texts])
    chosen_queries = np.concatenate([
        [i for i in np.flatnonzero(query_attributes[:, 0] == source) if suitable(query_texts[i])][:count]
        for source, count in QUERIES.items()
    ])  # fmt: skip

    rows = np.flatnonzero(usable)
    norms = (base[rows] ** 2).sum(1)
    keep = np.zeros(len(base), bool)
    for q in query[chosen_queries]:
        keep[rows[np.argsort(norms - 2 * base[rows] @ q, kind="stable")[:NEIGHBOURS]]] = True

    rng = np.random.default_rng(SEED)
    for source, count in FILL.items():
        rest = np.flatnonzero(usable & ~keep & (attributes[:, 0] == source))
        keep[rng.choice(rest, min(count, len(rest)), replace=False)] = True
    rest = np.flatnonzero(usable & ~keep & (attributes[:, 0] == 0))
    keep[rng.choice(rest, ROWS - keep.sum(), replace=False)] = True
    chosen = rng.permutation(np.flatnonzero(keep))

    np.save(out / "base.npy", base[chosen].astype(np.float16))
    np.save(out / "queries.npy", query[chosen_queries].astype(np.float16))
    np.save(out / "attributes.npy", attributes[chosen].astype("<i4"))
    np.save(out / "query_attributes.npy", query_attributes[chosen_queries].astype("<i4"))
    write_texts(out / "base_texts.tsv.gz", [base_texts[i] for i in chosen], attributes[chosen, 0])
    write_texts(
        out / "query_texts.tsv.gz", [query_texts[i] for i in chosen_queries], query_attributes[chosen_queries, 0]
    )
    files = sorted(p for p in out.iterdir() if p.suffix in (".npy", ".gz"))
    sums = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files]
    (out / "SHA256SUMS").write_text("".join(sums))
    print(f"{len(chosen)} rows, {len(chosen_queries)} queries, {sum(p.stat().st_size for p in files)} bytes")


if __name__ == "__main__":
    main()
