//===- LibDevice.h - CUDA's math functions as bitcode -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TARGET_LIBDEVICE_H
#define ANNUDF_TARGET_LIBDEVICE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace annudf {

/// The process's libdevice, read by the first call that finds one. Fails, naming every place
/// looked at.
/// \param libNvvmPath  of the libNVVM whose toolkit is looked at first; may be empty.
llvm::Expected<const llvm::MemoryBuffer *> libDevice(llvm::StringRef libNvvmPath);

} // namespace annudf

#endif // ANNUDF_TARGET_LIBDEVICE_H
