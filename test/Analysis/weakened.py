#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weakens each rule of annudf-infer-properties in turn and sees a test fail.

Every rule is a line of lib/Analysis that is replaced by one that claims more than is true, in a copy of its file: the
tree stays as it is. The tests are annudf_properties_tests, which searches for counter-examples, and, where it finds none,
the lit files of the pass, which pin what is said (how many roundings, above all: a bound that is one too tight is rarely
exceeded). A stage of .ci/run.

usage: weakened.py BUILD_DIR [K/N | NUMBER...]
       NUMBER  of a rule, in the order of RULES; K/N: every N-th from the K-th, as 2/6; else all.
       What tests and annudf-opt link has to be built.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIB = ROOT / "lib" / "Analysis"
LIT = ROOT / "test" / "lit" / "Transforms"
ARCHIVE = "lib/Analysis/libAnnudfAnalysis.a"
SEARCH, PASS = "annudf_properties_tests", "annudf-opt"

P, E, S, T, A, C, J, F, Z, H, N, R = (
    f"{name}.cpp"
    for name in ("Polynomials", "Exchanges", "Signs", "Terms", "Properties", "Coefficients", "Joins", "Forms", "Finalizes", "Choices", "Means", "RowUses")
)  # fmt: skip
#: (file, what stands there, what is put there)
RULES = [
    # Polynomials: values, roundings, what is lost below the normal range.
    (P, "form.exact = add(c, a.exact, minus ? negate(c, b.exact) : b.exact);", "form.exact = add(c, a.exact, b.exact);"),
    (P, "form.size = add(c, a.size, b.size);", "form.size = a.size;"),
    (P, "form.small = add(c, a.small, b.small);", "form.small = a.small;"),
    (P, "form.roundings = larger(a.roundings, b.roundings);\n  form.eta", "form.roundings = a.roundings;\n  form.eta"),
    (P, "form.roundings = {a.roundings.f16 + b.roundings.f16, a.roundings.f32 + b.roundings.f32,\n                    a.roundings.f64 + b.roundings.f64};", "form.roundings = larger(a.roundings, b.roundings);"),
    (P, "form.small = add(c, add(c, *left, *right), *scaled);", "form.small = *left;"),
    (P, "form.small.of[Quadratic::One] = c.sum(form.small.of[Quadratic::One], Coefficients::kOne);", ""),
    (P, "type.isF16() ? 0x1p-25 : type.isF32() ? 0x1p-150 : 0x1p-1074", "0x1p-1074"),
    (P, "    round(both, term.type);\n", ""),
    (P, "    roundSmall(coefficients, *both, term.type);\n", ";\n"),
    (P, "    both = sum(*both, *facts[term.of[2]].form);", "    both = sum(*both, *facts[term.of[0]].form);"),
    (P, "  roundSmall(c, form, term.type);\n  return {form, {}};", "  return {form, {}};"),
    (P, "std::pair(&form.small, c.absolute(node))}", "std::pair(&form.small, Coefficients::kOne)}"),
    (P, "std::pair(&form.size, c.absolute(node))", "std::pair(&form.size, Coefficients::kOne)"),
    (P, "by.kind != TermKind::Entry && (", "(by.kind == TermKind::X || by.kind == TermKind::Y) && ("),
    (P, "  if (yes.exact != no.exact)", "  if (false)"),
    (P, "    form.size = add(c, form.size, no.size);", ""),
    (P, "  form.roundings = larger(yes.roundings, no.roundings);", "  form.roundings = no.roundings;"),
    (P, "node.kind == TermKind::Constant && !std::isfinite(node.number))", "node.kind == TermKind::Constant)"),
    (P, "    negative.exact = negate(c, negative.exact);\n", ""),
    (P, "    if (term.isOfCoordinates)\n", "    if (false)\n"),
    (P, "    size.exact.of[Quadratic::One] = c.absolute(size.exact.of[Quadratic::One]);\n", ""),
    (P, "    roundSmall(c, rounded, term.type);\n", ""),
    (P, "terms.entryOf(from).isUnsigned != (term.kind == TermKind::FromUnsigned)", "false"),
    (P, "  if (from.type.getIntOrFloatBitWidth() > mantissa)\n", "  if (false)\n"),
    (P, "    if (!std::isfinite(term.number))\n", "    if (false)\n"),
    (P, "      if (place == kPowers.end())\n        return std::nullopt;", "      if (place == kPowers.end())\n        continue;"),
    # Coefficients: what simplifies to what.
    (C, "(a - (sum - part)) + (b - part) == 0", "true"),
    (C, "std::fma(*x, *y, -both) == 0", "true"),
    (C, "    return product(number(2), a);", "    return a;"),
    (C, "  if (negated(a) == b)\n", "  if (all[a].kind == Kind::Entry && all[b].kind == Kind::Negated)\n"),
    (C, "    return negated(sum(all[a].a, all[b].a));", "    return sum(all[a].a, all[b].a);"),
    (C, "      return negated(product(number(-*value), other));", "      return product(number(-*value), other);"),
    (C, "      return negated(product(all[one].a, other));", "      return product(all[one].a, other);"),
    (C, "          return product(factor, all[other].b);", "          return product(one, all[other].b);"),
    (C, "        return quotient(factor, all[other].b);", "        return quotient(one, all[other].b);"),
    (C, "    return negated(quotient(all[a].a, b));", "    return quotient(all[a].a, b);"),
    (C, "    return negated(quotient(a, all[b].a));", "    return quotient(a, all[b].a);"),
    (C, "    return negated(quotient(number(-*value), b));", "    return quotient(number(-*value), b);"),
    (C, "    return number(std::abs(*value));", "    return a;"),
    # Exchanges.
    (E, "&& !terms.nodes()[a].mayFuse && !terms.nodes()[b].mayFuse", ""),
    (E, "return others[a] == b && others[b] == a &&", "return"),
    (E, "return a == Parity::Odd && b == Parity::Odd ? Parity::Odd : Parity::Unknown;", "return a == Parity::Unknown || b == Parity::Unknown ? Parity::Unknown : Parity::Odd;"),
    (E, "if (isEven(a) && isEven(b))\n    return Parity::Even;", "if (a != Parity::Unknown && b != Parity::Unknown)\n    return Parity::Even;"),
    (E, "term.of[0] == term.of[1] && a != Parity::Unknown", "term.of[0] == term.of[1]"),
    (E, "return isEven(a) == isEven(b) ? Parity::Even : Parity::Odd;", "return Parity::Even;"),
    (E, "if (isEven(parities[a]) && isEven(parities[b]))\n    return Parity::Even;", "if (parities[a] != Parity::Unknown && parities[b] != Parity::Unknown)\n    return Parity::Even;"),
    (E, "node.of[0] == of && parities[of] == Parity::Odd;", "node.of[0] == of;"),
    (E, "if (isEven(parities[a]) && isEven(parities[b]))\n    return Parity::EvenBits;", "if (parities[a] != Parity::Unknown && parities[b] != Parity::Unknown)\n    return Parity::EvenBits;"),
    (E, "  if (!isMutual)\n    return Parity::Unknown;", ""),
    (E, "terms.nodes()[node].kind == TermKind::Constant && terms.nodes()[node].number == 0;", "terms.nodes()[node].kind == TermKind::Constant;"),
    (E, "parities[term.of[0]] == Parity::EvenBits\n             ?", "parities[term.of[0]] == parities[term.of[0]]\n             ?"),
    (E, "return of(0) == Parity::Unknown ? Parity::Unknown : Parity::EvenBits;", "return Parity::EvenBits;"),
    (E, "return of(0) == Parity::Odd ? Parity::Even : of(0);", "return Parity::Even;"),
    (E, "if (!terms.nodes()[term.of[0]].hasProduct && arePair(term.of[0], term.of[1]))\n      return Parity::EvenBits;", "if (arePair(term.of[0], term.of[1]))\n      return Parity::EvenBits;"),
    (E, "if (!terms.nodes()[term.of[0]].hasProduct && arePair(term.of[0], term.of[1]))\n      return Parity::Odd;", "if (arePair(term.of[0], term.of[1]))\n      return Parity::Odd;"),
    (E, "return added(multiplied(term), of(2));", "return multiplied(term);"),
    (E, "return of(1) == Parity::EvenBits ? of(0) : Parity::Unknown;", "return of(1) != Parity::Unknown ? of(0) : Parity::Unknown;"),
    (E, "return isEven(of(0)) ? of(0) : Parity::Unknown;", "return of(0);"),
    (E, "return allBits ? Parity::EvenBits : Parity::Unknown;", "return of(0);"),
    (E, "one.format != Format::None && found.format != Format::None && found.format != one.format", "false"),
    (E, "if (one.format == Format::Unknown ||", "if (one.format == Format::Unknown)\n      continue;\n    if ("),
    (E, "  if (term.kind == TermKind::Quotient && !differences[term.of[1]].hasBits)\n    return {};\n", ""),
    (E, "if ((left == TermKind::X && right == TermKind::Y) ||\n        (left == TermKind::Y && right == TermKind::X))", "if (left == TermKind::X || left == TermKind::Y)"),
    # Signs.
    (S, "out.nonNegative = either(both(a.nonNegative, b.nonNegative), both(a.nonPositive, b.nonPositive));", "out.nonNegative = either(a.nonNegative, b.nonNegative);"),
    (S, "out.nonPositive = either(both(a.nonNegative, b.nonPositive), both(a.nonPositive, b.nonNegative));", "out.nonPositive = either(a.nonPositive, b.nonPositive);"),
    (S, "out.isPlus = both(a.isPlus, b.isPlus);\n  // (a b) b", "out.isPlus = out.nonNegative;\n  // (a b) b"),
    (S, "inner.kind == TermKind::Product && inner.of[j] == term.of[1 - i]", "inner.kind == TermKind::Product"),
    (S, "either(out.nonNegative, rest.nonNegative)", "either(out.nonNegative, Maybe(Conditions()))"),
    (S, "either(out.nonPositive, rest.nonPositive)", "either(out.nonPositive, rest.nonNegative)"),
    (S, "either(out.isPlus, rest.isPlus)", "either(out.isPlus, rest.nonNegative)"),
    (S, "if (term.of[0] == term.of[1]) {", "if (terms.nodes()[term.of[0]].kind == terms.nodes()[term.of[1]].kind) {"),
    (S, "out.nonNegative = both(a.nonNegative, b.nonNegative);\n    out.nonPositive", "out.nonNegative = a.nonNegative;\n    out.nonPositive"),
    (S, "out.nonPositive = both(a.nonPositive, b.nonPositive);\n    // +0", "out.nonPositive = b.nonPositive;\n    // +0"),
    (S, "out.isPlus = either(both(a.isPlus, b.nonNegative), both(a.nonNegative, b.isPlus));", "out.isPlus = out.nonNegative;"),
    (S, "    negated.nonNegative = of(1).nonPositive;", "    negated.nonNegative = of(1).nonNegative;"),
    (S, "    negated.nonPositive = of(1).nonNegative;", "    negated.nonPositive = of(1).nonPositive;"),
    (S, "if (!(term.number < 0))\n    out.nonNegative", "if (true)\n    out.nonNegative"),
    (S, "if (!(term.number > 0))\n    out.nonPositive", "if (true)\n    out.nonPositive"),
    (S, "if (!(term.number < 0) && !std::signbit(term.number))", "if (!(term.number < 0))"),
    (S, "out.isNumber = !std::isnan(term.number);", "out.isNumber = true;"),
    (S, "out.nonNegative = {{name, Condition::Kind::NonNegative}};", "out.nonNegative = Conditions();"),
    (S, "out.nonPositive = {{name, Condition::Kind::NonPositive}};", "out.nonPositive = Conditions();"),
    (S, "out.isPlus = {{name, Condition::Kind::Positive}};", "out.isPlus = {{name, Condition::Kind::NonNegative}};"),
    (S, "    out.nonNegative = of(0).nonPositive;", "    out.nonNegative = of(0).nonNegative;"),
    (S, "    out.nonPositive = of(0).nonNegative;", "    out.nonPositive = of(0).nonPositive;"),
    (S, "add(product(term), of(2));", "out = product(term);"),
    (S, "out.nonNegative = both(of(0).nonNegative, of(1).isPlus);", "out.nonNegative = both(of(0).nonNegative, of(1).nonNegative);"),
    (S, "out.nonPositive = both(of(0).nonPositive, of(1).isPlus);", "out.nonPositive = both(of(0).nonPositive, of(1).nonNegative);"),
    (S, "out.isPlus = both(of(0).isPlus, of(1).isPlus);\n    return out;\n  case TermKind::Absolute", "out.isPlus = out.nonNegative;\n    return out;\n  case TermKind::Absolute"),
    (S, "case TermKind::Magnitude:\n    out.nonNegative = Conditions();", "case TermKind::Magnitude:\n    out.nonNegative = out.isPlus = Conditions();"),
    (S, "    out.isPlus = of(0).isPlus;\n", "    out.isPlus = Conditions();\n"),
    (S, "const bool isMax = term.kind == TermKind::Maximum ||", "const bool isMax = term.kind == TermKind::Minimum ||"),
    (S, "term.kind == TermKind::Maximum || term.kind == TermKind::MaxNum;", "term.kind == TermKind::Maximum || term.kind == TermKind::MinNum;"),
    (S, "  out.nonNegative = both(of(0).nonNegative, of(1).nonNegative);\n  out.nonPositive = both(of(0)", "  out.nonNegative = of(0).nonNegative;\n  out.nonPositive = both(of(0)"),
    (S, "  out.nonPositive = both(of(0).nonPositive, of(1).nonPositive);\n  // One", "  out.nonPositive = of(1).nonPositive;\n  // One"),
    (S, "    if (!forgetsNan || of(i).isNumber)\n", ""),
    (S, "term.kind == TermKind::MaxNum || term.kind == TermKind::MinNum;", "term.kind == TermKind::MaxNum;"),
    (S, "if (term.kind == TermKind::FromUnsigned)\n    out.nonNegative", "if (true)\n    out.nonNegative"),
    (S, "out.nonNegative = both(of(1).nonNegative, of(2).nonNegative);\n    out.nonPositive = both(of(1)", "out.nonNegative = of(1).nonNegative;\n    out.nonPositive = both(of(1)"),
    (S, "out.nonPositive = both(of(1).nonPositive, of(2).nonPositive);", "out.nonPositive = of(2).nonPositive;"),
    (S, "out.isPlus = both(of(1).isPlus, of(2).isPlus);", "out.isPlus = of(1).isPlus;"),
    (S, "out.isNumber = of(1).isNumber && of(2).isNumber;", "out.isNumber = of(1).isNumber;"),
    # Terms: what is one value, and what is a product that may be fused.
    (T, "term.mayFuse |= term.hasProduct;", ""),
    (T, "    if (!isNew && !term.mayFuse)\n", "    if (!isNew)\n"),
    (T, "                     term.kind == TermKind::Quotient ||\n", ""),
    (T, "std::sort(of.begin(), of.begin() + 2);", "llvm::sort(of);"),
    (T, "return kind == TermKind::Sum ||", "return kind == TermKind::Difference || kind == TermKind::Sum ||"),
    (T, "^ static_cast<uint64_t>(term.predicate);", ";"),
    (T, "zero.kind == TermKind::Constant && zero.number == 0 &&", "zero.kind == TermKind::Constant &&"),
    (T, "  if (llvm::is_contained({P::OLT, P::OLE, P::ULT, P::ULE}, condition.predicate))", "  if (condition.predicate != P::OGT)"),
    (T, "const arith::FastMathFlags harmless = arith::FastMathFlags::contract;", "const arith::FastMathFlags harmless = arith::FastMathFlags::fast;"),
    (T, "      product.kind = TermKind::ExactProduct;", "      product.kind = TermKind::Sum;"),
    (T, "      negated.kind = TermKind::Negated;", "      negated.kind = TermKind::Extended;"),
    (T, "entry.isUnsigned = stored.isUnsignedInteger() || stored.isInteger(1);", "entry.isUnsigned = false;"),
    (T, "  return kKinds.lookup(op->getName().getStringRef());", "  return kKinds.count(op->getName().getStringRef()) ? kKinds.lookup(op->getName().getStringRef()) : TermKind::Absolute;"),
    # Properties: of a field.
    (A, "of && of->of[Q::XX] == of->of[Q::YY] && of->of[Q::X] == of->of[Q::Y]", "of"),
    (A, "of->of[Q::XY] == c.negated(c.sum(of->of[Q::XX], of->of[Q::XX])) &&\n", ""),
    (A, "return exchanges.parityOf(node) < Parity::Even;", "return exchanges.parityOf(node) < Parity::Odd;"),
    (A, "field.sign == Sign::NonNegative ? Monotone::Grows : Monotone::Falls;\n      field.monotoneIf", "Monotone::Grows;\n      field.monotoneIf"),
    (A, "      field.monotoneIf = field.signIf;\n", ""),
    (A, "return type && type.isInteger();", "return false;"),
    (A, "field.joined->join == Join::Maximum ? Monotone::Grows : Monotone::Falls", "Monotone::Grows"),
    (A, "field.joined->join == Join::MaxNum ? Monotone::Grows : Monotone::Falls", "Monotone::Grows"),
    (A, "      if (!beginsWithNumber(index))\n", "      if (false)\n"),
    (A, "      if (isUnsigned)\n        break;", ""),
    (A, "      if (!isUnsigned)\n        break;", ""),
    (A, "return conditions.has_value() && !isInteger(node);", "return (conditions.has_value() || node == nodes.front()) && !isInteger(node);"),
    (J, "    if (found.join && *here != *found.join)\n", "    if (false)\n"),
    (J, "    if (through == 1 && isa<arith::SubFOp, arith::SubIOp>(op))\n", "    if (false)\n"),
    # Forms: polynomials of x - y, the accumulator, finalize.
    (P, "  round(own, term.type);\n", ""),
    (P, "  own.size.of[Quadratic::X] = Coefficients::kOne;\n  round", "  round"),
    (P, "  return (a == TermKind::X && b == TermKind::Y) || (a == TermKind::Y && b == TermKind::X);", "  return a == TermKind::X || b == TermKind::X;"),
    (P, "    if (variable == Of::Difference)\n", "    if (false)\n"),
    (F, "        lost = coefficients.sum(lost, Coefficients::kOne);\n", ""),
    (F, "        bounds.eta = std::max(bounds.eta, 0x1p-150);\n", ""),
    (F, "    form.accumulations = static_cast<uint32_t>(added);\n", ""),
    (F, "    form.initial = initial.getValueAsDouble() + 0.0; // -0 is 0.\n", ""),
    (F, "|| form.initial != 0)\n", ")\n"),
    (F, "          !(isPart(i, i + fields) || isPart(i + fields, i)) ||", "          false ||"),
    (F, "    else if (*joined->join != Join::Sum)\n", "    else if (false)\n"),
    (F, "    if (metric.getMissingValues())\n", "    if (false)\n"),
    (F, " || !initial.getValue().isFinite())", ")"),
    (F, "      size = add(c, size, value->size);\n", ""),
    (F, "      small = add(c, small, value->small);\n", ""),
    (F, "        if (polynomials.find(term.of[0])->size == Quadratic())\n", "        if (false)\n"),
    (F, "      if (!isRead && !term.type.isF32() && !term.type.isF64())\n", "      if (false)\n"),
    (F, "      size.of[i] = c.sum(size.of[i], c.product(eta, small.of[i]));", "      ;"),
    (Z, "  if (mayDiffer(op))\n    return no(", "  if (false)\n    return no("),
    (F, "!isa_and_present<arith::AddFOp>(sum) || mayDiffer(sum) ||", "!isa_and_present<arith::AddFOp>(sum) ||"),
    (Z, "    state.falls ^= factor < 0;\n", ""),
    (Z, "    state.isNotBelow &= factor > 0;\n", ""),
    (Z, "    state.mayBeNaN |= !state.isNotBelow;\n", ""),
    (Z, "    state.isNotBelow &= isa<arith::AddFOp>(op) ? by >= 0 : by <= 0;\n", ""),
    (Z, "  if (isa<arith::SubFOp>(op))\n    return scale(-1);", "  if (isa<arith::SubFOp>(op))\n    return scale(1);"),
    (Z, "  if (by != 0 && (isa", "  if ((isa"),
    (Z, "(isa<arith::DivFOp>(op) && step.through == 0)", "isa<arith::DivFOp>(op)"),
    (Z, "    state.isNotBelow &= (by >= 0) == (step.others[1] >= 0);\n", ""),
    (Z, "    state.isNotBelow &= step.others[1] >= 0;\n", ""),
    (Z, "(isa<arith::MaxNumFOp>(op) && !state.mayBeNaN)", "isa<arith::MaxNumFOp>(op)"),
    (Z, "(isa<arith::MinNumFOp>(op) && !state.mayBeNaN)", "isa<arith::MinNumFOp>(op)"),
    (Z, "isMaximum ? state.isNotBelow || by >= 0 : state.isNotBelow && by >= 0", "true"),
    (Z, "  if (found != 1 ||", "  if (found < 1 ||"),
    # Larger and smaller by comparison, as Python writes them.
    (H, "isOrdered != isFirst}", "true}"),
    (H, "(isBelow != swapped) != isFirst", "isBelow != isFirst"),
    (H, "compare.getLhs() != (swapped ? c : v) ||", "false ||"),
    (H, "|| compare.getRhs() != (swapped ? v : c))", ")"),
    (H, "  if (!isBelow && !llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, predicate))\n", "  if (false)\n"),
    (H, "  if (!isFirst && select.getFalseValue() != v)\n", "  if (false)\n"),
    (H, "if (!compare || mayDiffer(compare))", "if (!compare)"),
    (Z, " || !choice->keepsNaN)", ")"),
    (
        Z,
        "  if (!constant)\n    return std::nullopt;\n  return Chosen{isFirst ? 1u : 2u, *constant,",
        "  return Chosen{isFirst ? 1u : 2u, constant.value_or(0),",
    ),
    (A, "choice->isLarger ? Monotone::Grows : Monotone::Falls", "Monotone::Grows"),
    (A, "    if (choice->keepsNaN)\n", "    if (true)\n"),
    # Rows that only index.
    (R, "  return load && load.getCapture()", "  return !load || load.getCapture()"),
    (R, ".getExtents().front() == CaptureType::kRow", ".getExtents().front() <= 0"),
    (R, " && llvm::all_of(graph.reachableFrom(udf), rowOnlyIndexesIn)", ""),
    (R, "  return rowOnlyIndexesIn(udf) && ", "  return "),
    # Three fields.
    (F, "      if (types.size() > 1 && form.initial != 0)\n", "      if (false)\n"),
    (F, "isOnly(sum->exact, power) && isOnly(sum->size, power)", "isOnly(sum->exact, power)"),
    (F, "      if ((i == power) == (node == Coefficients::kZero))\n", "      if (i == power && node == Coefficients::kZero)\n"),
    (F, "    lengths.size = add(coefficients, xx.size, yy.size);", "    lengths.size = xx.size;"),
    (F, "    lengths.small = add(coefficients, xx.small, yy.small);", "    lengths.small = xx.small;"),
    (F, "    lengths.eta = std::max(xx.eta, yy.eta);", "    lengths.eta = 0;"),
    (F, "std::max(xx.roundings.f32, yy.roundings.f32)", "xx.roundings.f32"),
    (F, "std::max(nodes[*found[0]].size(), nodes[*found[2]].size())", "nodes[*found[0]].size()"),
    (F, "    lengths.least = ratio.least;\n", ""),
    (F, "    lengths.product = *found[1];\n", "    lengths.product = 0;\n"),
    (F, "    all.size = add(coefficients, all.size, lengths.size);\n", ""),
    (F, "    all.small = add(coefficients, all.small, lengths.small);\n", ""),
    (Z, "      if (power != (i == product ? 4 : -2))\n", "      if (i == product && power != 4)\n"),
    (Z, "    return courseOf(steps, found->isNegated);", "    return courseOf(steps, false);"),
    (Z, "? *a && *b :", "? *a || *b :"),
    (Z, "? *a || *b :", "? *a && *b :"),
    (Z, "    return !swapped;\n", "    return true;\n"),
    (Z, "    return swapped;\n", "    return false;\n"),
    (Z, "  if (lengths.isNegated || lengths.quarters[product] != 0)\n", "  if (lengths.quarters[product] != 0)\n"),
    (Z, "  if (lengths.isNegated || lengths.quarters[product] != 0)\n", "  if (lengths.isNegated)\n"),
    (Z, "    if (one < 0)\n      return false;\n", ""),
    (Z, "  if (wanted > Lengths::kMostLeast)\n", "  if (false)\n"),
    (Z, "  least = std::max(least, wanted);\n", ""),
    (Z, "(std::ilogb(bound) + 2) * 4.0 / power", "std::ilogb(bound) * 4.0 / power"),
    (Z, "  return size <= 8;", "  return true;"),
    (Z, "return *constant == 1 ? std::optional(Monomial()) : std::nullopt;", "return Monomial();"),
    (Z, "return bound && length && isAbove(*length, *bound) ? length : std::nullopt;", "return bound && length ? length : std::nullopt;"),
    (Z, "    made->isNegated = !made->isNegated;\n", ""),
    (Z, "    own += isa<math::RsqrtOp>(op); // It is 1 / sqrt, as lowered.\n", ""),
    (Z, "power += isa<arith::MulFOp>(op) ? other : -other;", "power += other;"),
    (Z, "    roundings.f32 += by->roundings.f32;\n", ""),
    (Z, "    roundings.f64 += by->roundings.f64;\n", ""),
    (Z, "  ++own;\n", ""),
    # Five fields.
    (F, "sum.exact.of[power] != Coefficients::kOne || sum.size.of[power] != Coefficients::kOne)", "sum.size.of[power] != Coefficients::kOne)"),
    (F, "sum.exact.of[power] != Coefficients::kOne || sum.size.of[power] != Coefficients::kOne)", "sum.exact.of[power] != Coefficients::kOne)"),
    (F, "isSquare || (sum.roundings == Roundings() &&", "true || (sum.roundings == Roundings() &&"),
    (Z, "argument.getArgNumber() >= 3 || means)", "argument.getArgNumber() >= 3)"),
    (N, "!product || product->count != -1 ||", "!product ||"),
    (N, " || product->powers != std::array{2 - ofY, ofY})", ")"),
    (N, "  ++(op.getType().isF32() ? own.f32 : own.f64);\n", ""),
    (N, "  roundings.f32 = std::max(roundings.f32, own.f32);\n", ""),
    (N, "  roundings.f64 = std::max(roundings.f64, own.f64);\n", ""),
    (N, "(from.isInteger() && from.getIntOrFloatBitWidth() < 32))", "false)"),
    (N, "(isa<FloatType>(type) && !type.isF32() && !type.isF64()) ||", ""),
    (N, "    if (index.getKind() != ScanIndex::Dims)\n      return false;\n", ""),
    (N, "    return count == found;\n", "    return true;\n"),
    (N, "    if (!fixed)\n      return std::nullopt;\n", "    if (!fixed)\n      continue;\n"),
    (N, "    if (mayDiffer(op))\n      return std::nullopt;\n    const auto a", "    const auto a"),
    (N, " || (divides && b->powers[0] + b->powers[1] != 0))", ")"),
    (N, " || std::abs(made.count) > 1)", ")"),
    (N, "    ++(value.getType().isF32() ? made.roundings.f32 : made.roundings.f64);\n", ""),
    (N, "a->roundings.f32 + b->roundings.f32", "a->roundings.f32"),
    (N, "a->roundings.f64 + b->roundings.f64", "a->roundings.f64"),
    (N, "      ++product->roundings.f32;\n", ""),
]  # fmt: skip


def run(*command, folder=None):
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)


class NotBuilt(Exception):
    """The first error of a compiler or linker."""


class Build:
    """How a build folder compiles lib/Analysis and links what tests it."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        made = run("ninja", "-C", str(self.folder), SEARCH, PASS)
        if made.returncode:
            sys.exit(f"{folder} does not build: {made.stdout[-2000:]}")
        commands = json.loads((self.folder / "compile_commands.json").read_text())
        self.compiles = {
            Path(one["file"]).name: shlex.split(one["command"]) for one in commands if Path(one["file"]).parent == LIB
        }
        self.links = {target: self.link_of(target) for target in (SEARCH, PASS)}

    def link_of(self, target):
        """The command of ninja's last edge, which is a shell's: ": && clang++ ... && what comes after"."""
        commands = run("ninja", "-C", str(self.folder), "-t", "commands", target).stdout
        return shlex.split(commands.splitlines()[-1].split(" && ")[1])

    def compile(self, file, text, work):
        """An archive like ARCHIVE but for the text of one file."""
        source = work / file
        source.write_text(text)
        command = list(self.compiles[file])
        command[command.index("-o") + 1] = str(work / f"{file}.o")
        command[command.index(str(LIB / file))] = str(source)
        self.must([*command, f"-I{LIB}"])  # Headers beside the file are no longer there.
        shutil.copyfile(self.folder / ARCHIVE, work / "analysis.a")
        self.must([shutil.which("ar"), "r", str(work / "analysis.a"), str(work / f"{file}.o")])
        return work / "analysis.a"

    def link(self, target, archive, work):
        command = [str(archive) if part == ARCHIVE else part for part in self.links[target]]
        command[command.index("-o") + 1] = str(work / target)
        self.must(command)
        return str(work / target)

    def must(self, command):
        made = run(*command, folder=self.folder)
        if made.returncode:
            raise NotBuilt(next((line for line in made.stderr.splitlines() if "error:" in line), made.stderr))


def pinned(opt):
    """The lit file that a pass fails; empty if it fails none."""
    for file, option in (
        ("infer-properties.mlir", ""),
        ("infer-properties_strict.mlir", ""),
        ("infer-properties_not.mlir", "=explain"),
    ):
        flag = f"--annudf-infer-properties{option}"
        if run(opt, str(LIT / file), flag, "--verify-diagnostics", "-o", "/dev/null").returncode:
            return file
    return ""


def caught(build, number):
    """By what; empty if by nothing."""
    name, old, new = RULES[number]
    with tempfile.TemporaryDirectory(prefix="weakened") as folder:
        work = Path(folder)
        archive = build.compile(name, (LIB / name).read_text().replace(old, new), work)
        if run(build.link(SEARCH, archive, work), "--gtest_fail_fast").returncode:
            return "search"
        return pinned(build.link(PASS, archive, work))


def is_seen(build, number):
    name, old, _ = RULES[number]
    try:
        by = caught(build, number)
    except NotBuilt as fault:
        print(f"{number} {name}: NOT BUILT: {fault}", flush=True)
        return False
    print(f"{number} {name}: {by or 'NOTHING: ' + old}", flush=True)
    return bool(by)


def chosen_rules(arguments):
    if part := re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", " ".join(arguments)):
        return range(int(part[1]) - 1, len(RULES), int(part[2]))
    wrong = [text for text in arguments if not text.isdecimal() or int(text) >= len(RULES)]
    if wrong:
        sys.exit(f"weakened.py: {wrong[0]!r} is no rule; there are 0 to {len(RULES) - 1}")
    return [int(number) for number in arguments] or range(len(RULES))


def main():
    chosen = chosen_rules(sys.argv[2:])
    for number, (name, old, _) in enumerate(RULES):
        if (count := (LIB / name).read_text().count(old)) != 1:
            sys.exit(f"{number}: {name} has {count} times: {old}")
    build = Build(sys.argv[1])
    # What is not weakened must pass, or else everything would be seen.
    if run(str(build.folder / "test/Analysis" / SEARCH)).returncode:
        sys.exit(f"{SEARCH} fails as it is")
    if file := pinned(str(build.folder / "tools" / PASS / PASS)):
        sys.exit(f"{file} fails as it is")
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        seen = list(workers.map(lambda number: is_seen(build, number), chosen))
    missed = [number for number, one in zip(chosen, seen, strict=True) if not one]
    print(f"{len(chosen)} rules weakened, not seen: {missed or 'none'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
