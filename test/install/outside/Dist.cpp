// Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect dist: nothing that tablegen does not write.
#include "Dist.h"

#include <mlir/IR/Builders.h>

#include "DistDialect.cpp.inc"

#define GET_OP_CLASSES
#include "Dist.cpp.inc"

void dist::DistDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Dist.cpp.inc"
      >();
}
