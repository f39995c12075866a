//===- CudaFiles.h - Where CUDA's libraries may be ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One search for compiler and runtime: the libNVVM that makes a metric's LTO-IR and
// the nvJitLink that links it should come from one toolkit.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_CUDAFILES_H
#define ANNUDF_ARTIFACT_CUDAFILES_H

#include <string>
#include <vector>

namespace annudf {

/// Files that may be the library `name` ("libnvJitLink.so.13"), best first; the last is
/// `name` itself, for the dynamic linker's own places.
/// \param variable  of the environment: if set, the file or folder that it names is the
///                  only place, as who names a library wants no other.
/// \param folders   of a toolkit's root, best first.
std::vector<std::string> cudaLibraryCandidates(const std::string &name, const char *variable,
                                               const std::vector<std::string> &folders = {"lib64"});

/// Files that may be libdevice.10.bc. Beside libNVVM first: the two belong together.
std::vector<std::string> libDeviceCandidates(const std::string &libNvvmPath);

} // namespace annudf

#endif // ANNUDF_ARTIFACT_CUDAFILES_H
