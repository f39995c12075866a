# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A GPU made of host memory, and CuPy over it: what is left of a GPU where there is none.

Addresses are host addresses and a search is done by the CPU backend at once, so that streams, lifetimes, checks and
results of the Python layer can be tested; everything that is done on a stream is written down in order.
"""

from __future__ import annotations

import contextlib
import ctypes
import types

import numpy as np


class Event:
    def __init__(self, gpu):
        self.gpu = gpu

    def done(self):
        return not self.gpu.busy

    def wait(self):
        self.gpu.busy = False


class Buffer:
    def __init__(self, size):
        self.memory = np.zeros(size, np.uint8)
        self.address = self.memory.ctypes.data
        self.size = size


class Prepared:
    """A search of the CPU's backend that says that it ran, and on which stream."""

    def __init__(self, gpu, prepared, stream):
        self.gpu, self.prepared, self.stream = gpu, prepared, stream

    def run(self, *addresses):
        self.gpu.log.append(("run", self.stream))
        self.prepared.run(*addresses)

    def stats(self):
        return self.prepared.stats()

    def __del__(self):
        self.gpu.log.append(("destroyed", self.stream))


class Gpu:
    """What annudf._core.Backend.cuda gives, with a log of what happened on which stream."""

    def __init__(self, cpu):
        self.cpu = cpu
        self.log = []
        self.busy = False

    def describe(self):
        return "CUDA device 0: made of host memory, sm_90"

    def search(self, *arguments):
        given, (stream, *options) = arguments[:11], arguments[11:] or (None,)
        self.log.append(("search", stream))
        if stream is not None:
            self.counts = options[3]
        return self.cpu.search(*given, None, *options)

    def refine(self, artifact, captures, *arrays_and_more):
        *arrays, k, ids, distances, keep, time_stages, self.counts, tell_why = arrays_and_more
        self.log.append(("refine", *(array[-1] for array in arrays)))
        host = [(*array[:-1], None) for array in arrays]
        return self.cpu.refine(artifact, captures, *host, k, ids, distances, keep, time_stages, self.counts, tell_why)

    def prepare(self, *arguments):
        *rest, stream, chosen, family, self.counts = arguments
        self.log.append(("prepare", stream))
        made, stats = self.cpu.prepare(*rest, None, chosen, family)
        return Prepared(self, made, stream), stats

    def distances(self, *arguments):
        *rest, stream = arguments
        self.log.append(("distances", stream))
        return self.cpu.distances(*rest)

    def build_index(self, stream, *arguments):
        from annudf import _core

        self.log.append(("build" if stream is not None else "build from host", stream))
        return _core.Index.build(*arguments), (0.0, 0.0, 0.0, 1 if stream is None else 0, True)

    def store_rows(self, stream, *arguments):
        from annudf import _core

        self.log.append(("store", stream))
        return _core.Index.of_rows(*arguments), (0.0, 0.0, 0.0, 0, True)

    def merge_parts(self, *arguments):
        from annudf import _core

        *rest, stream = arguments
        self.log.append(("merge", stream))
        _core.merge_parts(*rest)

    def extending(self, index, stream, *arguments):
        self.log.append(("extend", stream))
        return index.extending(*arguments)

    def removing(self, index, *arguments):
        self.log.append(("remove", None))
        return index.removing(*arguments)

    def allocate(self, size, stream):
        self.log.append(("allocate", stream))
        return Buffer(size)

    def copy(self, target, source, size, stream):
        self.log.append(("copy", stream))
        ctypes.memmove(target, source, size)

    def synchronize(self, stream):
        self.log.append(("synchronize", stream))

    def record(self, stream):
        self.log.append(("record", stream))
        return Event(self)


class DeviceArray:
    """An array of a library that only speaks ``__cuda_array_interface__``."""

    def __init__(self, array, **changes):
        self.array = array
        self.changes = changes

    @property
    def shape(self):
        return self.array.shape

    @property
    def __cuda_array_interface__(self):
        interface = {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.ctypes.data, False),
            "version": 3,
            "strides": None if self.array.flags.c_contiguous else self.array.strides,
            "stream": None,
        }
        return {name: value for name, value in {**interface, **self.changes}.items() if value != "absent"}


class CupyArray:
    """What annudf uses of cupy.ndarray."""

    def __init__(self, array, device=0):
        self.array = array
        self.device = types.SimpleNamespace(id=device)
        self.data = types.SimpleNamespace(ptr=array.ctypes.data)
        self.shape, self.strides, self.dtype, self.size = array.shape, array.strides, array.dtype, array.size

    def __getitem__(self, key):
        return CupyArray(self.array[key])


class CupyStream:
    current: CupyStream

    def __init__(self, gpu, ptr):
        self.gpu, self.ptr = gpu, ptr

    def record(self):
        return types.SimpleNamespace(stream=self.ptr)

    def wait_event(self, event):
        self.gpu.log.append(("wait", self.ptr, event.stream))

    def __enter__(self):
        self.before, CupyStream.current = CupyStream.current, self

    def __exit__(self, *_):
        CupyStream.current = self.before


def make_cupy(gpu):
    """A module that stands in for CuPy."""
    null = CupyStream.current = CupyStream(gpu, 0)

    def empty(shape, dtype):
        gpu.log.append(("empty", CupyStream.current.ptr))
        return CupyArray(np.zeros(shape, dtype))

    def contiguous(array):
        gpu.log.append(("contiguous", CupyStream.current.ptr))
        return CupyArray(np.ascontiguousarray(array.array))

    return types.SimpleNamespace(
        ndarray=CupyArray,
        empty=empty,
        ascontiguousarray=contiguous,
        cuda=types.SimpleNamespace(
            get_current_stream=lambda device=None: CupyStream.current,
            Device=lambda device: contextlib.nullcontext(),
            runtime=types.SimpleNamespace(getDevice=lambda: 0),
            ExternalStream=lambda ptr, device: CupyStream(gpu, ptr),
            Stream=types.SimpleNamespace(null=null, ptds=CupyStream(gpu, 2)),
        ),
    )
