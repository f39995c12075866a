//===- GpuArtifacts.cpp - What GPU tests search with, compiled ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: annudf_gpu_artifacts FOLDER
//
// Needs the compiler and the CUDA toolkit, no GPU. Into FOLDER it writes
//   weighted.annudf    a lambda (GpuArtifacts.h), for CppDeviceTest.cpp
//   descriptor.annudf  what its descriptor becomes, for the same
//   linked_*.annudf    a formula with and without linked code, for
//                      test/runtime/cuda/LinkedCodeTest.cpp
//
//===----------------------------------------------------------------------===//

#include "GpuArtifacts.h"

#include <cstdio>

namespace {

constexpr std::int64_t kDims = 16; // As in CppDeviceTest.cpp.

using Scaled = annudf::linked<float(float, float)>;

/// As LTO-IR and PTX it is a device function of annudf's own compiler.
const char *const kFunction = R"(annudf.function @scaled convention(c) (f32, f32) -> f32 {
  annudf.body (%x: f32, %y: f32) {
    %two = arith.constant 2.0 : f32
    %d = arith.subf %x, %y : f32
    %r = arith.mulf %two, %d : f32
    annudf.yield %r : f32
  }
})";
const char *const kSource =
    "extern \"C\" __device__ float scaled(float x, float y) { return 2 * (x - y); }";
const char *const kNumbaSource = "extern \"C\" __device__ int scaled(float *r, float x, float y) { "
                                 "*r = 2 * (x - y); return 0; }";

template <class Apart> annudf::artifact squaresOf(const Apart &apart) {
  return annudf::metric("squares",
                        [=](auto x, auto y, auto acc) {
                          auto d = apart(x, y);
                          return acc + d * d;
                        },
                        {.numerics = annudf::numerics::reassociate}) // For the family "parts".
      .artifact();
}

annudf::artifact linking(annudf::linked_code code,
                         annudf::convention convention = annudf::convention::c) {
  return squaresOf(Scaled("scaled", {std::move(code)}, {.convention = convention}));
}

void write(const std::string &folder) {
  const annudf::metric weighted = annudf::test::weightedSizes();
  weighted.artifact().save(folder + "/weighted.annudf");
  // Where the capture lies is not in an artifact.
  annudf::udf_capture w{.name = "w"};
  w.shape = {kDims};
  w.pointer = 256;
  annudf::device_udf::from_metric(weighted, "sm_80",
                                  {.symbol_name = annudf::test::kDescriptorSymbol, .captures = {w}})
      .to_artifact()
      .save(folder + "/descriptor.annudf");

  const auto function = annudf::metric::from_text(kFunction);
  squaresOf([](auto x, auto y) { return 2 * (x - y); }).save(folder + "/linked_none.annudf");
  linking(annudf::cuda_source(kSource)).save(folder + "/linked_cuda_source.annudf");
  linking(annudf::cuda_source(kNumbaSource), annudf::convention::numba)
      .save(folder + "/linked_numba.annudf");
  linking(annudf::ltoir(function.lower("ltoir", "sm_80"))).save(folder + "/linked_ltoir.annudf");
  linking(annudf::ptx(function.lower("ptx", "sm_80"))).save(folder + "/linked_ptx.annudf");
}

} // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: annudf_gpu_artifacts FOLDER\n");
    return 2;
  }
  try {
    write(arguments[1]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "annudf_gpu_artifacts: %s\n", error.what());
    return 1;
  }
}
