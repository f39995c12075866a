//===- HookText.cu - A metric's hooks, by themselves, to be read ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked with a metric to PTX, which is not assembled: the body of each kernel is what a hook does,
// and lines that no assembler knows tell which registers it takes and which it gives. Template.cpp
// puts it into a scan kernel.
//
//===----------------------------------------------------------------------===//

#include "Hooks.cuh"

#define ANNUDF_HOOK_TEXT(NAME)                                                                     \
  extern "C" __global__ void annudf_text_##NAME(const __grid_constant__ annudf_scan_args args)

ANNUDF_HOOK_TEXT(init) {
  Word acc;
  int dims, query, list;
  asm volatile("annudf.in %0, %1, %2;" : "=r"(dims), "=r"(query), "=r"(list));
  init(acc, dims, query, list, args.slots.slot);
  asm volatile("annudf.out %0;" ::"r"(acc));
}

ANNUDF_HOOK_TEXT(update) {
  Word acc;
  Coordinate x, y;
  int dim, dims, query, list;
  int64_t row;
  asm volatile("annudf.in %0, %1, %2, %3, %4, %5, %6, %7;"
               : "=r"(acc), "=r"(x), "=r"(y), "=r"(dim), "=r"(dims), "=l"(row), "=r"(query),
                 "=r"(list));
  update(acc, x, y, dim, dims, row, query, list, args.slots.slot);
  asm volatile("annudf.out %0;" ::"r"(acc));
}

ANNUDF_HOOK_TEXT(finalize) {
  Word acc;
  int dims, query, list;
  int64_t row;
  asm volatile("annudf.in %0, %1, %2, %3, %4;"
               : "=r"(acc), "=r"(dims), "=l"(row), "=r"(query), "=r"(list));
  const float distance = finalize(acc, dims, row, query, list, args.slots.slot);
  asm volatile("annudf.out %0;" ::"f"(distance));
}
