//===- Search.h - Where CUDA's compiler files may be -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_TARGET_LTOIR_SEARCH_H
#define ANNUDF_LIB_TARGET_LTOIR_SEARCH_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace annudf::ltoir {

/// Files that may be libNVVM, in the order to try. $ANNUDF_LIBNVVM, if set, is the
/// only one: who names a library wants no other.
std::vector<std::string> libNvvmCandidates();

/// Files that may be NVRTC, as above, with $ANNUDF_LIBNVRTC.
std::vector<std::string> nvrtcCandidates();

/// Files that may be libdevice.10.bc. Beside the library first: the two belong together.
std::vector<std::string> libDeviceCandidates(llvm::StringRef libNvvmPath);

} // namespace annudf::ltoir

#endif // ANNUDF_LIB_TARGET_LTOIR_SEARCH_H
