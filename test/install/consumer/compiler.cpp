//===----------------------------------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <annudf/Compiler/Compiler.h>

#include <cstdio>

int main(int, char **argv) {
  annudf::CompileOptions options;
  options.ltoIr = false;
  try {
    const annudf::Artifact artifact = annudf::compileMetricFile(argv[1], options);
    std::printf("metric %s\n", artifact.manifest.name.c_str());
  } catch (const annudf::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
