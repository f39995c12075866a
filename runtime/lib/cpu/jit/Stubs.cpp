//===- Stubs.cpp - Hooks that a scan calls and code does not define -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stubs.h"

#include "annudf/ABI/Hooks.h"
#include "annudf/Support/Error.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using annudf::ScanHook;

/// The insertion point is its body, which a kernel takes in.
static IRBuilder<> begin(Function &function) {
  function.addFnAttr(Attribute::AlwaysInline);
  return IRBuilder<>(BasicBlock::Create(function.getContext(), "", &function));
}

/// The distance of a metric without finalize: its accumulator as float.
static void defineFinalize(Function &function, annudf_accumulator accumulator) {
  IRBuilder<> builder = begin(function);
  Value *word = function.getArg(0);
  Type *result = function.getReturnType();
  enum class Kind { FLOAT, SIGNED, UNSIGNED } kind = Kind::FLOAT;
  switch (accumulator) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case ANNUDF_ACCUMULATOR_##NAME:                                                                  \
    kind = Kind::KIND;                                                                             \
    break;
    ANNUDF_ACCUMULATORS(ANNUDF_X)
#undef ANNUDF_X
  case ANNUDF_ACCUMULATOR_STRUCT: // checkManifest: it has its own.
    llvm::report_fatal_error("annudf: an accumulator of several fields has no stub of finalize");
  }
  switch (kind) {
  case Kind::FLOAT: {
    const bool isDouble = word->getType()->isIntegerTy(64);
    Value *acc =
        builder.CreateBitCast(word, isDouble ? builder.getDoubleTy() : builder.getFloatTy());
    builder.CreateRet(isDouble ? builder.CreateFPTrunc(acc, result) : acc);
    break;
  }
  case Kind::SIGNED:
    builder.CreateRet(builder.CreateSIToFP(word, result));
    break;
  case Kind::UNSIGNED:
    builder.CreateRet(builder.CreateUIToFP(word, result));
    break;
  }
}

/// Hooks of the role scan around a filter's: a row's distance is 0 where it is kept, else NaN, of
/// any coordinates. No default: a new hook is defined here.
static void defineForFilter(Module &scan, ScanHook hook, Function &function) {
  IRBuilder<> builder = begin(function);
  switch (hook) {
  case ScanHook::INIT:
    builder.CreateRet(ConstantInt::get(function.getReturnType(), 0));
    return;
  case ScanHook::UPDATE:
    builder.CreateRet(function.getArg(0));
    return;
  case ScanHook::FINALIZE: {
    // Its arguments are those of finalize after the accumulator.
    SmallVector<Value *> arguments;
    for (Argument &argument : drop_begin(function.args()))
      arguments.push_back(&argument);
    Value *kept =
        builder.CreateCall(scan.getFunction(symbolOf(annudf::FilterHook::KEEP)), arguments);
    Type *result = function.getReturnType();
    builder.CreateRet(builder.CreateSelect(builder.CreateIsNotNull(kept),
                                           ConstantFP::get(result, 0), ConstantFP::getNaN(result)));
    return;
  }
  case ScanHook::CONTRACT:
    // Its own has been read: the scan is not asked.
    builder.CreateRet(ConstantInt::get(function.getReturnType(), 0));
    return;
  case ScanHook::COMBINE:
    llvm::report_fatal_error("annudf: the scan does not call combine");
  }
}

/// Hooks of other roles than the code's, which nothing calls once constants are known.
static void defineUncalled(Function &function) {
  begin(function).CreateRet(Constant::getNullValue(function.getReturnType()));
}

static void defineForOthers(Module &scan, const annudf::Manifest &manifest) {
  annudf::forEachPairwiseHook(manifest.computeWidth(),
                              [&](annudf::PairwiseHook, const char *symbol, auto) {
                                Function *function = scan.getFunction(symbol);
                                if (function && function->isDeclaration())
                                  defineUncalled(*function);
                              });
}

void annudf::runtime::cpu::defineStubs(Module &scan, const MetricView &metric) {
  const Manifest &manifest = metric.artifact.manifest;
  if (!manifest.isPairwise())
    defineForOthers(scan, manifest);
  for (ScanHook hook : kScanHooks) {
    Function *function = scan.getFunction(symbolOf(hook, manifest.hookWidths()));
    if (!function)
      continue; // The scan does not call it.
    if (manifest.isFilter()) {
      defineForFilter(scan, hook, *function);
      continue;
    }
    if (manifest.isPairwise()) {
      defineUncalled(*function);
      continue;
    }
    if (isDefinedBy(hook, manifest.hooks))
      continue;
    // No default: a new hook that is optional has its stub here.
    switch (hook) {
    case ScanHook::INIT:
    case ScanHook::UPDATE:
    case ScanHook::CONTRACT:
      throw Error(ErrorKind::Input, metric.origin + ": host bitcode: lacks hook " +
                                        function->getName().str() + ", which every metric has");
    case ScanHook::COMBINE:
      break; // The scan does not call it.
    case ScanHook::FINALIZE:
      defineFinalize(*function, manifest.accumulator);
      break;
    }
  }
}
