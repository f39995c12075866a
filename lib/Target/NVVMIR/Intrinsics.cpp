//===- Intrinsics.cpp - Functions that libNVVM provides -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"

using llvm::StringRef;

namespace {

struct Renamed {
  const char *llvm, *nvvm;
};

// llvm.round is worse than unknown: compute_75 to 90 round halves to even for it.
constexpr Renamed kRenamed[] = {
    {"llvm.fabs.f32", "llvm.nvvm.fabs.f"}, {"llvm.fabs.f64", "llvm.nvvm.fabs.d"},
    {"llvm.trunc.f32", "__nv_truncf"},     {"llvm.trunc.f64", "__nv_trunc"},
    {"llvm.round.f32", "__nv_roundf"},     {"llvm.round.f64", "__nv_round"},
    {"llvm.roundeven.f32", "__nv_rintf"},  {"llvm.roundeven.f64", "__nv_rint"},
    {"llvm.rint.f32", "__nv_rintf"},       {"llvm.rint.f64", "__nv_rint"},
    {"llvm.nearbyint.f32", "__nv_rintf"},  {"llvm.nearbyint.f64", "__nv_rint"},
    {"llvm.exp.f32", "__nv_expf"},         {"llvm.exp.f64", "__nv_exp"},
    {"llvm.exp2.f32", "__nv_exp2f"},       {"llvm.exp2.f64", "__nv_exp2"},
    {"llvm.log.f32", "__nv_logf"},         {"llvm.log.f64", "__nv_log"},
    {"llvm.log2.f32", "__nv_log2f"},       {"llvm.log2.f64", "__nv_log2"},
    {"llvm.log10.f32", "__nv_log10f"},     {"llvm.log10.f64", "__nv_log10"},
    {"llvm.sin.f32", "__nv_sinf"},         {"llvm.sin.f64", "__nv_sin"},
    {"llvm.cos.f32", "__nv_cosf"},         {"llvm.cos.f64", "__nv_cos"},
    {"llvm.pow.f32", "__nv_powf"},         {"llvm.pow.f64", "__nv_pow"},
};

constexpr const char *kSame[] = {
    "llvm.fma.f32",      "llvm.fma.f64",      "llvm.sqrt.f32",   "llvm.sqrt.f64",
    "llvm.floor.f32",    "llvm.floor.f64",    "llvm.ceil.f32",   "llvm.ceil.f64",
    "llvm.minnum.f32",   "llvm.minnum.f64",   "llvm.maxnum.f32", "llvm.maxnum.f64",
    "llvm.copysign.f32", "llvm.copysign.f64", "llvm.ctpop.i8",   "llvm.ctpop.i16",
    "llvm.ctpop.i32",    "llvm.ctpop.i64",    "llvm.ctlz.i8",    "llvm.ctlz.i16",
    "llvm.ctlz.i32",     "llvm.ctlz.i64",     "llvm.cttz.i8",    "llvm.cttz.i16",
    "llvm.cttz.i32",     "llvm.cttz.i64",
};

} // namespace

StringRef annudf::nvvmir::intrinsicName(StringRef name) {
  for (const Renamed &entry : kRenamed)
    if (name == entry.llvm)
      return entry.nvvm;
  for (const char *same : kSame)
    if (name == same)
      return name;
  return {};
}
