//===- NvJitLink.h - LTO-IR to PTX, to look at -------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What runs is linked by the runtime, for the device at hand. Here LTO-IR of somebody else
// is only looked at, which needs no device.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TARGET_NVJITLINK_H
#define ANNUDF_TARGET_NVJITLINK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace annudf {

/// A loaded nvJitLink. Its functions may be called from several threads at once.
class NvJitLink {
public:
  ~NvJitLink();

  /// The process's nvJitLink, loaded by the first call that finds one. Fails, naming every place
  /// looked at and why it was passed over.
  static llvm::Expected<std::shared_ptr<const NvJitLink>> load();

  /// Links pieces of LTO-IR. Functions whose address is taken stay as they are.
  llvm::Expected<std::string> linkToPtx(llvm::ArrayRef<llvm::StringRef> pieces, int sm) const;

private:
  NvJitLink() = default;
  struct Functions;
  std::unique_ptr<Functions> functions;
};

} // namespace annudf

#endif // ANNUDF_TARGET_NVJITLINK_H
