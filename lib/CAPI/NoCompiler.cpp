//===- NoCompiler.cpp - The compiler's C API where there is none ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs link all of the API whatever this build has, as C++ programs must: a header of theirs
// names the compiler even where they search with artifacts alone.
//
//===----------------------------------------------------------------------===//

#include "annudf-c/DeviceUDF.h"

#include "Wrap.h"

using namespace annudf;
using namespace annudf::capi;

static annudf_status refuse(const char *function) {
  return guard(function, [&](Call) {
    throw Error(ErrorKind::Environment, std::string(function) +
                                            ": this annudf was built without its compiler "
                                            "(ANNUDF_BUILD_COMPILER=OFF); compile with another "
                                            "build and load the file by annudf_artifact_load");
  });
}

size_t annudf_diagnostics_count(const annudf_diagnostics *) { return 0; }

annudf_status annudf_diagnostics_get(const annudf_diagnostics *, size_t, annudf_diagnostic *) {
  return refuse(__func__); // There is no list to be asked.
}

void annudf_diagnostics_destroy(annudf_diagnostics *) {}

annudf_status annudf_compile(const char *, size_t, const char *, const annudf_compile_options *,
                             annudf_artifact **, annudf_diagnostics **) {
  return refuse(__func__);
}

const char *annudf_builtin_metric(const char *) { return nullptr; }

const char *annudf_builtin_metric_name(size_t) { return nullptr; }

annudf_status annudf_lower(const char *, size_t, const char *, const char *,
                           const annudf_lower_options *, annudf_buffer **, annudf_diagnostics **) {
  return refuse(__func__);
}

annudf_status annudf_compile_cuda_source(const char *, size_t, const char *,
                                         const annudf_cuda_source_options *, annudf_artifact **,
                                         annudf_diagnostics **) {
  return refuse(__func__);
}

annudf_status annudf_device_udf_check(const annudf_device_udf *) { return refuse(__func__); }

annudf_status annudf_device_udf_cache_key(const annudf_device_udf *, const char *const *, size_t,
                                          annudf_buffer **) {
  return refuse(__func__);
}

annudf_status annudf_device_udf_capture_value(const annudf_device_udf *, size_t,
                                              annudf_capture_value *) {
  return refuse(__func__);
}

annudf_status annudf_device_udf_from_artifact(const annudf_artifact *,
                                              const annudf_device_udf_options *,
                                              annudf_device_udf_owner **, annudf_diagnostics **) {
  return refuse(__func__);
}

const annudf_device_udf *annudf_device_udf_get(const annudf_device_udf_owner *) { return nullptr; }

void annudf_device_udf_destroy(annudf_device_udf_owner *) {}

annudf_status annudf_device_udf_to_artifact(const annudf_device_udf *,
                                            const annudf_device_udf_import *, annudf_artifact **,
                                            annudf_diagnostics **) {
  return refuse(__func__);
}

size_t annudf_supported_archs(int32_t *, size_t) { return 0; }

annudf_status annudf_describe_cuda_compiler(int32_t, annudf_buffer **) { return refuse(__func__); }

const char *annudf_llvm_version(void) { return ""; }
