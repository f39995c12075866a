//===- Embedded.h - Device code carried by this library ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_EMBEDDED_H
#define ANNUDF_RUNTIME_LIB_CUDA_EMBEDDED_H

#include "annudf/ABI/annudf_abi.h"

#include <string>
#include <string_view>

namespace annudf::runtime::cuda {

/// LTO-IR (in a fatbin) of Scan.cu for an accumulator width, 32 or 64. `compact` holds
/// each hook once, for metrics whose bodies are large.
std::string_view scanFragment(int width, bool compact);
/// LTO-IR (in a fatbin) of Element.cu.
std::string_view elementFragment(annudf_element element);
/// Machine code of Search.cu for every architecture, and PTX for later ones.
std::string_view searchModule();

/// SHA-256 over all of them, for the key of what they are linked into.
const std::string &fragmentsDigest();

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_EMBEDDED_H
