//===- DiskCache.cpp - Bytes by key, kept in files ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/DiskCache.h"

#include "annudf/Support/Sha256.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace annudf::runtime {

namespace {

// As of python-frontend-shim/annudf/_metric/cache.py.
constexpr std::string_view kMagic = "annudfC1", kSuffix = ".annudfc", kTemporary = ".tmp-";
constexpr size_t kHead = kMagic.size() + sizeof(Sha256::Digest);
constexpr int64_t kStaleSeconds = 3600;

std::string variableOf(const char *name) {
  const char *value = ::secure_getenv(name); // Not those of whoever calls a program of root's.
  return value ? value : "";
}

/// The home of a user by name, or of the one at hand for "". "" where there is none.
std::string homeOf(const std::string &user) {
  if (user.empty())
    if (std::string home = variableOf("HOME"); !home.empty())
      return home;
  passwd entry = {};
  passwd *found = nullptr;
  std::vector<char> buffer(16384);
  const int failed = user.empty()
                         ? ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found)
                         : ::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
  return failed == 0 && found && found->pw_dir ? found->pw_dir : "";
}

class Descriptor {
public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0)
      (void)::close(number_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  explicit operator bool() const { return number_ >= 0; }
  int operator*() const { return number_; }
  /// \returns whether what was written has arrived.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

private:
  int number_;
};

std::string words(int error) { return std::generic_category().message(error); }

/// Whether nobody else has written it: it is the user's or root's, and no one else may write.
bool isOurs(const struct stat &status) {
  return (status.st_uid == ::geteuid() || status.st_uid == 0) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Opened once, and what was opened is looked at: a path may lead elsewhere a moment later.
Descriptor openFolder(const std::string &folder, std::string &fault) {
  const int number = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (number < 0) {
    if (errno != ENOENT)
      fault = "the cache folder " + folder + " cannot be opened: " + words(errno);
    return Descriptor(-1);
  }
  struct stat status = {};
  if (::fstat(number, &status) == 0 && isOurs(status))
    return Descriptor(number);
  (void)::close(number);
  fault = "the cache folder " + folder +
          " can be written by another user, so it is not used: its files run as code; name another "
          "in ANNUDF_CACHE_DIR";
  return Descriptor(-1);
}

Sha256::Digest digestOf(const std::string &key, std::string_view payload) {
  Sha256 digest;
  digest.update(key.c_str(), key.size() + 1);
  digest.update(payload.data(), payload.size());
  return digest.finish();
}

/// All of a file, or nothing where it is none of ours; a link is none.
/// \param error  of the system's, 0 where the file is to be removed.
std::optional<std::string> readEntry(int folder, const std::string &name, uint64_t most,
                                     int &error) {
  const Descriptor file(
      ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    error = errno == ELOOP ? 0 : errno;
    return std::nullopt;
  }
  struct stat status = {};
  error = 0;
  if (::fstat(*file, &status) != 0 || !S_ISREG(status.st_mode) || !isOurs(status) ||
      status.st_size < static_cast<off_t>(kHead))
    return std::nullopt;
  if (static_cast<uint64_t>(status.st_size) > most) { // Not asked memory for, nor looked into.
    error = ENOENT; // Another process's bound may be larger: it is not removed.
    return std::nullopt;
  }
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::read(*file, bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      error = errno;
    if (got <= 0)
      return std::nullopt;
    at += static_cast<size_t>(got);
  }
  // Its time says when it was last used, which is what is dropped first goes by.
  (void)::futimens(*file, nullptr);
  return bytes;
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

std::string temporaryName() {
  unsigned random[2] = {static_cast<unsigned>(::getpid()), static_cast<unsigned>(::time(nullptr))};
  (void)::getentropy(random, sizeof random); // Where it fails these do, with O_EXCL.
  char text[24];
  std::snprintf(text, sizeof text, "%08x%08x", random[0], random[1]);
  return std::string(kTemporary) + text;
}

/// Drops what was not used for the longest time beyond the bound, and what killed processes left.
void evict(int folder, uint64_t most) {
  struct Entry {
    int64_t seconds;
    long nanoseconds;
    uint64_t size;
    std::string name;
  };
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *opened = again < 0 ? nullptr : ::fdopendir(again);
  if (!opened) {
    if (again >= 0)
      (void)::close(again);
    return;
  }
  const std::unique_ptr<DIR, int (*)(DIR *)> files(opened, ::closedir);
  std::vector<Entry> entries, temporaries;
  while (const dirent *file = ::readdir(files.get())) {
    const std::string name = file->d_name;
    struct stat status = {};
    if (::fstatat(folder, file->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue; // Another process may remove what was just listed.
    auto &list = name.starts_with(kTemporary) ? temporaries : entries;
    if (&list == &temporaries || name.ends_with(kSuffix))
      list.push_back({status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                      static_cast<uint64_t>(status.st_size), name});
  }
  // By the clock: a file's time may lie in the future, beside which those being written look old.
  const int64_t now = ::time(nullptr);
  for (const Entry &entry : temporaries)
    if (now - entry.seconds > kStaleSeconds)
      (void)::unlinkat(folder, entry.name.c_str(), 0);
  uint64_t total = 0;
  for (const Entry &entry : entries)
    total += entry.size;
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.seconds, a.nanoseconds) < std::tie(b.seconds, b.nanoseconds);
  });
  for (const Entry &entry : entries) {
    if (total <= most)
      break;
    (void)::unlinkat(folder, entry.name.c_str(), 0);
    total -= entry.size;
  }
}

} // namespace

DiskCache DiskCache::ofEnvironment() {
  if (const std::string off = variableOf("ANNUDF_CACHE_DISABLE"); !off.empty() && off != "0")
    return {"", 0};
  DiskCache cache("", kDefaultMostBytes);
  if (const std::string text = variableOf("ANNUDF_CACHE_MAX_BYTES"); !text.empty()) {
    const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
    errno = 0;
    const unsigned long long bytes = std::strtoull(text.c_str(), nullptr, 10);
    if (digits && errno == 0)
      cache.mostBytes_ = bytes;
    else
      cache.complaint_ = "ANNUDF_CACHE_MAX_BYTES is '" + text + "', not a number of bytes; " +
                         std::to_string(kDefaultMostBytes) + " is used";
  }
  std::string folder = variableOf("ANNUDF_CACHE_DIR");
  if (folder.empty()) {
    std::string base = variableOf("XDG_CACHE_HOME");
    if (base.find_first_not_of(" \t\n\v\f\r") == std::string::npos)
      base = "~/.cache";
    folder = base + "/annudf";
  }
  if (folder[0] == '~') { // A shell expands it in `export`, but neither in quotes nor elsewhere.
    const size_t end = std::min(folder.find('/'), folder.size());
    const std::string home = homeOf(folder.substr(1, end - 1));
    if (home.empty()) {
      cache.complaint_ = "the cache folder is '" + folder +
                         "', but that user or home folder does not exist, so there is no cache; "
                         "name one in ANNUDF_CACHE_DIR";
      return cache;
    }
    folder = home + folder.substr(end);
  }
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  cache.folder_ = std::move(folder);
  return cache;
}

std::optional<std::string> DiskCache::load(const std::string &key, std::string &fault) const {
  if (!complaint_.empty())
    fault = complaint_;
  if (folder_.empty())
    return std::nullopt;
  const Descriptor folder = openFolder(folder_, fault);
  if (!folder)
    return std::nullopt;
  const std::string name = key + std::string(kSuffix);
  int error = 0;
  std::optional<std::string> bytes = readEntry(*folder, name, mostBytes_, error);
  if (bytes) {
    const std::string_view payload = std::string_view(*bytes).substr(kHead);
    const Sha256::Digest digest = digestOf(key, payload);
    if (std::string_view(*bytes).starts_with(kMagic) &&
        std::memcmp(bytes->data() + kMagic.size(), digest.data(), digest.size()) == 0) {
      bytes->erase(0, kHead);
      return bytes;
    }
  } else if (error != 0) {
    if (error != ENOENT)
      fault = "the cache's file " + folder_ + "/" + name + " cannot be read: " + words(error);
    return std::nullopt;
  }
  (void)::unlinkat(*folder, name.c_str(), 0); // Damaged or someone else's.
  return std::nullopt;
}

void DiskCache::drop(const std::string &key) const {
  std::string ignored;
  if (folder_.empty())
    return;
  if (const Descriptor folder = openFolder(folder_, ignored))
    (void)::unlinkat(*folder, (key + std::string(kSuffix)).c_str(), 0);
}

bool DiskCache::store(const std::string &key, std::string_view payload, std::string &fault) const {
  if (folder_.empty() || payload.size() + kHead > mostBytes_)
    return false;
  std::error_code ignored; // What fails here shows when the folder is opened.
  std::filesystem::create_directories(std::filesystem::path(folder_).parent_path(), ignored);
  const int made = ::mkdir(folder_.c_str(), 0700), whyNot = errno;
  const auto cannot = [&](int error) {
    fault = "the cache in " + folder_ + " cannot be written: " + words(error);
    return false;
  };
  const Descriptor folder = openFolder(folder_, fault);
  if (!folder)
    return fault.empty() ? cannot(made == 0 ? ENOENT : whyNot) : false;
  const std::string temporary = temporaryName();
  Descriptor file(::openat(*folder, temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file)
    return cannot(errno);
  const Sha256::Digest digest = digestOf(key, payload);
  const std::string head =
      std::string(kMagic) +
      std::string(reinterpret_cast<const char *>(digest.data()), digest.size());
  errno = 0; // write() may stop without saying why.
  if (!writeAll(*file, head) || !writeAll(*file, payload) || !file.close() ||
      ::renameat(*folder, temporary.c_str(), *folder, (key + std::string(kSuffix)).c_str()) != 0) {
    const int error = errno;
    (void)::unlinkat(*folder, temporary.c_str(), 0);
    return cannot(error == 0 ? ENOSPC : error);
  }
  evict(*folder, mostBytes_);
  return true;
}

} // namespace annudf::runtime
