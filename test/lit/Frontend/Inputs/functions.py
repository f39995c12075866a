# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: B007, SIM108 - these are the shapes that are tested.
"""Metrics with every shape of control flow; ../record keeps what numba-cuda-mlir emits for them."""

import numpy as np

HALF = np.float32(0.5)


def straight(x, y, acc):
    d = x - y
    return acc + d * d


def if_else(x, y, acc):
    d = x - y
    if d > HALF:
        r = d * d
    else:
        r = -d
    return acc + r


def ternary(x, y, acc):
    return acc + (x if x > y else y)


def elif_chain(x, y, acc):
    if x < -HALF:
        s = x
    elif x < HALF:
        s = x * y
    elif y < HALF:
        s = y
    else:
        s = x + y
    return acc + s


def and_or(x, y, acc):
    if (x > y and x > HALF) or (y > HALF and x < -HALF):
        return acc + x
    return acc - y


def chained(x, y, acc):
    inside = -HALF < x <= y < HALF
    return acc + (x if inside else y)


def early_return(x, y, acc):
    if x > HALF:
        return acc
    d = x - y
    if d < -HALF:
        return acc - d
    return acc + d


def loop(x, y, acc):
    s = x
    for i in range(5):
        s = s * y + np.float32(i)
    return acc + s


def loop_step(x, y, acc):
    s = x
    for i in range(1, 12, 4):
        s = s + y * np.float32(i)
    return acc + s


def loop_down(x, y, acc):
    s = x
    for i in range(7, -2, -3):
        s = s * y + np.float32(i)
    return acc + s


def loop_empty(x, y, acc):
    s = x
    for i in range(3, 3):
        s = s * y
    return acc + s


def loop_once(x, y, acc):
    s = x
    for i in range(1):
        s = s * y
    return acc + s


def nested(x, y, acc):
    s = x
    for i in range(3):
        for j in range(6, 0, -2):
            s = s * HALF + y * np.float32(i + j)
    return acc + s


def loop_if(x, y, acc):
    s = x
    for i in range(6):
        if s > y:
            s = s - HALF
        elif i > 3:
            s = s * y
        else:
            s = s + HALF
    return acc + s


def loop_continue(x, y, acc):
    s = x
    for i in range(6):
        if s > y:
            continue
        s = s + HALF
    return acc + s


def loop_variable_after(x, y, acc):
    for i in range(2, 9, 3):
        last = y * np.float32(i)
    return acc + last + np.float32(i)


def loop_two_carried(x, y, acc):
    a = x
    b = y
    for i in range(4):
        t = a + b
        a = b
        b = t * HALF
    return acc + a - b


def loop_in_branch(x, y, acc):
    s = x
    if x > y:
        for i in range(3):
            s = s * HALF
    else:
        for i in range(2):
            s = s + y
    return acc + s


def two_loops(x, y, acc):
    s = x
    for i in range(3):
        s = s * y
    for i in range(2):
        s = s - y
    return acc + s


def reassigned(x, y, acc):
    r = x
    r = r - y
    if r < y:
        r = -r
    r = r * r
    acc += r
    return acc


def flag(x, y, acc):
    far = False
    if x - y > HALF:
        far = True
    near = not far and x > y
    if near:
        return acc + x
    return acc + y if far else acc


def int_hamming(x, y, acc):
    d = x ^ y
    n = 0
    for i in range(8):
        n += (d >> i) & 1
    return acc + n


def int_clip(x, y, acc):
    d = x - y
    if d > 100:
        d = 100
    elif d < -100:
        d = -100
    return acc + d * d
