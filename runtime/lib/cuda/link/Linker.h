//===- Linker.h - Metric + scan kernel = cubin ------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvJitLink, opened at run time. Needs no GPU and no driver, so that a machine
// without one can link for any architecture and look at the result.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKER_H
#define ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKER_H

#include "cuda/plan/Families.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/engine/KernelKey.h"

#include <optional>
#include <string>

namespace annudf::runtime::cuda {

struct LinkerVersion {
  unsigned major = 0, minor = 0;
  std::string path;  ///< Where the library was found.
  std::string build; ///< The file's build id, as patches do not change the version.
};

/// The nvJitLink at hand. \throws Error(Environment) naming every place looked at.
LinkerVersion linkerVersion();

/// What a link makes a kernel of, beside the metric.
struct ScanTarget {
  ScanElements elements;
  int sm;
  ScanEntry entry;
};

/// The key of what linkScanKernel makes; the payload's digest is that of nothing where there is
/// no LTO-IR, which linkScanKernel refuses. \throws Error(Environment): no nvJitLink.
KernelKey linkKey(const MetricView &metric, const ScanTarget &target);

/// The metric's hooks as PTX, some milliseconds; nothing where there is no template for them.
std::optional<std::string> hookText(const Artifact &artifact, const ScanTarget &target);

/// The target's kernel in PTX, its template filled with the metric's hooks; nothing where there is
/// no template for them, or where the hooks are more than it takes (Template.h).
std::optional<std::string> scanText(const Artifact &artifact, const ScanTarget &target);

/// Links the target's kernel with the metric's LTO-IR, the constants of the search and what the
/// metric lacks, and compiles for sm_`target.sm`.
/// \param linkMs  time of the link, if wanted.
/// \returns the cubin; its kernels are that and annudf_read_contract.
/// \throws Error(Input): no LTO-IR for sm_`sm` (names those present), bytes that are
/// not LTO-IR, LTO-IR newer than the linker, a hook missing (the linker's own words).
/// Error(Environment): no nvJitLink.
std::string linkScanKernel(const Artifact &artifact, const ScanTarget &target,
                           double *linkMs = nullptr);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_LINK_LINKER_H
