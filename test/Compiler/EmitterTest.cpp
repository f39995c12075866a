//===- EmitterTest.cpp - What is printed for libNVVM, and what never is ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include "annudf/Target/LibNvvm.h"
#include "annudf/Target/NVVMIR.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace annudf;

namespace {

constexpr const char *kHeader =
    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-"
    "f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n";

/// The printed text, or "error: " and why not.
std::string emit(const std::string &ir, const char *header = kHeader) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(header + ir, diagnostic, context);
  if (!module)
    return "unparsable: " + diagnostic.getMessage().str();
  auto text = emitNvvmIr(*module);
  return text ? *text : "error: " + llvm::toString(text.takeError());
}

/// Whether libNVVM takes what was printed, on the families of both readers.
void expectAccepted(const std::string &text) {
  auto nvvm = LibNvvm::load();
  if (!nvvm) {
    llvm::consumeError(nvvm.takeError());
    GTEST_SKIP() << "no libNVVM";
  }
  for (int sm : {75, 90, 100}) {
    for (DeviceCode kind : {DeviceCode::Ptx, DeviceCode::LtoIr}) {
      auto code = (*nvvm)->compile(text, sm, kind);
      EXPECT_TRUE(bool(code)) << (code ? "" : llvm::toString(code.takeError())) << "\n" << text;
    }
  }
}

struct Printed {
  const char *name, *ir, *expected;
};

void PrintTo(const Printed &printed, std::ostream *os) { *os << printed.name; }

class Rows : public testing::TestWithParam<Printed> {};

TEST_P(Rows, ArePrintedAsLlvm7AndAccepted) {
  std::string text = emit(GetParam().ir);
  EXPECT_NE(text.find(GetParam().expected), std::string::npos) << text;
  expectAccepted(text);
}

// One for each row of docs/spec/nvvm-ir.md that changes what is printed.
const Printed kPrinted[] = {
    {"header", "", "!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}"},
    {"pointer",
     "define i32 @f(ptr addrspace(1) %p) { %v = load i32, ptr addrspace(1) %p\n ret i32 %v }",
     "%p0 = bitcast i8 addrspace(1)* %a0 to i32 addrspace(1)*"},
    {"pointer_phi",
     "define i8 @f(i1 %c, ptr %p, ptr %q) { br i1 %c, label %a, label %b\na: br label %b\nb: %r = "
     "phi ptr [ %p, %a ], [ %q, %0 ]\n %v = load i8, ptr %r\n ret i8 %v }",
     "phi i8* [ %a1,"},
    {"pointer_select",
     "define i1 @f(i1 %c, ptr %p, ptr %q) { %r = select i1 %c, ptr %p, ptr %q\n %e = icmp eq ptr "
     "%r, null\n ret i1 %e }",
     "select i1 %a0, i8* %a1, i8* %a2"},
    {"gep_flags",
     "define i64 @f(ptr %p, i64 %i) { %a = getelementptr inbounds nuw i32, ptr %p, i64 %i\n %v = "
     "ptrtoint ptr %a to i64\n ret i64 %v }",
     "getelementptr inbounds i32, i32* %p0, i64 %a1"},
    {"byte_gep",
     "define i8 @f(ptr %p, i64 %i) { %a = getelementptr i8, ptr %p, i64 %i\n %v = load i8, ptr "
     "%a\n ret i8 %v }",
     "getelementptr i8, i8* %a0, i64 %a1"},
    {"array_gep",
     "define float @f(ptr addrspace(1) %p, i64 %i) { %a = getelementptr inbounds [4 x float], ptr "
     "addrspace(1) %p, i64 0, i64 %i\n %v = load float, ptr addrspace(1) %a\n ret float %v }",
     "getelementptr inbounds [4 x float], [4 x float] addrspace(1)* %p0, i64 0, i64 %a1"},
    {"slots",
     "define i32 @annudf1_scan_init_a32(i32 %a, i32 %b, i32 %c, ptr %s) { %v = load i64, ptr %s\n "
     "%t = "
     "trunc i64 %v to i32\n ret i32 %t }",
     "define i32 @annudf1_scan_init_a32(i32 %a0, i32 %a1, i32 %a2, i64* %s3)"},
    {"invariant",
     "define i32 @f(ptr addrspace(1) %p) { %v = load i32, ptr addrspace(1) %p, align 4, "
     "!invariant.load !0\n ret i32 %v }\n!0 = !{}",
     "align 4, !invariant.load !1"},
    {"table",
     "@t = internal addrspace(4) constant [2 x float] [float 1.0, float 0x7FF8000000000000], align "
     "4\ndefine float @f(i64 %i) { %a = getelementptr float, ptr addrspace(4) @t, i64 %i\n %v = "
     "load float, ptr addrspace(4) %a\n ret float %v }",
     "@t = internal addrspace(4) constant [2 x float] [float 0x3FF0000000000000, float "
     "0x7FF8000000000000], align 4"},
    {"table_i8",
     "@t = internal addrspace(1) constant [3 x i8] c\"\\01\\FF\\00\"\ndefine i8 @f() { %v = load "
     "i8, ptr addrspace(1) getelementptr inbounds ([3 x i8], ptr addrspace(1) @t, i64 0, i64 1)\n "
     "ret i8 %v }",
     "[i8 1, i8 -1, i8 0]"},
    {"zero_table",
     "@t = internal addrspace(4) constant [8 x i32] zeroinitializer\ndefine i32 @f(i64 %i) { %a = "
     "getelementptr i32, ptr addrspace(4) @t, i64 %i\n %v = load i32, ptr addrspace(4) %a\n ret "
     "i32 %v }",
     "zeroinitializer"},
    {"fneg", "define float @f(float %x) { %r = fneg float %x\n ret float %r }",
     "fsub float 0x8000000000000000, %a0"},
    {"fneg_half", "define half @f(half %x) { %r = fneg half %x\n ret half %r }",
     "fsub half 0xH8000, %a0"},
    {"poison",
     "define i32 @f(i1 %c, i32 %x) { %r = select i1 %c, i32 %x, i32 poison\n ret i32 %r }",
     "i32 undef"},
    {"constants",
     "define float @f(i1 %c) { %r = select i1 %c, float 0x3FB99999A0000000, float "
     "0xFFF0000000000000\n ret float %r }",
     "float 0x3FB99999A0000000, float 0xFFF0000000000000"},
    {"constants_f64", "define double @f(double %x) { %r = fadd double %x, 1.0e-1\n ret double %r }",
     "0x3FB999999999999A"},
    {"constants_f16", "define half @f(half %x) { %r = fadd half %x, 1.5\n ret half %r }",
     "fadd half %a0, 0xH3E00"},
    {"constants_i64",
     "define i64 @f(i64 %x) { %r = and i64 %x, -9223372036854775808\n ret i64 %r }",
     "-9223372036854775808"},
    {"integer_flags",
     "define i32 @f(i32 %x, i32 %y) { %a = add nuw nsw i32 %x, %y\n %b = udiv exact i32 %a, %y\n "
     "%c = or disjoint i32 %a, %b\n ret i32 %c }",
     "add nuw nsw i32"},
    {"integer_flags_new",
     "define i32 @f(i8 %x) { %a = zext nneg i8 %x to i32\n %b = trunc nuw nsw i32 %a to i16\n %c = "
     "icmp samesign ult i16 %b, 3\n %d = zext i1 %c to i32\n ret i32 %d }",
     "= zext i8 %a0 to i32"},
    {"fast_math",
     "define float @f(float %x, float %y, i1 %c) { %a = fadd contract reassoc float %x, %y\n %b = "
     "fcmp fast olt float %a, %y\n %d = select nnan i1 %b, float %a, float %x\n %e = fpext nnan "
     "float %d to double\n %g = fptrunc contract double %e to float\n ret float %g }",
     "fadd contract reassoc float"},
    {"fast_math_select",
     "define float @f(float %x, i1 %c) { %d = select nnan nsz i1 %c, float %x, float 0.0\n ret "
     "float %d }",
     "select i1 %a1, float %a0"},
    {"attributes",
     "define i32 @f(i32 noundef range(i32 0, 7) %x) #0 { ret i32 %x }\nattributes #0 = { "
     "alwaysinline nounwind willreturn nosync nofree mustprogress memory(none) uwtable }",
     "define i32 @f(i32 %a0) alwaysinline nounwind readnone {"},
    {"attributes_read",
     "define i32 @f(ptr captures(none) %p) #0 { %v = load i32, ptr %p\n ret i32 %v }\nattributes "
     "#0 = { memory(read) }",
     "define i32 @f(i8* %a0) readonly {"},
    {"switch_",
     "define i32 @f(i32 %x) { switch i32 %x, label %d [ i32 0, label %a i32 -1, label %b ]\na: ret "
     "i32 1\nb: ret i32 2\nd: ret i32 3 }",
     "i32 -1, label %b"},
    {"loop",
     "define i32 @f(i32 %n) { br label %l\nl: %i = phi i32 [ 0, %0 ], [ %j, %l ]\n %j = add i32 "
     "%i, 1\n %c = icmp slt i32 %j, %n\n br i1 %c, label %l, label %e\ne: ret i32 %j }",
     "phi i32 [ 0, %b0 ]"},
    {"i128",
     "define i64 @f(i64 %x, i64 %y) { %a = zext i64 %x to i128\n %b = zext i64 %y to i128\n %c = "
     "mul i128 %a, %b\n %d = lshr i128 %c, 64\n %e = trunc i128 %d to i64\n ret i64 %e }",
     "mul i128"},
    {"min_max",
     "define i32 @f(i32 %x, i32 %y) { %a = call i32 @llvm.smax.i32(i32 %x, i32 %y)\n %b = call i32 "
     "@llvm.umin.i32(i32 %a, i32 %y)\n %c = call i32 @llvm.abs.i32(i32 %b, i1 false)\n ret i32 %c "
     "}",
     "icmp sgt i32"},
    {"maximum",
     "define float @f(float %x, float %y) { %a = call float @llvm.maximum.f32(float %x, float "
     "%y)\n ret float %a }",
     "call float @llvm.maxnum.f32("},
    {"saturate",
     "define i32 @f(float %x) { %a = call i32 @llvm.fptosi.sat.i32.f32(float %x)\n ret i32 %a }",
     "fptosi float"},
    {"fabs",
     "define float @f(float %x) { %a = call float @llvm.fabs.f32(float %x)\n ret float %a }",
     "@llvm.nvvm.fabs.f("},
    {"fabs_f64",
     "define double @f(double %x) { %a = call double @llvm.fabs.f64(double %x)\n ret double %a }",
     "@llvm.nvvm.fabs.d("},
    {"libdevice",
     "define float @f(float %x) { %a = call float @llvm.exp.f32(float %x)\n %b = call float "
     "@llvm.round.f32(float %a)\n %c = call float @llvm.trunc.f32(float %b)\n %d = call float "
     "@llvm.rint.f32(float %c)\n %e = call float @llvm.roundeven.f32(float %d)\n ret float %e }",
     "call float @__nv_roundf("},
    {"counts",
     "define i32 @f(i32 %x) { %a = call i32 @llvm.ctlz.i32(i32 %x, i1 false)\n %b = call i32 "
     "@llvm.cttz.i32(i32 %a, i1 false)\n %c = call i32 @llvm.ctpop.i32(i32 %b)\n ret i32 %c }",
     "call i32 @llvm.ctlz.i32(i32 %a0, i1 false)"},
    {"debug",
     "define i32 @f(i32 %x) { ret i32 %x, !dbg !4 }\n!llvm.module.flags = !{!0}\n!llvm.dbg.cu = "
     "!{!1}\n!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n!1 = distinct !DICompileUnit(language: "
     "DW_LANG_C, file: !2)\n!2 = !DIFile(filename: \"a\", directory: \"b\")\n!3 = distinct "
     "!DISubprogram(name: \"f\", file: !2, unit: !1, spFlags: DISPFlagDefinition)\n!4 = "
     "!DILocation(line: 1, scope: !3)",
     "ret i32 %a0\n"},
};

INSTANTIATE_TEST_SUITE_P(All, Rows, testing::ValuesIn(kPrinted),
                         [](const auto &info) { return std::string(info.param.name); });

class Refused : public testing::TestWithParam<Printed> {};

TEST_P(Refused, WithANameAndAPlace) {
  EXPECT_EQ(emit(GetParam().ir), std::string("error: NVVM IR: ") + GetParam().expected);
}

const Printed kRefused[] = {
    {"bfloat", "define bfloat @f(bfloat %x) { ret bfloat %x }",
     "type bfloat has no counterpart in NVVM IR, in function 'f'"},
    {"vector", "define void @f(<2 x i32> %x) { ret void }",
     "type <2 x i32> has no counterpart in NVVM IR, in function 'f'"},
    {"freeze", "define i32 @f(i32 %x) { %r = freeze i32 %x\n ret i32 %r }",
     "instruction 'freeze' has no counterpart in NVVM IR, in function 'f'"},
    {"alloca_", "define void @f() { %r = alloca i32\n ret void }",
     "instruction 'alloca' has no counterpart in NVVM IR, in function 'f'"},
    {"volatileStore", "define void @f(ptr %p) { store volatile i32 0, ptr %p\n ret void }",
     "volatile and atomic stores have no place in a hook, in function 'f'"},
    {"atomicStore",
     "define void @f(ptr %p) { store atomic i32 0, ptr %p seq_cst, align 4\n ret void }",
     "volatile and atomic stores have no place in a hook, in function 'f'"},
    {"atomic",
     "define void @f(ptr %p) { %r = atomicrmw fadd ptr %p, float 0.0 seq_cst\n ret void }",
     "instruction 'atomicrmw' has no counterpart in NVVM IR, in function 'f'"},
    {"fence", "define void @f() { fence seq_cst\n ret void }",
     "instruction 'fence' has no counterpart in NVVM IR, in function 'f'"},
    {"volatile_", "define i32 @f(ptr %p) { %r = load volatile i32, ptr %p\n ret i32 %r }",
     "volatile and atomic loads have no place in a hook, in function 'f'"},
    {"unknown_intrinsic",
     "define i32 @f(i32 %x) { %r = call i32 @llvm.sadd.sat.i32(i32 %x, i32 1)\n ret i32 %r "
     "}\ndeclare i32 @llvm.sadd.sat.i32(i32, i32)",
     "libNVVM has no function 'llvm.sadd.sat.i32', in function 'llvm.sadd.sat.i32'"},
    {"external", "define i32 @f() { %r = call i32 @getpid()\n ret i32 %r }\ndeclare i32 @getpid()",
     "libNVVM has no function 'getpid', in function 'getpid'"},
    {"indirect", "define i32 @f(ptr %p) { %r = call i32 %p()\n ret i32 %r }",
     "only direct calls have a counterpart in NVVM IR, in function 'f'"},
    {"assembly", "define void @f() { call void asm sideeffect \"exit;\", \"\"()\n ret void }",
     "only direct calls have a counterpart in NVVM IR, in function 'f'"},
    {"name", "define i32 @\"a.b\"() { ret i32 0 }",
     "libNVVM does not take the name 'a.b', in function 'a.b'"},
    {"state", "@s = internal addrspace(1) global i32 0", "global 's' is not a private constant"},
    {"imported", "@s = external addrspace(1) constant i32", "global 's' is not a private constant"},
    {"module_assembly", "module asm \".global .b32 x;\"",
     "module assembly and aliases have no counterpart"},
};

INSTANTIATE_TEST_SUITE_P(All, Refused, testing::ValuesIn(kRefused),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Emitter, NeedsALayout) {
  EXPECT_EQ(emit("define void @f() { ret void }", "target triple = \"nvptx64-nvidia-cuda\"\n"),
            "error: NVVM IR: the module has no data layout or triple of NVPTX");
}

} // namespace
