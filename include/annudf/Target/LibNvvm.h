//===- LibNvvm.h - NVVM IR to LTO-IR and PTX -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libNVVM is loaded when first needed, so that annudf builds and serves CPUs where
// there is no CUDA. docs/spec/nvvm-ir.md says where it is looked for.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TARGET_LIBNVVM_H
#define ANNUDF_TARGET_LIBNVVM_H

#include "annudf/ABI/Hooks.h"
#include "annudf/ABI/TargetAbi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace annudf {

/// Architectures that LTO-IR is made for, oldest first: 75 ... 121.
llvm::ArrayRef<int> supportedSmVersions();

/// 90 for "sm_90". Fails, listing what is supported, on anything else.
llvm::Expected<int> parseSmVersion(llvm::StringRef arch);

enum class DeviceCode {
  LtoIr,      ///< What nvJitLink links with a kernel.
  Ptx,        ///< Text, for people.
  Prototypes, ///< PTX for checkPrototypes: nothing inlined or optimised, as it is not to run.
};

/// A loaded libNVVM. Its functions may be called from several threads at once.
class LibNvvm {
public:
  ~LibNvvm();

  /// The process's libNVVM, loaded by the first call that finds one. Fails, naming
  /// every place looked at and why it was passed over.
  static llvm::Expected<std::shared_ptr<const LibNvvm>> load();

  const std::string &path() const { return libraryPath; }
  /// The CUDA toolkit it belongs to, "13.0".
  const std::string &release() const { return releaseName; }

  /// Verifies and compiles NVVM IR. libdevice is added where `ir` calls it.
  /// \param sm  as supportedSmVersions().
  llvm::Expected<std::string> compile(llvm::StringRef ir, int sm, DeviceCode kind) const;

private:
  LibNvvm() = default;
  std::string open(void *handle, const std::string &file);
  struct Functions;

  std::string libraryPath, releaseName;
  std::unique_ptr<Functions> functions;
};

/// Which hooks a metric has.
struct HookShape {
  HookWidths widths;
  std::vector<annudf_hook> hooks; ///< Those that the metric defines.
  /// May ask for the element of the rows, as a source in the form of cuVS does.
  bool asksForElement = false;
  /// A filter's hooks, which are those of no metric. If so, `widths` and `hooks` do not matter.
  bool isFilter = false;
  /// Function of ANNUDF_CUVS_METRIC_ABI_ID that is linked beside it and may be called; or empty.
  std::string linked = {};
  bool linkedTakesCapture = false;
  /// Functions of annudf.extern, which may be called too: names and prototypes.
  std::vector<std::pair<std::string, std::string>> externs = {};
};

/// Compares the functions that `ptx` defines with the prototypes in annudf_abi.h.
/// Fails, showing both, where a hook differs, is missing or is one too many, and on any
/// external function: a linker matches names only.
llvm::Error checkPrototypes(llvm::StringRef ptx, const HookShape &shape);

/// The same for the function of ANNUDF_CUVS_METRIC_ABI_ID.
llvm::Error checkCuvsPrototype(llvm::StringRef ptx, llvm::StringRef symbol, bool hasCapture);

/// Looks for `symbol` in the PTX of code that is to be linked. True if it is defined, as
/// `prototype`; fails where it is defined as another.
llvm::Expected<bool> findLinkedPrototype(llvm::StringRef ptx, llvm::StringRef symbol,
                                         llvm::StringRef prototype);

/// Functions, kernels and data that PTX defines, by name.
std::vector<std::string> namesOfPtx(llvm::StringRef ptx);

/// Those of them that are defined for other pieces and not weak: two pieces with one are a mistake,
/// of which nvJitLink 13 says nothing in its result, or ends the process.
std::vector<std::string> strongNamesOfPtx(llvm::StringRef ptx);

/// The first name that annudf keeps for itself; "" where there is none. The adapters of
/// LowerExterns and kProbeName are known.
std::string findReservedName(llvm::ArrayRef<std::string> names);

/// The kernel that keeps what is looked at.
inline constexpr char kProbeName[] = "annudf_probe";

/// The same of a device function: `ptx` defines `name` with `prototype`, as ptxPrototypeOf() of
/// annudf/Conversion/Functions.h has it.
llvm::Error checkFunctionPrototype(llvm::StringRef ptx, llvm::StringRef name,
                                   llvm::StringRef prototype);

} // namespace annudf

#endif // ANNUDF_TARGET_LIBNVVM_H
