//===- VectorMath.cpp - Which functions glibc has for vectors -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorMath.h"

#include "annudf/Support/Fork.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/DynamicLibrary.h"

#include <mutex>

using namespace llvm;

namespace {

/// A function of libm, and whether LLVM has an intrinsic of its name, which bodies use then.
struct MathFunction {
  const char *name;
  int operands;
  bool isIntrinsic;
};

constexpr MathFunction kFunctions[] = {
    {"acos", 1, true}, {"acosh", 1, false}, {"asin", 1, true},   {"asinh", 1, false},
    {"atan", 1, true}, {"atan2", 2, true},  {"atanh", 1, false}, {"cbrt", 1, false},
    {"cos", 1, true},  {"cosh", 1, true},   {"erf", 1, false},   {"erfc", 1, false},
    {"exp", 1, true},  {"exp10", 1, true},  {"exp2", 1, true},   {"expm1", 1, false},
    {"log", 1, true},  {"log10", 1, true},  {"log1p", 1, false}, {"log2", 1, true},
    {"pow", 2, true},  {"sin", 1, true},    {"sinh", 1, true},   {"tan", 1, true},
    {"tanh", 1, true},
};

/// An instruction set of the vector ABI of x86-64, and how many bits a vector of it has.
struct InstructionSet {
  char letter;
  unsigned bits;
  const char *feature; ///< LLVM's name.
};

constexpr InstructionSet kInstructionSets[] = {
    {'b', 128, "+sse2"}, {'d', 256, "+avx2"}, {'e', 512, "+avx512f"}};

/// The names that LLVM keeps pointers to; they last as long as the process.
StringRef kept(StringRef name) {
  static annudf::BriefMutex mutex;
  const std::lock_guard lock(mutex);
  static StringSet<> names;
  return names.insert(name).first->getKey();
}

} // namespace

void annudf::runtime::cpu::addVectorMath(TargetLibraryInfoImpl &library, TargetMachine &target) {
  auto opened = sys::DynamicLibrary::getPermanentLibrary(kVectorMathLibrary);
  if (!opened.isValid())
    return;
  std::vector<VecDesc> added;
  for (const MathFunction &function : kFunctions)
    for (unsigned width : {32u, 64u})
      for (const InstructionSet &set : kInstructionSets) {
        const ElementCount count = ElementCount::getFixed(set.bits / width);
        const std::string shape = utostr(set.bits / width) + std::string(function.operands, 'v');
        const std::string name = std::string(function.name) + (width == 32 ? "f" : "");
        const std::string vector = ("_ZGV" + Twine(set.letter) + "N" + shape + "_" + name).str();
        if (!target.getMCSubtargetInfo()->checkFeatures(set.feature) ||
            !opened.getAddressOfSymbol(vector.c_str()))
          continue;
        const StringRef prefix = kept("_ZGV_LLVM_N" + shape);
        auto add = [&](StringRef scalar) {
          if (!library.isFunctionVectorizable(scalar, count))
            added.emplace_back(kept(scalar), kept(vector), count, /*Masked=*/false, prefix,
                               std::nullopt);
        };
        add(name);
        if (function.isIntrinsic)
          add(std::string("llvm.") + function.name + (width == 32 ? ".f32" : ".f64"));
      }
  library.addVectorizableFunctions(added);
}

bool annudf::runtime::cpu::isVectorMath(StringRef name) {
  if (name.consume_front("llvm."))
    name = name.take_until([](char c) { return c == '.'; });
  return any_of(kFunctions, [&](const MathFunction &known) {
    return name == known.name || (name.ends_with("f") && name.drop_back() == known.name);
  });
}

void annudf::runtime::cpu::markMathPure(Module &module) {
  for (Function &function : module) {
    StringRef name = function.getName();
    if (!function.isDeclaration() || function.isIntrinsic())
      continue;
    if (!isVectorMath(name) && name != "fmod" && name != "fmodf")
      continue;
    function.setDoesNotAccessMemory();
    function.setDoesNotThrow();
    function.addFnAttr(Attribute::WillReturn);
    function.addFnAttr(Attribute::Speculatable);
  }
}
