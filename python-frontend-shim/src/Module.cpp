//===- Module.cpp - annudf._core ------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace annudf::python;

/// What arguments are by default and at most: DEFAULT_N_PROBES, MAX_K.
static void addLimits(nb::module_ &module) {
#define ANNUDF_X(NAME, ...) module.attr(#NAME) = +ANNUDF_##NAME;
  ANNUDF_LIMITS(ANNUDF_X)
  ANNUDF_X(DEFAULT_N_LISTS)
  ANNUDF_X(DEFAULT_KMEANS_N_ITERS)
  ANNUDF_X(DEFAULT_KMEANS_TRAINSET_FRACTION)
  ANNUDF_X(DEFAULT_SEED)
  ANNUDF_X(DEFAULT_N_PROBES)
  ANNUDF_X(DEFAULT_K)
  ANNUDF_X(DEFAULT_RECALL)
  ANNUDF_X(DEFAULT_MAX_RESULTS)
  ANNUDF_X(DEFAULT_NAN_SHARE)
  ANNUDF_X(DEFAULT_CACHE_BYTES)
  ANNUDF_X(MAX_LISTS)
  ANNUDF_X(MAX_RESULTS)
  ANNUDF_X(MAX_KMEANS_N_ITERS)
  ANNUDF_X(MAX_THREADS)
  ANNUDF_X(MAX_FILTER_IDS)
  ANNUDF_X(MAX_SOURCE_BYTES)
#undef ANNUDF_X
}

NB_MODULE(_core, module) {
  // Metrics are module globals of user code, which Python need not destroy at exit.
  nanobind::set_leak_warnings(false);
  module.doc() = "Compiler and runtime of annudf. The package annudf is the interface to use.";
  const uint32_t version = annudf_capi_version();
  if (version >> 16 != ANNUDF_CAPI_MAJOR || (version & 0xffff) != ANNUDF_CAPI_MINOR)
    throw nb::import_error(
        "annudf._core was built for another libannudf than the one it has found; "
        "install the package again");
  module.attr("__version__") = annudf_version();
  module.attr("Diagnostic") = nb::module_::import_("annudf.errors").attr("Diagnostic");
  addLimits(module);
  addCompiler(module);
  addDeviceUdf(module);
  addFilters(module);
  addIndex(module);
  addColumns(module);
  addStatistics(module);
  addSearch(module);
  addArrays(module);
}
