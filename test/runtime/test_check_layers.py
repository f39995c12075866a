#!/usr/bin/env python3
# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_layers.py on this tree with includes planted that it has to refuse."""

import shutil
import tempfile
import unittest
from pathlib import Path

from check_layers import ROOMS, TOPS, check

ROOT = Path(__file__).resolve().parents[2]
# A file, what is added to its includes, and what is said of it.
PLANTED = [
    ("runtime/lib/support/Parallel.cpp", '"../vectors/Elements.h"', "runtime/lib/support includes runtime/lib/vectors"),
    ("runtime/lib/coarse/Coarse.cpp", '"annudf/runtime/engine/Plan.h"', "runtime/lib/coarse includes runtime/lib/engine"),
    ("runtime/lib/engine/Plan.cpp", '"annudf/Compiler/Compiler.h"', "runtime/lib/engine includes lib/Compiler"),
    ("runtime/lib/engine/Plan.cpp", '"annudf-c/annudf.h"', "runtime/lib/engine includes include/annudf-c"),
    ("runtime/lib/cpu/search/Batch.h", '"../products/ProductScan.h"', "runtime/lib/cpu/search includes runtime/lib/cpu/products"),
    ("runtime/lib/cpu/Backend.cpp", '"cuda/plan/Families.h"', "runtime/lib/cpu includes runtime/lib/cuda/plan"),
    ("runtime/lib/cuda/plan/Families.h", '"cuda/driver/Driver.h"', "runtime/lib/cuda/plan includes runtime/lib/cuda/driver"),
    ("runtime/kernels/Orders.h", '"../lib/vectors/Elements.h"', "runtime/kernels includes runtime/lib/vectors"),
    ("runtime/kernels/cuda/scan/Hooks.cuh", '"../search/Select.cuh"', "runtime/kernels/cuda/scan includes runtime/kernels/cuda/search"),
    ("lib/Artifact/Tables.cpp", "<annudf/Compiler/Compiler.h>", "lib/Artifact includes lib/Compiler"),
    ("lib/Dialect/IR/Builder.cpp", '"annudf/Analysis/Ranges.h"', "lib/Dialect/IR includes lib/Analysis"),
    ("include/annudf/Analysis/Ranges.h", '"annudf/Dialect/Transforms/Passes.h"', "lib/Analysis includes lib/Dialect/Transforms"),
    ("lib/Dialect/Transforms/VerifyABI.cpp", '"annudf/Frontend/Source.h"', "lib/Dialect/Transforms includes lib/Frontend"),
    ("lib/Frontend/Text/Diagnostics.cpp", '"annudf/Target/Translate.h"', "lib/Frontend includes lib/Target"),
    ("include/annudf/Conversion/Passes.h", '"annudf/Frontend/Passes.h"', "lib/Conversion includes lib/Frontend"),
    ("lib/Target/CudaSource/Program.h", '"annudf/Compiler/CudaSource.h"', "lib/Target includes lib/Compiler"),
    ("lib/Analysis/Lanes.cpp", '"../../runtime/kernels/PackedTerms.h"', "lib/Analysis includes runtime/kernels"),
    ("lib/Compiler/Compiler.cpp", '"annudf/runtime/engine/Search.h"', "lib/Compiler includes runtime/lib/engine"),
    ("include/annudf/InitAll.h", '"annudf/Compiler/Compiler.h"', "lib/Init includes lib/Compiler"),
    ("include/annudf/annudf.hpp", '"annudf/Artifact/Artifact.h"', "include/annudf/cpp includes include/annudf/Artifact"),
    ("include/annudf/cpp/trace/value.hpp", '"annudf/Compiler/Compiler.h"', "include/annudf/cpp includes lib/Compiler"),
    ("python-frontend-shim/src/Search.cpp", '"annudf/runtime/engine/Search.h"', "python-frontend-shim/src includes runtime/lib/engine"),
    ("tools/annudf-opt/annudf-opt.cpp", '"annudf/Compiler/Compiler.h"', "tools includes lib/Compiler"),
    ("tools/annudf/Common.cpp", '"../../runtime/lib/vectors/Elements.h"', "tools/annudf includes a header of the runtime that is not public"),
    ("runtime/bench/Mixture.h", '"annudf/Frontend/Source.h"', "runtime/bench includes lib/Frontend"),
    ("lib/CAPI/Wrap.h", '"../../runtime/lib/vectors/Elements.h"', "lib/CAPI includes a header of the runtime that is not public"),
]


class CheckLayers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = Path(folder.name).resolve()
        for top in TOPS:
            shutil.copytree(ROOT / top, cls.root / top)

    def test_this_tree(self):
        faults, seen = check(ROOT)
        self.assertEqual(faults, [])
        self.assertGreater(seen, 1000)

    def test_what_is_planted_is_seen(self):
        texts = {}
        for file, include, _ in PLANTED:
            path = self.root / file
            text = path.read_text(encoding="utf-8")
            texts.setdefault(path, text)
            path.write_text(f"#include {include}\n{text}", encoding="utf-8")
        faults, _ = check(self.root)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        self.assertCountEqual(faults, [f"{file}: {said} ({include[1:-1]})" for file, include, said in PLANTED])

    def test_a_folder_that_no_line_names(self):
        path = self.root / "runtime/lib/cuda/attic/New.h"
        path.parent.mkdir()
        path.write_text('#include "cuda/DeviceBackend.h"\n', encoding="utf-8")
        faults, _ = check(self.root)
        shutil.rmtree(path.parent)
        self.assertEqual(len(faults), 1)
        self.assertIn("runtime/lib/cuda/attic/New.h: its folder is not in ROOMS", faults[0])

    def test_every_line_is_a_folder(self):
        self.assertEqual([room for room in ROOMS if not (ROOT / room).is_dir()], [])


if __name__ == "__main__":
    unittest.main()
