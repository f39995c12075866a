//===- Sweep.h - One call of the system fails, wherever it is -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_FAULTS_SWEEP_H
#define ANNUDF_TEST_FAULTS_SWEEP_H

#include "CAPI/CApi.h"
#include "annudf-c/annudf.h"
#include "faults.h"

#include <cstdlib>
#include <functional>
#include <string>

namespace annudf::test {

/// Where each try takes LLVM a tenth of a second, only one call in `step` fails;
/// ANNUDF_FAULT_RUNS=0 tries them all.
inline long everyNth(long step) {
  const char *runs = std::getenv("ANNUDF_FAULT_RUNS");
  return runs && std::string(runs) == "0" ? 1 : step;
}

/// A piece of work during which calls of the system fail.
struct Work {
  /// Nothing here may ask for memory but what is under test.
  std::function<annudf_status()> run;
  /// Frees all that `run` made, however it ended, and puts back what it changed.
  std::function<void()> reset;
  /// \returns what is wrong where `run` ended with that status, "" if nothing is; before `reset`.
  std::function<std::string(annudf_status)> look = [](annudf_status) { return std::string(); };
  annudf_status expected = ANNUDF_OK; ///< What `run` ends with where nothing fails.
  /// Frames that were built without exceptions keep what they hold where one passes them.
  bool mayLose = false;
  long step = 1;
};

/// Runs `work` with each call of malloc failing in turn, until it no longer comes to that call:
/// it does what it would do otherwise, or says that memory is missing; nothing is lost, and the
/// next try succeeds.
inline void sweepMemory(const Work &work) {
  for (int warm = 0; warm < 2; ++warm) { // What is made once and for all is there then.
    (void)annudf_element_parse(nullptr, nullptr);
    ASSERT_EQ(work.run(), work.expected) << annudf_last_error();
    ASSERT_EQ(work.look(work.expected), "");
    work.reset();
  }
  long failures = 0;
  for (long nth = 1;; nth += work.step) {
    annudf_faults_forget();
    annudf_faults_arm("malloc", nth);
    const annudf_status status = work.run();
    const long calls = annudf_faults_disarm("malloc");
    const std::string where =
        "malloc " + std::to_string(nth) + " of at least " + std::to_string(calls);
    if (status != work.expected) {
      ++failures;
      ASSERT_EQ(status, ANNUDF_ENVIRONMENT) << where << ": " << annudf_last_error();
      ASSERT_STREQ(annudf_last_error(), "out of memory") << where;
    }
    ASSERT_EQ(work.look(status), "") << where << ", status " << annudf_status_name(status);
    work.reset();
    (void)annudf_element_parse(nullptr, nullptr); // Lets go of the text of the last error.
    if (status == work.expected || !work.mayLose) {
      if (annudf_faults_live() != 0)
        annudf_faults_print();
      ASSERT_EQ(annudf_faults_live(), 0) << where << ", status " << annudf_status_name(status);
    }
    if (calls < nth) {
      ASSERT_EQ(status, work.expected) << where << ": " << annudf_last_error();
      break;
    }
  }
  EXPECT_GT(failures, 0) << "no call failed: what was tested?";
  ASSERT_EQ(work.run(), work.expected) << annudf_last_error();
  ASSERT_EQ(work.look(work.expected), "");
  work.reset();
}

/// The same with calls of `function`: where one fails the work is done all the same, or ends with
/// `told` in its error and the status that goes with files and systems.
/// \returns how many tries failed.
inline long sweep(const char *function, const Work &work, const std::string &told) {
  long failures = 0;
  for (long nth = 1;; ++nth) {
    annudf_faults_arm(function, nth);
    const annudf_status status = work.run();
    const long calls = annudf_faults_disarm(function);
    const std::string where = std::string(function) + " " + std::to_string(nth);
    if (status != work.expected) {
      ++failures;
      EXPECT_TRUE(status == ANNUDF_ENVIRONMENT || status == ANNUDF_INPUT)
          << where << ": " << annudf_status_name(status);
      EXPECT_TRUE(contains(annudf_last_error(), told)) << where << ": " << annudf_last_error();
    }
    EXPECT_EQ(work.look(status), "") << where << ", status " << annudf_status_name(status);
    work.reset();
    if (calls < nth) {
      EXPECT_EQ(status, work.expected) << where << ": " << annudf_last_error();
      return failures;
    }
  }
}

} // namespace annudf::test

#endif // ANNUDF_TEST_FAULTS_SWEEP_H
