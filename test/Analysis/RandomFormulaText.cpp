//===- RandomFormulaText.cpp - Random updates in text of the dialect ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomFormula.h"

#include <cmath>
#include <cstdio>

using namespace annudf::test;

const char *RandomFormula::helpers() {
  return R"(func.func private @square(%a: f32) -> f32 {
  %r = arith.mulf %a, %a : f32
  func.return %r : f32
}
func.func private @apart(%a: f32, %b: f32) -> f32 {
  %d = arith.subf %a, %b : f32
  %r = math.absf %d : f32
  func.return %r : f32
}
)";
}

/// cmpf, and select or if.
void RandomFormula::writeChoice(int at, std::string &text,
                                std::map<int, std::string> &names) const {
  const Node &node = nodes[at];
  const std::string type = "f" + std::to_string(node.bits), name = "%v" + std::to_string(at);
  text += "    " + name + "c = arith.cmpf " + node.predicate + ", " + names.at(node.a) + ", " +
          names.at(node.b) + " : f" + std::to_string(nodes[node.a].bits) + "\n    " + name;
  if (node.op == Op::Select) {
    text += " = arith.select " + name + "c, " + names.at(node.c) + ", " + names.at(node.d) + " : " +
            type + "\n";
    return;
  }
  text += " = scf.if " + name + "c -> (" + type + ") {\n";
  for (auto [side, end] : {std::pair(node.c, "\n    } else {\n"), std::pair(node.d, "\n    }\n")}) {
    std::map<int, std::string> inside = names;
    write(side, text, inside);
    text += "    scf.yield " + inside.at(side) + " : " + type + end;
  }
}

void RandomFormula::write(int at, std::string &text, std::map<int, std::string> &names) const {
  if (names.count(at))
    return;
  const Node &node = nodes[at];
  // Sides of a branch that nothing else has written stand inside it.
  const bool isIf = node.op == Op::If;
  for (int operand : {node.a, node.b, isIf ? -1 : node.c, isIf ? -1 : node.d})
    if (operand >= 0)
      write(operand, text, names);
  static const std::map<Op, const char *> kNames = {
      {Op::Neg, "arith.negf"},         {Op::Add, "arith.addf"},
      {Op::Sub, "arith.subf"},         {Op::Mul, "arith.mulf"},
      {Op::Fma, "math.fma"},           {Op::Div, "arith.divf"},
      {Op::Abs, "math.absf"},          {Op::Sqrt, "math.sqrt"},
      {Op::Exp, "math.exp"},           {Op::Floor, "math.floor"},
      {Op::Maximum, "arith.maximumf"}, {Op::Minimum, "arith.minimumf"},
      {Op::MaxNum, "arith.maxnumf"},   {Op::MinNum, "arith.minnumf"},
      {Op::Extend, "arith.extf"},      {Op::Truncate, "arith.truncf"}};
  const std::string type = "f" + std::to_string(node.bits);
  const std::string name = "%v" + std::to_string(at);
  const auto line = [&](const std::string &op) { text += "    " + name + " = " + op + "\n"; };
  const auto of = [&](int operand) { return names.at(operand); };
  switch (node.op) {
  case Op::X:
  case Op::Y:
    names[at] = node.op == Op::X ? "%x" : "%y";
    return;
  case Op::Number: {
    char number[64];
    std::snprintf(number, sizeof(number), "%.17e", node.number);
    line(std::string("arith.constant ") +
         (std::isfinite(node.number) ? number
          : node.bits == 16          ? "0x7E00"
          : node.bits == 32          ? "0x7FC00000"
                                     : "0x7FF8000000000000") +
         " : " + type);
    break;
  }
  case Op::Capture:
    line(node.capture == 'w'   ? "annudf.load %w[%dim] : !annudf.capture<dim x f32>"
         : node.capture == 'q' ? "annudf.load %q[%query, %dim] : !annudf.capture<query x dim x f32>"
                               : "annudf.load %s[] : !annudf.capture<f32>");
    break;
  case Op::FromInteger:
    text += "    " + name + "i = annudf.load %" + node.capture + "[] : !annudf.capture<" +
            (node.capture == 'n' ? "i8" : "ui8") + ">\n";
    line(std::string(node.capture == 'n' ? "arith.sitofp " : "arith.uitofp ") + name +
         "i : i8 to f32");
    break;
  case Op::Extend:
  case Op::Truncate:
    line(std::string(kNames.at(node.op)) + " " + of(node.a) + " : f" +
         std::to_string(nodes[node.a].bits) + " to " + type);
    break;
  case Op::Square:
    line("func.call @square(" + of(node.a) + ") : (f32) -> f32");
    break;
  case Op::Apart:
    line("func.call @apart(" + of(node.a) + ", " + of(node.b) + ") : (f32, f32) -> f32");
    break;
  case Op::Select:
  case Op::If:
    writeChoice(at, text, names);
    break;
  default: {
    std::string operands = of(node.a);
    for (int operand : {node.b, node.c})
      if (operand >= 0)
        operands += ", " + of(operand);
    line(std::string(kNames.at(node.op)) + " " + operands + " : " + type);
  }
  }
  names[at] = name;
}

std::string RandomFormula::metric(const std::string &name) const {
  std::string body, field = "%acc";
  std::map<int, std::string> names;
  for (size_t i = 0; i < allSteps.size(); ++i) {
    const Step &step = allSteps[i];
    for (int operand : {step.a, step.b})
      if (operand >= 0)
        write(operand, body, names);
    static constexpr const char *kOps[] = {"arith.addf",     "arith.subf",     "math.fma",
                                           "arith.maximumf", "arith.minimumf", "arith.maxnumf",
                                           "arith.minnumf"};
    const std::string a = names.at(step.a);
    body += "    %field" + std::to_string(i) + " = " + kOps[static_cast<int>(step.join)] + " ";
    if (step.join == Join::Fma)
      body.append(a).append(", ").append(names.at(step.b)).append(", ").append(field);
    else
      body.append(step.fieldFirst ? field : a).append(", ").append(step.fieldFirst ? a : field);
    body += " : f32\n";
    field = "%field" + std::to_string(i);
  }
  return "annudf.metric @" + name + R"( order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %q = annudf.capture "q" : !annudf.capture<query x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %n = annudf.capture "n" : !annudf.capture<i8>
  %u = annudf.capture "u" : !annudf.capture<ui8>
  annudf.init {
    %0 = arith.constant )" +
         (nanInitial ? "0x7FC00000" : "0.0") + R"( : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %query = annudf.index query
)" + body +
         "    annudf.yield " + field + " : f32\n  }\n}\n";
}
