//===- ReproducerTest.cpp - What is told where a pass of annudf fails -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DamageModules.h"

#include "annudf/Compiler/Compiler.h"
#include "annudf/Support/FileIO.h"
#include "gtest/gtest.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>

using namespace annudf;

namespace {

// The pipeline begins with the verifier, which no test gets around.
const char *const kWhy = "'builtin.unrealized_conversion_cast' op [B1] is not allowed in a body; ";

class ReproducerTest : public ::testing::Test {
protected:
  ReproducerTest() { options.ltoIr = false; }
  ~ReproducerTest() override {
    unsetenv("ANNUDF_REPRODUCER");
    std::filesystem::remove(path);
  }

  /// What compileMetric says of an l2 that its lowering does not take.
  std::string fault() {
    const DamageModules damage;
    try {
      compileMetric(readFile(ANNUDF_EXAMPLES "/l2.mlir", 1 << 16), "l2.mlir", options);
    } catch (const Error &error) {
      return std::string("taken for the user's: ") + error.what();
    } catch (const std::logic_error &error) {
      return error.what();
    }
    return "compiled";
  }

  /// Its beginning, to the end of `last`.
  std::string faultUntil(const std::string &last) {
    const std::string all = fault();
    const size_t at = all.find(last);
    return at == std::string::npos ? all : all.substr(0, at + last.size());
  }

  /// What annudf-opt says of the file, read as a reproducer.
  std::string reproduced() const {
    const std::string command = std::string(ANNUDF_OPT) + " --run-reproducer " + path + " 2>&1";
    std::string said;
    if (FILE *pipe = popen(command.c_str(), "r")) { // NOLINT(bugprone-command-processor)
      std::array<char, 4096> part;
      while (size_t size = fread(part.data(), 1, part.size(), pipe))
        said.append(part.data(), size);
      pclose(pipe);
    }
    return said;
  }

  CompileOptions options;
  const std::string path = ::testing::TempDir() + "annudf-reproducer." + std::to_string(getpid());
};

TEST_F(ReproducerTest, SaysHowToReport) {
  EXPECT_EQ(faultUntil(kWhy),
            "annudf-to-host fails on a module that keeps every rule, which is a bug in annudf; to "
            "report it, set ANNUDF_REPRODUCER to the name of a file and send what is written "
            "there:\nl2.mlir:7:3: " +
                std::string(kWhy));
}

TEST_F(ReproducerTest, WritesWhatFailsAgain) {
  options.reproducer = path;
  EXPECT_EQ(faultUntil(kWhy),
            "annudf-to-host fails on a module that keeps every rule, which is a bug in annudf; "
            "please report it with " +
                path + ", which annudf-opt --run-reproducer takes:\nl2.mlir:7:3: " + kWhy);
  const std::string text = readFile(path, 1 << 16);
  EXPECT_EQ(text.find("// annudf "), 0U) << text;
  EXPECT_NE(text.find("LLVM 22."), std::string::npos) << text;
  EXPECT_NE(text.find(kWhy), std::string::npos) << text;
  EXPECT_NE(text.find("annudf.metric @l2"), std::string::npos) << text;
  EXPECT_NE(reproduced().find(std::string("error: ") + kWhy), std::string::npos) << reproduced();
}

TEST_F(ReproducerTest, TheEnvironmentNamesIt) {
  setenv("ANNUDF_REPRODUCER", path.c_str(), 1);
  EXPECT_NE(fault().find("please report it with " + path), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(ReproducerTest, AFileThatCannotBeWrittenIsTold) {
  options.reproducer = "/no/such/folder/file";
  EXPECT_NE(
      fault().find("; /no/such/folder/file, which would hold the report, cannot be written: No "
                   "such file or directory:\nl2.mlir:7:3: "),
      std::string::npos)
      << fault();
}

TEST_F(ReproducerTest, NothingIsWrittenForTheUsersFaults) {
  options.reproducer = path;
  EXPECT_THROW(compileMetric("annudf.metric", "x.mlir", options), Error);
  EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace
