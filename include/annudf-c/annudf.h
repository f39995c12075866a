/*===- annudf-c/annudf.h - The whole C API ------------------------*- C -*-===*\
|*                                                                            *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ANNUDF_C_ANNUDF_H
#define ANNUDF_C_ANNUDF_H

#include "annudf-c/Artifact.h"
#include "annudf-c/BruteForce.h"
#include "annudf-c/Captures.h"
#include "annudf-c/Columns.h"
#include "annudf-c/Compiler.h"
#include "annudf-c/Device.h"
#include "annudf-c/DeviceUDF.h"
#include "annudf-c/Explain.h"
#include "annudf-c/Filters.h"
#include "annudf-c/IvfFlat.h"
#include "annudf-c/Refine.h"
#include "annudf-c/Support.h"

#endif /* ANNUDF_C_ANNUDF_H */
