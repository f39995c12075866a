//===- Nvrtc.h - CUDA C++ to LTO-IR and PTX ------------------- -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVRTC is loaded when first needed, as libNVVM is.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_TARGET_CUDASOURCE_NVRTC_H
#define ANNUDF_LIB_TARGET_CUDASOURCE_NVRTC_H

#include "annudf/Target/LibNvvm.h"

namespace annudf {

/// A loaded NVRTC. Its functions may be called from several threads at once.
class Nvrtc {
public:
  ~Nvrtc();

  /// The process's NVRTC, loaded by the first call that finds one. Fails, naming every
  /// place looked at and why it was passed over.
  static llvm::Expected<std::shared_ptr<const Nvrtc>> load();

  const std::string &path() const { return libraryPath; }
  /// "13.0"
  const std::string &release() const { return releaseName; }
  /// Whether it compiles for compute capability `sm`.
  bool supports(int sm) const;

  struct Result {
    bool ok = false;
    std::string code, log;
  };
  /// Compiles `program`, which may include "annudf_abi.h". Fails only where NVRTC itself
  /// does; what it has against the program is in the log.
  /// \param kind  Ptx and Prototypes are the same.
  llvm::Expected<Result> compile(const std::string &program, int sm, DeviceCode kind) const;

private:
  Nvrtc() = default;
  std::string open(void *handle, const std::string &file);
  struct Functions;

  std::string libraryPath, releaseName, includeFolder;
  std::vector<int> architectures;
  std::unique_ptr<Functions> functions;
};

} // namespace annudf

#endif // ANNUDF_LIB_TARGET_CUDASOURCE_NVRTC_H
