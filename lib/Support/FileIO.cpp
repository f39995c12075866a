//===- FileIO.cpp - Files written whole or not at all ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/FileIO.h"

#include "annudf/Support/Error.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace annudf {
namespace {

/// One system call takes at most this much, so that signals are served in between.
constexpr size_t kChunk = size_t(64) << 20;

std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

} // namespace

AtomicFileWriter::AtomicFileWriter(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_.empty())
    throw Error(ErrorKind::Usage, "no path was given for the output file");
  struct stat info;
  const bool replaces = ::stat(path_.c_str(), &info) == 0;
  if (replaces) {
    if (!S_ISREG(info.st_mode)) {
      // Renaming over a device would destroy it; over a folder fails too late.
      fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd_ < 0)
        fail("cannot write");
      return;
    }
    if (char *resolved = ::realpath(path_.c_str(), nullptr)) {
      target_ = resolved;
      std::free(resolved);
    }
  }
  // Not mkstemp: its mode 0600 would survive the rename, whatever the umask says.
  static std::atomic<unsigned> serial{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = target_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(serial++);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) {
      // Before there is anything to read. On file systems without permissions it fails.
      if (replaces)
        (void)::fchmod(fd_, info.st_mode & 0777);
      return;
    }
    if (errno != EEXIST)
      break;
  }
  temporary_.clear();
  fail("cannot write");
}

AtomicFileWriter::~AtomicFileWriter() {
  if (fd_ >= 0)
    ::close(fd_);
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

void AtomicFileWriter::fail(const char *what) {
  throw Error(ErrorKind::Environment, path_ + ": " + what + ": " + std::strerror(errno));
}

void AtomicFileWriter::write(const void *data, size_t size) {
  const char *bytes = static_cast<const char *>(data);
  while (size != 0) {
    const ssize_t n = ::write(fd_, bytes, std::min(size, kChunk));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      fail("cannot write");
    bytes += n, size -= size_t(n), position_ += uint64_t(n);
  }
}

void AtomicFileWriter::finish() {
  if (fd_ < 0)
    return;
  // Pipes and devices cannot be synced, which is no fault of theirs.
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
    fail("cannot write");
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0)
    fail("cannot write");
}

void AtomicFileWriter::commit() {
  finish();
  if (temporary_.empty())
    return;
  // Nothing may fail once the file has its name: the caller would take it for the old one.
  const std::string folderName = folderOf(target_);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    fail("cannot rename the finished file");
  temporary_.clear();
  // The name, too, should survive a power failure; nothing is lost if this cannot be had.
  const int folder = ::open(folderName.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

FileReader::FileReader(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0)
    throw Error(ErrorKind::Input, path_ + ": cannot open: " + std::strerror(errno));
  struct stat info;
  const char *why = nullptr;
  if (::fstat(fd_, &info) != 0)
    why = std::strerror(errno);
  else if (!S_ISREG(info.st_mode))
    why = S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a regular file";
  if (why) {
    ::close(fd_);
    throw Error(ErrorKind::Input, path_ + ": cannot read: " + why);
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

FileReader::~FileReader() { ::close(fd_); }

FileMapping::~FileMapping() { ::munmap(begin_, size_); }

void FileReader::expect(uint64_t size) const {
  if (size > remaining())
    throw Error(ErrorKind::Input, path_ + ": truncated: " + std::to_string(size) +
                                      " bytes expected at offset " + std::to_string(position_) +
                                      ", the file has " + std::to_string(size_));
}

void FileReader::skip(uint64_t size) {
  expect(size);
  if (::lseek(fd_, static_cast<off_t>(size), SEEK_CUR) < 0)
    throw Error(ErrorKind::Input, path_ + ": cannot read: " + std::strerror(errno));
  position_ += size;
}

std::shared_ptr<FileMapping> FileReader::map() const {
  // Private, so writes stay in this process; pages that nobody writes are not copied.
  void *begin = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd_, 0);
  if (begin == MAP_FAILED)
    throw Error(ErrorKind::Environment, path_ + ": cannot map: " + std::strerror(errno));
  return std::make_shared<FileMapping>(begin, size_);
}

void FileReader::read(void *data, size_t size) {
  expect(size);
  char *bytes = static_cast<char *>(data);
  while (size != 0) {
    const ssize_t n = ::read(fd_, bytes, std::min(size, kChunk));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      throw Error(ErrorKind::Input, path_ + ": cannot read: " + std::strerror(errno));
    if (n == 0)
      throw Error(ErrorKind::Input, path_ + ": the file became shorter while it was read");
    bytes += n, size -= size_t(n), position_ += uint64_t(n);
  }
}

std::string readFile(const std::string &path, uint64_t limit) {
  FileReader file(path);
  if (file.size() > limit)
    throw Error(ErrorKind::Input, path + ": " + std::to_string(file.size()) +
                                      " bytes, more than the " + std::to_string(limit) +
                                      " that are read from such a file");
  std::string bytes(file.size(), '\0');
  file.read(bytes.data(), bytes.size());
  return bytes;
}

void writeFile(const std::string &path, std::string_view bytes) {
  AtomicFileWriter writer(path);
  writer.write(bytes);
  writer.commit();
}

} // namespace annudf
