//===- RandomBody.cpp - Random bodies of every allowed op and type ----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomBody.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

using namespace annudf::test;

namespace {
using Names = std::vector<std::string>;
const Names kIntegers = {"i1", "i8", "i16", "i32", "i64", "index"};
const Names kFloats = {"f16", "f32", "f64"};
const Names kTypes = {"i1", "i8", "i16", "i32", "i64", "index", "f16", "f32", "f64"};

bool isFloat(const std::string &type) { return type[0] == 'f'; }
int widthOf(const std::string &type) { return type == "index" ? 64 : std::stoi(type.substr(1)); }
} // namespace

std::string annudf::test::metricOf(const std::string &ops, const std::string &helper) {
  return helper +
         "annudf.metric @m order(min) coarse(l2) elements(f32) {\n  annudf.init {\n"
         "    %0 = arith.constant 0.0 : f32\n    annudf.yield %0 : f32\n  }\n"
         "  annudf.update (%acc: f32, %x: f32, %y: f32) {\n"
         "    %dim = annudf.index dim\n    %dims = annudf.index dims\n" +
         ops + "    annudf.yield %result : f32\n  }\n}\n";
}

RandomBody::RandomBody(uint32_t seed) : generator(seed) {
  scopes.push_back({{"%a", "f32"}, {"%b", "f32"}});
  for (int i = 0; i < 4; ++i)
    step(0);
  std::string result = use("f32");
  helperText = "func.func private @helper(%a: f32, %b: f32) -> f32 {\n" + text + "  func.return " +
               result + " : f32\n}\n";

  text.clear();
  scopes.assign(
      1, {{"%acc", "f32"}, {"%x", "f32"}, {"%y", "f32"}, {"%dim", "index"}, {"%dims", "index"}});
  for (int i = 0; i < 28; ++i)
    step(0);
  std::string called =
      emit("f32", "func.call @helper(" + use("f32") + ", " + use("f32") + ") : (f32, f32) -> f32");
  define("f32", called);
  for (int i = 0; i < 4; ++i)
    step(0);
  // Every type has its part in the result, each so that a difference shows.
  std::string sum = use("f32");
  for (const std::string &type : kTypes) {
    std::string part = use(type);
    if (type == "index")
      part = emit("i64", "arith.index_cast " + part + " : index to i64");
    if (type == "f64") {
      part = emit("f32", "arith.truncf " + part + " : f64 to f32");
    } else if (type == "f16") {
      part = emit("f32", "arith.extf " + part + " : f16 to f32");
    } else if (!isFloat(type)) {
      std::string from = type == "index" ? "i64" : type;
      part = emit("f32", "arith.sitofp " + part + " : " + from + " to f32");
    }
    part = emit("f32", "arith.subf " + part + ", " + use("f32") + " : f32");
    sum = emit("f32", "arith.addf " + withoutNan("f32", sum) + ", " + part + " : f32");
  }
  sum = withoutNan("f32", sum);
  text +=
      "    %zero = arith.constant 0.0 : f32\n    %result = arith.addf " + sum + ", %zero : f32\n";
}

std::string RandomBody::emit(const std::string &type, const std::string &op) {
  (void)type;
  std::string name = fresh();
  text += "    " + name + " = " + op + "\n";
  return name;
}

std::string RandomBody::floatConstant(const std::string &type, double value) {
  char number[64];
  std::snprintf(number, sizeof(number), "%.9e", value);
  return emit(type, "arith.constant " + std::string(number) + " : " + type);
}

std::string RandomBody::constant(const std::string &type) {
  if (isFloat(type)) {
    const double values[] = {0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 255.0, -1000.5, 2049.0, 6e-5, 60000.0};
    return floatConstant(type, values[random(std::size(values))]);
  }
  if (type == "i1")
    return emit(type, random(2) ? "arith.constant true" : "arith.constant false");
  int width = widthOf(type);
  int64_t value = static_cast<int64_t>((uint64_t(generator()) << 32) | generator());
  const int64_t special[] = {0, 1, -1, 2, 127, 128, -128};
  if (random(2))
    value = special[random(std::size(special))];
  if (width < 64) // As the type's own, sign-extended.
    value = static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - width)) >> (64 - width);
  return emit(type, "arith.constant " + std::to_string(value) + " : " + type);
}

std::string RandomBody::use(const std::string &type) {
  Names found;
  for (const Scope &scope : scopes)
    for (const Value &value : scope)
      if (value.type == type)
        found.push_back(value.name);
  if (found.empty() || random(8) == 0) {
    std::string made = constant(type);
    define(type, made);
    return made;
  }
  // Later ones more often, so that chains arise.
  int at = static_cast<int>(found.size()) - 1;
  while (at > 0 && random(2))
    --at;
  return found[at];
}

std::string RandomBody::withoutNan(const std::string &type, const std::string &value) {
  std::string isNan = emit("i1", "arith.cmpf uno, " + value + ", " + value + " : " + type);
  std::string zero = floatConstant(type, 0.0);
  return emit(type, "arith.select " + isNan + ", " + zero + ", " + value + " : " + type);
}

void RandomBody::integerStep() {
  const std::string &type = pick(kIntegers);
  int width = widthOf(type);
  std::string of = " : " + type;
  static const Names binary = {"addi", "subi",  "muli",  "andi",  "ori",
                               "xori", "maxsi", "maxui", "minsi", "minui"};
  static const Names divisions = {"divsi", "divui", "remsi", "remui"};
  static const Names shifts = {"shli", "shrsi", "shrui"};
  static const Names unary = {"absi", "ctpop", "ctlz", "cttz"};
  switch (random(5)) {
  case 0:
    if (width > 1) {
      std::string by = emit(type, "arith.constant " + std::to_string(2 + random(100)) + of);
      define(type, emit(type, "arith." + pick(divisions) + " " + use(type) + ", " + by + of));
      return;
    }
    [[fallthrough]];
  case 1:
    if (width > 1) {
      std::string by = emit(type, "arith.constant " + std::to_string(random(width)) + of);
      define(type, emit(type, "arith." + pick(shifts) + " " + use(type) + ", " + by + of));
      return;
    }
    [[fallthrough]];
  case 2:
    if (width > 1) {
      define(type, emit(type, "math." + pick(unary) + " " + use(type) + of));
      return;
    }
    [[fallthrough]];
  default:
    define(type, emit(type, "arith." + pick(binary) + " " + use(type) + ", " + use(type) + of));
  }
}

void RandomBody::floatStep() {
  const std::string &type = pick(kFloats);
  std::string of = " : " + type;
  static const Names plain = {"addf", "subf", "divf", "remf", "maximumf", "minimumf"};
  static const Names numbers = {"maxnumf", "minnumf"};
  static const Names functions = {"floor", "ceil", "trunc", "round", "roundeven", "sqrt", "absf"};
  switch (random(6)) {
  case 0: { // Nothing may be fused with the product.
    std::string product = emit(type, "arith.mulf " + use(type) + ", " + use(type) + of);
    define(type, withoutNan(type, product));
    return;
  }
  case 1: { // Either zero may come out.
    std::string chosen =
        emit(type, "arith." + pick(numbers) + " " + use(type) + ", " + use(type) + of);
    define(type, emit(type, "arith.addf " + chosen + ", " + floatConstant(type, 0.0) + of));
    return;
  }
  case 2:
    define(type, emit(type, "arith.negf " + use(type) + of));
    return;
  case 3:
    if (type == "f16")
      define(type,
             emit(type, "math.copysign " + use(type) + ", " + withoutNan(type, use(type)) + of));
    else if (random(3) == 0)
      define(type, emit(type, "math.fma " + use(type) + ", " + use(type) + ", " + use(type) + of));
    else
      define(type, emit(type, "math." + pick(functions) + " " + use(type) + of));
    return;
  default:
    define(type, emit(type, "arith." + pick(plain) + " " + use(type) + ", " + use(type) + of));
  }
}

void RandomBody::toInteger() {
  static const Names widths = {"i8", "i16", "i32", "i64"};
  const std::string &from = pick(kFloats), &to = pick(widths);
  bool isSigned = random(2);
  double most = from == "f16" ? 60000.0 : 1e18;
  most = std::min(most, std::ldexp(1.0, widthOf(to) - 2));
  std::string high = floatConstant(from, most), low = floatConstant(from, isSigned ? -most : 0.0);
  std::string value = withoutNan(from, use(from));
  value = emit(from, "arith.minimumf " + value + ", " + high + " : " + from);
  value = emit(from, "arith.maximumf " + value + ", " + low + " : " + from);
  define(to, emit(to, std::string("arith.") + (isSigned ? "fptosi " : "fptoui ") + value + " : " +
                          from + " to " + to));
}

void RandomBody::castStep() {
  std::string from = pick(kTypes), to = pick(kTypes);
  auto cast = [&](const std::string &op, const std::string &value) {
    define(to, emit(to, op + " " + value + " : " + from + " to " + to));
  };
  if (isFloat(from) && isFloat(to)) {
    if (from != to)
      cast(widthOf(from) < widthOf(to) ? "arith.extf" : "arith.truncf", use(from));
    return;
  }
  if (isFloat(from)) {
    if (widthOf(from) == widthOf(to) && to != "index")
      cast("arith.bitcast", withoutNan(from, use(from)));
    else
      toInteger();
    return;
  }
  if (isFloat(to)) {
    if (from == "index")
      return;
    if (widthOf(from) == widthOf(to) && random(2)) {
      // A signalling NaN has no place in a comparison to the bit.
      std::string bits = emit(to, "arith.bitcast " + use(from) + " : " + from + " to " + to);
      define(to, withoutNan(to, bits));
      return;
    }
    cast(random(2) ? "arith.sitofp" : "arith.uitofp", use(from));
    return;
  }
  if (from == to)
    return;
  if (from == "index" || to == "index")
    cast(random(2) ? "arith.index_cast" : "arith.index_castui", use(from));
  else if (widthOf(from) > widthOf(to))
    cast("arith.trunci", use(from));
  else
    cast(random(2) ? "arith.extsi" : "arith.extui", use(from));
}

void RandomBody::compareStep() {
  static const Names integers = {"eq",  "ne",  "slt", "sle", "sgt",
                                 "sge", "ult", "ule", "ugt", "uge"};
  static const Names floats = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                               "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};
  static const Names tests = {"isnan", "isfinite"}; // Upstream has no pattern for isinf.
  const std::string &type = pick(kTypes);
  std::string condition;
  if (!isFloat(type))
    condition = emit("i1", "arith.cmpi " + pick(integers) + ", " + use(type) + ", " + use(type) +
                               " : " + type);
  else if (type != "f16" && random(4) == 0)
    condition = emit("i1", "math." + pick(tests) + " " + use(type) + " : " + type);
  else
    condition = emit("i1", "arith.cmpf " + pick(floats) + ", " + use(type) + ", " + use(type) +
                               " : " + type);
  define("i1", condition);
  const std::string &chosen = pick(kTypes);
  std::string yes = use(chosen), no = use(chosen);
  define(chosen,
         emit(chosen, "arith.select " + condition + ", " + yes + ", " + no + " : " + chosen));
}

void RandomBody::branch(int depth) {
  const std::string &type = pick(kTypes);
  std::string condition = use("i1"), name = fresh();
  text += "    " + name + " = scf.if " + condition + " -> " + type + " {\n";
  for (const char *end : {"    } else {\n", "    }\n"}) {
    scopes.emplace_back();
    for (int i = random(4); i >= 0; --i)
      step(depth + 1);
    std::string value = use(type);
    text += "    scf.yield " + value + " : " + type + "\n" + end;
    scopes.pop_back();
  }
  define(type, name);
}

void RandomBody::loop(int depth) {
  static const Names counters = {"i8", "i32", "index"};
  const std::string &type = pick(kTypes), &counter = pick(counters);
  bool isUnsigned = random(3) == 0;
  auto number = [&](int value) {
    return emit(counter, "arith.constant " + std::to_string(value) + " : " + counter);
  };
  // Unsigned ones may run beyond the largest signed number, signed ones from below 0.
  int start = isUnsigned && counter == "i8" ? 120 : random(6) - 3;
  if (isUnsigned && start < 0)
    start = 0;
  std::string low = number(start);
  std::string high = number(isUnsigned && counter == "i8" ? -120 : start + random(8));
  std::string step_ = number(1 + random(3)), first = use(type);
  std::string name = fresh(), induction = fresh(), carried = fresh();
  text += "    " + name + " = scf.for " + (isUnsigned ? "unsigned " : "") + induction + " = " +
          low + " to " + high + " step " + step_ + " iter_args(" + carried + " = " + first +
          ") -> (" + type + ")" + (counter == "index" ? "" : " : " + counter) + " {\n";
  scopes.push_back({{induction, counter}, {carried, type}});
  for (int i = random(4); i >= 0; --i)
    step(depth + 1);
  std::string value = use(type);
  text += "    scf.yield " + value + " : " + type + "\n    }\n";
  scopes.pop_back();
  define(type, name);
}

void RandomBody::step(int depth) {
  int kind = random(depth == 0 ? 22 : depth == 1 ? 21 : 20); // no loop in a loop: S5
  if (kind < 5)
    integerStep();
  else if (kind < 9)
    floatStep();
  else if (kind < 16)
    castStep();
  else if (kind < 20)
    compareStep();
  else if (kind == 20)
    branch(depth);
  else
    loop(depth);
}
