//===- Reduce.h - How a metric becomes smaller --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TOOLS_ANNUDFREDUCE_REDUCE_H
#define ANNUDF_TOOLS_ANNUDFREDUCE_REDUCE_H

namespace annudf::reduce {
/// Makes the pass `annudf-reduce` known to mlir-reduce's driver.
void registerReducePass();
} // namespace annudf::reduce

#endif // ANNUDF_TOOLS_ANNUDFREDUCE_REDUCE_H
