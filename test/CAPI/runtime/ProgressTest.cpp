//===- ProgressTest.cpp - Callbacks of builds and changes through the C API ===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

using namespace annudf;
using namespace annudf::test;

namespace {

class CApiProgress : public SmallIndex {};

/// Stops the `stopAt`-th call.
struct Stopper {
  int calls = 0, stopAt = -1;
  std::vector<std::string> stages;
  double last = -1;
  static int report(void *user, const char *stage, double done) {
    auto &self = *static_cast<Stopper *>(user);
    EXPECT_TRUE(done >= 0 && done <= 1) << done;
    if (self.stages.empty() || self.stages.back() != stage)
      self.stages.emplace_back(stage);
    self.last = done;
    return ++self.calls == self.stopAt ? 1 : 0;
  }
};

TEST_F(CApiProgress, IsReportedAndStopsTheWork) {
  annudf_ivf_flat_build_options options = {};
  options.size = sizeof options;
  Stopper whole;
  options.progress = Stopper::report, options.progress_user = &whole;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, &options, &index, nullptr)), "ok");
  EXPECT_EQ(whole.stages, (std::vector<std::string>{"train", "add"}));
  EXPECT_EQ(whole.last, 1);
  for (int at = 1; at <= whole.calls; ++at) { // The last too: it comes before the work counts.
    Stopper stopper;
    stopper.stopAt = at;
    options.progress_user = &stopper;
    OwnedIndex stopped;
    const std::string text =
        outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, &options, &stopped, nullptr));
    ASSERT_EQ(stopper.calls, at);
    EXPECT_EQ(text, "interrupted: interrupted (" + stopper.stages.back() + ")");
    EXPECT_EQ(stopped, nullptr);
  }
}

/// Whichever report stops it, and whatever was stopped before: all or nothing.
TEST_F(CApiProgress, AStoppedChangeIsNone) {
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, nullptr, &index, nullptr)), "ok");
  const std::string path = folder / "a.ivf";
  writePlainly(path, "before");
  const auto extend = [&](Stopper &stopper) {
    annudf_ivf_flat_extend_options options = {};
    options.size = sizeof options;
    options.progress = Stopper::report, options.progress_user = &stopper;
    return annudf_ivf_flat_extend(nullptr, index, &vectors, nullptr, &options);
  };
  const auto save = [&](Stopper &stopper) {
    return annudf_ivf_flat_save(index, path.c_str(), Stopper::report, &stopper);
  };
  for (int at = 1;; ++at) {
    Stopper stopper;
    stopper.stopAt = at;
    const annudf_status status = save(stopper);
    EXPECT_EQ(folder.entries(), 1u);
    if (stopper.calls < at) {
      EXPECT_EQ(status, ANNUDF_OK);
      break;
    }
    EXPECT_EQ(status, ANNUDF_INTERRUPTED);
    EXPECT_EQ(stopper.last == 1, at == 10) << "begin, 8 lists, and before the rename";
    EXPECT_EQ(readFile(path, 100), "before");
  }
  const uint64_t generation = infoOf(index).generation;
  for (int at = 1;; ++at) {
    Stopper stopper;
    stopper.stopAt = at;
    if (extend(stopper) == ANNUDF_OK) {
      EXPECT_EQ(stopper.last, 1);
      EXPECT_EQ(at, 3) << "begin, and before the lists change";
      break;
    }
    EXPECT_EQ(infoOf(index).rows, 400);
    EXPECT_EQ(infoOf(index).generation, generation);
  }
  EXPECT_EQ(infoOf(index).rows, 800);
  const uint64_t grown = infoOf(index).generation;
  const int64_t gone[] = {5, 799};
  for (int at = 1;; ++at) {
    Stopper stopper;
    stopper.stopAt = at;
    if (annudf_ivf_flat_remove(nullptr, index, IdsOf(gone), Stopper::report, &stopper, nullptr) ==
        ANNUDF_OK) {
      EXPECT_EQ(stopper.last, 1);
      EXPECT_EQ(at, 3) << "begin, and before the lists change";
      break;
    }
    EXPECT_EQ(infoOf(index).generation, grown);
  }
  EXPECT_EQ(infoOf(index).rows, 798);
}

/// A callback that uses the index at work would wait for itself: it is told so instead.
TEST_F(CApiProgress, MayAskForPropertiesOnly) {
  build();
  struct Inside {
    annudf_ivf_flat_index *index;
    const annudf_vectors *vectors;
    std::string extend, save;
    int64_t size = 0;
  } inside{index, &vectors, {}, {}};
  const auto callback = [](void *user, const char *, double) {
    auto &self = *static_cast<Inside *>(user);
    self.size = infoOf(self.index).rows;
    self.extend =
        outcome(annudf_ivf_flat_extend(nullptr, self.index, self.vectors, nullptr, nullptr));
    self.save = outcome(annudf_ivf_flat_save(self.index, "/nowhere", nullptr, nullptr));
    return 0;
  };
  annudf_ivf_flat_extend_options options = {};
  options.size = sizeof options;
  options.progress = callback, options.progress_user = &inside;
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &vectors, nullptr, &options)), "ok");
  const std::string why = "this thread is inside another call on the index; a progress callback "
                          "may only read its properties";
  EXPECT_EQ(inside.extend, "usage: annudf_ivf_flat_extend: " + why);
  EXPECT_EQ(inside.save, "usage: annudf_ivf_flat_save: " + why);
  EXPECT_EQ(infoOf(index).rows, 800);
}

} // namespace
