//===- H200.h - A machine to plan for, without one --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_H200_H
#define ANNUDF_TEST_RUNTIME_CUDA_H200_H

#include "annudf/runtime/engine/Plan.h"

namespace annudf::test {

/// As its driver tells: memory of 3,201 MHz and 6,144 bits, processors of 1,980 MHz.
inline const runtime::Machine kH200{.arch = 90,
                                    .processors = 132,
                                    .sharedBytes = 227 * 1024,
                                    .workspaceBytes = uint64_t(4) << 30,
                                    .memoryBytesPerMs = 4.917e9,
                                    .clocksPerMs = 1.98e6};

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_H200_H
