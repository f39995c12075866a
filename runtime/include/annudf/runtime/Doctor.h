//===- Doctor.h - What a machine offers the runtime -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_DOCTOR_H
#define ANNUDF_RUNTIME_DOCTOR_H

#include <string>
#include <vector>

namespace annudf::runtime {

/// One part that a search may need.
struct Finding {
  std::string part;   ///< "nvJitLink", ...
  bool found = false;
  std::string detail; ///< Version and place, or why it is missing, in one line.
  std::string usedFor;
};

/// The CUDA driver, its devices, nvJitLink. Never throws; works without any of them.
std::vector<Finding> inspectCuda();

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_DOCTOR_H
