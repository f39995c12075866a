//===- OpenLibrary.h - Libraries of CUDA, opened when needed ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_TARGET_OPENLIBRARY_H
#define ANNUDF_LIB_TARGET_OPENLIBRARY_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

#include <dlfcn.h>
#include <string>

namespace annudf {

/// Opens `file`, a candidate of cudaLibraryCandidates(). Null if that fails: `passOver`
/// was called with the reason, which is empty if there is no such file.
template <class PassOver> void *openLibrary(const std::string &file, PassOver passOver) {
  if (file.find('/') != std::string::npos && !llvm::sys::fs::exists(file)) {
    passOver("");
    return nullptr;
  }
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    passOver(llvm::Twine(" (") + (why ? why : "cannot be loaded") + ")");
  }
  return library;
}

} // namespace annudf

#endif // ANNUDF_LIB_TARGET_OPENLIBRARY_H
