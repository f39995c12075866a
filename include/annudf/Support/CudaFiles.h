//===- CudaFiles.h - CUDA's libraries, found and opened -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One search and one loader for compiler and runtime: the libNVVM that makes a
// metric's LTO-IR and the nvJitLink that links it should come from one toolkit.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_CUDAFILES_H
#define ANNUDF_SUPPORT_CUDAFILES_H

#include <dlfcn.h>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace annudf {

/// Files that may be the library `name` ("libnvJitLink.so.13"), best first; the last is
/// `name` itself, for the dynamic linker's own places.
/// \param variable  of the environment: if set, the file or folder that it names is the
///                  only place, as who names a library wants no other.
/// \param folders   of a toolkit's root, best first.
std::vector<std::string> cudaLibraryCandidates(const std::string &name, const char *variable,
                                               const std::vector<std::string> &folders = {"lib64"});

/// A library that was opened, or none and where it was looked for.
struct CudaLibrary {
  void *handle = nullptr;
  std::string path;     ///< The candidate that was opened.
  std::string searched; ///< Those passed over, each with the reason where it is there.
};

/// Opens the first of `candidates` that loads and for which `refuse` has no objection:
/// it returns why the library will not do, or an empty string. What was opened stays
/// open, even if refused: a library that ran may have left threads.
CudaLibrary
openCudaLibrary(const std::vector<std::string> &candidates,
                const std::function<std::string(void *handle, const std::string &path)> &refuse);

/// Fills pointers with a library's functions and keeps the name of the first that it lacks.
class CudaSymbols {
public:
  explicit CudaSymbols(void *library) : library_(library) {}
  template <typename Function> void operator()(Function &function, const char *name) {
    static_assert(std::is_pointer_v<Function>);
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function && !missing_)
      missing_ = name;
  }
  /// Why the library will not do; empty if it has every function.
  std::string complaint() const {
    return missing_ ? std::string("has no ") + missing_ : std::string();
  }

private:
  void *library_;
  const char *missing_ = nullptr;
};

/// Files that may be libdevice.10.bc. Beside libNVVM first: the two belong together.
std::vector<std::string> libDeviceCandidates(const std::string &libNvvmPath);

} // namespace annudf

#endif // ANNUDF_SUPPORT_CUDAFILES_H
