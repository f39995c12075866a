//===- OpCases.cpp - Every op of a body, with its meaning in C++ ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpCases.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace annudf::test;

namespace {

template <typename To, typename From> To saturate(From value) {
  if (std::isnan(value))
    return 0;
  // Exact in long double, whose fraction has 64 bits.
  long double wide = std::trunc(static_cast<long double>(value));
  if (wide < static_cast<long double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (wide > static_cast<long double>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(wide);
}

float maximum(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
float minimum(float a, float b) { return -maximum(-a, -b); }
double maximum64(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

uint32_t u(int32_t value) { return static_cast<uint32_t>(value); }
int32_t s(uint32_t value) { return static_cast<int32_t>(value); }

float half(float value) { return static_cast<float>(static_cast<_Float16>(value)); }

constexpr double kLibm = 4e-7; // About 3 ulp of f32.
constexpr double kLibm64 = 1e-15;

} // namespace

#define F32(expression)                                                                            \
  FloatMeaning([](float acc, float x, float y) -> float { return expression; })
#define F64(expression)                                                                            \
  DoubleMeaning([](double acc, double x, double y) -> double { return expression; })
#define I32(expression)                                                                            \
  IntegerMeaning([](int32_t acc, int32_t x, int32_t y) -> int32_t { return expression; })

// clang-format off
static const std::vector<OpCase> kCases = {
    // Floating point.
    {"addf", "%r = arith.addf %x, %y : f32", F32(x + y)},
    {"subf", "%r = arith.subf %x, %y : f32", F32(x - y)},
    {"mulf", "%r = arith.mulf %x, %y : f32", F32(x * y)},
    {"divf", "%r = arith.divf %x, %y : f32", F32(x / y)},
    {"remf", "%r = arith.remf %x, %y : f32", F32(std::fmod(x, y))},
    {"negf", "%r = arith.negf %x : f32", F32(-x)},
    {"maximumf", "%r = arith.maximumf %x, %y : f32", F32(maximum(x, y))},
    {"minimumf", "%r = arith.minimumf %x, %y : f32", F32(minimum(x, y))},
    {"maxnumf", "%m = arith.maxnumf %x, %y : f32\n %a = math.absf %m : f32\n %z = arith.constant 0.0 : f32\n %i = arith.cmpf oeq, %a, %z : f32\n %r = arith.select %i, %z, %m : f32",
     F32(std::fmax(x, y) == 0 ? 0.0f : std::fmax(x, y))},
    {"minnumf", "%m = arith.minnumf %x, %y : f32\n %z = arith.constant 0.0 : f32\n %i = arith.cmpf oeq, %m, %z : f32\n %r = arith.select %i, %z, %m : f32",
     F32(std::fmin(x, y) == 0 ? 0.0f : std::fmin(x, y))},
    {"fastmath", "%a = arith.addf %x, %y fastmath<reassoc,nsz,arcp,contract,afn> : f32\n %r = arith.mulf %a, %acc fastmath<contract> : f32", F32((x + y) * acc)},
    {"cmpf_ordered", "%1 = arith.cmpf olt, %x, %y : f32\n %2 = arith.cmpf oge, %x, %acc : f32\n %3 = arith.cmpf one, %y, %acc : f32\n %4 = arith.cmpf ord, %x, %y : f32\n"
     "%5 = arith.select %1, %x, %y : f32\n %6 = arith.select %2, %5, %acc : f32\n %7 = arith.select %3, %6, %x : f32\n %r = arith.select %4, %7, %acc : f32",
     F32(!std::isunordered(x, y) ? (y < acc || y > acc ? (x >= acc ? (x < y ? x : y) : acc) : x) : acc)},
    {"cmpf_unordered", "%1 = arith.cmpf ult, %x, %y : f32\n %2 = arith.cmpf uno, %x, %acc : f32\n %3 = arith.cmpf une, %x, %y : f32\n %4 = arith.cmpf ueq, %y, %acc : f32\n"
     "%5 = arith.select %1, %x, %y : f32\n %6 = arith.select %2, %5, %acc : f32\n %7 = arith.select %3, %6, %x : f32\n %r = arith.select %4, %7, %y : f32",
     F32(!(y < acc || y > acc) ? (x != y ? (std::isunordered(x, acc) ? (!(x >= y) ? x : y) : acc) : x) : y)},
    {"constants", "%1 = arith.constant 0x7F800000 : f32\n %2 = arith.constant 0xFF800000 : f32\n %3 = arith.constant 0x7FC00000 : f32\n %4 = arith.constant 1.1 : f32\n"
     "%c = arith.cmpf ogt, %x, %y : f32\n %d = arith.cmpf ogt, %x, %acc : f32\n %5 = arith.select %c, %1, %2 : f32\n %6 = arith.select %d, %3, %4 : f32\n"
     "%e = arith.cmpf ogt, %y, %acc : f32\n %r = arith.select %e, %5, %6 : f32",
     F32(y > acc ? (x > y ? INFINITY : -INFINITY) : (x > acc ? NAN : 1.1f))},
    {"f64_arithmetic", "%a = arith.subf %x, %y : f64\n %b = arith.divf %a, %y : f64\n %n = arith.negf %b : f64\n %c = arith.constant 0.1 : f64\n %r = arith.addf %n, %c : f64", F64(-((x - y) / y) + 0.1)},
    {"f64_choice", "%a = arith.maximumf %x, %y : f64\n %r = arith.minimumf %a, %acc : f64", F64(-maximum64(-maximum64(x, y), -acc))},
    {"f64_functions", "%a = math.absf %x : f64\n %b = math.sqrt %a : f64\n %c = math.floor %y : f64\n %r = math.fma %b, %c, %acc : f64", F64(std::fma(std::sqrt(std::fabs(x)), std::floor(y), acc)), kLibm64},
    {"f64_libm", "%a = math.absf %x : f64\n %b = math.powf %a, %y : f64\n %c = math.log1p %a : f64\n %r = arith.divf %c, %b : f64", F64(std::log1p(std::fabs(x)) / std::pow(std::fabs(x), y)), 1e-14},
    {"f64_rem", "%r = arith.remf %x, %y : f64", F64(std::fmod(x, y))},
    {"f64_rounding", "%a = math.trunc %x : f64\n %b = math.round %y : f64\n %c = math.roundeven %acc : f64\n %d = math.ceil %a : f64\n %e = math.copysign %b, %d : f64\n %i = arith.cmpf olt, %c, %e : f64\n %r = arith.select %i, %c, %e : f64",
     F64(std::nearbyint(acc) < std::copysign(std::round(y), std::trunc(x)) ? std::nearbyint(acc) : std::copysign(std::round(y), std::trunc(x)))},
    {"f64_tests", "%1 = math.isnan %x : f64\n %2 = math.isfinite %y : f64\n %3 = math.isinf %acc : f64\n %a = arith.select %1, %y, %x : f64\n %b = arith.select %2, %a, %acc : f64\n %r = arith.select %3, %x, %b : f64",
     F64(std::isinf(acc) ? x : std::isfinite(y) ? (std::isnan(x) ? y : x) : acc)},
    // Functions.
    {"absf", "%r = math.absf %x : f32", F32(std::fabs(x))},
    {"acos", "%r = math.acos %x : f32", F32(std::acos(x)), kLibm},
    {"acosh", "%r = math.acosh %x : f32", F32(std::acosh(x)), kLibm},
    {"asin", "%r = math.asin %x : f32", F32(std::asin(x)), kLibm},
    {"asinh", "%r = math.asinh %x : f32", F32(std::asinh(x)), kLibm},
    {"atan", "%r = math.atan %x : f32", F32(std::atan(x)), kLibm},
    {"atan2", "%r = math.atan2 %x, %y : f32", F32(std::atan2(x, y)), kLibm},
    {"atanh", "%r = math.atanh %x : f32", F32(std::atanh(x)), kLibm},
    {"cbrt", "%r = math.cbrt %x : f32", F32(std::cbrt(x)), kLibm},
    {"ceil", "%r = math.ceil %x : f32", F32(std::ceil(x))},
    {"copysign", "%r = math.copysign %x, %y : f32", F32(std::copysign(x, y))},
    {"cos", "%r = math.cos %x : f32", F32(std::cos(x)), kLibm},
    {"cosh", "%r = math.cosh %x : f32", F32(std::cosh(x)), kLibm},
    {"erf", "%r = math.erf %x : f32", F32(std::erf(x)), kLibm},
    {"erfc", "%r = math.erfc %x : f32", F32(std::erfc(x)), kLibm},
    {"exp", "%r = math.exp %x : f32", F32(std::exp(x)), kLibm},
    {"exp2", "%r = math.exp2 %x : f32", F32(std::exp2(x)), kLibm},
    {"expm1", "%r = math.expm1 %x : f32", F32(std::expm1(x)), kLibm},
    {"floor", "%r = math.floor %x : f32", F32(std::floor(x))},
    {"fma", "%r = math.fma %x, %y, %acc : f32", F32(std::fma(x, y, acc))},
    {"isfinite", "%i = math.isfinite %x : f32\n %r = arith.select %i, %x, %y : f32", F32(std::isfinite(x) ? x : y)},
    {"isinf", "%i = math.isinf %x : f32\n %r = arith.select %i, %x, %y : f32", F32(std::isinf(x) ? x : y)},
    {"isnan", "%i = math.isnan %x : f32\n %r = arith.select %i, %acc, %y : f32", F32(std::isnan(x) ? acc : y)},
    {"log", "%r = math.log %x : f32", F32(std::log(x)), kLibm},
    {"log10", "%r = math.log10 %x : f32", F32(std::log10(x)), kLibm},
    {"log1p", "%r = math.log1p %x : f32", F32(std::log1p(x)), kLibm},
    {"log2", "%r = math.log2 %x : f32", F32(std::log2(x)), kLibm},
    {"powf", "%r = math.powf %x, %y : f32", F32(std::pow(x, y)), kLibm},
    {"round", "%r = math.round %x : f32", F32(std::round(x))},
    {"roundeven", "%r = math.roundeven %x : f32", F32(std::nearbyint(x))},
    {"rsqrt", "%r = math.rsqrt %x : f32", F32(1 / std::sqrt(x)), kLibm},
    {"sin", "%r = math.sin %x : f32", F32(std::sin(x)), kLibm},
    {"sinh", "%r = math.sinh %x : f32", F32(std::sinh(x)), kLibm},
    {"sqrt", "%r = math.sqrt %x : f32", F32(std::sqrt(x))},
    {"tan", "%r = math.tan %x : f32", F32(std::tan(x)), kLibm},
    {"tanh", "%r = math.tanh %x : f32", F32(std::tanh(x)), kLibm},
    {"trunc", "%r = math.trunc %x : f32", F32(std::trunc(x))},
    // Integers; acc is any word, x and y are bytes.
    {"addi", "%r = arith.addi %acc, %x : i32", I32(s(u(acc) + u(x)))},
    {"subi", "%r = arith.subi %acc, %x : i32", I32(s(u(acc) - u(x)))},
    {"muli", "%r = arith.muli %acc, %x : i32", I32(s(u(acc) * u(x)))},
    {"divsi", "%c = arith.constant -7 : i32\n %r = arith.divsi %acc, %c : i32", I32(acc / -7)},
    {"divui", "%c = arith.constant 7 : i32\n %r = arith.divui %acc, %c : i32", I32(s(u(acc) / 7u))},
    {"remsi", "%c = arith.constant 7 : i32\n %r = arith.remsi %acc, %c : i32", I32(acc % 7)},
    {"remui", "%c = arith.constant 7 : i32\n %r = arith.remui %acc, %c : i32", I32(s(u(acc) % 7u))},
    {"andi", "%r = arith.andi %acc, %x : i32", I32(acc & x)},
    {"ori", "%r = arith.ori %acc, %x : i32", I32(acc | x)},
    {"xori", "%r = arith.xori %acc, %x : i32", I32(acc ^ x)},
    {"shli", "%c = arith.constant 5 : i32\n %r = arith.shli %acc, %c : i32", I32(s(u(acc) << 5))},
    {"shrsi", "%c = arith.constant 5 : i32\n %r = arith.shrsi %acc, %c : i32", I32(acc >> 5)},
    {"shrui", "%c = arith.constant 5 : i32\n %r = arith.shrui %acc, %c : i32", I32(s(u(acc) >> 5))},
    {"maxsi", "%r = arith.maxsi %acc, %x : i32", I32(acc > x ? acc : x)},
    {"maxui", "%r = arith.maxui %acc, %x : i32", I32(u(acc) > u(x) ? acc : x)},
    {"minsi", "%r = arith.minsi %acc, %x : i32", I32(acc < x ? acc : x)},
    {"minui", "%r = arith.minui %acc, %x : i32", I32(u(acc) < u(x) ? acc : x)},
    {"absi", "%r = math.absi %acc : i32", I32(acc < 0 ? s(0u - u(acc)) : acc)},
    {"ctpop", "%r = math.ctpop %acc : i32", I32(std::popcount(u(acc)))},
    {"ctlz", "%r = math.ctlz %acc : i32", I32(std::countl_zero(u(acc)))},
    {"cttz", "%r = math.cttz %acc : i32", I32(std::countr_zero(u(acc)))},
    {"cmpi", "%1 = arith.cmpi slt, %acc, %x : i32\n %2 = arith.cmpi ugt, %acc, %y : i32\n %3 = arith.cmpi eq, %x, %y : i32\n %4 = arith.andi %1, %2 : i1\n %5 = arith.ori %4, %3 : i1\n %r = arith.extui %5 : i1 to i32",
     I32(((acc < x) && (u(acc) > u(y))) || x == y)},
    {"narrow", "%1 = arith.trunci %acc : i32 to i8\n %2 = arith.extsi %1 : i8 to i16\n %3 = math.absi %2 : i16\n %4 = math.ctlz %3 : i16\n %5 = arith.extui %4 : i16 to i32\n %6 = arith.maxsi %1, %1 : i8\n %7 = math.cttz %6 : i8\n %8 = arith.extui %7 : i8 to i32\n %r = arith.addi %5, %8 : i32",
     I32(std::countl_zero(uint16_t(std::abs(int16_t(int8_t(acc))))) + std::countr_zero(uint8_t(acc)))},
    {"wide", "%1 = arith.extsi %acc : i32 to i64\n %2 = arith.extui %acc : i32 to i64\n %3 = arith.muli %1, %2 : i64\n %4 = math.ctpop %3 : i64\n %5 = math.ctlz %3 : i64\n %6 = math.cttz %3 : i64\n %7 = arith.addi %4, %5 : i64\n %8 = arith.subi %7, %6 : i64\n %r = arith.trunci %8 : i64 to i32",
     I32([](uint64_t p) { return int32_t(std::popcount(p) + std::countl_zero(p) - std::countr_zero(p)); }(uint64_t(int64_t(acc)) * u(acc)))},
    // Conversions. The host's casts of f32 are undefined out of range; ours saturate.
    {"fptosi", "%1 = arith.fptosi %x : f32 to i32\n %r = arith.bitcast %1 : i32 to f32", F32(std::bit_cast<float>(saturate<int32_t>(x)))},
    {"fptoui", "%1 = arith.fptoui %x : f32 to i32\n %r = arith.bitcast %1 : i32 to f32", F32(std::bit_cast<float>(saturate<uint32_t>(x)))},
    {"fptosi_i8", "%1 = arith.fptosi %x : f32 to i8\n %r = arith.sitofp %1 : i8 to f32", F32(saturate<int8_t>(x))},
    {"fptoui_i16", "%1 = arith.fptoui %x : f32 to i16\n %r = arith.uitofp %1 : i16 to f32", F32(saturate<uint16_t>(x))},
    {"fptosi_i64", "%1 = arith.fptosi %x : f32 to i64\n %r = arith.sitofp %1 : i64 to f32", F32(saturate<int64_t>(x))},
    {"fptoui_i64", "%1 = arith.fptoui %x : f32 to i64\n %r = arith.uitofp %1 : i64 to f32", F32(saturate<uint64_t>(x))},
    {"f64_fptosi", "%1 = arith.fptosi %x : f64 to i64\n %r = arith.bitcast %1 : i64 to f64", F64(std::bit_cast<double>(saturate<int64_t>(x)))},
    {"f64_fptoui", "%1 = arith.fptoui %x : f64 to i32\n %r = arith.uitofp %1 : i32 to f64", F64(saturate<uint32_t>(x))},
    {"f16_fptosi", "%h = arith.truncf %x : f32 to f16\n %1 = arith.fptosi %h : f16 to i32\n %r = arith.sitofp %1 : i32 to f32", F32(saturate<int32_t>(half(x)))},
    {"f16_fptoui", "%h = arith.truncf %x : f32 to f16\n %1 = arith.fptoui %h : f16 to i8\n %r = arith.uitofp %1 : i8 to f32", F32(saturate<uint8_t>(half(x)))},
    {"sitofp", "%1 = arith.bitcast %x : f32 to i32\n %r = arith.sitofp %1 : i32 to f32", F32(float(std::bit_cast<int32_t>(x)))},
    {"uitofp", "%1 = arith.bitcast %x : f32 to i32\n %r = arith.uitofp %1 : i32 to f32", F32(float(std::bit_cast<uint32_t>(x)))},
    {"extf", "%1 = arith.extf %x : f32 to f64\n %2 = arith.extf %y : f32 to f64\n %3 = arith.mulf %1, %2 : f64\n %r = arith.truncf %3 : f64 to f32", F32(float(double(x) * double(y)))},
    {"f16", "%1 = arith.truncf %x : f32 to f16\n %2 = arith.truncf %y : f32 to f16\n %3 = arith.subf %1, %2 : f16\n %4 = arith.negf %3 : f16\n %5 = math.absf %4 : f16\n %6 = math.copysign %5, %2 : f16\n %r = arith.extf %6 : f16 to f32",
     F32(std::copysign(half(half(x) - half(y)), half(y)))},
    {"f16_product", "%1 = arith.truncf %x : f32 to f16\n %2 = arith.truncf %y : f32 to f16\n %3 = arith.mulf %1, %2 : f16\n %c = arith.constant 1.5 : f16\n %4 = arith.divf %3, %c : f16\n %r = arith.extf %4 : f16 to f32",
     F32(half(half(half(x) * half(y)) / 1.5f))},
    {"f16_choice", "%1 = arith.truncf %x : f32 to f16\n %2 = arith.truncf %y : f32 to f16\n %3 = arith.maximumf %1, %2 : f16\n %4 = arith.minimumf %3, %2 : f16\n %5 = arith.cmpf ult, %1, %4 : f16\n %6 = arith.select %5, %1, %4 : f16\n %r = arith.extf %6 : f16 to f32",
     F32([](float a, float b) { float m = minimum(maximum(a, b), b); return !(a >= m) ? a : m; }(half(x), half(y)))},
    {"f16_number_choice", "%1 = arith.truncf %x : f32 to f16\n %2 = arith.truncf %y : f32 to f16\n %3 = arith.maxnumf %1, %2 : f16\n %4 = arith.minnumf %3, %1 : f16\n %5 = arith.extf %4 : f16 to f32\n %z = arith.constant 0.0 : f32\n %i = arith.cmpf oeq, %5, %z : f32\n %r = arith.select %i, %z, %5 : f32",
     F32([](float a, float b) { float m = std::fmin(std::fmax(a, b), a); return m == 0 ? 0.0f : m; }(half(x), half(y)))},
    {"f16_rem", "%1 = arith.truncf %x : f32 to f16\n %2 = arith.truncf %y : f32 to f16\n %3 = arith.remf %1, %2 : f16\n %r = arith.extf %3 : f16 to f32", F32(half(std::fmod(half(x), half(y))))},
    {"f16_integers", "%1 = arith.trunci %acc : i32 to i8\n %2 = arith.sitofp %1 : i8 to f16\n %3 = arith.uitofp %1 : i8 to f16\n %4 = arith.addf %2, %3 : f16\n %5 = arith.bitcast %4 : f16 to i16\n %r = arith.extsi %5 : i16 to i32",
     I32(std::bit_cast<int16_t>(static_cast<_Float16>(float(int8_t(acc)) + float(uint8_t(acc)))))},
    // Indices; dim and dims are 3 and 5 in this test.
    {"index", "%d = annudf.index dim\n %n = annudf.index dims\n %c = arith.constant 2 : index\n %e = arith.muli %d, %c : index\n %f = arith.addi %e, %n : index\n %g = arith.index_cast %f : index to i32\n %h = arith.index_castui %x : i32 to index\n %i = arith.index_castui %h : index to i32\n %j = arith.addi %g, %i : i32\n %r = arith.addi %j, %acc : i32",
     I32(s(u(11 + x) + u(acc)))},
    {"index_choice", "%d = annudf.index dim\n %i = arith.index_cast %acc : i32 to index\n %m = arith.minsi %i, %d : index\n %k = arith.maxui %m, %d : index\n %t = arith.trunci %acc : i32 to i1\n %q = arith.select %t, %k, %m : index\n %r = arith.index_cast %q : index to i32",
     I32([](int64_t a) { int64_t m = a < 3 ? a : 3; return int32_t((a & 1) ? (uint64_t(m) > 3u ? m : 3) : m); }(acc))},
    // Control flow.
    {"if", "%c = arith.cmpf ogt, %x, %y : f32\n %r = scf.if %c -> f32 {\n %1 = arith.subf %x, %y : f32\n scf.yield %1 : f32\n } else {\n %d = arith.cmpf olt, %x, %acc : f32\n %2 = scf.if %d -> f32 {\n scf.yield %acc : f32\n } else {\n scf.yield %y : f32\n }\n scf.yield %2 : f32\n }",
     F32(x > y ? x - y : x < acc ? acc : y)},
    {"for", "%a = arith.constant 0 : index\n %b = arith.constant 7 : index\n %s = arith.constant 2 : index\n %r = scf.for %i = %a to %b step %s iter_args(%v = %acc) -> (i32) {\n %k = arith.index_cast %i : index to i32\n %w = arith.muli %v, %x : i32\n %n = arith.addi %w, %k : i32\n scf.yield %n : i32\n }",
     I32([](int32_t v, int32_t m) { for (int i = 0; i < 7; i += 2) v = s(u(v) * u(m) + u(i)); return v; }(acc, x))},
    {"call", "%1 = func.call @twice(%x) : (f32) -> f32\n %r = func.call @add(%1, %y) : (f32, f32) -> f32", F32(2 * x + y), 0,
     "func.func private @twice(%v: f32) -> f32 {\n %r = arith.addf %v, %v : f32\n func.return %r : f32\n }\n"
     "func.func private @add(%v: f32, %w: f32) -> f32 {\n %r = arith.addf %v, %w : f32\n func.return %r : f32\n }\n"},
    {"call_reserved", "%r = func.call @powf(%x) : (f32) -> f32", F32(-x), 0,
     "func.func private @powf(%v: f32) -> f32 {\n %r = arith.negf %v : f32\n func.return %r : f32\n }\n"},
};
// clang-format on

const std::vector<OpCase> &annudf::test::opCases() { return kCases; }

std::string annudf::test::moduleText(const OpCase &opCase) {
  static constexpr const char *kTypes[] = {"f32", "f64", "i32"};
  static constexpr const char *kElements[] = {"f32", "f32", "i8"};
  std::string type = kTypes[opCase.meaning.index()];
  std::string zero = opCase.meaning.index() == 2 ? "0" : "0.0";
  return std::string(opCase.helpers) + "annudf.metric @m order(min) coarse(l2) elements(" +
         kElements[opCase.meaning.index()] + ") {\n  annudf.init {\n    %0 = arith.constant " +
         zero + " : " + type + "\n    annudf.yield %0 : " + type +
         "\n  }\n  annudf.update (%acc: " + type + ", %x: " + type + ", %y: " + type + ") {\n    " +
         opCase.body + "\n    annudf.yield %r : " + type + "\n  }\n}\n";
}
