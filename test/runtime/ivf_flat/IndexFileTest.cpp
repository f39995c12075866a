//===- IndexFileTest.cpp - Saving and loading an index ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFiles.h"
#include "annudf/Support/Sha256.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "runtime/IndexFileTesting.h"
#include "runtime/TestData.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

namespace annudf::runtime {
namespace {

using nlohmann::json;
using test::contains;
using test::errorOf;
using test::TempDir;

int32_t dimsOf(annudf_element element) { return element == ANNUDF_ELEMENT_BITS ? 136 : 9; }

Index smallIndex(annudf_element element = ANNUDF_ELEMENT_U8) {
  IndexParams params;
  params.nLists = 5;
  params.metric = ANNUDF_COARSE_COSINE;
  return Index::build(params, test::integerMatrix(element, 100, dimsOf(element)).view());
}

class IndexFile : public testing::Test {
protected:
  std::string load(const std::string &bytes) {
    test::writePlainly(path, bytes);
    std::string error = errorOf([&] { (void)Index::load(path); });
    // Without the folder's name, which differs from run to run.
    for (size_t at; (at = error.find(path)) != std::string::npos;)
      error.replace(at, path.size(), "ivf");
    return error;
  }
  std::string saved() {
    smallIndex().save(path);
    return readFile(path, 1 << 20);
  }
  const TempDir dir;
  const std::string path = dir / "index.ivf";
};

TEST_F(IndexFile, RoundTrip) {
  for (annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                 ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS}) {
    const Index index = smallIndex(element);
    index.save(path);
    EXPECT_EQ(dir.entries(), 1u);
    Index read = Index::load(path);
    EXPECT_EQ(read.element(), element);
    EXPECT_EQ(read.dims(), dimsOf(element));
    EXPECT_EQ(read.size(), 100);
    EXPECT_EQ(read.metric(), ANNUDF_COARSE_COSINE);
    EXPECT_EQ(read.centers(), index.centers());
    EXPECT_NE(read.generation(), index.generation());
    ASSERT_EQ(read.nLists(), index.nLists());
    for (uint32_t l = 0; l < read.nLists(); ++l) {
      EXPECT_EQ(read.list(l).size, index.list(l).size);
      EXPECT_EQ(read.list(l).ids, index.list(l).ids);
      EXPECT_EQ(read.list(l).words, index.list(l).words);
    }
    read.extend(test::integerMatrix(element, 10, dimsOf(element), 2).view());
    EXPECT_EQ(read.size(), 110);
  }
}

TEST_F(IndexFile, MissingValues) {
  IndexParams params;
  params.nLists = 5;
  params.missingValues = true;
  Index::build(params, test::integerMatrix(ANNUDF_ELEMENT_F32, 100, 9).view()).save(path);
  const std::string bytes = readFile(path, 1 << 20);
  EXPECT_EQ(load(bytes), "NO ERROR");
  for (size_t size = 64; size < bytes.size(); size += 37)
    EXPECT_TRUE(contains(load(bytes.substr(0, size)), "ivf: truncated: ")) << size;
  EXPECT_EQ(load(test::withIndexHeader(bytes, [](json &header) { header["missing_values"] = 2; })),
            "ivf: index header field 'missing_values' is 2, not between 0 and 1");
  EXPECT_EQ(load(test::withIndexHeader(bytes, [](json &header) { header["element"] = "u8"; })),
            "ivf: the index header promises missing values of u8, which has no NaN");
}

TEST_F(IndexFile, EveryTruncation) {
  const std::string bytes = saved();
  EXPECT_EQ(load(""), "ivf: the file is empty, not an annudf index; build an index into it");
  for (size_t size = 1; size < bytes.size(); size += size < 400 ? 1 : 37)
    EXPECT_TRUE(contains(load(bytes.substr(0, size)),
                         "ivf: truncated: the index file has " + std::to_string(size) + " bytes"))
        << size;
  EXPECT_EQ(load(bytes), "NO ERROR");
  EXPECT_EQ(load(bytes + "xy"), "ivf: damaged: 2 bytes follow the index; copy the file again");
}

TEST_F(IndexFile, BitFlips) {
  std::string bytes = saved();
  uint32_t headerSize;
  std::memcpy(&headerSize, bytes.data() + 12, 4);
  // Every bit up to the end of the header and of the digest, and a sample in between.
  for (size_t i = 0; i < bytes.size(); i += i < 64 + headerSize || i > bytes.size() - 40 ? 1 : 41)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      EXPECT_TRUE(contains(load(bytes), "ivf: ")) << "byte " << i << " bit " << bit;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
    }
}

TEST_F(IndexFile, EachKindOfDamageHasItsOwnError) {
  const std::string bytes = saved();
  std::string changed = bytes;
  changed[0] = 'x';
  EXPECT_EQ(load(changed),
            "ivf: not an annudf index (its first bytes are wrong); give a file of annudf build");
  changed = bytes;
  for (const char version : {0, 2, 3}) {
    changed[8] = version;
    EXPECT_EQ(load(changed), "ivf: index format version " + std::to_string(version) +
                                 ", this annudf reads version 1; build the index again, or update "
                                 "annudf");
  }
  changed = bytes;
  changed[70] ^= 1;
  EXPECT_EQ(load(changed),
            "ivf: damaged: the SHA-256 of the index header does not match; copy the file again");
  changed = bytes;
  changed[bytes.size() - 100] ^= 1;
  EXPECT_EQ(load(changed),
            "ivf: damaged: the SHA-256 of the index does not match; copy the file again");
}

// Headers with a right digest that lie: nothing is allocated for what the file does not have.
TEST_F(IndexFile, HeadersThatLie) {
  const std::string bytes = saved();
  const auto with = [&](const std::function<void(json &)> &change) {
    return load(test::withIndexHeader(bytes, change));
  };
  EXPECT_EQ(with([](json &) {}), "NO ERROR");
  EXPECT_TRUE(contains(with([](json &h) {
                         h["rows"] = 100000000000000u;
                         h["list_sizes"] = {100000000000000u, 0, 0, 0, 0};
                       }),
                       "ivf: truncated: the index file has "));
  EXPECT_EQ(with([](json &h) {
              h["rows"] = 9223372036854775807u;
              h["list_sizes"] = {9223372036854775807u, 0, 0, 0, 0};
            }),
            "ivf: damaged: the index header promises more data than a file can hold; copy the file "
            "again");
  EXPECT_TRUE(contains(with([](json &h) {
                         h["dims"] = 1048576;
                         h["words"] = 262144;
                       }),
                       "ivf: truncated: the index file has "));
  EXPECT_EQ(with([](json &h) { h["dims"] = 0; }),
            "ivf: index header field 'dims' is 0, not between 1 and 1048576");
  EXPECT_EQ(with([](json &h) { h["dims"] = 99999999; }),
            "ivf: index header field 'dims' is 99999999, not between 1 and 1048576");
  EXPECT_EQ(with([](json &h) { h["rows"] = 101; }),
            "ivf: the index header promises 101 rows, its lists have 100");
  EXPECT_TRUE(contains(with([](json &h) { h["list_sizes"][4] = 101; }), "'list_sizes' is 101"));
  EXPECT_EQ(with([](json &h) { h["list_sizes"] = json::array(); }),
            "ivf: index header field 'list_sizes' is missing or not a list of sizes");
  EXPECT_EQ(with([](json &h) { h["element"] = "b1"; }),
            "ivf: index header field 'element' is 'b1', it must be one of f32, f16, i8, u8, bf16, "
            "bits");
  EXPECT_EQ(with([](json &h) { h["metric"] = "metric"; }),
            "ivf: index header field 'metric' is 'metric', which is reserved for a later version; "
            "use one of l2, inner_product, cosine");
  EXPECT_EQ(with([](json &h) { h.erase("metric"); }),
            "ivf: index header field 'metric' is missing or no text");
  EXPECT_TRUE(contains(
      with([](json &h) { h["group_rows"] = 16; }),
      "the index has rows of 4 words in groups of 16, this annudf reads 4 in groups of 32"));
  EXPECT_EQ(with([](json &h) { h = "text"; }),
            "ivf: damaged: the index header is no map; copy the file again");
}

// The same bytes are rows of other widths to other types, and never of another size in memory.
TEST_F(IndexFile, BitsThatLie) {
  smallIndex(ANNUDF_ELEMENT_BITS).save(path);
  const std::string bytes = readFile(path, 1 << 20);
  const auto with = [&](int dims, int words) {
    return load(
        test::withIndexHeader(bytes, [=](json &h) { h["dims"] = dims, h["words"] = words; }));
  };
  EXPECT_EQ(with(136, 8), "NO ERROR");
  EXPECT_EQ(with(132, 8), "ivf: the index header promises 132 dims of bits; a row is whole bytes, "
                          "so pad it with zeros to a multiple of 8 dims");
  EXPECT_EQ(with(128, 8), "ivf: the index has rows of 8 words in groups of 32, this annudf reads 4 "
                          "in groups of 32");
  EXPECT_EQ(load(test::withIndexHeader(bytes, [](json &h) { h["element"] = "u8"; })),
            "ivf: the index has rows of 8 words in groups of 32, this annudf reads 36 in groups of "
            "32");
  EXPECT_TRUE(contains(with(144, 8), "ivf: truncated: the index file has "));
}

/// Puts a header, CBOR or not, into a file and seals it.
std::string withRawHeader(const std::string &bytes, const std::string &header) {
  std::string result = bytes.substr(0, 64) + header;
  const auto size = static_cast<uint32_t>(header.size());
  std::memcpy(result.data() + 12, &size, 4);
  const Sha256::Digest digest = Sha256::of(header.data(), header.size());
  std::memcpy(result.data() + 16, digest.data(), digest.size());
  result.resize((result.size() + 63) / 64 * 64);
  return result;
}

/// Bytes that the process has taken from the system at its peak.
size_t peakMemory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return size_t(usage.ru_maxrss) << 10;
}

// 16M sizes in 33 MB of header took 5.9 GB; they are numbers, and nothing else is kept.
TEST_F(IndexFile, AHeaderOfMillionsOfItemsTakesLittleMemory) {
  // Each size in one byte.
  const std::string bytes =
      test::withIndexHeader(saved(), [](json &h) { h["list_sizes"] = {20, 20, 20, 20, 20}; });
  uint32_t size;
  std::memcpy(&size, bytes.data() + 12, 4);
  const std::string header = bytes.substr(64, size), key = "list_sizes\x85";
  const size_t at = header.find(key);
  ASSERT_NE(at, std::string::npos);
  const std::string before = header.substr(0, at + key.size() - 1);
  const std::string after = header.substr(at + key.size() + 5);
  const std::string sizes = std::string("\x9a\x01\x00\x00\x00", 5) + std::string(1 << 24, '\0');
  size_t peak = peakMemory();
  EXPECT_EQ(load(withRawHeader(bytes, before + sizes + after)),
            "ivf: the index header promises 100 rows, its lists have 0");
  EXPECT_LT(peakMemory() - peak, size_t(600) << 20);
  // One list more than there can be, and as many items elsewhere.
  peak = peakMemory();
  const std::string more =
      std::string("\x9a\x01\x00\x01\x00", 5) + std::string((1 << 24) + 256, '\0');
  EXPECT_TRUE(contains(load(withRawHeader(bytes, before + more + after)),
                       "more items than such a file may hold"));
  EXPECT_TRUE(contains(load(withRawHeader(bytes, more)), "more items than such a file may hold"));
  EXPECT_LT(peakMemory() - peak, size_t(200) << 20);
}

TEST_F(IndexFile, HeadersThatAreNoDeterministicCbor) {
  const std::string bytes = saved();
  uint32_t size;
  std::memcpy(&size, bytes.data() + 12, 4);
  const std::string header = bytes.substr(64, size);
  EXPECT_EQ(load(withRawHeader(bytes, "\xa2\x64"
                                      "dims\x01\x64"
                                      "dims\x02")),
            "ivf: damaged: byte 7 of the index header: a key is given twice; copy the file "
            "again");
  EXPECT_EQ(load(withRawHeader(bytes, "\xa1\x64"
                                      "dims\x18\x09")),
            "ivf: damaged: byte 6 of the index header: a number or length is not in "
            "its shortest form; copy the file again");
  EXPECT_EQ(load(withRawHeader(bytes, "\xa1\x64"
                                      "di\x1bs\x09")),
            "ivf: damaged: byte 1 of the index header: text holds control characters "
            "or is no UTF-8; copy the file again");
  const auto with = [&](const std::function<void(json &)> &change) {
    return load(test::withIndexHeader(bytes, change));
  };
  EXPECT_EQ(with([](json &h) { h["zoom"] = {{"list_sizes", {1, 2}}, {"dims", 7}}; }), "NO ERROR")
      << "a field that came later";
  EXPECT_EQ(with([](json &h) { h["list_sizes"][0] = {1, 2}; }),
            "ivf: index header field 'list_sizes' is missing or not a list of sizes");
  EXPECT_EQ(with([](json &h) { h["list_sizes"][0] = -1; }),
            "ivf: index header field 'list_sizes' is missing or not a list of sizes");
  EXPECT_EQ(with([](json &h) { h["list_sizes"] = 5; }),
            "ivf: index header field 'list_sizes' is missing or not a list of sizes");
  EXPECT_EQ(with([](json &h) { h["dims"] = "9"; }),
            "ivf: index header field 'dims' is missing or no number of 0 to 2^64 - 1");
  EXPECT_EQ(with([](json &h) { h["dims"] = ~uint64_t(0); }),
            "ivf: index header field 'dims' is 18446744073709551615, not between 1 and 1048576");
}

// Padding is part of the digest, which a writer of another file can make right.
TEST_F(IndexFile, PaddingIsZero) {
  smallIndex(ANNUDF_ELEMENT_U8).save(path);
  std::string bytes = readFile(path, 1 << 20);
  const size_t end = bytes.size() - 32; // The last section is ids, then padding, then the digest.
  uint32_t header;
  std::memcpy(&header, bytes.data() + 12, 4);
  ASSERT_NE((64 + header) % 64, 0u) << "the header has padding";
  bytes[64 + header] = 1;
  const Sha256::Digest digest = Sha256::of(bytes.data(), end);
  std::memcpy(bytes.data() + end, digest.data(), digest.size());
  EXPECT_EQ(
      load(bytes),
      "ivf: damaged: bytes between the sections of the index are not zero; copy the file again");
}

TEST_F(IndexFile, MappedRowsAreThoseThatAreRead) {
  for (annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_BITS}) {
    smallIndex(element).save(path);
    const std::string bytes = readFile(path, 1 << 20);
    const auto expectSame = [&](const Index &read, const Index &mapped, const char *after) {
      ASSERT_EQ(mapped.nLists(), read.nLists());
      EXPECT_EQ(mapped.size(), read.size()) << after;
      for (uint32_t l = 0; l < read.nLists(); ++l) {
        EXPECT_EQ(mapped.list(l).ids, read.list(l).ids) << after;
        EXPECT_TRUE(std::ranges::equal(mapped.list(l).words, read.list(l).words)) << after;
      }
    };
    Index read = Index::load(path), mapped = Index::load(path, FileUse::Map);
    expectSame(read, mapped, "load");
    const Index copy = mapped;
    std::vector<int64_t> gone;
    for (int64_t id = 0; id < 100; ++id)
      if (id % 3 != 0)
        gone.push_back(id);
    const Matrix more = test::integerMatrix(element, 60, dimsOf(element), 2);
    for (Index *one : {&read, &mapped}) {
      one->remove(gone);
      one->extend(more.view());
    }
    expectSame(read, mapped, "remove and extend");
    EXPECT_EQ(readFile(path, 1 << 20), bytes); // Changes are of the process alone.
    mapped.save(path);
    expectSame(Index::load(path), mapped, "save over its own file");
    Index taken = std::move(mapped);
    expectSame(read, taken, "move");
    taken = copy;
    EXPECT_EQ(taken.size(), 100);
  }
}

TEST_F(IndexFile, EmptyListsOfAMappedFile) {
  const Index whole = smallIndex(ANNUDF_ELEMENT_F32);
  std::vector<int64_t> gone;
  for (uint32_t list : {1u, whole.nLists() - 1})
    gone.insert(gone.end(), whole.list(list).ids.begin(),
                whole.list(list).ids.begin() + whole.list(list).size);
  Index some = whole;
  some.remove(gone);
  some.save(path);
  const Matrix more = test::integerMatrix(ANNUDF_ELEMENT_F32, 100, dimsOf(ANNUDF_ELEMENT_F32));
  Index read = Index::load(path), mapped = Index::load(path, FileUse::Map);
  ASSERT_EQ(mapped.list(1).size, 0);
  EXPECT_TRUE(mapped.isMapped());
  for (Index *one : {&read, &mapped})
    one->extend(more.view());
  ASSERT_GT(mapped.list(1).size, 0);
  for (uint32_t l = 0; l < read.nLists(); ++l) {
    EXPECT_EQ(mapped.list(l).ids, read.list(l).ids);
    EXPECT_TRUE(std::ranges::equal(mapped.list(l).words, read.list(l).words)) << l;
  }
}

TEST_F(IndexFile, RowsOfAMappedFileAreNotChecked) {
  std::string bytes = saved();
  const Index whole = Index::load(path);
  const auto *row = reinterpret_cast<const char *>(whole.list(0).words.data());
  const size_t at = bytes.find(std::string_view(row, 64));
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  EXPECT_TRUE(contains(load(bytes), "the SHA-256 of the index does not match"));
  EXPECT_NE(Index::load(path, FileUse::Map).list(0).words[0], whole.list(0).words[0]);
  // Sizes and the header are.
  bytes.resize(bytes.size() - 1);
  test::writePlainly(path, bytes);
  EXPECT_TRUE(contains(errorOf([&] { (void)Index::load(path, FileUse::Map); }), "truncated"));
}

// Such centers were saved, and refused when they were loaded.
TEST_F(IndexFile, CentersBeyondFloat32AreRefusedWhenTheyAreMade) {
  std::vector<float> rows;
  for (int i = 0; i < 64; ++i)
    rows.insert(rows.end(), {i % 2 ? 3.4e38f : -3.4e38f, 3.4e38f});
  for (annudf_coarse metric :
       {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE}) {
    IndexParams params;
    params.nLists = 4;
    params.metric = metric;
    const std::string error = errorOf([&] {
      Index::build(params, {rows.data(), 64, 2, ANNUDF_ELEMENT_F32}).save(path);
      (void)Index::load(path);
    });
    EXPECT_TRUE(error == "NO ERROR" || contains(error, "base: center "))
        << toString(metric) << ": " << error;
  }
}

TEST_F(IndexFile, SaveFailsWithoutALeftover) {
  const Index index = smallIndex();
  index.save(path);
  const std::string before = readFile(path, 1 << 20);
  for (double limit : {0.0, 0.3}) {
    const Progress stop = [&](const char *, double done) { return done < limit; };
    EXPECT_EQ(errorOf([&] { index.save(path, stop); }, ErrorKind::Interrupted),
              "interrupted (save)");
    EXPECT_EQ(dir.entries(), 1u);
    EXPECT_EQ(readFile(path, 1 << 20), before);
  }
  EXPECT_EQ(errorOf([&] { index.save(dir / "no/x.ivf"); }, ErrorKind::Environment),
            dir / "no/x.ivf: cannot write: No such file or directory");
  EXPECT_EQ(errorOf([&] { index.save("/dev/full"); }, ErrorKind::Environment),
            "/dev/full: cannot write: No space left on device");
}

// Written once, by scripts/make-goldens.
TEST_F(IndexFile, GoldenIsReadAndWrittenByteForByte) {
  const std::string golden = std::string(ANNUDF_GOLDEN_DIR) + "index.ivf";
  const Index index = Index::load(golden);
  EXPECT_EQ(index.size(), 500);
  EXPECT_EQ(index.dims(), 8);
  index.save(path);
  EXPECT_TRUE(readFile(path, 1 << 24) == readFile(golden, 1 << 24));
}

} // namespace
} // namespace annudf::runtime
