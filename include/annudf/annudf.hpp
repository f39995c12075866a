//===- annudf/annudf.hpp - annudf for C++ -----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole C++ API: indexes, searches, and metrics that are lambdas. Header-only, C++20, over the
// C API (annudf-c); it needs libannudf and nothing else, no header of LLVM or CUDA. docs/use/cpp.md
// is the guide. Exceptions are needed, run-time type information is not (-fno-rtti).
//
// Failing calls throw annudf::error. Handles of metrics, filters, artifacts and backends are copied
// by reference and never change; indexes and matrices are moved. Const functions may be called from
// several threads at once. Until 1.0 a minor version may change any of it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ANNUDF_HPP
#define ANNUDF_ANNUDF_HPP

#if __cplusplus < 202002L // Or what follows would be pages of errors.
#error "annudf.hpp needs C++20: -std=c++20, or target_compile_features(program PRIVATE cxx_std_20)"
#else

#include "annudf/cpp/artifact.hpp"
#include "annudf/cpp/backend.hpp"
#include "annudf/cpp/brute_force.hpp"
#include "annudf/cpp/captures.hpp"
#include "annudf/cpp/columns.hpp"
#include "annudf/cpp/device_udf.hpp"
#include "annudf/cpp/error.hpp"
#include "annudf/cpp/filter.hpp"
#include "annudf/cpp/ivf_flat.hpp"
#include "annudf/cpp/matrix.hpp"
#include "annudf/cpp/metric.hpp"
#include "annudf/cpp/params.hpp"
#include "annudf/cpp/progress.hpp"
#include "annudf/cpp/refine.hpp"
#include "annudf/cpp/trace.hpp"
#include "annudf/cpp/views.hpp"

namespace annudf {
inline namespace v0 {

/// Version of the library that runs, "0.1.0".
inline std::string version() { return annudf_version(); }

} // namespace v0
} // namespace annudf

#endif // __cplusplus
#endif // ANNUDF_ANNUDF_HPP
