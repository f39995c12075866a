//===- Bytecode.cpp - Fuzzing metrics as bytecode ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The reader works in a child process, so libFuzzer sees only what happens to a module that it
// handed over.
#include "annudf/Compiler/Compiler.h"
#include "fuzz/Fuzz.h"

using namespace annudf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!fuzz::viewOf(data, size).starts_with("ML\xefR"))
    return -1; // Text has a target of its own.
  CompileOptions options;
  options.ltoIr = false;
  fuzz::readOrRefuse([&] {
    const std::string source(fuzz::viewOf(data, size));
    (void)serializeArtifact(compileMetric(source, "input", options));
  });
  return 0;
}
