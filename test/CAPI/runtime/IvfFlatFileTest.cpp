//===- IvfFlatFileTest.cpp - Index files through the C API ----------------===//
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

class CApiIndexFile : public SmallIndex {};

TEST_F(CApiIndexFile, SaveAndLoad) {
  build();
  const std::string path = folder / "a.ivf", copy = folder / "b.ivf";
  ASSERT_EQ(outcome(annudf_ivf_flat_save(index, path.c_str(), nullptr, nullptr)), "ok");
  OwnedIndex loaded;
  ASSERT_EQ(outcome(annudf_ivf_flat_load(path.c_str(), /*mmap=*/0, &loaded)), "ok");
  EXPECT_EQ(infoOf(loaded).rows, 400);
  EXPECT_NE(infoOf(loaded).generation, infoOf(index).generation);
  ASSERT_EQ(annudf_ivf_flat_save(loaded, copy.c_str(), nullptr, nullptr), ANNUDF_OK);
  EXPECT_EQ(readFile(path, 1 << 20), readFile(copy, 1 << 20));
}

TEST_F(CApiIndexFile, ARewrittenFileKeepsItsPermissions) {
  build();
  const std::string path = folder / "a.ivf";
  ASSERT_EQ(annudf_ivf_flat_save(index, path.c_str(), nullptr, nullptr), ANNUDF_OK);
  const auto mode = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write |
                    std::filesystem::perms::group_read;
  std::filesystem::permissions(path, mode);
  ASSERT_EQ(annudf_ivf_flat_save(index, path.c_str(), nullptr, nullptr), ANNUDF_OK);
  EXPECT_EQ(std::filesystem::status(path).permissions(), mode);
}

TEST_F(CApiIndexFile, SaveToAPlaceThatCannotBeWritten) {
  build();
  const std::string path = folder / "missing/a.ivf";
  EXPECT_EQ(outcome(annudf_ivf_flat_save(index, path.c_str(), nullptr, nullptr)),
            "environment: " + path + ": cannot write: No such file or directory");
  EXPECT_EQ(outcome(annudf_ivf_flat_save(index, "/dev/full", nullptr, nullptr)),
            "environment: /dev/full: cannot write: No space left on device");
  EXPECT_EQ(outcome(annudf_ivf_flat_save(index, nullptr, nullptr, nullptr)),
            "usage: annudf_ivf_flat_save: path is NULL");
  EXPECT_EQ(folder.entries(), 0u);
}

TEST_F(CApiIndexFile, LoadRefusesDamage) {
  build();
  const std::string path = folder / "a.ivf";
  const auto error = [&] {
    OwnedIndex loaded;
    const std::string text = outcome(annudf_ivf_flat_load(path.c_str(), /*mmap=*/0, &loaded));
    EXPECT_EQ(loaded, nullptr);
    return text;
  };
  EXPECT_EQ(error(), "input: " + path + ": cannot open: No such file or directory");
  writePlainly(path, "this is no index, but a text that is long enough to be looked at twice");
  EXPECT_EQ(error(),
            "input: " + path +
                ": not an annudf index (its first bytes are wrong); give a file of annudf build");
  ASSERT_EQ(annudf_ivf_flat_save(index, path.c_str(), nullptr, nullptr), ANNUDF_OK);
  const std::string whole = readFile(path, 1 << 20);
  for (size_t at : {whole.size() / 2, whole.size() - 40, size_t(20)}) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    writePlainly(path, damaged);
    EXPECT_EQ(error().find("input: " + path + ": "), 0u) << at;
    writePlainly(path, whole.substr(0, at));
    EXPECT_EQ(error().find("input: " + path + ": "), 0u) << at;
  }
}

} // namespace
