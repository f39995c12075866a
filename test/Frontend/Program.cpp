//===- Program.cpp - Random programs and what they compute -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

using namespace annudf::test;

Program::Program(uint32_t seed) : generator(seed) { body = randomBlock(3, 0); }

//===----------------------------------------------------------------------===//
// Making one up
//===----------------------------------------------------------------------===//

Program::Operand Program::randomOperand() {
  if (random(3) == 0)
    return {true, random(21) - 10};
  return {false, random(kVariables)};
}

Program::Condition Program::randomCondition(int depth) {
  static const char *const predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge"};
  int kind = depth > 0 ? random(6) : 0;
  if (kind < 3)
    return {Condition::Compare, predicates[random(6)], randomOperand(), randomOperand(), {}};
  Condition condition = {kind == 3   ? Condition::And
                         : kind == 4 ? Condition::Or
                                     : Condition::Not,
                         "",
                         {true, 0},
                         {true, 0},
                         {}};
  for (int i = 0; i < (kind == 5 ? 1 : 2 + random(2)); ++i)
    condition.parts.push_back(randomCondition(depth - 1));
  return condition;
}

Program::Statement Program::randomStatement(int depth, int loops) {
  static const char *const ops[] = {"addi", "subi", "muli", "andi", "xori", "maxsi", "minsi"};
  Statement statement;
  int kind = depth > 0 ? random(10) : random(5);
  if (kind < 5) {
    statement.kind = Statement::Assign;
    statement.target = random(kVariables);
    statement.op = ops[random(7)];
    statement.a = randomOperand();
    statement.b = randomOperand();
    return statement;
  }
  if (kind < 8 || loops == 2) {
    statement.kind = Statement::If;
    statement.condition = {randomCondition(2)};
    statement.first = randomBlock(depth - 1, loops);
    if (random(3))
      statement.second = randomBlock(depth - 1, loops);
    // Early ways out: a loop can be continued, a function without loops around can return.
    if (random(5) == 0) {
      Statement out;
      out.kind = loops ? Statement::Continue : Statement::Return;
      out.a = randomOperand();
      statement.first.push_back(out);
    }
    return statement;
  }
  statement.kind = Statement::For;
  statement.target = random(3) ? random(kVariables) : -1;
  statement.step = (random(2) ? 1 : -1) * (1 + random(4));
  statement.start = random(13) - 6;
  statement.stop =
      statement.start + (random(5) ? 1 : -1) * (statement.step > 0 ? 1 : -1) * random(14);
  statement.first = randomBlock(depth - 1, loops + 1);
  return statement;
}

Program::Block Program::randomBlock(int depth, int loops) {
  Block block;
  for (int i = 0, count = 1 + random(4); i < count; ++i)
    block.push_back(randomStatement(depth, loops));
  return block;
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

int32_t Program::valueOf(Operand operand, const Values &values) {
  return operand.isConstant ? operand.value : values[operand.value];
}

bool Program::isTrue(const Condition &condition, const Values &values) {
  switch (condition.kind) {
  case Condition::And:
    for (const Condition &part : condition.parts)
      if (!isTrue(part, values))
        return false;
    return true;
  case Condition::Or:
    for (const Condition &part : condition.parts)
      if (isTrue(part, values))
        return true;
    return false;
  case Condition::Not:
    return !isTrue(condition.parts[0], values);
  case Condition::Compare:
    break;
  }
  int32_t a = valueOf(condition.a, values), b = valueOf(condition.b, values);
  std::string_view predicate = condition.predicate;
  return predicate == "eq"    ? a == b
         : predicate == "ne"  ? a != b
         : predicate == "slt" ? a < b
         : predicate == "sle" ? a <= b
         : predicate == "sgt" ? a > b
                              : a >= b;
}

Program::Outcome Program::runBlock(const Block &block, Values &values, int32_t &result) {
  for (const Statement &statement : block) {
    int32_t a = valueOf(statement.a, values), b = valueOf(statement.b, values);
    switch (statement.kind) {
    case Statement::Return:
      result = a;
      return Outcome::Returned;
    case Statement::Continue:
      return Outcome::Continued;
    case Statement::Assign: {
      uint32_t x = a, y = b;
      std::string_view op = statement.op;
      values[statement.target] = static_cast<int32_t>(op == "addi"    ? x + y
                                                      : op == "subi"  ? x - y
                                                      : op == "muli"  ? x * y
                                                      : op == "andi"  ? x & y
                                                      : op == "xori"  ? x ^ y
                                                      : op == "maxsi" ? std::max(a, b)
                                                                      : std::min(a, b));
      break;
    }
    case Statement::If: {
      bool taken = isTrue(statement.condition[0], values);
      Outcome outcome = runBlock(taken ? statement.first : statement.second, values, result);
      if (outcome != Outcome::GoesOn)
        return outcome;
      break;
    }
    case Statement::For:
      for (int32_t i = statement.start;
           statement.step > 0 ? i < statement.stop : i > statement.stop; i += statement.step) {
        if (statement.target >= 0)
          values[statement.target] = i;
        if (runBlock(statement.first, values, result) == Outcome::Returned)
          return Outcome::Returned;
      }
      break;
    }
  }
  return Outcome::GoesOn;
}

int32_t Program::run(int32_t x, int32_t y, int32_t acc) const {
  Values values = {x, y, acc, 3, -7};
  int32_t result = 0;
  if (runBlock(body, values, result) == Outcome::Returned)
    return result;
  return values[2];
}

//===----------------------------------------------------------------------===//
// Writing it
//===----------------------------------------------------------------------===//

/// Text in the frontend form: a block ends with a branch, and the next one begins.
struct Program::Writer {
  std::ostringstream out;
  int names = 0, blocks = 0;
  std::string continues; ///< Block to which `continue` goes.

  std::string fresh() { return "%v" + std::to_string(names++); }
  std::string freshBlock() { return "^b" + std::to_string(blocks++); }
  void begin(const std::string &block) { out << "  " << block << ":\n"; }
  void jump(const std::string &to) { out << "    cf.br " << to << "\n"; }

  std::string load(int variable) {
    std::string name = fresh();
    out << "    " << name << " = memref.load %s" << variable << "[%zero] : memref<1xi32>\n";
    return name;
  }
  void store(const std::string &value, int variable) {
    out << "    memref.store " << value << ", %s" << variable << "[%zero] : memref<1xi32>\n";
  }
  std::string constant(int32_t value, const char *type = "i32") {
    std::string name = fresh();
    out << "    " << name << " = arith.constant " << value << " : " << type << "\n";
    return name;
  }
  std::string operand(Operand operand) {
    return operand.isConstant ? constant(operand.value) : load(operand.value);
  }

  void branch(const Condition &condition, const std::string &yes, const std::string &no) {
    switch (condition.kind) {
    case Condition::Not:
      return branch(condition.parts[0], no, yes);
    case Condition::And:
    case Condition::Or:
      for (size_t i = 0; i + 1 < condition.parts.size(); ++i) {
        std::string next = freshBlock();
        if (condition.kind == Condition::And)
          branch(condition.parts[i], next, no);
        else
          branch(condition.parts[i], yes, next);
        begin(next);
      }
      return branch(condition.parts.back(), yes, no);
    case Condition::Compare:
      break;
    }
    std::string a = operand(condition.a), b = operand(condition.b), bit = fresh();
    out << "    " << bit << " = arith.cmpi " << condition.predicate << ", " << a << ", " << b
        << " : i32\n    cf.cond_br " << bit << ", " << yes << ", " << no << "\n";
  }

  /// Whether control reaches the end of the block.
  bool write(const Block &block) {
    for (const Statement &statement : block)
      if (!write(statement))
        return false;
    return true;
  }

  bool write(const Statement &statement) {
    switch (statement.kind) {
    case Statement::Return: {
      std::string result = operand(statement.a);
      out << "    return " << result << " : i32\n";
      return false;
    }
    case Statement::Continue:
      jump(continues);
      return false;
    case Statement::Assign: {
      std::string a = operand(statement.a), b = operand(statement.b), value = fresh();
      out << "    " << value << " = arith." << statement.op << " " << a << ", " << b << " : i32\n";
      store(value, statement.target);
      return true;
    }
    case Statement::If: {
      std::string yes = freshBlock(), no = freshBlock(), end = freshBlock();
      branch(statement.condition[0], yes, no);
      begin(yes);
      if (write(statement.first))
        jump(end);
      begin(no);
      if (write(statement.second))
        jump(end);
      begin(end);
      return true;
    }
    case Statement::For:
      break;
    }
    // One counter, as the Python frontend writes range().
    std::string slot = fresh(), header = freshBlock(), body = freshBlock(), end = freshBlock();
    out << "    " << slot << " = memref.alloca() : memref<1xi64>\n";
    std::string start = constant(statement.start, "i64");
    out << "    memref.store " << start << ", " << slot << "[%zero] : memref<1xi64>\n";
    jump(header);
    begin(header);
    std::string now = fresh(), more = fresh(), next = fresh();
    out << "    " << now << " = memref.load " << slot << "[%zero] : memref<1xi64>\n";
    std::string stop = constant(statement.stop, "i64"), step = constant(statement.step, "i64");
    out << "    " << more << " = arith.cmpi " << (statement.step > 0 ? "slt" : "sgt") << ", " << now
        << ", " << stop << " : i64\n    " << next << " = arith.addi " << now << ", " << step
        << " overflow<nsw> : i64\n    memref.store " << next << ", " << slot
        << "[%zero] : memref<1xi64>\n    cf.cond_br " << more << ", " << body << ", " << end
        << "\n";
    begin(body);
    if (statement.target >= 0) {
      std::string narrow = fresh();
      out << "    " << narrow << " = arith.trunci " << now << " : i64 to i32\n";
      store(narrow, statement.target);
    }
    std::string outer = std::exchange(continues, header);
    if (write(statement.first))
      jump(header);
    continues = outer;
    begin(end);
    return true;
  }
};

std::string Program::text() const {
  Writer writer;
  std::ostringstream &out = writer.out;
  out << "func.func private @update(%x: i32, %y: i32, %acc: i32) -> i32 {\n"
         "    %zero = arith.constant 0 : index\n";
  for (int i = 0; i < kVariables; ++i)
    out << "    %s" << i << " = memref.alloca() : memref<1xi32>\n";
  writer.store("%x", 0);
  writer.store("%y", 1);
  writer.store("%acc", 2);
  writer.store(writer.constant(3), 3);
  writer.store(writer.constant(-7), 4);
  if (writer.write(body)) {
    std::string result = writer.load(2);
    out << "    return " << result << " : i32\n";
  }
  out << "}\n"
         "annudf.metric @random order(min) coarse(l2) elements(i8) {\n"
         "  annudf.init {\n"
         "    %0 = arith.constant 0 : i32\n"
         "    annudf.yield %0 : i32\n"
         "  }\n"
         "  annudf.update (%acc: i32, %x: i32, %y: i32) {\n"
         "    %r = func.call @update(%x, %y, %acc) : (i32, i32, i32) -> i32\n"
         "    annudf.yield %r : i32\n"
         "  }\n"
         "}\n";
  return out.str();
}
