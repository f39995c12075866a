//===- FileIO.h - Files written whole or not at all ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every reader and writer of annudf shares. Nobody may see half an output
// file, whatever ends the program; no reader may trust a length that the file
// itself contradicts.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_FILEIO_H
#define ANNUDF_SUPPORT_FILEIO_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace annudf {

/// Writes to a temporary beside `path`; commit() syncs it and renames it over
/// `path`. Without a commit the destructor removes the temporary, so an exception
/// (Error(Interrupted) too) leaves what was there before. A `path` that exists and
/// is no regular file (a device, a pipe) is written directly; a link stays one, its
/// target is replaced. A file that is replaced hands on its permissions.
class AtomicFileWriter {
public:
  /// \throws Error(Environment) naming path and reason, when no file can be made there.
  explicit AtomicFileWriter(std::string path);
  ~AtomicFileWriter();
  AtomicFileWriter(const AtomicFileWriter &) = delete;
  AtomicFileWriter &operator=(const AtomicFileWriter &) = delete;

  /// \throws Error(Environment), a full disk for example.
  void write(const void *data, size_t size);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  /// Bytes written so far.
  uint64_t position() const { return position_; }
  /// Syncs what was written, which may take long and may fail: what remains is the rename.
  void finish();
  /// Puts the file in its place, after finish().
  void commit();

private:
  [[noreturn]] void fail(const char *what);

  std::string path_;      ///< As given, for messages.
  std::string target_;    ///< The same without links.
  std::string temporary_; ///< Empty when written directly.
  int fd_ = -1;
  uint64_t position_ = 0;
};

/// A file in memory, read where somebody looks at it. What is written there stays in this process.
/// If somebody cuts the file short meanwhile, a look beyond its end ends the process (SIGBUS).
class FileMapping {
public:
  FileMapping(void *begin, uint64_t size) : begin_(static_cast<char *>(begin)), size_(size) {}
  ~FileMapping();
  FileMapping(const FileMapping &) = delete;
  FileMapping &operator=(const FileMapping &) = delete;

  void *at(uint64_t offset) const { return begin_ + offset; }
  bool holds(const void *address) const {
    return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(begin_) < size_;
  }

private:
  char *begin_;
  uint64_t size_;
};

/// Reads a regular file whose size is known before its content is believed.
class FileReader {
public:
  /// \throws Error(Input): missing, unreadable, not a regular file.
  explicit FileReader(std::string path);
  ~FileReader();
  FileReader(const FileReader &) = delete;
  FileReader &operator=(const FileReader &) = delete;

  const std::string &path() const { return path_; }
  uint64_t size() const { return size_; }
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return size_ - position_; }
  /// \throws Error(Input) when the file ends before `size` bytes.
  void read(void *data, size_t size);
  /// \throws Error(Input) when the file ends before `size` bytes.
  void skip(uint64_t size);
  /// The whole file, which is not empty. \throws Error(Environment) where the system refuses.
  std::shared_ptr<FileMapping> map() const;

private:
  void expect(uint64_t size) const;

  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0, position_ = 0;
};

/// The whole file. \throws Error(Input) when it is larger than `limit` bytes.
std::string readFile(const std::string &path, uint64_t limit);
/// Atomically replaces `path`.
void writeFile(const std::string &path, std::string_view bytes);

} // namespace annudf

#endif // ANNUDF_SUPPORT_FILEIO_H
