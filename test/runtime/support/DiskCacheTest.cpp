//===- DiskCacheTest.cpp - What a cache on disk must survive --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/DiskCache.h"

#include "annudf/Support/Sha256.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace annudf::runtime {
namespace {

namespace fs = std::filesystem;

std::string keyOf(int number) { return sha256Hex("key " + std::to_string(number)); }

/// Tells from its bytes alone whether it is whole, and whose it is.
std::string payloadOf(int number, size_t size = 3000) {
  std::string bytes = "payload " + std::to_string(number) + ":";
  std::mt19937 random(static_cast<unsigned>(number));
  while (bytes.size() < size)
    bytes += static_cast<char>(random());
  return bytes;
}

std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void writeFile(const fs::path &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class OfDisk : public testing::Test {
protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "annudf-disk-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base = name;
    folder = base / "cache";
  }
  void TearDown() override { fs::remove_all(base); }

  DiskCache cache(uint64_t most = DiskCache::kDefaultMostBytes) const {
    return {folder.string(), most};
  }
  fs::path entry(int number) const { return folder / (keyOf(number) + ".annudfc"); }
  /// What load gives, and that it has nothing to complain of.
  std::optional<std::string> load(int number) const {
    std::string fault;
    auto found = cache().load(keyOf(number), fault);
    EXPECT_EQ(fault, "");
    return found;
  }
  void store(int number, uint64_t most = DiskCache::kDefaultMostBytes) const {
    std::string fault;
    EXPECT_TRUE(cache(most).store(keyOf(number), payloadOf(number), fault)) << fault;
    EXPECT_EQ(fault, "");
  }
  /// Runs `body` in a process of its own. \returns its exit code.
  template <class Body> static int inChild(Body &&body) {
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(body());
    int status = 0;
    (void)::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  fs::path base, folder;
};

TEST_F(OfDisk, KeepsWhatItGotAndNobodyElseMayReadIt) {
  EXPECT_EQ(load(1), std::nullopt);
  EXPECT_FALSE(fs::exists(folder)); // To look for something makes nothing.
  store(1);
  store(2);
  EXPECT_EQ(load(1), payloadOf(1));
  EXPECT_EQ(load(2), payloadOf(2));
  EXPECT_EQ(load(3), std::nullopt);
  struct stat status = {};
  ASSERT_EQ(::stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  ASSERT_EQ(::stat(entry(1).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

/// The Python package reads and drops these files too.
TEST_F(OfDisk, TheFormatIsThatOfThePythonPackage) {
  store(1);
  const std::string digested = keyOf(1) + '\0' + payloadOf(1);
  const Sha256::Digest digest = Sha256::of(digested.data(), digested.size());
  EXPECT_EQ(readFile(entry(1)),
            "annudfC1" + std::string(digest.begin(), digest.end()) + payloadOf(1));
}

TEST_F(OfDisk, OfAThousandCorruptionsNoneIsLoaded) {
  std::mt19937 random(20261122);
  const auto below = [&](size_t bound) { return static_cast<size_t>(random() % bound); };
  store(1), store(2);
  const std::string whole = readFile(entry(1)), other = readFile(entry(2));
  constexpr size_t kHead = 40;
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = whole;
    switch (round % 8) {
    case 0: // Every byte of the header in turn.
      bytes[size_t(round / 8) % kHead] ^= static_cast<char>(1 + below(255));
      break;
    case 1:
      bytes[below(bytes.size())] ^= static_cast<char>(1 + below(255));
      break;
    case 2:
      bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
      break;
    case 3:
      bytes.resize(below(bytes.size()));
      break;
    case 4:
      bytes += std::string(1 + below(100), static_cast<char>(random()));
      break;
    case 5: // An entry under another's name.
      bytes = other;
      break;
    case 6: // The other's rest.
      bytes = whole.substr(0, kHead + below(1000));
      bytes += other.substr(bytes.size());
      break;
    default:
      bytes = std::string(below(200), static_cast<char>(random()));
      break;
    }
    ASSERT_NE(bytes, whole);
    writeFile(entry(1), bytes);
    ASSERT_EQ(load(1), std::nullopt) << "round " << round;
    EXPECT_FALSE(fs::exists(entry(1))) << "round " << round;
  }
  store(1);
  EXPECT_EQ(load(1), payloadOf(1));
  EXPECT_EQ(load(2), payloadOf(2));
}

TEST_F(OfDisk, ASizeThatNoEntryHasIsNotAskedMemoryFor) {
  store(1);
  fs::resize_file(entry(1), uint64_t(1) << 40); // Sparse.
  fs::last_write_time(entry(1), fs::file_time_type::clock::now() - std::chrono::minutes(1));
  EXPECT_EQ(load(1), std::nullopt);
  store(2); // Beyond the bound, it goes first.
  EXPECT_FALSE(fs::exists(entry(1)));
  EXPECT_EQ(load(2), payloadOf(2));
}

TEST_F(OfDisk, AnEntryAboveThisProcessesBoundIsLeftToOthers) {
  store(1);
  std::string fault;
  EXPECT_EQ(cache(1000).load(keyOf(1), fault), std::nullopt);
  EXPECT_EQ(fault, "");
  EXPECT_EQ(load(1), payloadOf(1));
}

TEST_F(OfDisk, WhatIsDroppedIsGone) {
  store(1), store(2);
  cache().drop(keyOf(1));
  EXPECT_FALSE(fs::exists(entry(1)));
  EXPECT_EQ(load(2), payloadOf(2));
  cache().drop(keyOf(3));
  DiskCache("", 0).drop(keyOf(2));
  EXPECT_EQ(load(2), payloadOf(2));
}

TEST_F(OfDisk, AnEntryOfTheFutureMakesNoTemporaryOld) {
  store(1);
  writeFile(folder / ".tmp-0123456789abcdef", "being written");
  fs::last_write_time(entry(1), fs::file_time_type::clock::now() + std::chrono::hours(48));
  store(2);
  EXPECT_TRUE(fs::exists(folder / ".tmp-0123456789abcdef"));
}

TEST_F(OfDisk, WhatIsNoFileOfOursIsRemovedUnread) {
  store(1), store(2), store(3);
  fs::rename(entry(1), base / "elsewhere");
  fs::create_symlink(base / "elsewhere", entry(1));
  EXPECT_EQ(load(1), std::nullopt);
  EXPECT_FALSE(fs::exists(fs::symlink_status(entry(1))));
  fs::remove(entry(2));
  ASSERT_EQ(::mkfifo(entry(2).c_str(), 0600), 0); // To read it would wait for ever.
  EXPECT_EQ(load(2), std::nullopt);
  fs::permissions(entry(3), fs::perms(0620));
  EXPECT_EQ(load(3), std::nullopt);
}

TEST_F(OfDisk, AFolderThatOthersMayWriteToIsNotUsed) {
  store(1);
  const auto refuses = [&](const char *what) {
    const std::string want = "the cache folder " + folder.string() +
                             " can be written by another user, so it is not used: its files run as "
                             "code; name another in ANNUDF_CACHE_DIR";
    std::string fault;
    EXPECT_EQ(cache().load(keyOf(1), fault), std::nullopt) << what;
    EXPECT_EQ(fault, want) << what;
    fault.clear();
    EXPECT_FALSE(cache().store(keyOf(2), "bytes", fault)) << what;
    EXPECT_EQ(fault, want) << what;
    EXPECT_FALSE(fs::exists(entry(2))) << what;
  };
  fs::permissions(folder, fs::perms(0770));
  refuses("the group");
  fs::permissions(folder, fs::perms(0702));
  refuses("others");
  fs::permissions(folder, fs::perms(0700));
  EXPECT_EQ(load(1), payloadOf(1));
  if (::geteuid() != 0)
    GTEST_SKIP() << "not root: a folder of another user's is NOT checked";
  ASSERT_EQ(::chown(folder.c_str(), 12345, 12345), 0);
  refuses("another user");
  ASSERT_EQ(::chown(folder.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(entry(1).c_str(), 12345, 12345), 0);
  EXPECT_EQ(load(1), std::nullopt);
}

TEST_F(OfDisk, AFullDiskIsAMissWithAReason) {
  EXPECT_EQ(inChild([&] {
              (void)::signal(SIGXFSZ, SIG_IGN); // Then write() fails, as on a full disk.
              const rlimit limit = {1000, 1000};
              (void)::setrlimit(RLIMIT_FSIZE, &limit);
              std::string fault;
              if (cache().store(keyOf(1), payloadOf(1), fault))
                return 1;
              if (fault.find("the cache in " + folder.string() + " cannot be written: ") != 0)
                return 2;
              return cache().load(keyOf(1), fault) ? 3 : 0;
            }),
            0);
  EXPECT_TRUE(fs::is_empty(folder)); // Nor is half a file left.
}

TEST_F(OfDisk, AReadOnlyFolderServesAndTakesNothing) {
  store(1);
  fs::permissions(folder, fs::perms(0500));
  fs::permissions(base, fs::perms(0755));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
    ASSERT_EQ(::chown(entry(1).c_str(), 65534, 65534), 0);
  }
  EXPECT_EQ(inChild([&] {
              if (::geteuid() == 0 && ::seteuid(65534) != 0)
                return 1;
              std::string fault;
              if (cache().load(keyOf(1), fault) != payloadOf(1) || !fault.empty())
                return 2;
              if (cache().store(keyOf(2), "bytes", fault))
                return 3;
              return fault == "the cache in " + folder.string() +
                                  " cannot be written: Permission denied"
                         ? 0
                         : 4;
            }),
            0);
  fs::permissions(folder, fs::perms(0700));
}

TEST_F(OfDisk, APlaceThatIsNoFolderIsAReason) {
  writeFile(base / "file", "");
  const DiskCache none((base / "file").string(), 1 << 20),
      below((base / "file/x").string(), 1 << 20);
  std::string fault;
  EXPECT_EQ(none.load(keyOf(1), fault), std::nullopt);
  EXPECT_EQ(fault,
            "the cache folder " + (base / "file").string() + " cannot be opened: Not a directory");
  fault.clear();
  EXPECT_FALSE(below.store(keyOf(1), "bytes", fault));
  EXPECT_NE(fault, "");
  // And none at all is no fault.
  fault.clear();
  EXPECT_FALSE(DiskCache("", 1 << 20).store(keyOf(1), "bytes", fault));
  EXPECT_EQ(DiskCache("", 1 << 20).load(keyOf(1), fault), std::nullopt);
  EXPECT_EQ(fault, "");
}

TEST_F(OfDisk, DropsWhatWasNotUsedForTheLongestTime) {
  const auto setAge = [&](int number, int minutes) {
    fs::last_write_time(entry(number),
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  };
  for (int i = 0; i < 4; ++i)
    store(i), setAge(i, 40 - i);
  EXPECT_EQ(load(0), payloadOf(0));                          // Used, so that 1 is the oldest now.
  writeFile(folder / "notes.txt", std::string(100000, 'x')); // Not ours to drop or to count.
  store(4, 4 * 3100);
  EXPECT_EQ(load(1), std::nullopt);
  for (int i : {0, 2, 3, 4})
    EXPECT_EQ(load(i), payloadOf(i)) << i;
  EXPECT_TRUE(fs::exists(folder / "notes.txt"));
  std::string fault; // Larger than everything may be: nothing is dropped for it.
  EXPECT_FALSE(cache(1000).store(keyOf(5), payloadOf(5), fault));
  EXPECT_EQ(fault, "");
  EXPECT_EQ(load(4), payloadOf(4));
}

TEST_F(OfDisk, OfAHundredProcessesThatAreKilledNoneLeavesAWrongEntry) {
  std::mt19937 random(7);
  constexpr int kKills = 100, kKeys = 8;
  int whole = 0;
  for (int round = 0; round < kKills; ++round) {
    // However busy the machine, it has stored something when it is killed.
    int begun[2];
    ASSERT_EQ(::pipe(begun), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      for (int i = round;; ++i) {
        std::string fault;
        (void)cache(40000).store(keyOf(i % kKeys), payloadOf(i % kKeys, 9000), fault);
        if (i == round && ::write(begun[1], "", 1) != 1)
          ::_exit(1);
      }
    ::close(begun[1]);
    char byte;
    ASSERT_EQ(::read(begun[0], &byte, 1), 1);
    ::close(begun[0]);
    ::usleep(random() % 3000);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    for (int i = 0; i < kKeys; ++i)
      if (const auto found = load(i)) {
        ASSERT_EQ(*found, payloadOf(i, 9000)) << "round " << round;
        ++whole;
      }
  }
  EXPECT_GT(whole, kKills);
  // What they were writing goes once it is an hour old.
  for (const auto &file : fs::directory_iterator(folder))
    if (file.path().filename().string().starts_with(".tmp-"))
      fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
  store(0);
  for (const auto &file : fs::directory_iterator(folder))
    EXPECT_FALSE(file.path().filename().string().starts_with(".tmp-"));
}

/// For as long as it lives the variable has that value.
class Variable {
public:
  Variable(const char *name, const char *value) : name_(name) {
    if (const char *before = std::getenv(name))
      before_ = before;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;

private:
  const char *name_;
  std::optional<std::string> before_;
};

TEST(DiskCacheVariables, SayWhereHowMuchAndWhether) {
  const Variable on("ANNUDF_CACHE_DISABLE", nullptr), most("ANNUDF_CACHE_MAX_BYTES", nullptr);
  const Variable home("HOME", "/home/somebody"), xdg("XDG_CACHE_HOME", nullptr);
  const auto folderOf = [](const char *named) {
    const Variable variable("ANNUDF_CACHE_DIR", named);
    return DiskCache::ofEnvironment().folder();
  };
  EXPECT_EQ(folderOf(nullptr), "/home/somebody/.cache/annudf");
  EXPECT_EQ(folderOf("/named/here/"), "/named/here");
  EXPECT_EQ(folderOf("~/here"), "/home/somebody/here");
  EXPECT_EQ(folderOf("~root/here"), "/root/here");
  {
    const Variable other("XDG_CACHE_HOME", "/xdg"), number("ANNUDF_CACHE_MAX_BYTES", "12345");
    EXPECT_EQ(folderOf(nullptr), "/xdg/annudf");
    EXPECT_EQ(DiskCache::ofEnvironment().mostBytes(), 12345u);
  }
  std::string fault;
  {
    const Variable named("ANNUDF_CACHE_DIR", "~no such user/here");
    EXPECT_EQ(DiskCache::ofEnvironment().load(keyOf(1), fault), std::nullopt);
    EXPECT_EQ(fault, "the cache folder is '~no such user/here', but that user or home folder does "
                     "not exist, so there is no cache; name one in ANNUDF_CACHE_DIR");
  }
  for (const char *wrong : {"many", "-1", "1e6", "99999999999999999999999"}) {
    const Variable named("ANNUDF_CACHE_DIR", "/nonexistent"),
        number("ANNUDF_CACHE_MAX_BYTES", wrong);
    const DiskCache cache = DiskCache::ofEnvironment();
    EXPECT_EQ(cache.mostBytes(), DiskCache::kDefaultMostBytes);
    (void)cache.load(keyOf(1), fault);
    EXPECT_EQ(fault, "ANNUDF_CACHE_MAX_BYTES is '" + std::string(wrong) +
                         "', not a number of bytes; 268435456 is used");
  }
  const Variable off("ANNUDF_CACHE_DISABLE", "1");
  EXPECT_EQ(folderOf("/named"), "");
  const Variable zero("ANNUDF_CACHE_DISABLE", "0");
  EXPECT_EQ(folderOf("/named"), "/named");
}

} // namespace
} // namespace annudf::runtime
