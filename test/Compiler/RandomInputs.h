//===- RandomInputs.h - Floats to try a body with ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_RANDOMINPUTS_H
#define ANNUDF_TEST_COMPILER_RANDOMINPUTS_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>

namespace annudf::test {

class Inputs {
public:
  explicit Inputs(uint32_t seed) : random(seed) {}
  /// Any float but a NaN that signals, with a liking for the edges.
  float next() {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const float special[] = {
        0.0f,        -0.0f,   1.0f,     -1.0f, 0.5f,
        255.0f,      -300.0f, 65504.0f, 1e-7f, 1e-40f,
        16777217.0f, 3.4e38f, inf,      -inf,  std::numeric_limits<float>::quiet_NaN()};
    if (random() % 3 == 0)
      return special[random() % std::size(special)];
    if (random() % 2)
      return std::ldexp(float(int32_t(random())), int(random() % 48) - 40);
    float any = std::bit_cast<float>(uint32_t(random()));
    return std::isnan(any) ? 2.0f : any;
  }

private:
  std::mt19937 random;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_RANDOMINPUTS_H
