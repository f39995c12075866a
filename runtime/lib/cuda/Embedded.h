//===- Embedded.h - Device code carried by this library ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_EMBEDDED_H
#define ANNUDF_RUNTIME_LIB_CUDA_EMBEDDED_H

#include "annudf/ABI/Hooks.h"

#include <string>
#include <string_view>

namespace annudf::runtime::cuda {

/// LTO-IR (in a fatbin) of Scan.cu for the widths; empty where the ABI has no hooks of these.
/// `compact` holds each hook once, for large bodies.
std::string_view scanFragment(HookWidths widths, bool compact);
/// The same with ANNUDF_PARTS, linked beside it for metrics that have combine.
std::string_view partsFragment(HookWidths widths);
/// LTO-IR (in a fatbin) of Constant.cu.
std::string_view rowElementFragment(annudf_element element);
std::string_view queryElementFragment(annudf_element element);
std::string_view computeFragment(annudf_compute compute);
/// LTO-IR (in a fatbin) of Finalize.cu; of several fields there is none.
std::string_view finalizeFragment(annudf_accumulator accumulator);
/// LTO-IR (in a fatbin) of Filter.cu.
std::string_view filterFragment();
/// Machine code of Search.cu for every architecture, and PTX for later ones.
std::string_view searchModule();

/// SHA-256 over all of them, for the key of what they are linked into.
const std::string &fragmentsDigest();

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_EMBEDDED_H
