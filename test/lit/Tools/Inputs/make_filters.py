"""Vectors, prices and what they make affordable; with a file of ids, whether all of them are.

usage: make_filters.py [FOUND.ibin [each]]    each: by the query's own budget
"""

import random
import struct
import sys

ROWS, DIMS, MOST = 200, 8, 20.0
generator = random.Random(4)
vectors = [[generator.random() for _ in range(DIMS)] for _ in range(ROWS)]
prices = [generator.uniform(0, 100) for _ in range(ROWS)]
mask = [price <= MOST for price in prices]
budget = [MOST, 60.0, 35.0]


def npy(name, descr, shape, payload):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + payload)


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


if len(sys.argv) > 1:
    with open(sys.argv[1], "rb") as file:
        rows, k = struct.unpack("<2I", file.read(8))
        ids = struct.unpack(f"<{rows * k}i", file.read())
    assert rows == 3 and k == 9
    most = budget if len(sys.argv) > 2 else [MOST] * 3
    assert len(sys.argv) == 2 or not all(mask[i] for i in ids)
    print("all pass" if all(prices[i] <= most[at // k] for at, i in enumerate(ids)) else "some do not pass")
    sys.exit()
npy("x.npy", "<f4", (ROWS, DIMS), floats(sum(vectors, [])))
npy("q.npy", "<f4", (3, DIMS), floats(sum(vectors[:3], [])))
npy("price.npy", "<f4", (ROWS,), floats(prices))
npy("budget.npy", "<f4", (3,), floats(budget))
npy("short.npy", "<f4", (ROWS - 1,), floats(prices[:-1]))
npy("mask.npy", "|b1", (ROWS,), bytes(mask))
npy("long.npy", "<f4", (300,), floats(prices + prices[:100]))
npy("long_mask.npy", "|b1", (300,), bytes(mask + mask[:100]))
npy("short_mask.npy", "|b1", (100,), bytes(mask[:100]))
words = [sum(passes << bit for bit, passes in enumerate(mask[at : at + 32])) for at in range(0, ROWS, 32)]
npy("bits.npy", "<u4", (len(words),), struct.pack(f"<{len(words)}I", *words))
