//===- FileIOTest.cpp - Files written whole or not at all -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/FileIO.h"

#include "Support/TestFiles.h"

#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <sys/stat.h>

namespace annudf {
namespace {

using test::contains;
using test::errorOf;
using test::TempDir;

TEST(AtomicFileWriter, ReplacesOnlyOnCommit) {
  const TempDir dir;
  const std::string path = dir / "file";
  writeFile(path, "old");
  {
    AtomicFileWriter writer(path);
    writer.write("new");
    EXPECT_EQ(writer.position(), 3u);
    EXPECT_EQ(readFile(path, 100), "old");
    EXPECT_EQ(dir.entries(), 2u);
  }
  EXPECT_EQ(readFile(path, 100), "old");
  EXPECT_EQ(dir.entries(), 1u) << "the temporary was left";
  AtomicFileWriter writer(path);
  writer.write("new");
  writer.commit();
  EXPECT_EQ(readFile(path, 100), "new");
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(AtomicFileWriter, ModeFollowsTheUmask) {
  const TempDir dir;
  const mode_t before = ::umask(0027);
  writeFile(dir / "file", "x");
  ::umask(before);
  struct stat info;
  ASSERT_EQ(::stat((dir / "file").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(AtomicFileWriter, LinksStay) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  writeFile(dir / "folder/real", "old");
  std::filesystem::create_symlink("folder/real", dir / "link");
  writeFile(dir / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  EXPECT_EQ(readFile(dir / "folder/real", 100), "new");
  EXPECT_EQ(dir.entries(), 2u);
}

TEST(AtomicFileWriter, NamesThePlaceThatCannotBeWritten) {
  const TempDir dir;
  EXPECT_EQ(errorOf([&] { writeFile(dir / "no/such/file", "x"); }, ErrorKind::Environment),
            dir / "no/such/file: cannot write: No such file or directory");
  EXPECT_EQ(errorOf([&] { writeFile(dir.path().string(), "x"); }, ErrorKind::Environment),
            dir.path().string() + ": cannot write: Is a directory");
  EXPECT_EQ(errorOf([&] { writeFile("", "x"); }, ErrorKind::Usage),
            "no path was given for the output file");
  if (::geteuid() != 0) { // Root may write everywhere.
    std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_read |
                                                 std::filesystem::perms::owner_exec);
    EXPECT_EQ(errorOf([&] { writeFile(dir / "file", "x"); }, ErrorKind::Environment),
              dir / "file: cannot write: Permission denied");
  }
}

TEST(AtomicFileWriter, FullDevice) {
  EXPECT_EQ(errorOf([] { writeFile("/dev/full", "x"); }, ErrorKind::Environment),
            "/dev/full: cannot write: No space left on device");
  struct stat info;
  ASSERT_EQ(::stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode)) << "the device was replaced by a file";
}

// The limit on a file's size stands for a disk that fills up while it is written.
TEST(AtomicFileWriter, FailureInTheMiddleLeavesNothing) {
  const TempDir dir;
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error =
      errorOf([&] { writeFile(dir / "file", std::string(100000, 'x')); }, ErrorKind::Environment);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(error, dir / "file: cannot write: File too large");
  EXPECT_EQ(dir.entries(), 0u);
}

TEST(FileReader, ErrorsNameTheFile) {
  const TempDir dir;
  EXPECT_EQ(errorOf([&] { FileReader(dir / "none"); }),
            dir / "none: cannot open: No such file or directory");
  EXPECT_EQ(errorOf([&] { FileReader(dir.path().string()); }),
            dir.path().string() + ": cannot read: it is a folder");
  EXPECT_EQ(errorOf([&] { FileReader("/dev/null"); }),
            "/dev/null: cannot read: it is not a regular file");
  writeFile(dir / "ten", "0123456789");
  FileReader file(dir / "ten");
  char bytes[8];
  file.read(bytes, 8);
  EXPECT_EQ(std::string(bytes, 8), "01234567");
  EXPECT_EQ(file.remaining(), 2u);
  EXPECT_EQ(errorOf([&] { file.read(bytes, 8); }),
            dir / "ten: truncated: 8 bytes expected at offset 8, the file has 10");
  EXPECT_TRUE(contains(errorOf([&] { readFile(dir / "ten", 9); }), "10 bytes, more than the 9"));
}

} // namespace
} // namespace annudf
