"""Makes packed bits, and holds the files of `annudf knn --bits` and `annudf distances --bits` to counts of bits."""

import random
import struct
import sys
from pathlib import Path

ROWS, QUERIES, BYTES = 60, 4, 3
ROW_BYTES, QUERY_BYTES = random.Random(7).randbytes(ROWS * BYTES), random.Random(8).randbytes(QUERIES * BYTES)


def rows(of: bytes) -> list[bytes]:
    return [of[i : i + BYTES] for i in range(0, len(of), BYTES)]


if sys.argv[1] == "make":
    Path("base.u8bin").write_bytes(struct.pack("<II", ROWS, BYTES) + ROW_BYTES)
    Path("query.u8bin").write_bytes(struct.pack("<II", QUERIES, BYTES) + QUERY_BYTES)
    Path("floats.fbin").write_bytes(struct.pack("<II2f", 1, 2, 0, 1))
    sys.exit()


def distances(name: str) -> list[tuple[float, ...]]:
    data = Path(name).read_bytes()
    assert struct.unpack_from("<II", data) == (QUERIES, ROWS)
    return [struct.unpack_from(f"<{ROWS}f", data, 8 + 4 * ROWS * q) for q in range(QUERIES)]


def dice(a: int, b: int) -> float:
    return (a ^ b).bit_count() / (a.bit_count() + b.bit_count())


numbers = [[int.from_bytes(v, "little") for v in rows(of)] for of in (QUERY_BYTES, ROW_BYTES)]
bits = [tuple((q ^ r).bit_count() for r in numbers[1]) for q in numbers[0]]
assert distances("every.fbin") == bits
for q, found in zip(numbers[0], distances("dice.fbin"), strict=True):
    assert all(abs(d - dice(q, r)) < 1e-6 for d, r in zip(found, numbers[1], strict=True))
ids = struct.unpack_from(f"<{QUERIES * ROWS}i", Path("found.ibin").read_bytes(), 8)
for q in range(QUERIES):
    ranked = sorted(range(ROWS), key=lambda row: (bits[q][row], row))
    assert list(ids[q * ROWS : (q + 1) * ROWS]) == ranked
