//===- annudf-c/annudf.hpp - The C API for C++ ---------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C API with owners instead of handles, spans instead of pointers and one exception
// instead of statuses. Header-only, C++20; needs libannudf and nothing else. What calls do
// is said in the C headers. docs/cpp.md has an example.
//
// Objects own what they name and are moved, not copied; their const functions may be called
// from several threads at once. As the C API, this is 0.x: a minor may change it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_C_ANNUDF_HPP
#define ANNUDF_C_ANNUDF_HPP

#include "annudf-c/annudf.h"
#include "annudf-c/cpp/Artifact.hpp"
#include "annudf-c/cpp/BruteForce.hpp"
#include "annudf-c/cpp/Captures.hpp"
#include "annudf-c/cpp/Device.hpp"
#include "annudf-c/cpp/IvfFlat.hpp"
#include "annudf-c/cpp/Support.hpp"

#endif // ANNUDF_C_ANNUDF_HPP
