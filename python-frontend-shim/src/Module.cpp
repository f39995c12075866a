//===- Module.cpp - annudf._core ------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace annudf::python;

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
  addCompiler(module);
  addDeviceUdf(module);
  addFilters(module);
  addIndex(module);
  addStatistics(module);
  addSearch(module);
  addArrays(module);
}
