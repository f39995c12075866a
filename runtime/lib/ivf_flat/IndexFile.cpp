//===- IndexFile.cpp - Saving and loading an index --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/index-format.md describes the file.
//
//===----------------------------------------------------------------------===//

#include "ivf_flat/IndexFile.h"
#include "ivf_flat/IndexSections.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/Artifact/Cbor.h"
#include "annudf/Support/FileIO.h"
#include "annudf/Support/Sha256.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "coarse/KMeans.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace annudf::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "the file holds little-endian words");

constexpr char kMagic[8] = {'a', 'n', 'n', 'u', 'd', 'f', 'I', 'X'};
constexpr uint32_t kVersion = 1;

struct Preamble {
  char magic[8];
  uint32_t version;
  uint32_t headerSize;
  uint8_t headerDigest[32]; ///< SHA-256 of the header.
  uint8_t reserved[16];     ///< Zero.
};
static_assert(sizeof(Preamble) == 64);

constexpr const char *kAdaptive = "adaptive_centers";
constexpr const char *kMissing = "missing_values";
constexpr const char *kColumns = "columns";

/// 16M lists take 9 bytes each at most.
constexpr uint32_t kMaxHeader = 1u << 28;
/// Besides a size for each list, the header holds ten fields at most, and two texts a column.
constexpr CborLimits kHeaderLimits = {.items = runtime::kMaxLists + 64 + 2 * kMaxColumns,
                                      .text = 4096 + kMaxColumns * (ANNUDF_MAX_NAME + 8)};

/// Where the sections end, a function of what the header declares; nothing where they add
/// up to more than a file can have. Each product is far from overflow by the limits that
/// parseHeader() enforces first.
std::optional<uint64_t> endOfSections(uint64_t headerSize, uint64_t dims, uint64_t words,
                                      const std::vector<int64_t> &sizes, bool missing,
                                      const std::vector<Column> &columns) {
  constexpr uint64_t kLimit = uint64_t(1) << 62;
  uint64_t at = sectionAligned(sizeof(Preamble) + headerSize);
  at = sectionAligned(at + sizes.size() * dims * sizeof(float));
  if (missing)
    at = sectionAligned(at + dims * sizeof(float));
  for (int64_t size : sizes) {
    const uint64_t rows = (uint64_t(size) + kGroupRows - 1) / kGroupRows * kGroupRows;
    if (rows > kLimit / (words * sizeof(uint32_t) + sizeof(int64_t)) || at > kLimit)
      return std::nullopt;
    at = sectionAligned(at + rows * words * sizeof(uint32_t));
    at = sectionAligned(at + rows * sizeof(int64_t));
    for (const Column &column : columns)
      if (at <= kLimit)
        at = sectionAligned(at + uint64_t(size) * bytesOf(column.element));
  }
  if (at > kLimit)
    return std::nullopt;
  return at;
}

struct Header {
  annudf_element element;
  annudf_coarse metric;
  bool adaptive, missing;
  int32_t dims;
  int64_t rows;
  std::vector<int64_t> sizes;
  std::vector<Column> columns;
};

[[noreturn]] void refuse(const std::string &path, const std::string &what) {
  throw Error(ErrorKind::Input, path + ": " + what);
}

/// For bytes that changed on their way.
[[noreturn]] void refuseDamaged(const std::string &path, const std::string &what) {
  refuse(path, "damaged: " + what + "; copy the file again");
}

[[noreturn]] void refuseTruncated(const std::string &path, uint64_t size, uint64_t expected) {
  refuse(path, "truncated: the index file has " + std::to_string(size) + " bytes, of " +
                   std::to_string(expected) + "; copy the whole file");
}

/// The fields of a header, taken as it is read: a size costs 8 bytes here.
struct HeaderFields {
  std::set<std::string, std::less<>> names;
  std::map<std::string, uint64_t, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> texts;
  std::vector<int64_t> sizes;
  bool sizesFound = false;
  std::vector<std::string> columns;
  bool columnsFound = false; ///< All of them text.

  /// \param bytes  a map that checkCbor() passed, so keys are text, and different.
  explicit HeaderFields(std::string_view bytes) {
    CborReader reader(bytes);
    for (uint64_t left = reader.next().number; left > 0; --left) {
      const std::string field(reader.next().content);
      names.insert(field);
      const CborItem item = reader.next();
      if (item.kind == CborItem::Kind::Number)
        numbers[field] = item.number;
      else if (item.kind == CborItem::Kind::Text)
        texts[field] = item.content;
      else if (item.kind == CborItem::Kind::List && field == kSizes)
        sizesFound = takeSizes(reader, item.number);
      else if (item.kind == CborItem::Kind::List && field == kColumns)
        columnsFound = takeColumns(reader, item.number);
      else
        skip(reader, item);
    }
  }

  /// Whatever its type.
  bool has(std::string_view field) const { return names.contains(field); }

  static constexpr const char *kSizes = "list_sizes";
  static constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();

private:
  /// \returns whether all are sizes.
  bool takeSizes(CborReader &reader, uint64_t count) {
    sizes.reserve(std::min<uint64_t>(count, kMaxLists));
    bool good = true;
    for (; count > 0; --count) {
      const CborItem item = reader.next();
      if (item.kind == CborItem::Kind::Number && item.number <= kMost)
        sizes.push_back(static_cast<int64_t>(item.number));
      else
        good = false, skip(reader, item);
    }
    return good;
  }

  bool takeColumns(CborReader &reader, uint64_t count) {
    bool good = true;
    for (; count > 0; --count)
      if (const CborItem item = reader.next(); item.kind == CborItem::Kind::Text)
        columns.emplace_back(item.content);
      else
        good = false, skip(reader, item);
    return good;
  }

  /// What no field of ours is: it is passed over, as is a field that came later.
  static void skip(CborReader &reader, const CborItem &item) {
    const bool isMap = item.kind == CborItem::Kind::Map;
    if (isMap || item.kind == CborItem::Kind::List)
      for (uint64_t left = isMap ? item.number * 2 : item.number; left > 0; --left)
        skip(reader, reader.next());
  }
};

template <typename Enum>
Enum enumField(const HeaderFields &header, const char *field, const std::string &path) {
  const std::string which = std::string("index header field '") + field + "' ";
  const auto found = header.texts.find(field);
  if (found == header.texts.end())
    refuse(path, which + "is missing or no text");
  std::string why;
  if (const auto value = parseSpelling<Enum>(found->second, &why))
    return *value;
  refuse(path, which + why);
}

template <typename Number>
int64_t inRange(Number number, int64_t least, int64_t most, const char *field,
                const std::string &path) {
  if (std::cmp_less(number, least) || std::cmp_greater(number, most))
    refuse(path, std::string("index header field '") + field + "' is " + std::to_string(number) +
                     ", not between " + std::to_string(least) + " and " + std::to_string(most));
  return static_cast<int64_t>(number);
}

int64_t numberField(const HeaderFields &header, const char *field, int64_t least, int64_t most,
                    const std::string &path) {
  const auto found = header.numbers.find(field);
  if (found == header.numbers.end())
    refuse(path, std::string("index header field '") + field +
                     "' is missing or no number of 0 to 2^64 - 1");
  return inRange(found->second, least, most, field, path);
}

std::vector<Column> columnsFrom(const HeaderFields &fields, const std::string &path) {
  const auto &texts = fields.columns;
  const std::string field = std::string("index header field '") + kColumns + "' ";
  if (!fields.columnsFound || texts.empty() || texts.size() % 2 != 0 ||
      texts.size() > 2 * kMaxColumns)
    refuse(path, field + "is not a list of names and element types, 1 to " +
                     std::to_string(kMaxColumns) + " of each");
  std::vector<Column> columns;
  for (size_t i = 0; i < texts.size(); i += 2) {
    std::string why;
    const auto element = parseSpelling<annudf_capture_element>(texts[i + 1], &why);
    if (!isName(texts[i]) || !element)
      refuse(path, field + "has " + inQuotes(texts[i]) +
                       (element ? ", which is no name" : " of a type that " + why));
    if (!columns.empty() && columns.back().name >= texts[i])
      refuse(path, field + "has '" + texts[i] + "' after '" + columns.back().name +
                       "'; names are sorted, each once");
    columns.push_back({texts[i], *element});
  }
  return columns;
}

Header parseHeader(const std::string &bytes, const std::string &path) {
  if (const CborResult result = checkCbor(bytes, kHeaderLimits); !result)
    refuseDamaged(path,
                  "byte " + std::to_string(result.offset) + " of the index header: " + result.why);
  if (CborReader(bytes).next().kind != CborItem::Kind::Map)
    refuseDamaged(path, "the index header is no map");
  HeaderFields fields(bytes);
  Header header;
  header.element = enumField<annudf_element>(fields, "element", path);
  header.metric = enumField<annudf_coarse>(fields, "metric", path);
  header.adaptive = fields.has(kAdaptive) && numberField(fields, kAdaptive, 0, 1, path) != 0;
  header.missing = fields.has(kMissing) && numberField(fields, kMissing, 0, 1, path) != 0;
  if (header.missing && kindOf(header.element) != NumberKind::Float)
    refuse(path, std::string("the index header promises missing values of ") +
                     toString(header.element) + ", which has no NaN");
  header.dims = static_cast<int32_t>(numberField(fields, "dims", 1, kMaxDims, path));
  header.rows = numberField(fields, "rows", 0, std::numeric_limits<int64_t>::max(), path);
  if (const std::string fault = faultOfDims(header.element, header.dims); !fault.empty())
    refuse(path, "the index header promises " + fault);
  const int64_t words = numberField(fields, "words", 1, kMaxDims, path);
  const int64_t group = numberField(fields, "group_rows", 1, 4096, path);
  if (words != wordsPerRow(header.element, header.dims) || group != kGroupRows)
    refuse(path, "the index has rows of " + std::to_string(words) + " words in groups of " +
                     std::to_string(group) + ", this annudf reads " +
                     std::to_string(wordsPerRow(header.element, header.dims)) + " in groups of " +
                     std::to_string(kGroupRows));
  if (!fields.sizesFound || fields.sizes.empty() || fields.sizes.size() > kMaxLists)
    refuse(path, "index header field 'list_sizes' is missing or not a list of sizes");
  header.sizes = std::move(fields.sizes);
  if (fields.has(kColumns))
    header.columns = columnsFrom(fields, path);
  int64_t left = header.rows;
  for (const int64_t size : header.sizes)
    left -= inRange(size, 0, left, HeaderFields::kSizes, path);
  if (left != 0)
    refuse(path, "the index header promises " + std::to_string(header.rows) +
                     " rows, its lists have " + std::to_string(header.rows - left));
  return header;
}

/// Reads preamble and header. \param headerSize  gets the bytes of the latter.
Header readHeader(FileReader &file, SectionReader &sections, const std::string &path,
                  size_t &headerSize) {
  if (file.size() == 0)
    refuse(path, "the file is empty, not an annudf index; build an index into it");
  Preamble preamble = {};
  const auto known = static_cast<size_t>(std::min<uint64_t>(file.size(), sizeof preamble));
  if (known == sizeof preamble)
    sections.read(&preamble, sizeof preamble);
  else
    file.read(&preamble, known);
  if (std::memcmp(preamble.magic, kMagic, std::min(known, sizeof kMagic)) != 0)
    refuse(path, "not an annudf index (its first bytes are wrong); give a file of annudf build");
  if (known < sizeof preamble)
    refuseTruncated(path, file.size(), sizeof preamble);
  if (preamble.version != kVersion)
    refuse(path, "index format version " + std::to_string(preamble.version) +
                     ", this annudf reads version " + std::to_string(kVersion) +
                     "; build the index again, or update annudf");
  for (uint8_t byte : preamble.reserved)
    if (byte != 0)
      refuseDamaged(path, "reserved bytes of the index's preamble are not zero");
  if (preamble.headerSize > kMaxHeader)
    refuseDamaged(path, "an index header of " + std::to_string(preamble.headerSize) + " bytes");
  if (preamble.headerSize > file.remaining())
    refuseTruncated(path, file.size(), file.position() + preamble.headerSize);
  std::string bytes(preamble.headerSize, '\0');
  const uint64_t headerEnd = sectionAligned(file.position() + bytes.size());
  if (headerEnd > file.size())
    refuseTruncated(path, file.size(), headerEnd);
  sections.read(bytes.data(), bytes.size());
  const Sha256::Digest headerDigest = Sha256::of(bytes.data(), bytes.size());
  if (std::memcmp(headerDigest.data(), preamble.headerDigest, headerDigest.size()) != 0)
    refuseDamaged(path, "the SHA-256 of the index header does not match");
  headerSize = bytes.size();
  return parseHeader(bytes, path);
}

void checkDigest(FileReader &file, SectionReader &sections, const std::string &path) {
  const Sha256::Digest actual = sections.finish();
  Sha256::Digest stored;
  file.read(stored.data(), stored.size());
  if (stored != actual)
    refuseDamaged(path, "the SHA-256 of the index does not match");
  if (!sections.padded())
    refuseDamaged(path, "bytes between the sections of the index are not zero");
}

} // namespace

void Index::save(const std::string &path, const Progress &progress) const {
  CborText text; // Keys are sorted.
  text.map(7u + adaptive_ + missingValues() + !columns().empty());
  if (adaptive_) // Absent, it is 0.
    text.string(kAdaptive), text.number(1);
  if (!columns().empty())
    text.string(kColumns), text.list(2 * columns().size());
  for (const Column &column : columns())
    text.string(column.name), text.string(toString(column.element));
  text.string("dims"), text.number(static_cast<uint64_t>(dims_));
  text.string("element"), text.string(toString(element_));
  text.string("group_rows"), text.number(kGroupRows);
  text.string(HeaderFields::kSizes), text.list(lists().size());
  for (const List &list : lists())
    text.number(static_cast<uint64_t>(list.size));
  text.string("metric"), text.string(toString(metric_));
  if (missingValues())
    text.string(kMissing), text.number(1);
  text.string("rows"), text.number(static_cast<uint64_t>(size_));
  text.string("words"), text.number(static_cast<uint64_t>(words()));
  const std::string header = text.take();
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
  sections.write(centers_.values.data(), centers_.values.size() * sizeof(float));
  if (missingValues())
    sections.write(centers_.fill.data(), centers_.fill.size() * sizeof(float));
  for (size_t i = 0; i < lists().size(); ++i) {
    report(progress, "save", double(i) / double(lists().size()));
    const List &list = lists()[i];
    sections.write(list.words.data(), list.words.size() * sizeof(uint32_t));
    sections.write(list.ids.data(), list.ids.size() * sizeof(int64_t));
    if (!columns_.empty())
      for (const std::vector<std::byte> &values : columnsOf(static_cast<uint32_t>(i)))
        sections.write(values.data(), values.size());
  }
  const Sha256::Digest digest = sections.finish();
  file.write(digest.data(), digest.size());
  file.finish();
  report(progress, "save", 1); // The last chance to stop.
  file.commit();
}

void Index::readLists(FileReader &file, SectionReader &sections, std::span<const int64_t> sizes,
                      FileUse use) {
  const auto mapped = use == FileUse::Map ? file.map() : nullptr;
  isMapped_ = mapped != nullptr;
  lists_.resize(sizes.size());
  if (!columns_.empty())
    columnValues_.resize(sizes.size());
  for (size_t i = 0; i < lists_.size(); ++i) {
    List &list = lists_[i];
    list.size = sizes[i];
    const size_t count = static_cast<size_t>(list.groups() * words() * kGroupRows);
    if (mapped && count != 0) {
      auto *first = static_cast<uint32_t *>(mapped->at(file.position()));
      list.words = ListWords(count, ListWords::allocator_type(mapped, first, count));
      sections.skip(count * sizeof(uint32_t));
    } else {
      list.words.resize(count);
      sections.read(list.words.data(), count * sizeof(uint32_t));
    }
    list.ids.resize(static_cast<size_t>(list.groups()) * kGroupRows);
    sections.read(list.ids.data(), list.ids.size() * sizeof(int64_t));
    for (const Column &column : columns_) {
      std::vector<std::byte> &values =
          columnValues_[i].emplace_back(static_cast<size_t>(list.size) * bytesOf(column.element));
      sections.read(values.data(), values.size());
    }
  }
}

Index Index::load(const std::string &path, FileUse use) {
  FileReader file(path);
  SectionReader sections(file);
  size_t headerSize = 0;
  const Header header = readHeader(file, sections, path, headerSize);

  // The file must have exactly the size that the header implies, before memory is asked for.
  Index index;
  index.element_ = header.element;
  index.dims_ = header.dims;
  index.metric_ = header.metric;
  index.adaptive_ = header.adaptive;
  index.size_ = header.rows;
  index.columns_ = header.columns;
  const auto words = static_cast<uint64_t>(index.words());
  const std::optional<uint64_t> end = endOfSections(headerSize, uint64_t(header.dims), words,
                                                    header.sizes, header.missing, header.columns);
  if (!end)
    refuseDamaged(path, "the index header promises more data than a file can hold");
  const uint64_t expected = *end + sizeof(Sha256::Digest);
  if (file.size() < expected)
    refuseTruncated(path, file.size(), expected);
  if (file.size() > expected)
    refuseDamaged(path, std::to_string(file.size() - expected) + " bytes follow the index");

  ListCenters &centers = index.centers_;
  centers.dims = header.dims;
  centers.values.resize(header.sizes.size() * size_t(header.dims));
  sections.read(centers.values.data(), centers.values.size() * sizeof(float));
  if (header.missing) {
    index.missing_ = true;
    centers.fill.resize(size_t(header.dims));
    sections.read(centers.fill.data(), centers.fill.size() * sizeof(float));
  }
  index.readLists(file, sections, header.sizes, use);
  if (use == FileUse::Read)
    checkDigest(file, sections, path);
  for (const List &list : index.lists_)
    for (int64_t i = 0; i < int64_t(list.ids.size()); ++i) {
      const int64_t id = list.ids[size_t(i)];
      if (i < list.size ? id < 0 : id != -1)
        refuse(path, "id " + std::to_string(id) + " of the index is out of place; build it again");
      index.largestId_ = std::max(index.largestId_, id);
    }
  for (size_t c = 0; c < index.columns_.size(); ++c)
    for (const ListColumns &values : index.columnValues_)
      if (index.columns_[c].element == ANNUDF_CAPTURE_I1 &&
          std::ranges::any_of(values[c], [](std::byte value) { return value > std::byte(1); }))
        refuse(path, "column '" + index.columns_[c].name +
                         "' has values besides 0 and 1; build the index again");
  for (float value : centers.values)
    if (!std::isfinite(value))
      refuse(path, "a center of the index is not finite; build it again");
  for (float value : centers.fill)
    if (!std::isfinite(value))
      refuse(path, "a mean of the index is not finite; build it again");
  index.generation_ = nextGeneration();
  return index;
}

} // namespace annudf::runtime
