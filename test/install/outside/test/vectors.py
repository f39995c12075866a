"""Small vectors for search.mlir (write), and the answer by definition (check)."""

import random
import struct
import sys

ROWS, DIMS, K = 200, 6, 3
source = random.Random(3)
base = [[source.uniform(-2, 2) for _ in range(DIMS)] for _ in range(ROWS)]
queries = [[source.uniform(-2, 2) for _ in range(DIMS)] for _ in range(5)]
weights = [source.uniform(0, 1) for _ in range(DIMS)]
prices = [source.uniform(0, 40) for _ in range(ROWS)]


def write(path, rows):
    data = [number for row in rows for number in row]
    with open(path, "wb") as file:
        file.write(struct.pack("<II", len(rows), len(rows[0])) + struct.pack(f"<{len(data)}f", *data))


def read(path, code):
    with open(path, "rb") as file:
        rows, columns = struct.unpack("<II", file.read(8))
        data = struct.unpack(f"<{rows * columns}{code}", file.read())
    return [data[row * columns : (row + 1) * columns] for row in range(rows)]


if sys.argv[1] == "write":
    write("base.fbin", base)
    write("queries.fbin", queries)
    write("w.fbin", [weights])
    write("price.fbin", [prices])
else:
    for query, ids, distances in zip(queries, read("found.ibin", "i"), read("found.fbin", "f"), strict=True):
        exact = sorted(
            (sum(w * abs(x - y) ** 3 for w, x, y in zip(weights, query, row, strict=True)) ** (1 / 3), i)
            for i, row in enumerate(base)
            if prices[i] <= 20
        )[:K]
        assert [i for _, i in exact] == list(ids), (exact, ids)
        assert all(abs(d - e) < 1e-4 for d, (e, _) in zip(distances, exact, strict=True)), (exact, distances)
