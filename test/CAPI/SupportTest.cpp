//===- SupportTest.cpp - Status, last error, versions of the C API --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CApi.h"

#include <thread>

using namespace annudf::test;

extern "C" annudf_status annudf_test_compile_from_c(const char *source, size_t size,
                                                    annudf_artifact **out);

namespace {

TEST(CApiSupport, NamesOfStatuses) {
  const char *names[] = {"ok",          "usage",   "input",   "environment",
                         "interrupted", "compile", "internal"};
  for (int i = 0; i < 7; ++i)
    EXPECT_STREQ(annudf_status_name(static_cast<annudf_status>(i)), names[i]);
  EXPECT_STREQ(annudf_status_name(static_cast<annudf_status>(99)), "unknown");
}

TEST(CApiSupport, Versions) {
  EXPECT_EQ(annudf_capi_version(), uint32_t(ANNUDF_CAPI_MAJOR << 16 | ANNUDF_CAPI_MINOR));
  EXPECT_STREQ(annudf_version(), ANNUDF_TEST_VERSION);
  EXPECT_EQ(std::string(annudf_llvm_version()).find("22."), 0u);
}

TEST(CApiSupport, NullIsNoObject) {
  EXPECT_EQ(annudf_buffer_data(nullptr), nullptr);
  EXPECT_EQ(annudf_buffer_size(nullptr), 0u);
  annudf_buffer_destroy(nullptr);
  annudf_artifact_destroy(nullptr);
  annudf_diagnostics_destroy(nullptr);
}

TEST(CApiSupport, LastErrorBelongsToItsThread) {
  EXPECT_EQ(outcome(annudf_artifact_load(nullptr, nullptr)),
            "usage: annudf_artifact_load: path is NULL");
  std::thread([] {
    EXPECT_STREQ(annudf_last_error(), "");
    EXPECT_EQ(outcome(annudf_artifact_save(nullptr, "x")),
              "usage: annudf_artifact_save: artifact is NULL");
  }).join();
  EXPECT_STREQ(annudf_last_error(), "annudf_artifact_load: path is NULL");
}

TEST(CApiSupport, LastErrorOutlivesSuccess) {
  annudf_artifact_load(nullptr, nullptr);
  OwnedArtifact artifact;
  compileForHost(kMetric, &artifact);
  EXPECT_STREQ(annudf_last_error(), "annudf_artifact_load: path is NULL");
}

TEST(CApiSupport, CalledFromC) {
  OwnedArtifact artifact;
  EXPECT_EQ(outcome(annudf_test_compile_from_c(kMetric.data(), kMetric.size(), &artifact)), "ok");
  EXPECT_STREQ(annudf_artifact_get(artifact)->name, "weighted");
}

} // namespace
