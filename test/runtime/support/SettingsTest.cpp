//===- SettingsTest.cpp - Variables of the environment that choose -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/Settings.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace annudf;
using namespace annudf::runtime;

namespace {

constexpr const char *kName = "ANNUDF_TEST_SETTING";

TEST(Settings, AreOneOfWhatIsKnownOrNothing) {
  ::unsetenv(kName);
  EXPECT_EQ(settingOf(kName, {"0", "all"}), "");
  for (const char *value : {"", "0", "all"}) {
    ::setenv(kName, value, 1);
    EXPECT_EQ(settingOf(kName, {"0", "all"}), value);
  }
  ::unsetenv(kName);
}

TEST(Settings, RefuseAllElse) {
  for (const std::string value : {"1", "al", "all ", "00"}) {
    ::setenv(kName, value.c_str(), 1);
    try {
      (void)settingOf(kName, {"0", "all"});
      ADD_FAILURE() << value;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      EXPECT_EQ(error.what(), "ANNUDF_TEST_SETTING is '" + value + "', it must be one of 0, all");
    }
  }
  ::unsetenv(kName);
}

} // namespace
