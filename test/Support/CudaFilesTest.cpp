//===- CudaFilesTest.cpp - CUDA's libraries, found and opened -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/CudaFiles.h"

#include "Support/TestFiles.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <optional>

using namespace annudf;

namespace {

/// An environment with these variables only, of those that the search reads.
class Environment {
public:
  using Values = std::map<std::string, std::string>;
  explicit Environment(const Values &values) {
    for (const char *name :
         {"ANNUDF_LIBNVVM", "ANNUDF_LIBDEVICE", "ANNUDF_CUDA_WHEELS", "CUDA_HOME", "CUDA_PATH",
          "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME"}) {
      const char *old = std::getenv(name);
      before[name] = old ? std::optional<std::string>(old) : std::nullopt;
      set(name, values.count(name) ? std::optional<std::string>(values.at(name)) : std::nullopt);
    }
  }
  ~Environment() {
    for (const auto &[name, value] : before)
      set(name, value);
  }

private:
  static void set(const std::string &name, const std::optional<std::string> &value) {
    value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before;
};

std::vector<std::string> libNvvm() {
  return cudaLibraryCandidates("libnvvm.so.4", "ANNUDF_LIBNVVM", {"nvvm/lib64", "lib64"});
}

size_t placeOf(const std::vector<std::string> &files, const std::string &file) {
  return static_cast<size_t>(std::find(files.begin(), files.end(), file) - files.begin());
}

TEST(CudaFiles, WhatIsNamedIsTheOnlyPlace) {
  Environment environment(
      Environment::Values{{"ANNUDF_LIBNVVM", "/named/libnvvm.so"}, {"CUDA_HOME", "/toolkit"}});
  EXPECT_EQ(libNvvm(), std::vector<std::string>{"/named/libnvvm.so"});
}

TEST(CudaFiles, AFolderMayBeNamed) {
  Environment environment(Environment::Values{{"ANNUDF_LIBNVVM", "/usr"}});
  EXPECT_EQ(libNvvm(), std::vector<std::string>{"/usr/libnvvm.so.4"});
}

TEST(CudaFiles, ToolkitsThenPackagesThenTheLoader) {
  Environment environment({{"CUDA_HOME", "/a"},
                           {"CUDA_PATH", "/b"},
                           {"ANNUDF_CUDA_WHEELS", "/w"},
                           {"PYTHONPATH", "/p::/q"}});
  const std::vector<std::string> expected = {
      "/a/nvvm/lib64/libnvvm.so.4",
      "/a/lib64/libnvvm.so.4",
      "/b/nvvm/lib64/libnvvm.so.4",
      "/b/lib64/libnvvm.so.4",
      "/usr/local/cuda/nvvm/lib64/libnvvm.so.4",
      "/usr/local/cuda/lib64/libnvvm.so.4",
      "/w/nvidia/cu13/lib/libnvvm.so.4",
      "/p/nvidia/cu13/lib/libnvvm.so.4",
      "/q/nvidia/cu13/lib/libnvvm.so.4",
  };
  const std::vector<std::string> files = libNvvm();
  ASSERT_GT(files.size(), expected.size());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), files.begin()));
  EXPECT_EQ(files.back(), "libnvvm.so.4");
}

TEST(CudaFiles, VirtualEnvironmentsOfEveryPython) {
  test::TempDir folder;
  for (const char *version : {"python3.11", "python3.13", "other"})
    std::filesystem::create_directories(folder.path() / "lib" / version / "site-packages");
  Environment environment(
      Environment::Values{{"VIRTUAL_ENV", folder.path().string()}, {"HOME", "/nowhere"}});
  const std::vector<std::string> files = libNvvm();
  const auto in = [&](const std::string &version) {
    return placeOf(files,
                   folder / ("lib/" + version + "/site-packages/nvidia/cu13/lib/libnvvm.so.4"));
  };
  EXPECT_LT(in("python3.11"), in("python3.13"));
  EXPECT_LT(in("python3.13"), files.size());
  EXPECT_EQ(in("other"), files.size());
}

TEST(CudaFiles, LibdeviceIsBesideItsLibrary) {
  test::TempDir folder;
  std::filesystem::create_directories(folder.path() / "nvvm/lib64");
  const std::string library = folder / "nvvm/lib64/libnvvm.so.4";
  test::writePlainly(library, "");
  Environment environment(Environment::Values{{"CUDA_HOME", "/toolkit"}});
  const std::vector<std::string> files = libDeviceCandidates(library);
  EXPECT_EQ(files.at(0), folder / "nvvm/libdevice/libdevice.10.bc");
  EXPECT_LT(placeOf(files, "/toolkit/nvvm/libdevice/libdevice.10.bc"), files.size());
}

/// Any shared library will do; the C library's are always there.
TEST(CudaFiles, TheFirstThatWillDoIsOpened) {
  test::TempDir folder;
  test::writePlainly(folder / "text.so", "no library");
  const std::vector<std::string> candidates = {"/nowhere/lib.so", folder / "text.so", "libc.so.6",
                                               "libm.so.6", "/nowhere/later.so"};
  double (*cosine)(double) = nullptr;
  const CudaLibrary library =
      openCudaLibrary(candidates, [&](void *handle, const std::string &path) {
        EXPECT_TRUE(path == "libc.so.6" || path == "libm.so.6");
        CudaSymbols get(handle);
        get(cosine, "cos");
        return get.complaint();
      });
  ASSERT_TRUE(library.handle);
  EXPECT_EQ(library.path, "libm.so.6");
  EXPECT_EQ(cosine(0), 1);
  EXPECT_TRUE(library.searched.starts_with("/nowhere/lib.so, " + folder / "text.so ("))
      << library.searched;
  EXPECT_TRUE(library.searched.ends_with("libc.so.6 (has no cos), libm.so.6")) << library.searched;
}

TEST(CudaFiles, NoneIsOpenedAndEveryReasonIsSaid) {
  const CudaLibrary library = openCudaLibrary(
      {"/nowhere/lib.so", "libm.so.6"}, [](void *, const std::string &) { return "of CUDA 12.9"; });
  EXPECT_FALSE(library.handle);
  EXPECT_EQ(library.path, "");
  EXPECT_EQ(library.searched, "/nowhere/lib.so, libm.so.6 (of CUDA 12.9)");
}

} // namespace
