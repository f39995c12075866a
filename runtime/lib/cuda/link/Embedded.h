//===- Embedded.h - Device code carried by this library ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_LINK_EMBEDDED_H
#define ANNUDF_RUNTIME_LIB_CUDA_LINK_EMBEDDED_H

#include "cuda/plan/Families.h"

#include "annudf/Artifact/Artifact.h"

#include <string_view>

namespace annudf::runtime::cuda {

/// LTO-IR (in a fatbin) of a family's source for the metric's widths; empty where the ABI has no
/// hooks of these. `compact` holds each hook once, for large bodies, where the source has such a
/// form.
std::string_view scanFragment(ScanSource source, const MetricDescriptor &metric, bool compact);
/// PTX with that kernel and its hooks left open (Template.h), for accumulators of one word of 32
/// bits, coordinates in f32 and queries of the rows' element; empty for all else.
std::string_view scanTemplate(const ScanEntry &entry, const Manifest &metric,
                              ScanElements elements);
/// LTO-IR (in a fatbin) of HookText.cu for these.
std::string_view hookTextFragment();
/// LTO-IR (in a fatbin) of Constant.cu.
std::string_view rowElementFragment(annudf_element element);
std::string_view queryElementFragment(annudf_element element);
std::string_view computeFragment(annudf_compute compute);
std::string_view packedTermFragment(annudf_packed_term term);
std::string_view bitProductsFragment(int sm);
/// LTO-IR (in a fatbin) of Finalize.cu; of several fields there is none.
std::string_view finalizeFragment(annudf_accumulator accumulator);
/// LTO-IR (in a fatbin) of Filter.cu.
std::string_view filterFragment();
/// LTO-IR (in a fatbin) of Contract.cu, which every link has.
std::string_view contractFragment();
/// LTO-IR (in a fatbin) of Overlap.cu, which every scan calls.
std::string_view overlapFragment(int sm);
/// Machine code of Search.cu for every architecture, and PTX for later ones.
std::string_view searchModule();
/// The same of Build.cu.
std::string_view buildModule();
/// Machine code of Products.cu, for sm_90 alone.
std::string_view matrixModule();

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_LINK_EMBEDDED_H
