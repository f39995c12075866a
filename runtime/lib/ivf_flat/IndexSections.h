//===- IndexSections.h - Sections of an index file --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_IVF_FLAT_INDEXSECTIONS_H
#define ANNUDF_RUNTIME_LIB_IVF_FLAT_INDEXSECTIONS_H

#include "annudf/Support/FileIO.h"
#include "annudf/Support/Sha256.h"

#include <algorithm>
#include <cstdint>

namespace annudf::runtime {

/// Sections begin at multiples of this in the file, so that it can be mapped.
inline constexpr uint64_t kSectionAlignment = 64;

inline uint64_t sectionAligned(uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

/// Writes sections with the padding between them, and digests all of it.
class SectionWriter {
public:
  explicit SectionWriter(AtomicFileWriter &file) : file_(file) {}
  void write(const void *data, size_t size) {
    file_.write(data, size);
    digest_.update(data, size);
    static const char zeros[kSectionAlignment] = {};
    const size_t padding = sectionAligned(file_.position()) - file_.position();
    file_.write(zeros, padding);
    digest_.update(zeros, padding);
  }
  Sha256::Digest finish() { return digest_.finish(); }

private:
  AtomicFileWriter &file_;
  Sha256 digest_;
};

/// Reads them again, and what stands between.
class SectionReader {
public:
  explicit SectionReader(FileReader &file) : file_(file) {}
  void read(void *data, size_t size) {
    file_.read(data, size);
    digest_.update(data, size);
    char padding[kSectionAlignment];
    const size_t count = sectionAligned(file_.position()) - file_.position();
    file_.read(padding, count);
    digest_.update(padding, count);
    padded_ &= std::all_of(padding, padding + count, [](char byte) { return byte == 0; });
  }
  /// Passes over a section, of which nothing is known then.
  void skip(uint64_t size) {
    file_.skip(sectionAligned(file_.position() + size) - file_.position());
  }
  Sha256::Digest finish() { return digest_.finish(); }
  /// Whether zeros alone stood between the sections.
  bool padded() const { return padded_; }

private:
  FileReader &file_;
  bool padded_ = true;
  Sha256 digest_;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_IVF_FLAT_INDEXSECTIONS_H
