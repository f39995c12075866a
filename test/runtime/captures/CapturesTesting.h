//===- CapturesTesting.h - Manifests of captures for tests ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CAPTURES_CAPTURESTESTING_H
#define ANNUDF_TEST_RUNTIME_CAPTURES_CAPTURESTESTING_H

#include "annudf/runtime/captures/Captures.h"

#include <utility>
#include <vector>

namespace annudf::runtime {

inline const CaptureExtent kDim{ANNUDF_EXTENT_DIM, 0};

inline Manifest manifest(std::vector<CaptureInfo> captures) {
  Manifest m;
  m.name = "m";
  m.captures = std::move(captures);
  return m;
}

} // namespace annudf::runtime

#endif // ANNUDF_TEST_RUNTIME_CAPTURES_CAPTURESTESTING_H
