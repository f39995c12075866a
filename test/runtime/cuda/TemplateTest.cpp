//===- TemplateTest.cpp - Hooks written into a scan kernel's PTX ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaMetrics.h"

#include "cuda/link/Linker.h"
#include "cuda/link/Template.h"
#include "gtest/gtest.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using namespace annudf::test;

namespace {

constexpr const char *kText = R"(
.version 8.0
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 rows[];
.visible .entry other(
	.param .u64 other_param_0
)
{
	ret;

}
	// .globl	scan
.visible .entry scan(
	.param .align 8 .b8 scan_param_0[16]
)
.maxntid 128, 1, 1
{
	.reg .b32 	%r<4>;

	// begin inline asm
	annudf.wait;
	// end inline asm
	annudf.init %r1, %r2;
	annudf.init %r3, %r2;
	ret;

}
)";

constexpr const char *kContract = R"(.visible .entry annudf_read_contract(
	.param .u64 annudf_read_contract_param_0
)
{
	ret;

}
)";

/// PTX of a metric whose hook `init` has that body; `module` is what stands beside it.
std::string hooks(const std::string &body, const std::string &module = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + module +
         ".visible .entry annudf_text_init(\n\t.param .align 8 .b8 annudf_text_init_param_0[16]\n)"
         "\n{\n" +
         body + "\n\tret;\n\n}\n" + kContract;
}

std::optional<std::string> filled(const std::string &hooks, bool waits = true) {
  return fillTemplate(kText, "scan", hooks, waits);
}

TEST(Template, HasTheHookWhereItIsCalled) {
  const std::string body = "\t.reg .b32 \t%r<4>;\n\t.reg .b64 \t%rd<2>;\n"
                           "\tannudf.in %r1;\n"
                           "\tld.param.u64 \t%rd1, [annudf_text_init_param_0+8];\n"
                           "\tadd.s32 \t%r2, %r1, 1;\n"
                           "\tmov.u32 \t%r3, %tid.x;\n"
                           "\tannudf.out %r2;";
  const std::string block = "{\n.reg .b32 \t%h_r<4>;\n.reg .b64 \t%h_rd<2>;\n"
                            "ld.param.u64 \t%h_rd1, [scan_param_0+8];\n"
                            "add.s32 \t%h_r2, %r2, 1;\n"
                            "mov.u32 \t%h_r3, %tid.x;\n";
  EXPECT_EQ(filled(hooks(body)), ".version 9.0\n.target sm_90\n.address_size 64\n"
                                 ".extern .shared .align 16 .b8 rows[];\n"
                                 ".visible .entry scan(\n"
                                 "\t.param .align 8 .b8 scan_param_0[16]\n)\n"
                                 ".maxntid 128, 1, 1\n{\n\t.reg .b32 \t%r<4>;\n\n"
                                 "griddepcontrol.wait;\n" +
                                     block + "mov.b32 %r1, %h_r2;\n}\n" + block +
                                     "mov.b32 %r3, %h_r2;\n}\n\tret;\n\n}\n" + kContract);
  EXPECT_EQ(filled(hooks(body), false)->find("griddepcontrol"), std::string::npos);
}

TEST(Template, WhatAHookWritesToIsItsOwn) {
  const std::optional<std::string> text =
      filled(hooks("\t.reg .b32 \t%r<13>;\n\tannudf.in %r1;\n\tadd.s32 \t%r12, %r1, 1;\n"
                   "\tadd.s32 \t%r1, %r1, %r12;\n\tannudf.out %r1;"));
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("mov.b32 %h_r1, %r2;\nadd.s32 \t%h_r12, %h_r1, 1;\n"
                       "add.s32 \t%h_r1, %h_r1, %h_r12;\nmov.b32 %r1, %h_r1;\n"),
            std::string::npos)
      << *text;
  // What it takes is what it gives.
  EXPECT_NE(filled(hooks("\t.reg .b32 \t%r<2>;\n\tannudf.in %r1;\n\tannudf.out %r1;"))
                ->find("mov.b32 %r1, %r2;\n}\n"),
            std::string::npos);
}

TEST(Template, WhatAVectorLoadOrASplitWritesToIsTheHooksOwn) {
  // As libNVVM prints a loop that ends with `y = pairs[i].y`: the second register of the braces is
  // y.
  for (const char *written :
       {"ld.global.v2.u32 \t{%r2, %r1}, [%rd1];", "mov.b64 \t{%r2,%r1}, %rd1;",
        "ld.global.v4.u32 {%r2, %r3, %r4, %r1}, [%rd1];", "@%p1 mov.b64 {%r2, %r1}, %rd1;"}) {
    const std::optional<std::string> text =
        filled(hooks("\t.reg .b32 \t%r<5>;\n\tannudf.in %r1;\n\tadd.s32 \t%r3, %r1, 1;\n\t" +
                     std::string(written) + "\n\tannudf.out %r1;"));
    ASSERT_TRUE(text) << written;
    EXPECT_NE(text->find("mov.b32 %h_r1, %r2;\nadd.s32 \t%h_r3, %h_r1, 1;\n"), std::string::npos)
        << *text;
    EXPECT_NE(text->find("\nmov.b32 %r1, %h_r1;\n"), std::string::npos) << *text;
  }
  // What braces are read from is no such.
  EXPECT_NE(filled(hooks("\t.reg .b32 \t%r<3>;\n\tannudf.in %r1;\n\tmov.b64 %rd1, {%r2, %r1};\n"
                         "\tannudf.out %r1;"))
                ->find("mov.b64 %h_rd1, {%h_r2, %r2};\nmov.b32 %r1, %r2;\n"),
            std::string::npos);
}

TEST(Template, LeavesAHookThatIsMoreThanInstructions) {
  const std::string in = "\t.reg .b32 \t%r<4>;\n\tannudf.in %r1;\n", out = "\n\tannudf.out %r1;";
  EXPECT_TRUE(filled(hooks(in + "\tmov.u32 \t%r2, 1;" + out)));
  for (const char *more :
       {"\t.local .align 4 .b8 \t__local_depot0[4];", "\t{ // callseq 0, 0", "\tcall.uni f;",
        "\t@%p1 ret;", "\texit;", "\tbar.sync 0;", "\tst.global.u32 [%rd1], %r1;",
        "\tatom.global.add.u32 %r2, [%rd1], 1;", "\tred.global.add.u32 [%rd1], 1;",
        "\tbrx.idx %r1, $L_0;", "\tannudf.in %r2;", "\tmov.u32 %r2,",
        // What other threads are asked for, or can see.
        "\tshfl.sync.bfly.b32 %r2|%p1, %r1, 1, 31, -1;", "\tvote.sync.ballot.b32 %r2, %p1, -1;",
        "\tmatch.any.sync.b32 %r2, %r1, -1;", "\tredux.sync.add.s32 %r2, %r1, -1;",
        "\tactivemask.b32 %r2;", "\tcp.async.ca.shared.global [%r1], [%rd1], 4;",
        "\tmultimem.red.global.add.u32 [%rd1], %r1;", "\tmembar.gl;", "\ttrap;", "\t@!%p1 trap;",
        "\tnanosleep.u32 100;", "\tgriddepcontrol.launch_dependents;",
        // What the assembler has a function for.
        "\tdiv.rn.f32 \t%f2, %f1, %f1;", "\tdiv.rn.f64 %fd2, %fd1, %fd1;",
        "\tdiv.s64 %rd2, %rd1, 3;", "\trem.u64 %rd2, %rd1, 3;", "\tsqrt.rn.f32 %f2, %f1;",
        "\trcp.rn.f32 %f2, %f1;", "\t@%p1 sqrt.rn.ftz.f32 %f2, %f1;", "\trcp.rz.f64 %fd2, %fd1;",
        // Inline assembly.
        "\tadd.u32 %r2, %r1, 1; st.global.u32 [%rd1], %r1;",
        "\tmov.u32 %r2, %r1; add.u32 %r1, %r1, 1;", "\t.reg .pred p; exit;", "\t@p",
        "\t@p\tst.global.u32 [%rd1],%r1;", "\tmystery.b32 %r2, %r1;", "\t{mov.u32 %r2, 1;}",
        "\t$L_0: exit;", "\tannudf.out ;"})
    EXPECT_FALSE(filled(hooks(std::string(in).append(more).append(out)))) << more;
  for (const char *more :
       {"\tdiv.approx.f32 %f2, %f1, %f1;", "\tdiv.full.f32 %f2, %f1, %f1;",
        "\tdiv.u32 \t%r2, %r1, 3;", "\trem.s32 %r2, %r1, 3;", "\tsqrt.approx.ftz.f32 %f2, %f1;",
        "\trcp.approx.ftz.f64 %fd2, %fd1;", "\trsqrt.approx.f64 %fd2, %fd1;"})
    EXPECT_TRUE(filled(hooks(std::string(in).append(more).append(out)))) << more;
  EXPECT_FALSE(filled(hooks(in + "\tmov.u32 \t%r2, 1;" + out + "\n\tmov.u32 \t%r2, 1;")));
  EXPECT_FALSE(filled(hooks(in))) << "nothing comes out";
  EXPECT_FALSE(filled(hooks("\t.reg .b32 \t%r<4>;\n\tannudf.in %r1, %r2;" + out)))
      << "another number of arguments";
  EXPECT_FALSE(filled(hooks(in + out, ".global .align 4 .b8 table[4];\n")));
  EXPECT_FALSE(filled(hooks(in + out, ".extern .func f;\n")));
  EXPECT_TRUE(filled(hooks(in + out, ".weak .func g(\n)\n{\n\tret;\n\n}\n")));
  EXPECT_FALSE(filled(kContract)) << "no such hook";
  EXPECT_FALSE(filled("")) << "no contract";
  EXPECT_FALSE(fillTemplate(kText, "absent", hooks(in + out), true));
}

/// The families that could run a search with that metric of udfs.cu, and which link it as a whole.
std::string families(const std::string &name, ScanElements elements, int sm = 90) {
  const Artifact artifact = cudaArtifact(testMetric(name), readFatbin(name));
  std::string names;
  for (const CudaFamily *family : familiesFor(artifact, sm, elements))
    names += std::string(names.empty() ? "" : " ") + family->name() +
             (scanText(artifact, {elements, sm, family->entries().front()}) ? "" : "(whole)");
  return names;
}

TEST(Template, ServesAccumulatorsOfOneWord) {
  const ScanElements f32 = {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F32};
  for (const char *name : {"l2", "l1", "chebyshev", "inner_product", "asymmetric"})
    EXPECT_EQ(families(name, f32), "tiles(whole) pairs staged") << name;
  EXPECT_EQ(families("l2", {ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_F16}), "tiles(whole) pairs staged");
  EXPECT_EQ(families("l2", {ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_U8}),
            "tiles(whole) pairs staged packed");
  EXPECT_EQ(families("l2", f32, 80), "tiles(whole) pairs(whole) staged(whole)");
  EXPECT_EQ(families("l2", f32, 120), "tiles(whole) pairs staged");
}

TEST(Template, OtherMetricsAreLinkedAsAWhole) {
  const ScanElements f32 = {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F32};
  for (const char *name : {"cosine", "minkowski", "l2_f64"})
    EXPECT_EQ(families(name, f32).find("tiles(whole) pairs(whole)"), 0u) << families(name, f32);
  EXPECT_EQ(families("l2", {ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_F32}),
            "tiles(whole) pairs(whole) staged(whole)");
}

/// PTX of a metric whose hook `update` has that body.
std::string updates(const std::string &body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry annudf_text_update(\n\t.param .align 8 .b8 annudf_text_update_param_0[16]"
         "\n)\n{\n\t.reg .f32 \t%f<9>;\n\tannudf.in %r1, %r2, %r3;\n" +
         body + "\tannudf.out %r1;\n\tret;\n\n}\n" + kContract;
}

TEST(Template, SlotsOfAnUpdate) {
  EXPECT_EQ(updateSlots(updates("\tsub.f32 \t%f1, %f2, %f3;\n"
                                "\tfma.rn.f32 \t%f4, %f1, %f1, %f5;\n"
                                "\tmov.b32 \t%r1, %f4;\n")),
            2);
  EXPECT_EQ(updateSlots(updates("\tld.global.nc.f32 \t%f1, [%rd1];\n")), 4);
  EXPECT_EQ(updateSlots(updates("\tlg2.approx.f32 \t%f1, %f2;\n\tex2.approx.f32 \t%f1, %f1;\n")),
            16);
  EXPECT_EQ(updateSlots(updates("\tdiv.u32 \t%r4, %r2, %r3;\n")), 40);
  // Forwards, both sides count; backwards nobody knows.
  EXPECT_EQ(updateSlots(updates("\tsetp.eq.s32 \t%p1, %r2, 0;\n\t@%p1 bra \t$L__BB0_2;\n"
                                "\tadd.s32 \t%r1, %r1, 1;\n$L__BB0_2:\n")),
            3);
  EXPECT_EQ(updateSlots(updates("$L__BB0_1:\n\tadd.s32 \t%r1, %r1, 1;\n"
                                "\tsetp.lt.s32 \t%p1, %r1, %r2;\n\t@%p1 bra \t$L__BB0_1;\n")),
            std::nullopt);
  // For f64 it depends on the machine, for a quotient on the assembler's helper.
  EXPECT_EQ(updateSlots(updates("\tadd.f64 \t%fd1, %fd2, %fd3;\n")), std::nullopt);
  EXPECT_EQ(updateSlots(updates("\tdiv.rn.f32 \t%f1, %f2, %f3;\n")), std::nullopt);
  EXPECT_EQ(updateSlots(hooks("\tannudf.in %r1;\n\tannudf.out %r1;")), std::nullopt);
  EXPECT_EQ(updateSlots("no PTX"), std::nullopt);
}

TEST(Template, SlotsOfMetrics) {
  const auto slots = [](const char *name, int sm = 90) -> std::optional<double> {
    const auto hooks = hookText(cudaArtifact(testMetric(name), readFatbin(name)),
                                {ANNUDF_ELEMENT_F32, sm, {ScanSource::Lists, "annudf_scan_pair"}});
    return hooks ? updateSlots(*hooks) : std::nullopt;
  };
  EXPECT_EQ(slots("l2"), 2);
  EXPECT_EQ(slots("inner_product"), 1);
  for (const char *name : {"l1", "chebyshev", "equal", "agreement", "asymmetric"}) {
    const std::optional<double> some = slots(name);
    ASSERT_TRUE(some) << name;
    EXPECT_GE(*some, 2) << name;
    EXPECT_LE(*some, 40) << name;
  }
  EXPECT_EQ(slots("minkowski"), std::nullopt); // Large.
  EXPECT_EQ(slots("cosine"), std::nullopt);    // Fields.
  EXPECT_EQ(slots("l2", 80), std::nullopt);    // Before templates.
}

} // namespace
