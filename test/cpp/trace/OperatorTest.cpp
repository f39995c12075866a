//===- OperatorTest.cpp - Traced operators against the compiler's ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpp/trace/Operators.h"

namespace annudf::test {
namespace {

template <class A> class TraceOperators : public testing::Test {};
using Numbers = testing::Types<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                               uint64_t, float, double>;
TYPED_TEST_SUITE(TraceOperators, Numbers);

template <class A, class B> void compareBinary() {
  const std::string what = std::string(tracing::name_of(tracing::kind_of<A>())) + " and " +
                           tracing::name_of(tracing::kind_of<B>());
  compareAll<A, B>(
      what.c_str(), [](auto a, auto b, auto &out) { traceBinary(a, b, out); },
      [](auto a, auto b, auto &out) { computeBinary(a, b, out); });
}

TYPED_TEST(TraceOperators, OfTwoNumbersAreTheCompilers) {
  using A = TypeParam;
  compareBinary<A, bool>();
  compareBinary<A, int8_t>();
  compareBinary<A, uint16_t>();
  compareBinary<A, int32_t>();
  compareBinary<A, uint32_t>();
  compareBinary<A, int64_t>();
  compareBinary<A, uint64_t>();
  compareBinary<A, float>();
  compareBinary<A, double>();
}

TYPED_TEST(TraceOperators, OfOneNumberAreTheCompilers) {
  compareAll<TypeParam, bool>(
      tracing::name_of(tracing::kind_of<TypeParam>()),
      [](auto a, auto, auto &out) { traceUnary(a, out); },
      [](auto a, auto, auto &out) { computeUnary(a, out); });
}

} // namespace
} // namespace annudf::test
