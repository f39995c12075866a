/*===- HeaderIsC.c - A C compiler reads the runtime's header ------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "annudf-c/annudf.h"

/** Called from C++: options as Support.h says that they are written. */
annudf_status annudf_test_build_from_c(const float *data, int64_t rows, int64_t dims,
                                       annudf_ivf_flat_index **index);

annudf_status annudf_test_build_from_c(const float *data, int64_t rows, int64_t dims,
                                       annudf_ivf_flat_index **index) {
  annudf_vectors base = {sizeof base, data, rows, dims, ANNUDF_ELEMENT_F32, {0}};
  annudf_ivf_flat_build_options options = {.size = sizeof options};
  return annudf_ivf_flat_build(NULL, &base, 2, &options, index, NULL);
}
