//===- Text.cpp - Fuzzing metrics as text -----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// All the way to the host's code: what the verifier accepts must lower.
#include "annudf/Compiler/Compiler.h"
#include "fuzz/Fuzz.h"

using namespace annudf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CompileOptions options;
  options.ltoIr = false;
  fuzz::readOrRefuse([&] {
    const std::string source(fuzz::viewOf(data, size));
    (void)serializeArtifact(compileMetric(source, "input", options));
  });
  return 0;
}
