//===- TestFiles.h - Files and expected errors of tests ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_SUPPORT_TESTFILES_H
#define ANNUDF_TEST_SUPPORT_TESTFILES_H

#include "annudf/Support/Error.h"
#include "annudf/Support/FileIO.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace annudf::test {

/// A folder that goes away with the test.
class TempDir {
public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "annudf-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string &name) const { return (path_ / name).string(); }
  size_t entries() const {
    const auto begin = std::filesystem::directory_iterator(path_);
    return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// Without writeFile's syncing, which makes thousands of small files slow.
inline void writePlainly(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Runs `action`, which must throw an Error.
/// \returns its text, or what happened instead.
template <typename Action> std::string errorOf(Action action, ErrorKind kind = ErrorKind::Input) {
  try {
    action();
  } catch (const Error &error) {
    const std::string text = error.what();
    if (text.find('\n') != std::string::npos)
      return "MORE THAN ONE LINE: " + text;
    return error.kind() == kind ? text : "OTHER KIND OF ERROR: " + text;
  } catch (const std::exception &error) {
    return std::string("OTHER EXCEPTION: ") + error.what();
  }
  return "NO ERROR";
}

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace annudf::test

#endif // ANNUDF_TEST_SUPPORT_TESTFILES_H
