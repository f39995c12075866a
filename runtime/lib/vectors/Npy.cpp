//===- Npy.cpp - NumPy's array files ----------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vectors/Npy.h"

#include "annudf/Support/Error.h"
#include "annudf/Support/FileIO.h"

#include <cstring>
#include <optional>

namespace annudf::runtime {
namespace {

constexpr char kMagic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
/// NumPy itself refuses longer ones unless told to trust the file.
constexpr uint32_t kMaxHeader = 10000;
constexpr size_t kMaxDimensions = 32;

[[noreturn]] void refuse(const std::string &path, const std::string &what) {
  throw Error(ErrorKind::Input, path + ": " + what);
}

/// The header is a Python dict literal of three fixed keys; this reads just that.
class HeaderParser {
public:
  HeaderParser(const std::string &text, const std::string &path) : text_(text), path_(path) {}

  void parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr")
        descr = string();
      else if (key == "fortran_order")
        fortran = boolean();
      else if (key == "shape")
        shape = tuple();
      else
        malformed();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (at_ != text_.size() || !descr || !fortran || !shape)
      malformed();
  }

  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;

private:
  [[noreturn]] void malformed() const { refuse(path_, "the .npy header is malformed"); }

  void skipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }
  bool accept(char c) {
    skipSpace();
    if (at_ == text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      malformed();
  }
  std::string string() {
    const char quote = accept('\'') ? '\'' : accept('"') ? '"' : '\0';
    const size_t end = quote ? text_.find(quote, at_) : std::string::npos;
    if (end == std::string::npos) {
      // A list here is a structured dtype.
      if (accept('['))
        refuse(path_, "structured .npy dtypes are not supported");
      malformed();
    }
    const std::string value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skipSpace();
    for (const bool value : {false, true}) {
      const std::string word = value ? "True" : "False";
      if (text_.compare(at_, word.size(), word) == 0) {
        at_ += word.size();
        return value;
      }
    }
    malformed();
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(number());
      if (values.size() > kMaxDimensions)
        malformed();
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  int64_t number() {
    skipSpace();
    const size_t start = at_;
    int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value))
        refuse(path_, "the shape in the .npy header is too large");
    if (at_ == start)
      malformed();
    return value;
  }

  const std::string &text_;
  const std::string &path_;
  size_t at_ = 0;
};

/// "<f4" and the like to our spelling.
std::string dtypeOf(const std::string &descr, const std::string &path) {
  static constexpr struct {
    const char *numpy, *dtype;
  } kTypes[] = {{"f4", "f32"}, {"f8", "f64"}, {"f2", "f16"}, {"i1", "i8"},
                {"u1", "u8"},  {"i4", "i32"}, {"u4", "u32"}, {"i8", "i64"},
                {"i2", "i16"}, {"u2", "u16"}, {"u8", "u64"}, {"b1", "b1"}};
  if (!descr.empty() && descr[0] == '>' && descr.size() == 3 && descr[2] != '1')
    refuse(path, "big-endian .npy data ('" + descr + "') is not supported");
  for (const auto &type : kTypes)
    if (descr.size() == 3 && std::strchr("<|=>", descr[0]) && descr.substr(1) == type.numpy)
      return type.dtype;
  std::string shown = descr.substr(0, 20);
  for (char &c : shown)
    if (static_cast<unsigned char>(c) < 0x20)
      c = '?';
  refuse(path,
         ".npy dtype '" + shown + "' is not one of b1, f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8");
}

} // namespace

int dtypeSize(const std::string &dtype) {
  if (dtype == "i8" || dtype == "u8" || dtype == "b1")
    return 1;
  if (dtype == "f16" || dtype == "bf16" || dtype == "i16" || dtype == "u16")
    return 2;
  if (dtype == "f32" || dtype == "i32" || dtype == "u32")
    return 4;
  return dtype == "f64" || dtype == "i64" || dtype == "u64" ? 8 : 0;
}

NumericArray readNpy(const std::string &path, int64_t rows) {
  FileReader file(path);
  unsigned char start[8];
  if (file.size() < sizeof start)
    refuse(path, "truncated: the file has " + std::to_string(file.size()) +
                     " bytes, too few for a .npy file");
  file.read(start, sizeof start);
  if (std::memcmp(start, kMagic, sizeof kMagic) != 0)
    refuse(path, "not a .npy file (its first bytes are wrong)");
  if (start[6] < 1 || start[6] > 3)
    refuse(path, ".npy version " + std::to_string(start[6]) + " is not supported, 1 to 3 are");
  unsigned char length[4] = {};
  file.read(length, start[6] == 1 ? 2 : 4);
  const uint32_t headerSize =
      length[0] | uint32_t(length[1]) << 8 | uint32_t(length[2]) << 16 | uint32_t(length[3]) << 24;
  if (headerSize > kMaxHeader)
    refuse(path, "the .npy header has " + std::to_string(headerSize) + " bytes; at most " +
                     std::to_string(kMaxHeader) + " are read");
  if (headerSize > file.remaining())
    refuse(path, "truncated: the file ends inside its .npy header");
  std::string text(headerSize, '\0');
  file.read(text.data(), text.size());
  HeaderParser header(text, path);
  header.parse();
  NumericArray array;
  array.origin = path;
  array.dtype = dtypeOf(*header.descr, path);
  array.shape = *header.shape;
  if (*header.fortran && array.shape.size() > 1)
    refuse(path, "Fortran order is not supported; save numpy.ascontiguousarray(a)");
  uint64_t bytes = static_cast<uint64_t>(dtypeSize(array.dtype));
  for (int64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      refuse(path, "the shape in the .npy header is too large");
  if (bytes != file.remaining())
    refuse(path, "the .npy header promises " + std::to_string(bytes) +
                     " bytes of data, but the file has " + std::to_string(file.remaining()));
  if (rows > 0 && !array.shape.empty() && rows < array.shape[0]) {
    bytes = bytes / static_cast<uint64_t>(array.shape[0]) * static_cast<uint64_t>(rows);
    array.shape[0] = rows;
  }
  array.storage.resize(bytes);
  file.read(array.storage.data(), array.storage.size());
  return array;
}

} // namespace annudf::runtime
