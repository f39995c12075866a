# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that a metric cannot be, with the message of each at its place; marked by `# HERE`."""

# ruff: noqa
import math

import numpy as np

N = 3
HUGE = 2**80
TABLE = np.arange(4)
NAMES = ["a", "b"]


def while_else(x, y, acc):
    i = 0
    while i < 3:
        i += 1
    else:
        acc += x  # HERE 9
    return acc


def prints(x, y, acc):
    print(x)  # HERE 5
    return acc


def uses_print(x, y, acc):
    z = print(x)  # HERE 9
    return acc


def writes_global(x, y, acc):
    global N  # HERE 5
    N = 4
    return acc


def tries(x, y, acc):
    try:  # HERE 5
        return acc + x
    except ValueError:
        return acc


def unknown(x, y, acc):
    return acc + unheard_of(x)  # HERE 18


def string(x, y, acc):
    name = "x"  # HERE 12
    return acc


def list_display(x, y, acc):
    return acc + [x, y][0]  # HERE 18


def dictionary(x, y, acc):
    return acc + {0: x}[0]  # HERE 18


def comprehension(x, y, acc):
    return acc + sum(i for i in range(3))  # HERE 21


SMALL = 7


def power_of_constants(x, y, acc):
    return acc + x * SMALL**70  # HERE 22


def power_by_a_call(x, y, acc):
    return acc + x * pow(SMALL, 70)  # HERE 22


def size_of_the_least_integer(x, y, acc):
    return acc + x * abs(-(2**63))  # HERE 22


def integer_of_a_large_float(x, y, acc):
    return acc + x * int(1e30)  # HERE 22


def literal_of_many_bits(x, y, acc):
    return acc + x * 10**30  # HERE 22


def divides_a_constant_by_zero(x, y, acc):
    return acc + x * (SMALL // 0)  # HERE 23


def root_of_a_negative(x, y, acc):
    return acc + x * (-SMALL) ** 0.5  # HERE 22


def shift_of_many_bits(x, y, acc):
    return acc + x * (SMALL << 10_000)  # HERE 23


def matches_a_sequence(x, y, acc):
    match x:
        case (1, 2):  # HERE 14
            return acc
    return acc + x


def matches_none(x, y, acc):
    match x:
        case None:  # HERE 14
            return acc
    return acc + x


def matches_true(x, y, acc):
    match x > y:
        case True:  # HERE 14
            return acc
    return acc + x


def coordinate_with_index(x, y, acc, ctx):
    return acc + x[ctx.dim]  # HERE 18


def bare_capture(x, y, acc, ctx):
    return acc + weights[ctx.dim] * x  # HERE 18


def bare_dim(x, y, acc, ctx):
    return acc + ctx.weights[dim] * x  # HERE 30


p = [2.0]


def capture_of_another_type(x, y, acc, ctx):
    return acc + p * x  # HERE 18


def sum_of_a_number(x, y, acc, ctx):
    return acc + x.sum()  # HERE 18


def bits_of_a_float(x, y, acc, ctx):
    return acc + x.bit_count()  # HERE 18


def method_of_numpy(x, y, acc, ctx):
    return acc + x.clip(0, 1)  # HERE 18


def attribute_of_a_number(x, y, acc, ctx):
    return acc + ctx.dim.real  # HERE 18


def length(x, y, acc, ctx):
    return acc / len(x)  # HERE 18


def imports(x, y, acc):
    import os  # HERE 5

    return acc


def compares_identity(x, y, acc):
    return acc if x is y else x  # HERE 19


def asserts(x, y, acc):
    assert x > 0  # HERE 5
    return acc


def loops_over_a_value(x, y, acc):
    for i in x:  # HERE 14
        acc += i
    return acc


def writes_a_capture(x, y, acc, ctx):
    ctx.weights[ctx.dim] = x  # HERE 5
    return acc


def reads_an_array(x, y, acc):
    return acc + TABLE[0]  # HERE 18


def reads_a_list(x, y, acc):
    return acc + NAMES[0]  # HERE 18


def reads_a_huge_number(x, y, acc):
    return acc + HUGE  # HERE 18


def unknown_capture(x, y, acc, ctx):
    return acc + ctx.wieghts[ctx.dim] * x  # HERE 18


def capture_without_index(x, y, acc, ctx):
    return acc + ctx.weights * x  # HERE 18


def compares_a_capture(x, y, acc, ctx):
    return acc if ctx.weights < 3 else acc + x  # HERE 19


def asks_a_capture(x, y, acc, ctx):
    if ctx.weights:  # HERE 5
        return acc + x
    return acc


def no_such_function(x, y, acc):
    return acc + np.linalg.norm(x)  # HERE 18


def complex_number(x, y, acc):
    return acc + 1j * x  # HERE 18


def recursion(x, y, acc):  # HERE 0
    return recursion(x, y, acc)


def returns_nothing(x, y, acc):  # HERE 0
    acc += x


def returns_nothing_on_a_path(x, y, acc):  # HERE 0
    if x > y:
        return acc


def wrong_arguments(x, y):  # HERE 0
    return x - y


def default_argument_order(x, y, acc, ctx, more):  # HERE 0
    return acc


def matrix_product(x, y, acc):
    return acc + x @ y  # HERE 18


def narrow_overflow(x, y, acc):
    return acc + np.int8(1) * 300  # HERE 18


def capture_on_two_paths(x, y, acc, ctx):  # HERE 0
    chosen = ctx.weights if x > y else ctx.weights
    return acc + chosen[ctx.dim]


def number_of_arguments(x, y, acc):
    return acc + math.sqrt(x, y)  # HERE 18


def shifts_floats(x, y, acc):
    return acc + (x << 2)  # HERE 19


MESSAGES = {
    "while_else": "a metric cannot use while ... else; write it after the loop",
    "prints": "the result of print(...) is not used, and a metric has no other effect; use it, or drop the call",
    "uses_print": "a metric cannot call 'print'; it can call plain functions, math.*, NumPy's scalar functions, abs, min, max,"
    " round, int, float and bool",
    "writes_global": "a metric cannot write globals; return the value",
    "tries": "a metric cannot raise or catch exceptions; test with if",
    "unknown": "name 'unheard_of' is not defined",
    "string": "a metric cannot use strings; use numbers",
    "list_display": "a metric cannot use lists; use several variables, or a capture",
    "dictionary": "a metric cannot use dictionaries; use captures",
    "comprehension": "a metric cannot use generators; write for i in range(<constant>)",
    "power_of_constants": "7 ** 70 does not fit 64 bits; compute it in floating point, such as 7.0 ** 70",
    "power_by_a_call": "pow(7, 70) does not fit 64 bits; compute it in floating point",
    "size_of_the_least_integer": "abs(-9223372036854775808) does not fit 64 bits; compute it in floating point",
    "integer_of_a_large_float": "int(1e+30) does not fit 64 bits; compute it in floating point",
    "literal_of_many_bits": "1000000000000000000000000000000 does not fit 64 bits; write a float, such as 1e30",
    "divides_a_constant_by_zero": "7 // 0 divides by zero",
    "root_of_a_negative": "-7 ** 0.5 is a complex number; use numbers that are real",
    "shift_of_many_bits": "7 << 10000 does not fit 64 bits; compute it in floating point",
    "matches_a_sequence": "a metric matches numbers only; match one number, or write if and elif",
    "matches_none": "a metric cannot use None; use numbers",
    "matches_true": "a metric cannot use case True; write if",
    "coordinate_with_index": "a number has no entries; leave out [...]: x and y are the coordinates of dimension ctx.dim"
    " already, and a scalar capture is ctx.p",
    "bare_capture": "name 'weights' is not defined; write ctx.weights, as it is a capture",
    "bare_dim": "name 'dim' is not defined; write ctx.dim",
    "capture_of_another_type": "'p' is of type list, which a metric cannot read; write ctx.p, as it is a capture",
    "sum_of_a_number": ".sum is of arrays, and a metric sees one coordinate at a time; acc sums up: acc + x * y",
    "bits_of_a_float": ".bit_count() needs an integer, got float32",
    "method_of_numpy": "numbers of a metric have no .clip(); write np.clip(...)",
    "attribute_of_a_number": "numbers of a metric have no attribute 'real'; x, y and acc are plain numbers",
    "length": "a metric cannot call 'len'; the number of dimensions is ctx.dims",
    "imports": "a metric cannot import; import at the top of the module",
    "compares_identity": "a metric compares values; write == instead of is",
    "asserts": "a metric cannot raise exceptions; return a value such as math.inf",
    "loops_over_a_value": "a metric loops over range(<constant>) only",
    "writes_a_capture": "ctx.weights[ctx.dim] cannot be assigned: captures are read-only; use a variable",
    "reads_an_array": "'TABLE' is an array; declare it: captures={'TABLE': TABLE}, and read ctx.TABLE[ctx.dim]",
    "reads_a_list": "'NAMES' is a list; give it as a capture, captures={'NAMES': numpy.array(NAMES)}, and read"
    " ctx.NAMES[i]",
    "reads_a_huge_number": "'HUGE' is 1208925819614629174706176, which does not fit 64 bits",
    "unknown_capture": "there is no ctx.wieghts; there are ctx.dim, ctx.dims, ctx.row, ctx.query, ctx.list, ctx.weights, ctx.p"
    " (declare arrays and scalars in captures={...})",
    "compares_a_capture": "ctx.weights is an array and no number; read one entry, ctx.weights[ctx.dim]",
    "asks_a_capture": "ctx.weights is an array and no number; read one entry, ctx.weights[ctx.dim]",
    "capture_without_index": "* needs numbers, got the array ctx.weights; read one entry, ctx.weights[ctx.dim]",
    "no_such_function": "a metric cannot use numpy.linalg; it sees one coordinate of two vectors at a time, and acc sums up:"
    " acc + x * y",
    "complex_number": "a metric cannot use complex numbers; use numbers",
    "recursion": "recursion calls itself; write the loop with for",
    "returns_nothing": "returns_nothing returns nothing; return a number on every path",
    "returns_nothing_on_a_path": "returns_nothing_on_a_path returns nothing on some path; return a number on every path",
    "wrong_arguments": "takes (x, y); a metric's function is wrong_arguments(x, y, acc, ctx)",
    "default_argument_order": "takes (x, y, acc, ctx, more); a metric's function is default_argument_order(x, y, acc, ctx)",
    "matrix_product": "@ needs matrices, and a metric sees one coordinate; write the product of two numbers",
    "narrow_overflow": "the number 300 does not fit int8 (-128 to 127); convert to a wider type",
    "capture_on_two_paths": "ctx and its arrays cannot be assigned on several paths; read an entry on each path instead",
    "number_of_arguments": "sqrt takes 1 argument, got 2",
    "shifts_floats": "<< needs integers, got float32 and Python int",
}
