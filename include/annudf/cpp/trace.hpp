//===- annudf/cpp/trace.hpp - A lambda becomes a metric -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generic lambda runs once on values that record what is done with them, and becomes text of the
// dialect:
//
//     auto hook = [w = annudf::capture<float>("w", annudf::dim)](auto x, auto y, auto acc, auto
//     ctx) {
//       auto d = x - y;
//       return acc + w[ctx.dim] * d * d;
//     };
//     std::string text = annudf::trace_metric("weighted_l2", hook, {.order = annudf::order::min});
//
// The same lambda computes on plain numbers. Header-only, C++20, and nothing of annudf to link
// with. docs/use/cpp-lambdas.md says what is allowed and what it means.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_HPP
#define ANNUDF_CPP_TRACE_HPP

#include "annudf/cpp/trace/capture.hpp"
#include "annudf/cpp/trace/context.hpp"
#include "annudf/cpp/trace/hooks.hpp"
#include "annudf/cpp/trace/linked.hpp"
#include "annudf/cpp/trace/math.hpp"
#include "annudf/cpp/trace/metric.hpp"
#include "annudf/cpp/trace/options.hpp"
#include "annudf/cpp/trace/plain.hpp"
#include "annudf/cpp/trace/vectors.hpp"

#endif // ANNUDF_CPP_TRACE_HPP
