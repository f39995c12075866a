# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Filters of Roaring bitmaps: against bytes put together by the format's specification, and against pyroaring."""

from __future__ import annotations

import pickle
import re
import struct
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from annudf import ArgumentError, InputError, UnavailableError, filters, ivf_flat

pyroaring = pytest.importorskip("pyroaring", minversion="1.0.1")

# https://github.com/RoaringBitmap/RoaringFormatSpec: a container of each kind, for the ids from 0, 65536 and 131072 on.
SOME = [1, 5, 700]
EVEN = list(range(65536, 65536 + 10000, 2))
RUNS = [*range(131072 + 3, 131072 + 10), *range(131072 + 60000, 131072 + 65536)]
IDS = [*SOME, *EVEN, *RUNS]
ARRAY = struct.pack("<3H", *SOME)
BITS = (b"\x55" * 1250).ljust(8192, b"\x00")
WITHOUT_RUNS = struct.pack("<II4H2I", 12346, 2, 0, 2, 1, 4999, 24, 30) + ARRAY + BITS
WITH_RUNS = (
    struct.pack("<IB6H", 12347 | 2 << 16, 0b100, 0, 2, 1, 4999, 2, len(RUNS) - 1)
    + ARRAY
    + BITS
    + struct.pack("<5H", 2, 3, 6, 60000, 5535)
)
FOUR = struct.pack("<IB8H4I", 12347 | 3 << 16, 0b1000, 0, 0, 1, 0, 2, 0, 3, 4, 37, 39, 41, 43) + struct.pack(
    "<6H", 7, 8, 9, 1, 10, 4
)
PARTS = struct.pack("<QI", 2, 0) + WITH_RUNS + struct.pack("<I", 1) + WITHOUT_RUNS
GOLDEN = {
    "without runs": (WITHOUT_RUNS, [*SOME, *EVEN]),
    "with runs": (WITH_RUNS, IDS),
    "with runs and offsets": (FOUR, [7, 65544, 131081, *range(196618, 196623)]),
    "empty": (struct.pack("<II", 12346, 0), []),
    "64-bit, empty": (struct.pack("<Q", 0), []),
    "64-bit, one part": (struct.pack("<QI", 1, 0) + WITH_RUNS, IDS),
}


def mask_of(ids, count):
    mask = np.zeros(count, bool)
    mask[ids] = True
    return mask


def bits_of(chosen):
    """The bits, which a pickle holds."""
    data, count = chosen.__reduce__()[1]
    return np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[:count]


def same(one, other):
    return np.array_equal(bits_of(one), bits_of(other))


@pytest.mark.parametrize("case", GOLDEN)
@pytest.mark.parametrize("count", [196623, 200000])
def test_bytes_of_the_portable_format(case, count):
    data, ids = GOLDEN[case]
    wanted = filters.from_mask(mask_of(ids, count))
    for form in (bytes, bytearray, memoryview):
        made = filters.from_roaring(form(data), count)
        assert same(made, wanted)
        assert same(~made, filters.from_mask(~mask_of(ids, count)))
    assert repr(made) == f"Prefilter({len(ids)} of {count} ids pass)"
    assert same(pickle.loads(pickle.dumps(made)), made)


@pytest.mark.parametrize("kind", ["BitMap", "FrozenBitMap", "BitMap64", "FrozenBitMap64"])
@pytest.mark.parametrize("seed", [1, 2])
def test_bitmaps_of_pyroaring(kind, seed):
    random, count = np.random.default_rng(seed), 2**22 + 300_000  # Also past the ids that are unpacked at once.
    mask = random.random(count) < 0.2
    mask[5_000 : 2**22 - 50_000] = False
    mask[2**22 - 90_000 : 2**22 - 70_000] = True
    ids = np.flatnonzero(mask)
    bitmap = getattr(pyroaring, kind)(ids)
    wanted = filters.from_mask(mask)
    assert same(filters.from_roaring(bitmap, count), wanted)
    if kind.startswith("BitMap"):
        bitmap.run_optimize()
    assert same(filters.from_roaring(bitmap.serialize(), np.int64(count)), wanted)
    assert bitmap == getattr(pyroaring, kind)(ids)


def test_it_is_a_copy():
    bitmap = pyroaring.BitMap([1, 2])
    made = filters.from_roaring(bitmap, 4)
    bitmap.add(3)
    assert made.n_passing == 2


def test_a_dense_bitmap_takes_little_memory():
    bitmap = pyroaring.BitMap(range(2**26))
    tracemalloc.start()
    made = filters.from_roaring(bitmap, 2**26)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.n_passing == 2**26
    assert peak < 2**27


def test_searches_and_joins():
    data = np.random.default_rng(3).normal(size=(500, 6)).astype(np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=5, seed=2), data)
    params = ivf_flat.SearchParams(n_probes=5)
    third, early = np.arange(500) % 3 == 0, np.arange(500) < 100
    made = filters.from_roaring(pyroaring.BitMap(np.flatnonzero(third)), 500)
    for chosen, mask in (
        (made, third),
        (~made, ~third),
        (made & early, third & early),
        (early | made, early | third),
        (~made & even_rows(), ~third & (np.arange(500) % 2 == 0)),
    ):
        for one, other in zip(
            ivf_flat.search(params, index, data[:4], 9, filter=chosen),
            ivf_flat.search(params, index, data[:4], 9, filter=mask),
            strict=True,
        ):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(ArgumentError, match="the filter has 400 bits, the largest id of the index is 499"):
        ivf_flat.search(params, index, data[:4], 9, filter=filters.from_roaring(pyroaring.BitMap([3]), 400))
    with pytest.raises(ArgumentError, match="filters of 500 and 499 bits cannot be joined by &"):
        made & early[:499]


def even_rows():
    return ivf_flat.filter(lambda ctx: ctx.row % 2 == 0)


REFUSED = {
    "number": (3, 9, ArgumentError, "argument 'bitmap' is an int; give a bitmap of pyroaring, or bytes"),
    "ids": (np.arange(3, dtype=np.uint8), 9, ArgumentError, "argument 'bitmap' is a ndarray; give a bitmap"),
    "no count": (pyroaring.BitMap(), 0, ArgumentError, "n_ids is 0, it must be an integer from 1 to 34359738368"),
    "id": (pyroaring.BitMap([4, 9]), 9, ArgumentError, "argument 'bitmap' has ids up to 9, n_ids is 9; give an n_ids"),
    "id in bytes": (PARTS, 2**32, ArgumentError, f"has ids up to {2**32 + EVEN[-1]}, n_ids is {2**32}; give an n_ids"),
    "nothing": (b"", 9, InputError, "bitmap: its 0 bytes are not a Roaring bitmap in the portable serialization"),
    "other bytes": (b"no bitmap", 9, InputError, "bitmap: its 9 bytes are not a Roaring bitmap"),
    "order": (struct.pack("<II2HI2H", 12346, 1, 0, 1, 16, 5, 3), 9, InputError, "bitmap: its 20 bytes are not"),
    "twice": (
        WITH_RUNS * 2,
        2**18,
        InputError,
        f"the Roaring bitmap ends at byte {len(WITH_RUNS)} of {2 * len(WITH_RUNS)};",
    ),
    "64-bit and more": (PARTS + b"x", 2**33, InputError, f"the Roaring bitmap ends at byte {len(PARTS)} of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    given, count, kind, message = REFUSED[case]
    with pytest.raises(kind, match=re.escape(message)):
        filters.from_roaring(given, count)


@pytest.mark.parametrize("data", [WITHOUT_RUNS, WITH_RUNS, FOUR, PARTS], ids=["without", "with", "four", "parts"])
def test_every_length_is_refused(data):
    step = max(1, len(data) // 200)
    for length in (*range(64), *range(64, len(data), step), len(data) - 1):
        if length < len(data):
            with pytest.raises(InputError, match=f"^bitmap: its {length} bytes are not"):
                filters.from_roaring(data[:length], 2**33)


def test_without_pyroaring():
    script = (
        "import sys; sys.modules['pyroaring'] = None\n"
        "from annudf import ArgumentError, UnavailableError, filters\n"
        "for given in (b'', [1]):\n"
        "    try: filters.from_roaring(given, 3)\n"
        "    except (ArgumentError, UnavailableError) as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == [
        f"{UnavailableError.__name__} Roaring bitmaps in bytes are read by pyroaring: pip install annudf[roaring]",
        "ArgumentError argument 'bitmap' is a list; give a bitmap of pyroaring, or bytes of Roaring's portable "
        "serialization",
    ]
