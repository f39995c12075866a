//===- RandomBody.h - Random bodies of every allowed op and type -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A body computes a float from %acc, %x, %y, %dim and %dims. It has a value on every
// input, to the bit: what docs/spec/abi.md leaves open (the sign and payload of a NaN, which
// zero maxnumf gives, contraction) is taken out of it as it arises, and floats are
// clamped before they become integers, where the two lowerings differ on purpose.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_RANDOMBODY_H
#define ANNUDF_TEST_COMPILER_RANDOMBODY_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace annudf::test {

/// A metric whose update is `ops`, which end with %result : f32.
std::string metricOf(const std::string &ops, const std::string &helper = "");

class RandomBody {
public:
  explicit RandomBody(uint32_t seed);

  /// Ops that end with %result : f32.
  const std::string &ops() const { return text; }
  /// A private function that the ops may call.
  const std::string &helper() const { return helperText; }
  std::string metric() const { return metricOf(text, helperText); }

private:
  struct Value {
    std::string name, type;
  };
  using Scope = std::vector<Value>;

  int random(int below) { return static_cast<int>(generator() % below); }
  template <typename List> const std::string &pick(const List &list) {
    return list[random(static_cast<int>(list.size()))];
  }
  std::string fresh() { return "%v" + std::to_string(count++); }
  /// Writes `op` with a new result of `type`.
  std::string emit(const std::string &type, const std::string &op);
  std::string constant(const std::string &type);
  std::string floatConstant(const std::string &type, double value);
  /// Some value of a type, made if there is none.
  std::string use(const std::string &type);
  void define(const std::string &type, const std::string &name) {
    scopes.back().push_back({name, type});
  }
  /// 0 instead of NaN.
  std::string withoutNan(const std::string &type, const std::string &value);

  void step(int depth);
  void integerStep();
  void floatStep();
  void castStep();
  void toInteger();
  void compareStep();
  void branch(int depth);
  void loop(int depth);

  std::mt19937 generator;
  std::vector<Scope> scopes;
  std::string text, helperText;
  int count = 0;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_RANDOMBODY_H
