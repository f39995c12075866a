//===- VerifyTest.cpp - Artifacts against their own module ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every artifact here is written and read again: its digest is right. What it says is not.
//
//===----------------------------------------------------------------------===//

#include "annudf/Compiler/Verify.h"
#include "annudf/Compiler/Compiler.h"

#include <functional>
#include <gtest/gtest.h>

using namespace annudf;

namespace {

using Lines = std::vector<std::string>;

/// dims(64), so that its code is for other vectors than dims 0 would say.
Artifact compiled() {
  CompileOptions options;
  options.ltoIr = false;
  options.inlineCaptures = "dims=64";
  return compileMetricFile(ANNUDF_EXAMPLES "/weighted_l2.mlir", options);
}

/// Changed, sealed again and read as any file is.
Artifact resealed(const std::function<void(Artifact &)> &change) {
  Artifact artifact = compiled();
  change(artifact);
  artifact.manifest.requiredFeatures = featuresOf(artifact.manifest);
  artifact.manifest.abiMinor = minorOf(artifact.manifest);
  return parseArtifact(serializeArtifact(artifact), "resealed");
}

Lines differences(const std::function<void(Artifact &)> &change) {
  return verifyArtifact(resealed(change), "resealed").different;
}

Payload &hostCode(Artifact &artifact) {
  return const_cast<Payload &>(*artifact.find(PayloadKind::HostBitcode));
}

std::string hostName(Artifact artifact) { return "host bitcode for " + hostCode(artifact).triple; }

TEST(Verify, WhatItCompilesIsTheSame) {
  const VerifyReport report = verifyArtifact(resealed([](Artifact &) {}), "m");
  EXPECT_EQ(report.different, Lines{});
  EXPECT_EQ(report.unknown, Lines{});
  EXPECT_EQ(report.same.size(), 3u); // Manifest, host bitcode, module.
}

TEST(Verify, ManifestsThatAreNotTheirModules) {
  EXPECT_EQ(differences([](Artifact &a) { a.manifest.dims = 0; }),
            Lines{"manifest field 'dims' says 0, its module says 64"});
  EXPECT_EQ(differences([](Artifact &a) { a.manifest.order = ANNUDF_ORDER_MAX; }),
            Lines{"manifest field 'order' says max, its module says min"});
  EXPECT_EQ(differences(
                [](Artifact &a) { a.manifest.captures.push_back({"z", ANNUDF_CAPTURE_F32, {}}); }),
            Lines{"manifest field 'captures' says w: dim x f32, z: f32, its module says w: dim x "
                  "f32"});
  EXPECT_EQ(differences([](Artifact &a) { a.manifest.elements = {ANNUDF_ELEMENT_U8}; }),
            Lines{"manifest field 'elements' says u8, its module says f32, f16, i8, u8"});
  EXPECT_EQ(differences([](Artifact &a) { a.manifest.numerics = ANNUDF_NUMERICS_REASSOCIATE; }),
            Lines{"manifest field 'numerics' says reassociate, its module says strict"});
  EXPECT_EQ(differences([](Artifact &a) {
              a.manifest.packed =
                  PackedSum{ANNUDF_PACKED_PRODUCT, true, {{ANNUDF_ELEMENT_U8, 258}}};
            }),
            Lines{"manifest field 'packed' says minus product: u8 up to 258 dims, its module says "
                  "no"});
  EXPECT_EQ(differences([](Artifact &a) {
              a.manifest.missingValues = true;
              a.manifest.form.reset(); // Such a metric has none; and then the code is another.
            }).front(),
            "manifest field 'missing_values' says true, its module says false");
  EXPECT_EQ(
      differences([](Artifact &a) { a.manifest.form->exact.of[Quadratic::X] = 1; }),
      Lines{"manifest field 'form' says w[dim] x^2 - 2 w[dim] x y + w[dim] y^2 + x, of x - y, "
            "its module says w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, of x - y"});
  EXPECT_EQ(differences([](Artifact &a) {
              MetricDescriptor filter;
              filter.role = ANNUDF_ROLE_FILTER;
              filter.name = a.manifest.name;
              filter.dims = a.manifest.dims;
              filter.captures = a.manifest.captures;
              static_cast<MetricDescriptor &>(a.manifest) = filter;
            }).front(),
            "manifest field 'role' says filter, its module says scan");
  EXPECT_THROW((void)differences([](Artifact &a) { a.manifest.name = "another"; }), Error);
}

// It is made again as it was written, with as much scratch, and has no code for a GPU.
TEST(Verify, ADistanceOfWholeVectors) {
  const std::string text = R"(
    annudf.pairwise @backwards order(min) coarse(l2) elements(f32) {
      annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
        %begin = arith.constant 0 : index
        %step = arith.constant 1 : index
        %dims = annudf.index dims
        %last = arith.subi %dims, %step : index
        %zero = arith.constant 0.0 : f32
        %kept = annudf.scratch fill(%zero) : !annudf.scratch<dim + 2 x f32>
        %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
          %from = arith.subi %last, %i : index
          %xi = annudf.at %x[%i] : !annudf.vector<f32>
          %yi = annudf.at %y[%from] : !annudf.vector<f32>
          %d = arith.subf %xi, %yi : f32
          annudf.put %d, %kept[%i] : !annudf.scratch<dim + 2 x f32>
          %next = arith.addf %acc, %d : f32
          scf.yield %next : f32
        }
        annudf.yield %sum : f32
      }
    })";
  CompileOptions options;
  options.ltoIr = false;
  Artifact made = compileMetric(text, "m", options);
  EXPECT_EQ(made.manifest.role, ANNUDF_ROLE_PAIRWISE);
  EXPECT_EQ(made.manifest.scratchBytes, 8);
  EXPECT_EQ(made.manifest.scratchPerDim, 4);
  EXPECT_EQ(verifyArtifact(made, "m").different, Lines{});
  made.manifest.scratchPerDim = 0;
  EXPECT_EQ(verifyArtifact(made, "m").different.front(),
            "manifest field 'scratch' says 8 + 0 dims, its module says 8 + 4 dims");
  options.ltoIr = true;
  options.archs = {"sm_90"};
  try {
    (void)compileMetric(text, "m", options);
    FAIL() << "compiled for a GPU";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_NE(std::string(error.what())
                  .find("'backwards' has no code for a GPU: it is no single "
                        "pass over the coordinates, so CPUs alone compute it"),
              std::string::npos)
        << error.what();
  }
}

TEST(Verify, CodeOfAnotherMetric) {
  CompileOptions options;
  options.ltoIr = false;
  Artifact other = compileMetricFile(ANNUDF_EXAMPLES "/minkowski.mlir", options);
  const Lines swapped{hostName(other) + ": is not what this compiler makes of its module"};
  EXPECT_EQ(differences([&](Artifact &a) { hostCode(a).bytes = hostCode(other).bytes; }), swapped);
  EXPECT_EQ(differences([&](Artifact &a) { hostCode(a).bytes += '\0'; }), swapped);
  EXPECT_EQ(differences([](Artifact &a) { a.payloads.insert(a.payloads.begin(), hostCode(a)); }),
            (Lines{hostName(other) + ": stands in the file twice",
                   hostName(other) + ": stands in the file twice"}));
}

TEST(Verify, WhatCannotBeCompared) {
  const auto unknown = [](const std::function<void(Artifact &)> &change) {
    const VerifyReport report = verifyArtifact(resealed(change), "m");
    EXPECT_EQ(report.different, Lines{});
    return report.unknown;
  };
  const std::string own = compiled().manifest.annudfVersion;
  const std::string unproved = ": nothing in the file can prove it";
  const auto mislabeled = [](const char *producer) {
    return std::string(": what this compiler makes of its module, but says that ") + producer +
           " made it, this is llvm " + llvmVersion() + ": nothing in the file can prove it";
  };
  EXPECT_EQ(unknown([](Artifact &a) {
              hostCode(a).bytes = "BC of another time";
              for (Payload &payload : a.payloads)
                payload.producer.version = "21.1.0";
              a.manifest.llvmVersion = "21.1.0";
            }),
            (Lines{"manifest field 'tools.llvm' says 21.1.0, this is " +
                       std::string(llvmVersion()) + unproved,
                   hostName(compiled()) + ": not compared, made by llvm 21.1.0, this is llvm " +
                       llvmVersion(),
                   "module" + mislabeled("llvm 21.1.0")}));
  // Right bytes under a wrong name: a linker would go by the name.
  EXPECT_EQ(unknown([](Artifact &a) { hostCode(a).producer = {"gcc", "99.9"}; }),
            Lines{hostName(compiled()) + mislabeled("gcc 99.9")});
  EXPECT_EQ(unknown([](Artifact &a) {
              hostCode(a).bytes = "BC of another time";
              a.manifest.annudfVersion = "0.0.1";
            }),
            (Lines{"manifest field 'tools.annudf' says 0.0.1, this is " + own + unproved,
                   hostName(compiled()) + ": not compared, made by annudf 0.0.1, this is annudf " +
                       own}));
  EXPECT_EQ(unknown([](Artifact &a) {
              a.payloads.push_back(Payload::ltoIr(100, "a", {"libnvvm", "13.0"}, "code"));
              a.payloads.push_back(Payload::ltoIr(130, "", {"libnvvm", "14.0"}, "code"));
            }),
            (Lines{"LTO-IR for sm_100a: not compared, this annudf compiles for sm_75 to sm_121, "
                   "without suffix, and not for sm_100a",
                   "LTO-IR for sm_130: not compared, this annudf compiles for sm_75 to sm_121 and "
                   "not for sm_130"}));
  EXPECT_EQ(unknown([](Artifact &a) { a.manifest.verified.reset(); }),
            Lines{"manifest: does not say that its metric was verified; it is"});
  EXPECT_EQ(unknown([](Artifact &a) { a.manifest.verified->rules = kRulesEdition + 1; }),
            Lines{"manifest field 'verified.rules' says edition " +
                  std::to_string(kRulesEdition + 1) + ", this annudf knows up to " +
                  std::to_string(kRulesEdition) + ": rules that are newer were not checked again"});
  EXPECT_EQ(unknown([](Artifact &a) { a.manifest.verified->version = "9.9"; }),
            Lines{"manifest field 'verified.version' says 9.9, this is " + own + unproved});
}

TEST(Verify, WhereItComesFromIsWhatTheModuleSays) {
  const std::string file = compiled().manifest.sourceFile;
  EXPECT_EQ(
      differences([](Artifact &a) { a.manifest.sourceFile = "other.mlir"; }),
      Lines{"manifest field 'source.file' says 'other.mlir', its module says '" + file + "'"});
  const std::string line = std::to_string(compiled().manifest.sourceLine);
  EXPECT_EQ(differences([](Artifact &a) { a.manifest.sourceLine = 9999; }),
            Lines{"manifest field 'source.line' says 9999, its module says " + line});
  EXPECT_EQ(differences([](Artifact &a) { a.manifest.llvmVersion = "21.1.0"; }),
            Lines{"manifest field 'tools.llvm' says 21.1.0, its " + hostName(compiled()) +
                  " says " + llvmVersion()});
}

TEST(Verify, HostBitcodeOfOtherMachinesIsCompared) {
  CompileOptions options;
  options.ltoIr = false;
  options.inlineCaptures = "dims=64";
  options.hostTriples = {"aarch64-unknown-linux-gnu", "riscv64-unknown-linux-gnu"};
  Artifact artifact = compileMetricFile(ANNUDF_EXAMPLES "/weighted_l2.mlir", options);
  VerifyReport report = verifyArtifact(artifact, "m");
  EXPECT_EQ(report.different, Lines{});
  EXPECT_EQ(report.unknown, Lines{});
  EXPECT_EQ(report.same.size(), 4u); // Manifest, host bitcode twice, module.
  EXPECT_NE(artifact.payloads[0].bytes, artifact.payloads[1].bytes);
  artifact.payloads[1].bytes = artifact.payloads[0].bytes;
  EXPECT_EQ(verifyArtifact(artifact, "m").different,
            Lines{"host bitcode for riscv64-unknown-linux-gnu: is not what this compiler makes of "
                  "its module"});
}

TEST(Verify, LtoIrOfTheSameLibraryIsTheSame) {
  std::string searched;
  if (describeLibNvvm(&searched).empty())
    GTEST_SKIP() << searched;
  CompileOptions options;
  options.archs = {"sm_90"};
  options.hostBitcode = false;
  Artifact artifact = compileMetricFile(ANNUDF_EXAMPLES "/l2.mlir", options);
  EXPECT_EQ(verifyArtifact(artifact, "m").different, Lines{});
  EXPECT_EQ(verifyArtifact(artifact, "m").unknown, Lines{});
  artifact.payloads[0].bytes[artifact.payloads[0].bytes.size() / 2] ^= 1;
  EXPECT_EQ(verifyArtifact(artifact, "m").different,
            Lines{"LTO-IR for sm_90: is not what this compiler makes of its module"});
}

TEST(Verify, WithoutAModuleNothingCanBeSaid) {
  Artifact artifact = resealed([](Artifact &a) { a.payloads.pop_back(); });
  try {
    (void)verifyArtifact(artifact, "m");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "m: holds no module, so nothing can be verified again");
  }
}

} // namespace
