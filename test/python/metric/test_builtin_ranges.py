# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Ready-made metrics at the ends of their ranges, against extended precision: its exponents reach 10^4932."""

from __future__ import annotations

import numpy as np
import pytest

from annudf import PackedBits, metrics
from annudf.distance import pairwise_distance
from annudf.neighbors import brute_force

spatial = pytest.importorskip("scipy.spatial.distance")
Wide = np.longdouble
if np.finfo(Wide).maxexp < 16000:
    pytest.skip("no floats of 80 bits", allow_module_level=True)

ROWS, QUERIES = 60, 5
LARGEST = np.finfo(np.float32).max
EXPONENTS = [0.5, 1, 1.5, 2, 3, 5, 10, 20, 50, 100]


def normal(scale, random, shape):
    return (random.normal(size=shape) * scale).astype(np.float32)


def integers(dtype, random, shape):
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def mixed(random, shape):
    return (10.0 ** random.uniform(-30, 30, shape) * random.choice([-1, 1], shape)).astype(np.float32)


def sparse(random, shape):
    return np.where(random.random(shape) < 0.9, 0, random.normal(size=shape)).astype(np.float32)


def huge(random, shape):  # Their differences may be beyond float32.
    return (random.uniform(-1, 1, shape) * LARGEST).astype(np.float32)


KINDS = {
    "1e-42": lambda *to: normal(1e-42, *to),
    "1e-30": lambda *to: normal(1e-30, *to),
    "1e30": lambda *to: normal(1e30, *to),
    "huge": huge,
    "uint8": lambda *to: integers(np.uint8, *to),
    "int8": lambda *to: integers(np.int8, *to),
    "0 to 255": lambda *to: integers(np.uint8, *to).astype(np.float32),
    "sparse": sparse,
    "mixed": mixed,
}


def pairs(kind, dims, rows=ROWS):
    random = np.random.default_rng(dims)
    base, queries = (KINDS[kind](random, (n, dims)) for n in (rows, QUERIES))
    base[0] = queries[0]
    return base, queries


def differences(queries, base):
    return np.abs(queries[:, None].astype(Wide) - base[None].astype(Wide))


def assert_distances(found, exact, rtol):
    """Equal, or infinite where float32 cannot hold it; of denormals to a few units."""
    assert not np.isnan(found).any()
    beyond = exact > LARGEST
    near = np.abs(exact / Wide(LARGEST) - 1) < 1e-5  # Rounding decides.
    assert np.isinf(found[beyond & ~near]).all()
    held = ~beyond & ~near
    np.testing.assert_allclose(found[held], exact[held].astype(np.float64), rtol=rtol, atol=2e-44)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", EXPONENTS)
def test_minkowski_neither_overflows_nor_vanishes(kind, p):
    for dims in (1, 3, 17, 130):
        base, queries = pairs(kind, dims)
        exact = (differences(queries, base) ** Wide(p)).sum(axis=2) ** (1 / Wide(p))
        assert_distances(pairwise_distance(queries, base, metric=metrics.get("minkowski", p=p)), exact, 1e-5)
        if kind in {"uint8", "int8", "0 to 255", "sparse"}:  # What float64 holds in SciPy, too.
            theirs = spatial.cdist(queries.astype(np.float64), base.astype(np.float64), "minkowski", p=p)
            np.testing.assert_allclose(exact.astype(np.float64), theirs, rtol=1e-9)


@pytest.mark.parametrize("p", [3, 20, 100])
def test_minkowski_finds_the_neighbours_of_bytes(p):
    base, queries = pairs("uint8", 64, 2000)
    exact = (differences(queries, base) ** Wide(p)).sum(axis=2) ** (1 / Wide(p))
    distances, neighbors = brute_force.knn(base, queries, 10, metric="minkowski", metric_arg=p)
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :10].astype(np.float64), rtol=1e-6)
    np.testing.assert_allclose(distances, np.take_along_axis(exact, neighbors, 1).astype(np.float64), rtol=1e-6)


@pytest.mark.parametrize("p", [0.01, 1e-30])
def test_equal_vectors_are_at_distance_zero_however_small_the_exponent(p):
    """The root of their 2,000 dimensions is beyond float32."""
    same = np.full((1, 2000), 7, np.float32)
    assert pairwise_distance(same, same, metric=metrics.get("minkowski", p=p)).item() == 0


def test_minkowski_of_a_large_exponent_is_chebyshev():
    base, queries = pairs("mixed", 33)
    np.testing.assert_array_equal(
        pairwise_distance(queries, base, metric=metrics.get("minkowski", p=1e30)),
        pairwise_distance(queries, base, metric="chebyshev"),
    )


def test_bits_have_any_exponent():
    bits = PackedBits(np.random.default_rng(0).integers(0, 256, (20, 9), dtype=np.uint8))
    apart = pairwise_distance(bits, bits, metric="cityblock")
    for p in (0.5, 3, 100):
        found = pairwise_distance(bits, bits, metric=metrics.get("minkowski", p=p))
        np.testing.assert_allclose(found, apart.astype(np.float64) ** (1 / p), rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-37, 1e-30, 1e-20, 1, 1e20, 1e30, 1e37])
def test_chi2_holds_wherever_its_coordinates_do(scale):
    """Squares of its differences would not."""
    random = np.random.default_rng(1)
    base, queries = (np.abs(normal(scale / 10, random, (n, 17))) for n in (ROWS, QUERIES))
    base[:, :4] = 0
    queries[:, 2:6] = 0
    whole = queries[:, None].astype(Wide) + base[None].astype(Wide)
    squares = differences(queries, base) ** 2
    exact = np.divide(squares, whole, out=np.zeros_like(whole), where=whole > 0).sum(axis=2)
    assert_distances(pairwise_distance(queries, base, metric="chi2"), exact, 1e-5)


def ratio(part, whole):
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0)


def cosine(q, b):
    return 1 - ratio((q * b).sum(axis=2), np.sqrt((q * q).sum(axis=2)) * np.sqrt((b * b).sum(axis=2)))


def correlation(q, b):
    return cosine(q - q.mean(axis=2, keepdims=True), b - b.mean(axis=2, keepdims=True))


def euclidean(q, b):
    return np.sqrt(((q - b) ** 2).sum(axis=2))


RANGES = {
    "cityblock": (1e-44, 1e36, lambda q, b: np.abs(q - b).sum(axis=2)),
    "chebyshev": (1e-44, 5e37, lambda q, b: np.abs(q - b).max(axis=2)),
    "sqeuclidean": (1e-18, 1e18, lambda q, b: ((q - b) ** 2).sum(axis=2)),
    "euclidean": (1e-18, 1e18, euclidean),
    "nan_euclidean": (1e-18, 1e18, euclidean),
    "inner_product": (1e-18, 1e18, lambda q, b: (q * b).sum(axis=2)),
    "cosine": (1e-18, 1e18, cosine),
    "correlation": (1e-18, 1e18, correlation),
    "canberra": (1e-44, 5e37, lambda q, b: ratio(np.abs(q - b), np.abs(q) + np.abs(b)).sum(axis=2)),
    "braycurtis": (1e-44, 1e36, lambda q, b: ratio(np.abs(q - b).sum(axis=2), np.abs(q + b).sum(axis=2))),
    "hamming": (1e-44, 5e37, lambda q, b: (q != b).mean(axis=2).astype(Wide)),
}
"""What docs/use/metrics.md says: coordinates of which sizes a metric is right for."""


@pytest.mark.parametrize("name", RANGES)
def test_a_metric_is_right_for_the_range_that_its_page_gives(name):
    least, most, formula = RANGES[name]
    random = np.random.default_rng(3)
    for scale in (least, 1, most):
        base, queries = (normal(scale, random, (n, 21)) for n in (ROWS, QUERIES))
        exact = formula(queries[:, None].astype(Wide), base[None].astype(Wide)).astype(np.float64)
        size = 1 if name in {"cosine", "correlation"} else np.abs(exact).max()
        np.testing.assert_allclose(
            pairwise_distance(queries, base, metric=name), exact, rtol=1e-5, atol=max(1e-6 * size, 2e-44)
        )


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_minkowski_of_two_is_euclidean_where_squares_are_not_held(scale):
    base, queries = (normal(scale, np.random.default_rng(seed), (n, 33)) for seed, n in ((1, ROWS), (2, QUERIES)))
    exact = euclidean(queries[:, None].astype(Wide), base[None].astype(Wide))
    assert_distances(pairwise_distance(queries, base, metric=metrics.get("minkowski", p=2)), exact, 1e-5)
    beyond = pairwise_distance(queries, base, metric="euclidean")
    assert (beyond == (0 if scale < 1 else np.inf)).all()


MOST = 1 << 20
COUNTED = {
    "jaccard": lambda n, both, left, right: ratio(left + right, both + left + right),
    "dice": lambda n, both, left, right: ratio(left + right, 2 * both + left + right),
    "rogerstanimoto": lambda n, both, left, right: 2 * (left + right) / (n + left + right),
    "russellrao": lambda n, both, left, right: (n - both) / n,
    "sokalsneath": lambda n, both, left, right: ratio(2 * (left + right), both + 2 * (left + right)),
    "yule": lambda n, both, left, right: ratio(2 * left * right, both * (n - both - left - right) + left * right),
    "hamming": lambda n, both, left, right: (left + right) / n,
    "bitwise_hamming": lambda n, both, left, right: left + right,
}


@pytest.mark.parametrize(
    ("name", "dims"), [(name, dims) for name in COUNTED for dims in (8, 65_536)] + [("yule", MOST)]
)
def test_booleans_are_counted_exactly_to_the_largest_dimension(name, dims):
    rows = (np.random.default_rng(5).random((5, dims)) < 0.4).astype(np.uint8)
    rows[0] = 0  # An empty set, a full one, and each with one that differs.
    rows[1] = 1
    rows[2] = rows[0]
    rows[3] = rows[1]
    rows[2, -1] = 1
    rows[3, 0] = 0
    wide = rows.astype(np.float64)
    both, ones = wide @ wide.T, wide.sum(axis=1)
    exact = COUNTED[name](dims, both, ones[:, None] - both, ones[None] - both)
    packed = PackedBits(np.packbits(rows, axis=1, bitorder="little"))
    for given in (packed,) if name == "bitwise_hamming" or dims == MOST else (rows, packed):
        np.testing.assert_allclose(pairwise_distance(given, given, metric=name), exact, rtol=2e-7, atol=1e-12)
