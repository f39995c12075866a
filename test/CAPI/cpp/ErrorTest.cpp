//===- ErrorTest.cpp - Errors, progress and cancellation of annudf.hpp ----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CppApi.h"

#include <limits>
#include <stdexcept>

using namespace cpp_api;
namespace ivf_flat = annudf::ivf_flat;

namespace {

constexpr std::int64_t kDims = 4;

TEST(CppError, HasRuleAndPlace) {
  const auto metric =
      annudf::metric::from_text(R"(annudf.metric @bad order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %one = arith.constant 1 : index
    %next = arith.addi %dim, %one : index
    %weight = annudf.load %w[%next] : !annudf.capture<dim x f32>
    %sum = arith.addf %acc, %weight : f32
    annudf.yield %sum : f32
  }
}
)",
                                {.origin = "bad.mlir"});
  try {
    (void)metric.artifact();
    FAIL() << "it was taken";
  } catch (const annudf::error &error) {
    EXPECT_EQ(error.code(), annudf::errc::compile);
    EXPECT_EQ(error.rule(), "L3");
    EXPECT_EQ(error.location(), (annudf::source_place{"bad.mlir", 11, 15}));
    ASSERT_FALSE(error.diagnostics().empty());
    EXPECT_EQ(error.diagnostics()[0].severity, annudf::severity::error);
    EXPECT_EQ(std::string(error.what()).find("bad.mlir:11:15: "), 0u) << error.what();
    const annudf::error copy = error; // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_STREQ(copy.what(), error.what());
    EXPECT_EQ(copy.rule(), "L3");
  }
  const annudf::error plain(annudf::errc::usage, "text");
  EXPECT_EQ(plain.rule(), "");
  EXPECT_EQ(plain.location(), annudf::source_place());
}

TEST(CppError, WarningsAreHandedOut) {
  std::vector<annudf::diagnostic> warnings;
  // It never reads the accumulator.
  (void)annudf::artifact::compile(R"(annudf.metric @last order(min) coarse(l2) elements(f32) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %x : f32
  }
}
)",
                                  {.lto_ir = false}, &warnings);
  const auto found = std::find_if(warnings.begin(), warnings.end(),
                                  [](const auto &one) { return one.rule == "H11"; });
  ASSERT_NE(found, warnings.end());
  EXPECT_EQ(found->severity, annudf::severity::warning);
}

class CppProgress : public testing::Test {
protected:
  const std::vector<float> data = ramp(2000, kDims);
  const annudf::matrix_view<const float> rows = annudf::matrix_view(data, kDims);
};

TEST_F(CppProgress, IsToldAndStops) {
  std::vector<std::string> stages;
  auto index = ivf_flat::build({.n_lists = 4,
                                .progress =
                                    [&](std::string_view stage, double done) {
                                      EXPECT_TRUE(done >= 0 && done <= 1) << done;
                                      if (stages.empty() || stages.back() != stage)
                                        stages.emplace_back(stage);
                                      return true;
                                    }},
                               rows);
  EXPECT_EQ(stages, (std::vector<std::string>{"train", "add"}));
  const auto code_of = [](auto call) {
    try {
      call();
    } catch (const annudf::error &error) {
      return error.code();
    }
    return annudf::errc::internal;
  };
  const auto never = [](std::string_view, double) { return false; };
  EXPECT_EQ(code_of([&] { (void)ivf_flat::build({.n_lists = 4, .progress = never}, rows); }),
            annudf::errc::interrupted);
  EXPECT_EQ(code_of([&] { ivf_flat::extend(index, rows, {}, {.progress = never}); }),
            annudf::errc::interrupted);
  EXPECT_EQ(index.size(), 2000);
  EXPECT_EQ(code_of([&] { (void)ivf_flat::search(index, rows, 1, {.progress = never}); }),
            annudf::errc::interrupted);
  const temp_folder folder;
  EXPECT_EQ(code_of([&] { ivf_flat::save(index, folder / "i", {.progress = never}); }),
            annudf::errc::interrupted);
  EXPECT_FALSE(std::filesystem::exists(folder / "i"));
}

TEST_F(CppProgress, ItsExceptionReachesTheCaller) {
  const auto index = ivf_flat::build({.n_lists = 4}, rows);
  const auto thrown = [](auto call) {
    try {
      call();
    } catch (const std::out_of_range &error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const annudf::progress raise = [](std::string_view stage, double) -> bool {
    throw std::out_of_range(std::string(stage));
  };
  EXPECT_EQ(thrown([&] { (void)ivf_flat::build({.n_lists = 4, .progress = raise}, rows); }),
            "train");
  EXPECT_EQ(thrown([&] { (void)ivf_flat::search(index, rows, 1, {.progress = raise}); }), "search");
  EXPECT_EQ(thrown([&] { (void)annudf::pairwise_distance(rows, rows, {.progress = raise}); }),
            "search");
  EXPECT_EQ(thrown([&] { (void)ivf_flat::radius_search(index, rows, 1, {.progress = raise}); }),
            "search");
}

TEST_F(CppProgress, StopTokens) {
  const auto code_of = [](auto call) {
    try {
      call();
    } catch (const annudf::error &error) {
      return error.code();
    }
    return annudf::errc::internal;
  };
  std::stop_source before;
  before.request_stop();
  EXPECT_EQ(
      code_of([&] { (void)ivf_flat::build({.n_lists = 4, .stop = before.get_token()}, rows); }),
      annudf::errc::interrupted);
  // While it runs: the last progress before the step that cannot be undone asks once more.
  std::stop_source during;
  int calls = 0;
  auto index = ivf_flat::build({.n_lists = 4}, rows);
  EXPECT_EQ(code_of([&] {
              ivf_flat::extend(index, rows, {},
                               {.progress =
                                    [&](std::string_view, double) {
                                      ++calls;
                                      during.request_stop();
                                      return true;
                                    },
                                .stop = during.get_token()});
            }),
            annudf::errc::interrupted);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(index.size(), 2000);
  EXPECT_EQ(code_of([&] { (void)ivf_flat::search(index, rows, 1, {.stop = during.get_token()}); }),
            annudf::errc::interrupted);
  std::stop_source never;
  EXPECT_EQ(ivf_flat::search(index, rows, 1, {.stop = never.get_token()}).rows(), 2000);
}

} // namespace
