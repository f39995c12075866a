//===- LibDevice.cpp - CUDA's math functions as bitcode -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Target/LibDevice.h"

#include "annudf/Support/CudaFiles.h"
#include "annudf/Support/Fork.h"

#include <mutex>

using namespace llvm;

Expected<const MemoryBuffer *> annudf::libDevice(StringRef libNvvmPath) {
  static PerProcess<std::mutex> mutex;
  static std::unique_ptr<MemoryBuffer> buffer;
  std::lock_guard<std::mutex> lock(mutex.get());
  if (buffer)
    return buffer.get();
  std::string searched;
  for (const std::string &file : libDeviceCandidates(libNvvmPath.str())) {
    auto read = MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!read) {
      searched += (searched.empty() ? "" : ", ") + file;
      continue;
    }
    if (!(*read)->getBuffer().starts_with("BC\xC0\xDE"))
      return createStringError(inconvertibleErrorCode(),
                               file + " is not LLVM bitcode, so it cannot be libdevice");
    buffer = std::move(*read);
    return buffer.get();
  }
  return createStringError(inconvertibleErrorCode(),
                           "the metric needs libdevice.10.bc, which was not found; looked at " +
                               searched + " (name it with ANNUDF_LIBDEVICE)");
}
