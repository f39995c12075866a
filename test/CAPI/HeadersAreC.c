/*===- HeadersAreC.c - A C compiler reads the headers -------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "annudf-c/Artifact.h"
#include "annudf-c/Compiler.h"
#include "annudf-c/Support.h"

/** Called from C++: one call with every kind of parameter. */
annudf_status annudf_test_compile_from_c(const char *source, size_t size, annudf_artifact **out);

annudf_status annudf_test_compile_from_c(const char *source, size_t size, annudf_artifact **out) {
  annudf_compile_options options = {0};
  options.size = sizeof options;
  options.skip_lto_ir = 1;
  return annudf_compile(source, size, "c.mlir", &options, out, NULL);
}
