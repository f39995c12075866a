"""Writes small BigANN files for the command tests: make_vectors.py DIR.

Rows are pseudo-random bytes of a fixed seed; damaged variants have names that say what is wrong.
"""

import random
import struct
import sys
from pathlib import Path


def bigann(path: Path, rows: int, dims: int, payload: bytes) -> None:
    path.write_bytes(struct.pack("<II", rows, dims) + payload)


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    source = random.Random(7)
    base = bytes(source.randrange(256) for _ in range(500 * 8))
    query = bytes(source.randrange(256) for _ in range(10 * 8))
    bigann(out / "base.u8bin", 500, 8, base)
    bigann(out / "query.u8bin", 10, 8, query)
    bigann(out / "query9.u8bin", 1, 9, bytes(9))
    bigann(out / "query.fbin", 10, 8, struct.pack("<80f", *query))
    bigann(out / "weights.fbin", 1, 8, struct.pack("<8f", *[1.0] * 8))
    bigann(out / "weights7.fbin", 1, 7, struct.pack("<7f", *[1.0] * 7))
    bigann(out / "weights_nan.fbin", 1, 8, struct.pack("<8f", *[1.0] * 3, float("nan"), *[1.0] * 4))
    bigann(out / "weights.ibin", 1, 8, struct.pack("<8i", *[1] * 8))
    bigann(out / "empty.u8bin", 0, 8, b"")
    bigann(out / "promises_more.u8bin", 501, 8, base)
    bigann(out / "overflow.u8bin", 0xFFFFFFFF, 0xFFFFFFFF, base)
    (out / "short_header.u8bin").write_bytes(b"\x01\x00")
    bigann(out / "infinite.fbin", 2, 2, struct.pack("<4f", 1, 2, float("inf"), 4))


main()
