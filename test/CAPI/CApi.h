//===- CApi.h - Owners of what the C API hands out ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_CAPI_CAPI_H
#define ANNUDF_TEST_CAPI_CAPI_H

#include "Support/TestFiles.h"

#include "annudf-c/Compiler.h"

#include <gtest/gtest.h>
#include <string>

namespace annudf::test {

/// Destroys a handle with its test; `&owner` is where a call puts one.
template <typename Handle, void (*destroy)(Handle *)> class Owner {
public:
  Owner() = default;
  ~Owner() { destroy(handle); }
  Owner(const Owner &) = delete;
  Owner &operator=(const Owner &) = delete;
  Handle **operator&() {
    destroy(handle);
    handle = nullptr;
    return &handle;
  }
  operator Handle *() const { return handle; }

private:
  Handle *handle = nullptr;
};

using OwnedArtifact = Owner<annudf_artifact, annudf_artifact_destroy>;
using OwnedBuffer = Owner<annudf_buffer, annudf_buffer_destroy>;
using OwnedDiagnostics = Owner<annudf_diagnostics, annudf_diagnostics_destroy>;

inline std::string textOf(const annudf_buffer *buffer) {
  return buffer ? std::string(annudf_buffer_data(buffer), annudf_buffer_size(buffer)) : "NO BUFFER";
}

inline annudf_diagnostic diagnosticAt(const annudf_diagnostics *list, size_t index) {
  annudf_diagnostic diagnostic = {};
  diagnostic.size = sizeof diagnostic;
  EXPECT_EQ(annudf_diagnostics_get(list, index, &diagnostic), ANNUDF_OK) << annudf_last_error();
  return diagnostic;
}

/// "STATUS: text of the last error", "ok" where nothing failed.
inline std::string outcome(annudf_status status) {
  return status == ANNUDF_OK ? "ok"
                             : std::string(annudf_status_name(status)) + ": " + annudf_last_error();
}

inline bool haveLibNvvm() {
  OwnedBuffer text;
  return annudf_describe_cuda_compiler(ANNUDF_CUDA_LIBNVVM, &text) == ANNUDF_OK;
}

/// A small metric: squared distances, with one capture a dimension.
inline const std::string kMetric =
    R"(annudf.metric @weighted order(min) coarse(l2) elements(f32, u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %weight = annudf.load %w[%dim] : !annudf.capture<dim x f32>
    %diff = arith.subf %x, %y : f32
    %term = arith.mulf %diff, %weight : f32
    %next = math.fma %term, %diff, %acc : f32
    annudf.yield %next : f32
  }
}
)";

/// The metric without code for GPUs, which is quick and needs no CUDA.
inline void compileForHost(const std::string &source, annudf_artifact **artifact) {
  annudf_compile_options options = {};
  options.size = sizeof options;
  options.skip_lto_ir = 1;
  ASSERT_EQ(outcome(annudf_compile(source.data(), source.size(), "test.mlir", &options, artifact,
                                   nullptr)),
            "ok");
}

} // namespace annudf::test

#endif // ANNUDF_TEST_CAPI_CAPI_H
