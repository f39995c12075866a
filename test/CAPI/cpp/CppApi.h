//===- CppApi.h - What the tests of annudf.hpp share ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_CAPI_CPP_CPPAPI_H
#define ANNUDF_TEST_CAPI_CPP_CPPAPI_H

#include "annudf/annudf.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace cpp_api {

/// A file of docs/examples, "metrics/time_decay.mlir".
inline std::string example(const std::string &name) {
  std::ifstream file(ANNUDF_TEST_EXAMPLES "/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline annudf::metric example_metric(const std::string &name) {
  return annudf::metric::from_text(example("metrics/" + name + ".mlir"),
                                   {.origin = name + ".mlir"});
}

/// What `call` throws: its code and text.
template <class Call> std::string error_of(Call call) {
  try {
    call();
  } catch (const annudf::error &error) {
    return std::to_string(int(error.code())) + " " + error.what();
  }
  return "nothing";
}
inline std::string usage(const std::string &text) { return "1 " + text; }

/// Row i is i in each coordinate.
inline std::vector<float> ramp(std::int64_t rows, std::int64_t dims) {
  std::vector<float> all(std::size_t(rows * dims));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = float(std::int64_t(i) / dims);
  return all;
}

/// 100 rows in 5 lists, and a metric whose weights are 1.
class IndexedRamp : public testing::Test {
protected:
  static constexpr std::int64_t kDims = 4;
  const std::vector<float> data = ramp(100, kDims);
  const annudf::matrix_view<const float> rows = annudf::matrix_view(data, kDims);
  const annudf::matrix_view<const float> query{data.data() + 50 * kDims, 1, kDims};
  annudf::ivf_flat::index index = annudf::ivf_flat::build({.n_lists = 5}, rows);
  const std::vector<float> ones = std::vector<float>(kDims, 1.0f);
  const annudf::bound_metric metric = example_metric("weighted_l2").bind({{"w", ones}});
};

class temp_folder {
public:
  temp_folder() : path_(std::filesystem::temp_directory_path() / "annudf-cpp-XXXXXX") {
    std::string name = path_.string();
    if (!mkdtemp(name.data()))
      ADD_FAILURE() << "no folder " << name;
    path_ = name;
  }
  ~temp_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temp_folder(const temp_folder &) = delete;
  temp_folder &operator=(const temp_folder &) = delete;
  std::string operator/(const char *name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

} // namespace cpp_api

#endif // ANNUDF_TEST_CAPI_CPP_CPPAPI_H
