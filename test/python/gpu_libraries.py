# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What the tests on a real GPU need of each library of device arrays."""

from __future__ import annotations

import numpy as np
import pytest

import annudf


class Cupy:
    """What the tests need of CuPy."""

    def __init__(self):
        self.module = pytest.importorskip("cupy", reason="CuPy is not installed")

    def put(self, array):
        return self.module.asarray(array)

    def get(self, array):
        assert isinstance(array, self.module.ndarray)
        return array.get()

    def stream(self):
        return self.module.cuda.Stream(non_blocking=True)

    def delay(self, array):
        """Enqueues work on the current stream that writes `array` late."""
        large = self.module.ones((4096, 4096), self.module.float32)
        for _ in range(20):
            large = large @ large * 1e-6
        array += 0 * large[0, 0].astype(array.dtype)

    def empty(self, shape, dtype):
        return self.module.empty(shape, dtype)

    def noncontiguous(self, array):
        return self.module.asfortranarray(self.put(array))


class Torch:
    """The same of PyTorch."""

    def __init__(self):
        self.module = pytest.importorskip("torch", reason="PyTorch is not installed")
        if not self.module.cuda.is_available():
            pytest.skip("this PyTorch has no CUDA")

    def put(self, array):
        return self.module.from_numpy(np.ascontiguousarray(array)).cuda()

    def get(self, array):
        assert isinstance(array, self.module.Tensor)
        assert array.is_cuda
        return array.cpu().numpy()

    def stream(self):
        return _TorchStream(self.module)

    def delay(self, array):
        large = self.module.ones((4096, 4096), device="cuda")
        for _ in range(20):
            large = large @ large * 1e-6
        array += 0 * large[0, 0].to(array.dtype)

    def empty(self, shape, dtype):
        return self.module.empty(shape, dtype=getattr(self.module, dtype), device="cuda")

    def noncontiguous(self, array):
        return self.put(array.T).T


class _TorchStream:
    def __init__(self, module):
        self.module, self.stream = module, module.cuda.Stream()
        self.ptr = self.stream.cuda_stream

    def __enter__(self):
        self.context = self.module.cuda.stream(self.stream)
        self.context.__enter__()

    def __exit__(self, *arguments):
        self.context.__exit__(*arguments)

    def synchronize(self):
        self.stream.synchronize()


class Plain:
    """Arrays of annudf itself."""

    def put(self, array):
        return annudf.device_ndarray(array)

    def get(self, array):
        assert isinstance(array, annudf.device_ndarray)
        return array.copy_to_host()

    def empty(self, shape, dtype):
        return annudf.device_ndarray.empty(shape, dtype)
