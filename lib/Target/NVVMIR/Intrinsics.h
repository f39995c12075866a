//===- Intrinsics.h - Functions that libNVVM provides -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_TARGET_NVVMIR_INTRINSICS_H
#define ANNUDF_LIB_TARGET_NVVMIR_INTRINSICS_H

#include "llvm/ADT/StringRef.h"

namespace annudf::nvvmir {

/// The name under which libNVVM knows LLVM's intrinsic `name`: itself, an intrinsic
/// of NVVM, or a function of libdevice. Empty if there is none; libNVVM would take
/// the call of an unknown intrinsic for one of an external function, silently.
llvm::StringRef intrinsicName(llvm::StringRef name);

} // namespace annudf::nvvmir

#endif // ANNUDF_LIB_TARGET_NVVMIR_INTRINSICS_H
