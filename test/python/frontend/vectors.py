# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distances of two whole vectors, written as for pynndescent, and what such a function cannot do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


class Compiled:
    """Looks like what ``numba.njit`` makes of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


EPS = np.float32(1e-7)


def euclidean(x, y):
    result = 0.0
    for i in range(x.shape[0]):
        result += (x[i] - y[i]) ** 2
    return np.sqrt(result)


@Compiled
def manhattan(x, y):
    result = 0.0
    dim = x.shape[0]
    for i in range(dim):
        result += np.abs(x[i] - y[i])
    return result


def chebyshev(a, b):
    result = 0.0
    for u, v in zip(a, b):  # noqa: B905
        result = max(result, np.abs(u - v))
    return result


def minkowski(x, y, p=2):
    result = 0.0
    for i in range(len(x)):
        result += np.abs(x[i] - y[i]) ** p
    return result ** (1.0 / p)


def canberra(x, y):
    result = 0.0
    for i in range(x.shape[0]):
        denominator = np.abs(x[i]) + np.abs(y[i])
        if denominator > 0:
            result += np.abs(x[i] - y[i]) / denominator
    return result


def bray_curtis(x, y):
    numerator = denominator = 0.0
    for i in range(x.size):
        numerator += np.abs(x[i] - y[i])
        denominator += np.abs(x[i] + y[i])
    if denominator > 0.0:
        return float(numerator) / denominator
    return 0.0


@Compiled
def norm(v):
    result = 0.0
    for value in v:
        result += value * value
    return np.sqrt(result)


def cosine(x, y):
    """Three loops, two of them in a helper."""
    result = 0.0
    for i, value in enumerate(x):
        result += value * y[i]
    of_x, of_y = norm(x), norm(y)
    if of_x == 0.0 and of_y == 0.0:
        return 0.0
    elif of_x == 0.0 or of_y == 0.0:
        return 1.0
    return 1.0 - result / (of_x * of_y)


def hamming(x, y):
    result = 0
    for i in range(x.shape[0]):
        if x[i] != y[i]:
            result += 1
    return float(result) / x.shape[0]


def jaccard(x, y):
    num_non_zero = 0.0
    num_equal = 0.0
    for i in range(x.shape[0]):
        x_true = x[i] != 0
        y_true = y[i] != 0
        num_non_zero += x_true or y_true
        num_equal += x_true and y_true
    if num_non_zero == 0.0:
        return 0.0
    return float(num_non_zero - num_equal) / num_non_zero


def same_sign(x, y):
    """A truth value and a count are carried."""
    is_same = True
    differing = 0
    for i, (u, v) in enumerate(zip(x, y)):  # noqa: B905
        is_same = is_same and (u >= 0) == (v >= 0)
        if u < v:
            differing += i
    return 0 if is_same else differing + 1


def yule(x, y):
    num_true_true = num_true_false = num_false_true = 0.0
    for i in range(x.shape[0]):
        x_true = x[i] > 0
        y_true = y[i] > 0
        num_true_true += x_true and y_true
        num_true_false += x_true and (not y_true)
        num_false_true += (not x_true) and y_true
    num_false_false = x.shape[0] - num_true_true - num_true_false - num_false_true
    if num_true_false == 0.0 or num_false_true == 0.0:
        return 0.0
    product = num_true_false * num_false_true
    return (2.0 * product) / (num_true_true * num_false_false + product)


def hellinger(x, y):
    result = 0.0
    norm_x = 0.0
    norm_y = 0.0
    for i in range(x.shape[0]):
        result += np.sqrt(np.abs(x[i] * y[i]))
        norm_x += np.abs(x[i])
        norm_y += np.abs(y[i])
    if norm_x == 0 and norm_y == 0:
        return 0.0
    elif norm_x == 0 or norm_y == 0:
        return 1.0
    return np.sqrt(max(1 - result / np.sqrt(norm_x * norm_y), 0.0))


def relative(u, v):
    if u <= 0:
        return 0.0
    return u * np.log(u / v)


def jensen(x, y):
    result = 0.0
    for i in range(x.shape[0]):
        u, v = abs(x[i]) + EPS, abs(y[i]) + EPS
        m = 0.5 * (u + v)
        result += 0.5 * relative(u, m) + 0.5 * relative(v, m)
    return math.sqrt(max(result, 0.0))


def correlation(x, y):
    """A second pass needs a mean of each vector."""
    mu_x = mu_y = norm_x = norm_y = dot_product = 0.0
    for i in range(x.shape[0]):
        mu_x += x[i]
        mu_y += y[i]
    mu_x /= x.shape[0]
    mu_y /= x.shape[0]
    for i in range(x.shape[0]):
        shifted_x = x[i] - mu_x
        shifted_y = y[i] - mu_y
        norm_x += shifted_x**2
        norm_y += shifted_y**2
        dot_product += shifted_x * shifted_y
    if norm_x == 0.0 and norm_y == 0.0:
        return 0.0
    elif dot_product == 0.0:
        return 1.0
    return 1.0 - dot_product / np.sqrt(norm_x * norm_y)


def symmetric_kl(x, y):
    """Whole vectors divided by what a loop computed."""
    of_x, of_y = np.sum(np.abs(x) + EPS), np.sum(np.abs(y) + EPS)
    p, q = (np.abs(x) + EPS) / of_x, (np.abs(y) + EPS) / of_y
    return np.sum(p * np.log(p / q) + q * np.log(q / p))


def haversine(x, y):
    dim = x.shape[0]
    if x.shape != y.shape:
        raise ValueError("of different lengths")
    assert y.size == dim
    if dim != 2:
        raise ValueError("haversine is only defined for 2 dimensional graph_data")
    sin_lat = np.sin(0.5 * (x[0] - y[0]))
    sin_long = np.sin(0.5 * (x[1] - y[1]))
    result = np.sqrt(sin_lat**2 + np.cos(x[0]) * np.cos(y[0]) * sin_long**2)
    return 2.0 * np.arcsin(min(result, 1.0))


def from_first(x, y):
    """A coordinate is a value that a pass needs, and one that the distance needs."""
    result = 1 / (x[0] - 0.25)
    for i in range(len(x)):
        result += abs((x[i] - x[0]) - (y[i] - y[0]))
    return result


def wasserstein(x, y, p=1):
    """Entries that a loop assigns, and a loop that leaves out the first; the result is for a helper."""
    x_cdf = np.empty(x.shape[0], dtype=np.float32)
    of_x = 0.0
    y_cdf = (np.abs(y) + EPS) / np.sum(np.abs(y) + EPS)
    for i in range(x.shape[0]):
        apart = np.abs(x[i])
        x_cdf[i] = apart + EPS
        of_x += x_cdf[i]
    for i in range(len(x)):
        x_cdf[i] /= of_x
    for i in range(1, x_cdf.shape[0]):
        x_cdf[i] += x_cdf[i - 1]
        y_cdf[i] += y_cdf[i - 1]
    return minkowski(x_cdf, y_cdf, p)


def softmax(z):
    n = z.shape[0]
    out = np.empty(n)
    most = z[0]
    for i in range(1, n):
        most = max(most, z[i])
    s = 0.0
    for i in range(n):
        out[i] = np.exp(z[i] - most)
        s += out[i]
    if most > 2.5:
        for i in range(n):
            out[i] = 1.0 / n
    else:
        invs = 1.0 / s
        for i in range(n):
            out[i] *= invs
    return out


def of_softmax(x, y):
    """A helper that gives a vector; of the row a value that a loop begins with."""
    return np.sum(np.abs(softmax(x) - softmax(y)))


def in_place(x, y, z=0.5):
    """The arguments are changed, of which a search knows nothing; a variable is of one turn."""
    x_sum = y_sum = result = 0.0
    squares = np.zeros((len(x),))
    for i in range(len(x)):
        x[i] += z
        x_sum += abs(x[i])
        shifted = y[i] + z
        y[i] = shifted
        squares[i] += shifted * shifted
        y_sum += abs(shifted)
    for i in range(len(x)):
        result += abs(x[i] / (1 + x_sum) - y[i] / (1 + y_sum)) + squares[i]
    return result


def later(x, y):
    result = 0.0
    for i in range(2, len(x)):
        result += x[i] - y[i]
    return result


def standardised(x, y):
    """Three passes for each vector, and a value of both that is computed of values of each."""
    mean_x, mean_y = np.mean(x), np.mean(y)
    if mean_x == 0.0 or mean_y == 0.0:
        return 0.0
    of_x, of_y = np.linalg.norm(x - mean_x), np.linalg.norm(y - mean_y)
    both = of_x + of_y
    result = 0.0
    for u, v in zip(x, y):  # noqa: B905
        result += abs((u - mean_x) / of_x - (v - mean_y) / of_y) / both
    return result


def turns(x, y):
    """A variable keeps what another one was, which changes in the same turn."""
    d = np.empty(x.size)
    total = result = 0.0
    for i in range(x.size):
        before = total
        total += x[i]
        result += before * y[i]
        apart = x[i] - y[i]
        d[i] = apart * apart
    return result / 100 + np.sum(d) + total


def bends(x, y):
    """The coordinates beside one, in a loop that leaves out those that have none."""
    result = 0.0
    n = x.shape[0]
    for i in range(1, n - 1):
        result += (x[i - 1] - 2 * x[i] + x[i + 1] - y[i]) ** 2
    return np.sqrt(result)


def ahead(x, y):
    result = 0.0
    for i in range(len(y) - 2):
        result += abs(y[i + 2] - x[i])
    return result


def lagged(x, y):
    """A condition shows that there are coordinates before."""
    result = 0.0
    for i in range(len(x)):
        if i > 0:
            result += abs(x[i] - y[i - 1])
        else:
            result += x[i]
        if i >= 4 and x[i] > 0:
            result += y[i - 3]
    return result


class _Intrinsic:
    """As Numba's ``intrinsic`` makes one."""

    def __init__(self, definition: Callable[..., Any]) -> None:
        self._defn = definition


def _counts(context, value):
    def emitted(builder):
        return builder.call("llvm.ctpop.i8", value)

    return emitted


def _swaps(context, value):
    return "llvm.bswap.i8"


popcount, swap = _Intrinsic(_counts), _Intrinsic(_swaps)


def bit_hamming(x, y):
    result = 0
    for i in range(x.shape[0]):
        result += popcount(x[i] ^ y[i])
    return np.float32(result)


DISTANCES = (
    euclidean, manhattan, chebyshev, minkowski, canberra, bray_curtis, cosine, hamming, jaccard, same_sign, yule,
    hellinger, jensen, correlation, symmetric_kl, standardised, from_first,
    wasserstein, of_softmax, in_place, later, turns, bends, ahead, lagged,
)  # fmt: skip


# --- What is refused, where ------------------------------------------------------------------------------------------


def difference(x, y):  # HERE 0
    return x - y


def a_vector(x, y):  # HERE 0
    return x


def scaled_first(x, y):
    if x > y:  # HERE 8
        return 0.0
    return np.sum(x)


def product(x, y):
    return x @ y  # HERE 12


def generated(x, y):
    return sum(abs(u - v) for u, v in zip(x, y))  # noqa: B905  HERE 15


def largest(x, y):
    return max(x, y)  # HERE 12


def sum_of_axis(x, y):
    return np.sum(x - y, axis=0)  # HERE 12


def largest_of_axis(x, y):
    return (x - y).max(0)  # HERE 12


def negated(x, y):
    return not x  # HERE 12


def norm_of_order(x, y):
    return np.linalg.norm(x - y, 1)  # HERE 12


def sum_of_number(x, y):
    return np.sum(x[0])  # HERE 12


def sliced(x, y):
    result = 0.0
    for i in range(1, x.shape[0]):
        result += x[i] - y[:3][i]  # HERE 28
    return result


def scratch(x, y):
    diff = np.empty(x.shape[0])  # HERE 12
    return diff


def writes(x, y):
    for i in range(x.shape[0]):
        x[i] = 0.0  # HERE 9
    return 0.0


def repeats(x, y):
    i = 0
    dim = len(x)
    while i < dim:  # HERE 11
        i += 1
    return i


def sorts(x, y):
    return np.argsort(x)  # HERE 12


def unknown_attribute(x, y):
    return x.dtype  # HERE 12


def by_float(x, y):
    return x[0.5]  # HERE 12


def over_a_list(x, y):
    result = 0.0
    for i in (1, 2):  # HERE 14
        result += x[i]
    return result


def not_zip(x, y):
    def zip(a, b):
        return a, b

    result = 0.0
    for u, v in zip(x, y):  # HERE 17
        result += u - v
    return result


def inner_argument(x, y, w=EPS[None]):
    def twice(w):  # HERE 15
        return 2 * w

    return np.sum(twice(x - y) * w)


def over_three(x, y):
    result = 0.0
    for u, v in zip(x, y, x):  # noqa: B905  HERE 9
        result += u - v
    return result


def dim_of_ctx(x, y, ctx):
    return x[ctx.dim]  # HERE 14


def second_axis(x, y):
    return x.shape[1]  # HERE 12


def either(x, y):  # HERE 0
    v = x if len(x) > 4 else y
    result = 0.0
    for i in range(len(v)):
        result += v[i]
    return result


def nothing(x, y):  # HERE 0
    for i in range(len(x)):
        if x[i] > 0:
            return 1.0


def raises(x, y):
    result = np.sum(x - y)
    if result < 0:
        raise ValueError("negative")  # HERE 9
    return result


def checks_twice(x, y):
    if len(x) != 3:
        raise ValueError
    assert y.shape[0] == 4  # HERE 5
    return x[0] - y[0]


def checks_other(x, y):
    y = x
    assert len(y) == 3  # HERE 5
    return x[0]


def count_or_number(x, y):  # HERE 0
    n = np.sum(x != y)
    if n == 0:
        return 0.0
    return n


def in_a_branch(x, y):
    d = x - y
    result = 0.0
    if d[0] > 0:
        for i in range(len(x)):
            d[i] = -d[i]  # HERE 13
            result += d[i]
    return result


def of_another_turn(x, y):
    d = x - y
    before = 0.0
    for i in range(len(x)):
        d[i] += before  # HERE 9
        before = x[i]
    return np.sum(d)


def of_what_changes(x, y):
    d = x - y
    total = result = 0.0
    for i in range(len(x)):
        before = total
        total += x[i]
        d[i] += 1  # HERE 9
        result += before
    return np.sum(d) + result


def fills_late(x, y):
    d = x - y
    for i in range(1, len(x)):
        d[i] = x[i]  # HERE 9
    return np.sum(d)


def swapped(x, y):
    return swap(x[0])  # HERE 12


def none_given(x, y, metric=None):  # HERE 0
    return 0.0


MESSAGES = {
    "difference": "a whole vector cannot be returned or assigned on several paths; make a number of it, such as np.sum(x), or take acc as third argument to see one coordinate at a time",
    "a_vector": "a_vector returns a whole vector; return the distance, a number, on every path",
    "scaled_first": "a condition of whole vectors has no one answer; write np.any(...), np.all(...) or a loop",
    "product": "a metric has no @; write np.dot(x, y)",
    "generated": "a metric cannot use generators; write np.sum(...) of whole vectors, or for i in range(x.shape[0])",
    "largest": "max needs numbers, got a whole vector; read one coordinate of it, x[i], in a loop: for i in range(x.shape[0])",
    "largest_of_axis": ".max() of a whole vector takes no options here",
    "negated": "not needs numbers, got a whole vector; read one coordinate of it, x[i], in a loop: for i in range(x.shape[0])",
    "sum_of_axis": "sum takes one vector here, and no options",
    "norm_of_order": "norm takes one vector here, and no options",
    "sum_of_number": "sum needs a whole vector, got a number",
    "sliced": "a metric cannot slice a vector; write for i in range(x.shape[0]), and if for the coordinates to leave out",
    "scratch": "a metric cannot use numpy.empty; it keeps arrays whose entries it assigns, d[i] = v; compute in a loop, in variables: for i in range(x.shape[0])",
    "writes": "x[i] cannot be assigned; make an array once, outside of loops, by np.zeros, ones, empty or full of x.shape[0] entries",
    "repeats": "a metric cannot repeat while something about all coordinates holds; write for i in range(x.shape[0])",
    "sorts": "a metric cannot use numpy.argsort; it sees the coordinates once, in their order; transform the vectors before they are indexed",
    "unknown_attribute": "a vector has no attribute 'dtype' in a metric; it has x[i], x.shape[0], x.size and len(x), so write a loop: for i in range(x.shape[0])",
    "by_float": "a vector is indexed by one integer; read one coordinate, x[i], in a loop: for i in range(x.shape[0])",
    "over_a_list": "a metric of vectors loops over range(...), x, zip(x, y) or enumerate(x); write for i in range(x.shape[0])",
    "over_three": "zip gives 3 values here; give each a name: for a, b in zip(x, y)",
    "not_zip": "'zip' is not Python's own here; give yours another name, or write for i in range(x.shape[0])",
    "inner_argument": "'w' is an array of the function around; give the inner argument another name",
    "dim_of_ctx": "ctx.dim has no meaning in a metric of two vectors; write a loop, whose counter it is: for i in range(x.shape[0])",
    "second_axis": "a vector has one axis; write x.shape[0]",
    "either": "vectors, ctx and its arrays cannot be assigned on several paths; read an entry on each path instead",
    "nothing": "nothing returns nothing on some path; return the distance, a number, on every path",
    "raises": "a metric cannot raise exceptions; return a value such as math.inf",
    "checks_twice": "this asks for 4 dimensions, and a check before for 3",
    "checks_other": "a metric cannot raise exceptions; return a value such as math.inf",
    "count_or_number": "the paths return int64 and Python's float; return one type, such as float(n) for an integer n",
    **dict.fromkeys(
        ("in_a_branch", "of_another_turn", "of_what_changes", "fills_late"),
        "d[i] cannot be assigned; make an array once, outside of loops, by np.zeros, ones, empty or full of x.shape[0] entries",
    ),
    "swapped": "'swap' is of type _Intrinsic; a metric can read numbers, and arrays given as captures",
    "none_given": "argument 'metric' of none_given is of type NoneType; a metric can read numbers and arrays",
}  # fmt: skip
