# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The end of a program that has imported numba-cuda-mlir.

Python then looks for garbage three times, and each time visits the quarter of a million objects that the import made.
Only objects in cycles are found so, and the system takes all memory back anyway. So Python is told to leave alone what
there is, unless that might have an effect when it goes.
"""

from __future__ import annotations

import atexit
import gc
import io
import sys

_WITHOUT_EFFECT = (io.StringIO, io.BytesIO)
_OURS = ("annudf", "numba_cuda_mlir")


def register() -> None:
    """Has the program end so."""
    atexit.register(_leave)


def _leave() -> None:
    if not gc.get_debug() and not _has_effects(gc.get_objects()):
        gc.freeze()


def _has_effects(objects: list[object]) -> bool:
    """Whether one of them may do something when it goes: a file, a generator, a class with ``__del__``."""
    kinds = set(map(type, objects))
    ending = {kind for kind in kinds if not issubclass(kind, _WITHOUT_EFFECT) and _defines(kind, "__del__")}
    # nanobind tells on standard error of types that are left; annudf's and MLIR's do not.
    told = {kind for kind in kinds if kind.__name__.startswith("nb_type")}
    suspects = ending | told
    standard = set(map(id, _standard_streams()))
    return any(
        type(one) in ending or str(vars(one).get("__module__")).split(".")[0] not in _OURS
        for one in [one for one in objects if type(one) in suspects]
        if id(one) not in standard
    )


def _defines(kind: type, name: str) -> bool:
    return any(name in vars(base) for base in kind.__mro__)


def _standard_streams() -> list[object]:
    """Those that Python flushes by itself, with what is inside them."""
    found: list[object] = []
    for stream in (sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__):
        buffer = getattr(stream, "buffer", None)
        found += [stream, buffer, getattr(buffer, "raw", None)]
    return found
