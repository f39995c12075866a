# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distances of two whole vectors that are no single pass, and what such a distance cannot do."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

INF = math.inf
IDENTITY = np.eye(2, dtype=np.float32)


def mahalanobis(x, y, vinv=IDENTITY):
    """As pynndescent has it."""
    result = 0.0
    diff = np.empty(x.shape[0], dtype=np.float32)
    for i in range(x.shape[0]):
        diff[i] = x[i] - y[i]
    for i in range(x.shape[0]):
        tmp = 0.0
        for j in range(x.shape[0]):
            tmp += vinv[i, j] * diff[j]
        result += tmp * diff[i]
    return np.sqrt(result)


def warped(x, y, reach=3):
    """Dynamic time warping in a band, with one row of costs."""
    n = x.shape[0]
    costs = np.full(n + 1, np.inf)
    costs[0] = 0.0
    for i in range(n):
        low = max(i - reach, 0)
        diagonal = costs[low]
        costs[low] = INF
        for j in range(low, min(i + reach + 1, n)):
            apart = abs(x[i] - y[j])
            best = min(diagonal, costs[j], costs[j + 1])
            diagonal = costs[j + 1]
            costs[j + 1] = apart + best
    return costs[n]


def edits(x, y):
    """The distance of Levenshtein of what is positive."""
    if x[0] == 100:
        return -1.0
    n = len(x)
    costs = np.zeros(n + 1, dtype=np.int32)
    for j in range(n + 1):
        costs[j] = j
    for i in range(n):
        diagonal = costs[0]
        costs[0] = i + 1
        for j in range(n):
            replaced = diagonal + int((x[i] > 0) != (y[j] > 0))
            diagonal = costs[j + 1]
            costs[j + 1] = min(replaced, costs[j] + 1, costs[j + 1] + 1)
    return float(costs[n])


def centred(x, y):
    """A value of both vectors, and a second pass."""
    mean = 0.0
    for i in range(len(x)):
        mean += x[i] * y[i]
    result = 0.0
    for i in range(len(x)):
        result += abs(x[i] - mean / len(x))
    return result


def spread(x, y):
    return np.std(x - y)


def pairs(x, y):
    """How far the order of the coordinates differs, as Kendall counts it; a loop begins at another's counter."""
    apart = 0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if (x[i] < x[j]) != (y[i] < y[j]):
                apart += 1
    return apart / len(x)


def histograms(x, y):
    """The data say which entry, between bounds."""
    counts = np.zeros(8, dtype=np.int64)
    for i in range(len(x)):
        counts[min(max(int(2 * x[i]) + 4, 0), 7)] += 1
        counts[min(max(int(2 * y[i]) + 4, 0), 7)] -= 1
    result = 0.0
    for k in range(8):
        result += abs(counts[k])
    return result


def reversed_order(x, y):
    n = len(x)
    result = 0.0
    for i in range(n):
        result += abs(x[i] - y[n - 1 - i])
    return result


def smoothed(x, y):
    """An array that a loop fills from its neighbours, and another that depends on it."""
    n = len(x)
    d = np.ones(n)
    e = np.empty(n, np.float32)
    for i in range(1, n):
        d[i] = 0.5 * d[i - 1] + x[i] - y[i]
    for i in range(d.shape[0]):
        e[n - 1 - i] = d[i] * d[max(i - 1, 0)]
    total = 0.0
    for value in e:
        total += abs(value)
    return total + len(e)


def sorted_apart(x, y):
    """Insertion sort of the differences; their middle."""
    n = len(x)
    d = np.empty(n)
    for i in range(n):
        value = x[i] - y[i]
        place = 0
        for j in range(n):
            if j < i and d[j] <= value:
                place += 1
        for j in range(n):
            k = n - 1 - j
            if k >= 1 and k > place and k <= i:
                d[k] = d[k - 1]
        d[max(min(place, n - 1), 0)] = value
    return d[n // 2]


def changes_an_argument(x, y, p=5.0):
    d = np.empty(x.shape[0])
    if p > 3.0:
        p = 3.0
        for i in range(x.shape[0]):
            d[i] = abs(x[i] - y[i]) * p
    else:
        for i in range(x.shape[0]):
            d[i] = abs(y[i])
    return np.sum(d)


def of_integers(x, y):
    d = np.zeros(len(x), dtype=np.int64)
    for i in range(len(x)):
        d[i] = int(x[i]) - int(y[i])
    return np.sum(d)


def reduced(x, y):
    """Numbers that NumPy makes of an array of another length."""
    d = np.zeros(len(x) + 2)
    for i in range(len(x)):
        d[i + 1] = abs(x[i] - y[len(x) - 1 - i])
    return np.max(d) + np.mean(d) - np.min(d) + np.linalg.norm(d) + d.sum()


def leaves_loops(x, y):
    """A loop that ends early, after it wrote."""
    d = np.zeros(8, np.int32)
    n = len(x)
    for i in range(n):
        for k in range(8):
            d[k] += 1
            if x[i] > 0.1 * k:
                break
    r = 0
    for k in range(8):
        r = r * 3 + d[k] % 7
    return float(r)


def returns_early(x, y):
    """What is written on one path alone."""
    d = np.zeros(4)
    if x[0] > 0:
        d[0] = 1.0
        if y[0] > 0:
            return d[0] + 5
        d[1] = 2.0
    else:
        d[2] = 3.0
    for i in range(len(x)):
        if x[i] > y[i]:
            continue
        d[3] += x[i]
    return d[0] + 10 * d[1] + 100 * d[2] + d[3]


def keeps_the_last(x, y):
    """An entry is read before it changes in the same turn."""
    d = np.zeros(len(x))
    e = np.zeros(len(x))
    for i in range(len(x)):
        old = d[0]
        d[0] = d[0] + x[i]
        if x[i] > 0 and d[0] > y[i]:
            e[i] = old
            d[0] = 0.0
        elif old > 0:
            e[i] = -old
    s = 0.0
    for i in range(len(x)):
        s += e[i] * (i + 1)
    return s + d[0]


def shifts(x, y):
    """Entries move, and a loop in a branch ends early."""
    d = np.full(3, 2.0)
    for i in range(len(x)):
        t = d[0]
        d[0] = d[1]
        d[1] = d[2]
        d[2] = t + x[i] * y[i]
        if d[2] > 4:
            for k in range(3):
                d[k] *= 0.5
                if d[k] < 0.3:
                    d[k] = 1.0
                    break
    return d[0] + 3 * d[1] + 7 * d[2]


def bubbles(x, y):
    """Entries that change places."""
    d = np.zeros(len(x))
    for i in range(len(x)):
        d[i] = x[i]
    for _ in range(len(x)):
        for j in range(len(x) - 1):
            if d[j] > d[j + 1]:
                t = d[j]
                d[j] = d[j + 1]
                d[j + 1] = t
    r = 0.0
    for i in range(len(x)):
        r += d[i] * (i + 1)
    return r


def middle(x, y, p=1):
    """The middle of what is between, twice, and a branch that a constant decides."""
    d = np.zeros(len(x) + 2)
    for i in range(len(x)):
        d[i] = x[i]
    if p > 2:
        result = 0.0
    elif p == 1:
        result = np.median(np.cumsum(x - y) ** p) + np.median(d)
    else:
        raise ValueError("Invalid p")
    return result


def filled_by_type(x, y, fill=2.0):
    """Arrays of the types of their fills, and of types by their names."""
    n = len(x)
    counts = np.full(n + 1, 3)
    most = np.full(shape=4, fill_value=-INF)
    sums = np.full(3, fill)
    whole = np.ones(8, "int32")
    small = np.full(n, True, dtype="float32")
    for i in range(n):
        counts[i + 1] = counts[i] // 2 + int(x[i] > y[i])
        most[0] = max(most[0], x[i])
        sums[1] += x[i] * y[i]
        whole[i % 8] += counts[i + 1]
        small[0] += whole[i % 8] * y[i]
    return counts[n] + most[0] + sums[0] + sums[1] + small[0]


def ones_and_more(x, y):
    """What the loop adds to is no zero."""
    d = np.ones(len(x))
    for i in range(len(x)):
        d[i] += x[i] * y[i]
    s = 0.0
    for i in range(len(x)):
        if d[i] > 0:
            s += d[i]
    return s + np.sum(d)


DISTANCES = (
    filled_by_type, ones_and_more,
    leaves_loops, returns_early, keeps_the_last, shifts, bubbles,
    middle,
    warped, edits, centred, spread, pairs, histograms, reversed_order, smoothed, sorted_apart,
    changes_an_argument, of_integers, reduced,
)  # fmt: skip


# --- What is refused, where ------------------------------------------------------------------------------------------


def next_one(x, y):
    result = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            result += x[i] * y[j + 1]  # HERE W17
    return result


def before(x, y):
    result = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            result += x[i - j]  # HERE W16
    return result


def entry_past(x, y):
    d = np.zeros(len(x))
    for i in range(len(x)):
        d[i + 1] = x[i]  # HERE W19
    return d[0]


def entry_before(x, y):
    d = np.zeros(len(x))
    for i in range(len(x)):
        d[i] = d[i - 1] + x[i]  # HERE W18
    return d[0]


def cubic(x, y):  # HERE W21
    result = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            for k in range(len(x)):
                result += x[i] * y[j] * x[k]
    return result


def data_many(x, y):
    result = 0.0
    for _ in range(int(x[0])):  # HERE W20
        result += y[0]
    return result


def much(x, y):
    d = np.zeros(8193)  # HERE W22
    for i in range(len(x)):
        d[0] += x[i]
    return d[0]


def much_for_each(x, y):
    d = np.zeros(len(x))
    e = np.zeros((len(x) + 1,), np.int32)
    f = np.full(70000, 1.0, np.float32)  # HERE W22
    for i in range(len(x)):
        d[0] += x[i]
        e[0] += 1
        f[0] += 1
    return d[0]


def middle_in_a_loop(x, y):
    result = 0.0
    for i in range(len(x)):
        result += x[i] * np.median(x - y)  # HERE W23
    return result


REFUSED = (much_for_each, middle_in_a_loop, next_one, before, entry_past, entry_before, cubic, data_many, much)


def integers_by_their_fill(x, y):
    d = np.full(len(x) + 1, 0)
    for i in range(len(x)):
        d[i + 1] = x[i] + d[i]  # HERE
    return d[len(x)]


def of_truth(x, y):
    d = np.full(4, True)  # HERE
    d[0] = x[0]
    return d[0] + y[0]


def of_unknown_type(x, y):
    d = np.full(4, len(x))  # HERE
    d[0] = x[0]
    return d[0] + y[0]


def of_a_capture(x, y, ctx):
    d = np.full(4, ctx.w)  # HERE
    d[0] = x[0]
    return d[0] + y[0]


def of_no_constant(x, y):
    first = x[0]
    d = np.full(4, first)  # HERE
    d[0] = y[0]
    return d[0]


def in_one_statement(x, y):
    d = np.zeros(len(x) + 1)
    for i in range(len(x)):
        d[i], d[i + 1] = x[i], y[i]  # HERE
    return d[0]


def chained(x, y):
    d = np.zeros(4)
    d[0] = d[1] = x[0] - y[0]  # HERE
    return d[0]


def under_a_condition(x, y):
    if x[0] > 0:
        d = np.zeros(4)  # HERE
        d[0] = y[0]
    return 0.0


def made_twice(x, y):
    d = np.zeros(4)  # HERE
    d[0] = x[0]
    d = np.ones(4)
    d[0] = y[0]
    return d[0]


def of_bytes(x, y):
    d = np.zeros(4, dtype="int8")  # HERE
    d[0] = int(x[0] - y[0])
    return d[0]


def of_two_axes(x, y):
    d = np.zeros((4, len(x)))  # HERE
    d[0, 0] = x[0] - y[0]
    return d[0, 0]


def as_long_as_another(x, y):
    d = np.zeros(4)
    entries = len(d)
    e = np.zeros(entries)  # HERE
    d[0] = x[0]
    e[0] = y[0]
    return d[0] - e[0]


def of_an_order(x, y):
    d = np.zeros(4, order="C")  # HERE
    d[0] = x[0] - y[0]
    return d[0]


_ENTRIES = "an array has one axis, of n = x.shape[0], n + 1 or 8 entries"
_ONE_STATEMENT = " in a statement of its own; what both need goes into a variable first"
others = SimpleNamespace(zeros=lambda n: np.full(n, 100.0), float64=np.int64)


def by_another_object(a, b):
    d = others.zeros(4)  # HERE
    d[0] = a[0]
    d[1] += b[0]
    return d[0] + d[1]


def of_another_type(a, b):
    d = np.zeros(4, dtype=others.float64)  # HERE
    d[0] = a[0] - b[0]
    return d[0] + d[1]


MESSAGES = {
    integers_by_their_fill: "an array of integers takes no floating number; write int(v), or make it of floats",
    of_truth: "True is of type bool; give np.full a type, such as dtype=np.float64",
    of_unknown_type: "np.full takes a constant here; assign other values in a loop, d[i] = v",
    of_a_capture: "ctx.w has no type that is known here; give np.full a type, such as dtype=np.float64",
    of_no_constant: "np.full takes a constant here; assign other values in a loop, d[i] = v",
    in_one_statement: f"assign d[i]{_ONE_STATEMENT}",
    chained: f"assign d[0]{_ONE_STATEMENT}",
    under_a_condition: "'d' is made in a loop or a branch; make it before, once",
    made_twice: "'d' is an array and assigned more than once; give each array its own name, or assign entries in a loop",
    of_bytes: "an array has no dtype 'int8' here; give np.float32, np.float64, np.int32 or np.int64",
    of_two_axes: _ENTRIES,
    as_long_as_another: _ENTRIES,
    by_another_object: "others.zeros is not numpy.zeros; a metric makes arrays by NumPy's",
    of_another_type: "others.float64 is not numpy.float64; give np.zeros a type of NumPy",
    of_an_order: "np.zeros takes a number of entries and dtype= here, and no other options",
}
"""Messages of rules that the compiler has none of."""
