//===- IndexFile.cpp - Saving and loading an index --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/index-format.md describes the file.
//
//===----------------------------------------------------------------------===//

#include "ivf_flat/IndexFile.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/Artifact/Cbor.h"
#include "annudf/Support/FileIO.h"
#include "annudf/Support/Sha256.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "coarse/KMeans.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

namespace annudf::runtime {
namespace {

using nlohmann::json;
static_assert(std::endian::native == std::endian::little, "the file holds little-endian words");

constexpr char kMagic[8] = {'a', 'n', 'n', 'u', 'd', 'f', 'I', 'X'};
constexpr uint32_t kVersion = 1;
/// Sections begin at multiples of this in the file, so that it can be mapped.
constexpr uint64_t kAlignment = 64;

struct Preamble {
  char magic[8];
  uint32_t version;
  uint32_t headerSize;
  uint8_t headerDigest[32]; ///< SHA-256 of the header.
  uint8_t reserved[16];     ///< Zero.
};
static_assert(sizeof(Preamble) == 64);

/// 16M lists take 9 bytes each at most.
constexpr uint32_t kMaxHeader = 1u << 28;

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

/// Where everything stands; a function of what the header declares. Each product is far
/// from overflow by the limits that checkHeader() enforces first.
struct Layout {
  uint64_t centers = 0, end = 0;
  struct Section {
    uint64_t words, ids;
  };
  std::vector<Section> lists;
};

/// \returns false when the sizes add up to more than a file can have.
bool layOut(uint64_t headerSize, uint64_t dims, uint64_t words, const std::vector<int64_t> &sizes,
            Layout &layout) {
  constexpr uint64_t kLimit = uint64_t(1) << 62;
  uint64_t at = aligned(sizeof(Preamble) + headerSize);
  layout.centers = at;
  at = aligned(at + sizes.size() * dims * sizeof(float));
  for (int64_t size : sizes) {
    const uint64_t rows = (uint64_t(size) + kGroupRows - 1) / kGroupRows * kGroupRows;
    if (rows > kLimit / (words * sizeof(uint32_t) + sizeof(int64_t)) || at > kLimit)
      return false;
    const uint64_t ids = aligned(at + rows * words * sizeof(uint32_t));
    layout.lists.push_back({at, ids});
    at = aligned(ids + rows * sizeof(int64_t));
  }
  layout.end = at;
  return at <= kLimit;
}

/// Writes sections with the padding between them, and digests all of it.
class SectionWriter {
public:
  explicit SectionWriter(AtomicFileWriter &file) : file_(file) {}
  void write(const void *data, size_t size) {
    file_.write(data, size);
    digest_.update(data, size);
    static const char zeros[kAlignment] = {};
    const size_t padding = aligned(file_.position()) - file_.position();
    file_.write(zeros, padding);
    digest_.update(zeros, padding);
  }
  Sha256::Digest finish() { return digest_.finish(); }

private:
  AtomicFileWriter &file_;
  Sha256 digest_;
};

class SectionReader {
public:
  explicit SectionReader(FileReader &file) : file_(file) {}
  void read(void *data, size_t size) {
    file_.read(data, size);
    digest_.update(data, size);
    char padding[kAlignment];
    const size_t count = aligned(file_.position()) - file_.position();
    file_.read(padding, count);
    digest_.update(padding, count);
  }
  Sha256::Digest finish() { return digest_.finish(); }

private:
  FileReader &file_;
  Sha256 digest_;
};

struct Header {
  annudf_element element;
  annudf_coarse metric;
  int32_t dims;
  int64_t rows;
  std::vector<int64_t> sizes;
};

[[noreturn]] void refuse(const std::string &path, const std::string &what) {
  throw Error(ErrorKind::Input, path + ": " + what);
}

[[noreturn]] void refuseTruncated(const std::string &path, uint64_t size, uint64_t expected) {
  refuse(path, "truncated: the index file has " + std::to_string(size) + " bytes, of " +
                   std::to_string(expected));
}

template <typename Enum>
Enum enumField(const json &header, const char *field, const std::string &path) {
  const std::string which = std::string("index header field '") + field + "' ";
  const auto found = header.find(field);
  if (found == header.end() || !found->is_string())
    refuse(path, which + "is missing or no text");
  std::string why;
  if (const auto value = parseSpelling<Enum>(found->get_ref<const std::string &>(), &why))
    return *value;
  refuse(path, which + why);
}

int64_t numberOf(const json *value, int64_t least, int64_t most, const std::string &field,
                 const std::string &path) {
  if (!value || !value->is_number_unsigned() ||
      value->get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
    refuse(path, "index header field '" + field + "' is missing or no number");
  const auto number = value->get<int64_t>();
  if (number < least || number > most)
    refuse(path, "index header field '" + field + "' is " + std::to_string(number) +
                     ", not between " + std::to_string(least) + " and " + std::to_string(most));
  return number;
}

Header parseHeader(const std::string &bytes, const std::string &path) {
  json fields;
  if (checkCbor(bytes) != CborCheck::Ok)
    refuse(path, "damaged: the index header is not valid CBOR");
  try {
    fields = json::from_cbor(bytes);
  } catch (const json::exception &) {
    refuse(path, "damaged: the index header is not valid CBOR");
  }
  if (!fields.is_object())
    refuse(path, "damaged: the index header is no map");
  auto get = [&](const char *field) -> const json * {
    const auto found = fields.find(field);
    return found == fields.end() ? nullptr : &*found;
  };
  Header header;
  header.element = enumField<annudf_element>(fields, "element", path);
  header.metric = enumField<annudf_coarse>(fields, "metric", path);
  header.dims = static_cast<int32_t>(numberOf(get("dims"), 1, kMaxDims, "dims", path));
  header.rows = numberOf(get("rows"), 0, std::numeric_limits<int64_t>::max(), "rows", path);
  const int64_t words = numberOf(get("words"), 1, kMaxDims, "words", path);
  const int64_t group = numberOf(get("group_rows"), 1, 4096, "group_rows", path);
  if (words != wordsPerRow(header.element, header.dims) || group != kGroupRows)
    refuse(path, "the index has rows of " + std::to_string(words) + " words in groups of " +
                     std::to_string(group) + ", this annudf reads " +
                     std::to_string(wordsPerRow(header.element, header.dims)) + " in groups of " +
                     std::to_string(kGroupRows));
  const json *sizes = get("list_sizes");
  if (!sizes || !sizes->is_array() || sizes->empty() || sizes->size() > kMaxLists)
    refuse(path, "index header field 'list_sizes' is missing or not a list of sizes");
  int64_t left = header.rows;
  for (const json &size : *sizes) {
    header.sizes.push_back(numberOf(&size, 0, left, "list_sizes", path));
    left -= header.sizes.back();
  }
  if (left != 0)
    refuse(path, "the index header promises " + std::to_string(header.rows) +
                     " rows, its lists have " + std::to_string(header.rows - left));
  return header;
}

} // namespace

uint64_t nextGeneration() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

void Index::save(const std::string &path, const Progress &progress) const {
  std::vector<int64_t> sizes;
  json sizeFields = json::array();
  for (const List &list : lists_) {
    sizes.push_back(list.size);
    sizeFields.push_back(static_cast<uint64_t>(list.size));
  }
  const json fields = {
      {"element", toString(element_)},           {"metric", toString(metric_)},
      {"dims", static_cast<uint32_t>(dims_)},    {"rows", static_cast<uint64_t>(size_)},
      {"words", static_cast<uint32_t>(words())}, {"group_rows", static_cast<uint32_t>(kGroupRows)},
      {"list_sizes", std::move(sizeFields)}};
  std::string header;
  json::to_cbor(fields, header);
  Preamble preamble = {};
  std::memcpy(preamble.magic, kMagic, sizeof kMagic);
  preamble.version = kVersion;
  preamble.headerSize = static_cast<uint32_t>(header.size());
  const Sha256::Digest headerDigest = Sha256::of(header.data(), header.size());
  std::memcpy(preamble.headerDigest, headerDigest.data(), headerDigest.size());

  report(progress, "save", 0);
  AtomicFileWriter file(path);
  SectionWriter sections(file);
  sections.write(&preamble, sizeof preamble);
  sections.write(header.data(), header.size());
  sections.write(centers_.data(), centers_.size() * sizeof(float));
  for (size_t i = 0; i < lists_.size(); ++i) {
    report(progress, "save", double(i) / double(lists_.size()));
    sections.write(lists_[i].words.data(), lists_[i].words.size() * sizeof(uint32_t));
    sections.write(lists_[i].ids.data(), lists_[i].ids.size() * sizeof(int64_t));
  }
  const Sha256::Digest digest = sections.finish();
  file.write(digest.data(), digest.size());
  file.finish();
  report(progress, "save", 1); // The last chance to stop.
  file.commit();
}

Index Index::load(const std::string &path) {
  FileReader file(path);
  if (file.size() == 0)
    refuse(path, "the file is empty, not an annudf index");
  Preamble preamble = {};
  const auto known = static_cast<size_t>(std::min<uint64_t>(file.size(), sizeof preamble));
  SectionReader sections(file);
  if (known == sizeof preamble)
    sections.read(&preamble, sizeof preamble);
  else
    file.read(&preamble, known);
  if (std::memcmp(preamble.magic, kMagic, std::min(known, sizeof kMagic)) != 0)
    refuse(path, "not an annudf index (its first bytes are foreign)");
  if (known < sizeof preamble)
    refuseTruncated(path, file.size(), sizeof preamble);
  if (preamble.version != kVersion)
    refuse(path, "index format version " + std::to_string(preamble.version) +
                     ", this annudf reads version " + std::to_string(kVersion));
  for (uint8_t byte : preamble.reserved)
    if (byte != 0)
      refuse(path, "damaged: reserved bytes of the index's preamble are not zero");
  if (preamble.headerSize > kMaxHeader)
    refuse(path, "damaged: an index header of " + std::to_string(preamble.headerSize) + " bytes");
  if (preamble.headerSize > file.remaining())
    refuseTruncated(path, file.size(), file.position() + preamble.headerSize);
  std::string bytes(preamble.headerSize, '\0');
  const uint64_t headerEnd = aligned(file.position() + bytes.size());
  if (headerEnd > file.size())
    refuseTruncated(path, file.size(), headerEnd);
  sections.read(bytes.data(), bytes.size());
  const Sha256::Digest headerDigest = Sha256::of(bytes.data(), bytes.size());
  if (std::memcmp(headerDigest.data(), preamble.headerDigest, headerDigest.size()) != 0)
    refuse(path, "damaged: the SHA-256 of the index header is not the one it carries");
  const Header header = parseHeader(bytes, path);

  // The file must have exactly the size that the header implies, before memory is asked for.
  Index index;
  index.element_ = header.element;
  index.dims_ = header.dims;
  index.metric_ = header.metric;
  index.size_ = header.rows;
  const auto words = static_cast<uint64_t>(index.words());
  Layout layout;
  if (!layOut(bytes.size(), uint64_t(header.dims), words, header.sizes, layout))
    refuse(path, "damaged: the index header promises more data than a file can hold");
  const uint64_t expected = layout.end + sizeof(Sha256::Digest);
  if (file.size() < expected)
    refuseTruncated(path, file.size(), expected);
  if (file.size() > expected)
    refuse(path, "damaged: " + std::to_string(file.size() - expected) + " bytes follow the index");

  index.centers_.resize(header.sizes.size() * size_t(header.dims));
  sections.read(index.centers_.data(), index.centers_.size() * sizeof(float));
  index.lists_.resize(header.sizes.size());
  for (size_t i = 0; i < index.lists_.size(); ++i) {
    List &list = index.lists_[i];
    list.size = header.sizes[i];
    list.words.resize(static_cast<size_t>(list.groups()) * words * kGroupRows);
    list.ids.resize(static_cast<size_t>(list.groups()) * kGroupRows);
    sections.read(list.words.data(), list.words.size() * sizeof(uint32_t));
    sections.read(list.ids.data(), list.ids.size() * sizeof(int64_t));
  }
  const Sha256::Digest actual = sections.finish();
  Sha256::Digest stored;
  file.read(stored.data(), stored.size());
  if (stored != actual)
    refuse(path, "damaged: the SHA-256 of the index is not the one it carries");
  for (const List &list : index.lists_)
    for (int64_t i = 0; i < int64_t(list.ids.size()); ++i) {
      const int64_t id = list.ids[size_t(i)];
      if (i < list.size ? id < 0 : id != -1)
        refuse(path, "id " + std::to_string(id) + " of the index is out of place");
      index.largestId_ = std::max(index.largestId_, id);
    }
  for (float value : index.centers_)
    if (!std::isfinite(value))
      refuse(path, "a center of the index is not finite");
  index.generation_ = nextGeneration();
  return index;
}

} // namespace annudf::runtime
