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

  /// As nvJitLink numbers them.
  enum class Kind { Cubin = 1, Ptx = 2, LtoIr = 3 };
  struct Piece {
    Kind kind;
    llvm::StringRef bytes;
  };
  /// Links to machine code, with optimisation of what can be: to see that nothing is missing or
  /// there twice.
  llvm::Expected<std::string> linkToCubin(llvm::ArrayRef<Piece> pieces, int sm) const;

private:
  NvJitLink() = default;
  struct Functions;
  llvm::Expected<std::string> link(llvm::ArrayRef<Piece> pieces, int sm, bool toPtx) const;
  std::unique_ptr<Functions> functions;
};

} // namespace annudf

#endif // ANNUDF_TARGET_NVJITLINK_H
