"""Compares what rows-and-queries.test found with NumPy."""

import numpy as np


def matrix(path: str, dtype: str) -> np.ndarray:
    rows, columns = np.fromfile(path, "<u4", 2)
    return np.fromfile(path, dtype, offset=8).reshape(rows, columns)


def main() -> None:
    base, query = matrix("base.u8bin", "u1").astype(float), matrix("query.u8bin", "u1").astype(float)
    squares = ((query[:, None] - base) ** 2).sum(axis=2)
    age = np.arange(600) % 7
    for name, exact in (
        ("decayed", squares * 2.0 ** (age[:500] / 3)),
        ("personal", squares * np.arange(1, 11)[:, None]),
    ):
        ids, distances = matrix(f"{name}.ibin", "<i4"), matrix(f"{name}.fbin", "<f4")
        np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :3], rtol=1e-5)
        np.testing.assert_allclose(distances, np.take_along_axis(exact, ids.astype(int), axis=1), rtol=1e-5)


main()
