//===- Program.h - Random programs and what they compute -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A program assigns, branches, loops and returns on five variables of 32-bit integers, as
// a Python function could. It is written in the frontend form, and it can be run.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_FRONTEND_PROGRAM_H
#define ANNUDF_TEST_FRONTEND_PROGRAM_H

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace annudf::test {

class Program {
public:
  explicit Program(uint32_t seed);

  /// A metric @random of i8 and i32 whose update runs the program.
  std::string text() const;
  /// The accumulator after one coordinate.
  int32_t run(int32_t x, int32_t y, int32_t acc) const;

private:
  static constexpr int kVariables = 5; ///< x, y, acc and two more; a loop's counter has its own.
  struct Statement;
  using Block = std::vector<Statement>;
  struct Operand {
    bool isConstant;
    int32_t value; ///< The constant, or the variable.
  };
  struct Condition {
    enum Kind { Compare, And, Or, Not } kind;
    const char *predicate; ///< Compare's.
    Operand a, b;
    std::vector<Condition> parts;
  };
  struct Statement {
    enum Kind { Assign, If, For, Return, Continue } kind;
    int target = 0;
    const char *op = "";
    Operand a = {true, 0}, b = {true, 0};
    std::vector<Condition> condition; ///< One for If.
    Block first, second;
    int32_t start = 0, stop = 0, step = 1;
  };
  using Values = std::array<int32_t, kVariables>;
  enum class Outcome { GoesOn, Continued, Returned };

  struct Writer;

  Block randomBlock(int depth, int loops);
  Statement randomStatement(int depth, int loops);
  Condition randomCondition(int depth);
  Operand randomOperand();
  int random(int below) { return static_cast<int>(generator() % below); }

  static int32_t valueOf(Operand operand, const Values &values);
  static bool isTrue(const Condition &condition, const Values &values);
  static Outcome runBlock(const Block &block, Values &values, int32_t &result);

  std::mt19937 generator;
  Block body;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_FRONTEND_PROGRAM_H
