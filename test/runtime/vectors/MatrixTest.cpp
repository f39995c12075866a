//===- MatrixTest.cpp - Files of vectors, ids and numbers -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/vectors/Matrix.h"

#include "Support/TestFiles.h"
#include "runtime/TestData.h"
#include "vectors/Elements.h"

#include <cmath>

namespace annudf::runtime {
namespace {

using test::contains;
using test::errorOf;

std::string u32(uint32_t value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

/// A .npy file with any header text.
std::string npy(const std::string &header, const std::string &data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += u32(static_cast<uint32_t>(header.size())).substr(0, version == 1 ? 2 : 4);
  return bytes + header + data;
}

class MatrixFile : public testing::Test {
protected:
  std::string write(const std::string &name, const std::string &bytes) {
    test::writePlainly(dir / name, bytes);
    return dir / name;
  }
  /// The error of reading such a file, without the folder.
  std::string matrixError(const std::string &name, const std::string &bytes) {
    const std::string path = write(name, bytes);
    return strip(errorOf([&] { (void)readMatrix(path); }));
  }
  std::string strip(std::string error) {
    const std::string folder = dir / "";
    for (size_t at; (at = error.find(folder)) != std::string::npos;)
      error.erase(at, folder.size());
    return error;
  }
  const test::TempDir dir;
};

// A file of 64 GiB, most of it a hole, which fits no memory.
TEST_F(MatrixFile, OnlyTheRowsAskedForAreRead) {
  const std::string path = write("large.fbin", u32(1u << 30) + u32(16) + std::string(64, '\1'));
  std::filesystem::resize_file(path, 8 + (uint64_t(1) << 36));
  const Matrix first = readMatrix(path, 3);
  EXPECT_EQ(first.rows, 3);
  EXPECT_EQ(first.storage.size(), 3u * 16 * 4);
  EXPECT_EQ(first.storage[63], std::byte{1});
  EXPECT_EQ(first.storage[64], std::byte{0});
  const std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1073741824, 16), }";
  const std::string array = write("large.npy", npy(header, ""));
  std::filesystem::resize_file(array, 10 + header.size() + (uint64_t(1) << 36));
  const Matrix rows = readMatrix(array, 3);
  EXPECT_EQ(rows.rows, 3);
  EXPECT_EQ(rows.dims, 16);
  EXPECT_EQ(rows.storage.size(), 3u * 16 * 4);
}

TEST_F(MatrixFile, AskingForMoreRowsThanThereAre) {
  EXPECT_EQ(readMatrix(write("two.u8bin", u32(2) + u32(3) + "abcdef"), 5).rows, 2);
}

TEST_F(MatrixFile, BigAnnOfEveryElement) {
  struct {
    const char *name;
    annudf_element element;
  } const kinds[] = {{"a.fbin", ANNUDF_ELEMENT_F32},
                     {"a.hbin", ANNUDF_ELEMENT_F16},
                     {"a.i8bin", ANNUDF_ELEMENT_I8},
                     {"a.u8bin", ANNUDF_ELEMENT_U8}};
  for (const auto &kind : kinds) {
    const Matrix matrix = test::integerMatrix(kind.element, 7, 5);
    const std::string data(reinterpret_cast<const char *>(matrix.storage.data()),
                           matrix.storage.size());
    const Matrix read = readMatrix(write(kind.name, u32(7) + u32(5) + data));
    EXPECT_EQ(read.rows, 7);
    EXPECT_EQ(read.dims, 5);
    EXPECT_EQ(read.element, kind.element);
    EXPECT_EQ(read.storage, matrix.storage);
    const Matrix same = test::integerMatrix(ANNUDF_ELEMENT_F32, 7, 5);
    if (kind.element == ANNUDF_ELEMENT_U8) // It has other numbers, all positive.
      continue;
    for (int64_t r = 0; r < 7; ++r)
      for (int32_t d = 0; d < 5; ++d)
        EXPECT_EQ(coordinate(read.view(), r, d), coordinate(same.view(), r, d));
  }
}

TEST_F(MatrixFile, HalfCoordinatesAreExact) {
  Matrix matrix;
  matrix.rows = 1;
  matrix.dims = 65536;
  matrix.element = ANNUDF_ELEMENT_F16;
  matrix.storage.resize(65536 * 2);
  for (uint32_t i = 0; i < 65536; ++i)
    std::memcpy(matrix.storage.data() + 2 * i, &i, 2);
  for (int32_t i = 0; i < 65536; ++i) {
    const int exponent = (i >> 10) & 31, fraction = i & 1023;
    const float value = coordinate(matrix.view(), 0, i);
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(value)) << i;
      continue;
    }
    const double size = exponent == 31  ? INFINITY
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    EXPECT_EQ(value, i & 0x8000 ? -size : size) << i;
  }
}

TEST(Bits, CoordinateIIsBitIOfTheBytes) {
  Matrix bytes;
  bytes.rows = 2, bytes.dims = 3, bytes.element = ANNUDF_ELEMENT_U8;
  for (int value : {0x01, 0x80, 0xa5, 0xff, 0x00, 0x12})
    bytes.storage.push_back(static_cast<std::byte>(value));
  const Matrix bits = asBits(bytes);
  EXPECT_EQ(bits.rows, 2);
  EXPECT_EQ(bits.dims, 24);
  EXPECT_EQ(bits.element, ANNUDF_ELEMENT_BITS);
  // numpy.unpackbits(bytes, axis=1, bitorder="little")
  const std::string expected[2] = {"100000000000000110100101", "111111110000000001001000"};
  for (int row = 0; row < 2; ++row)
    for (int dim = 0; dim < 24; ++dim)
      EXPECT_EQ(coordinate(bits.view(), row, dim), float(expected[row][size_t(dim)] - '0')) << dim;
  std::vector<float> all(48), second(24);
  convertRows(bits.view(), 0, 2, all.data());
  convertRows(bits.view(), 1, 2, second.data());
  for (int i = 0; i < 48; ++i)
    EXPECT_EQ(all[size_t(i)], float(expected[i / 24][size_t(i % 24)] - '0')) << i;
  EXPECT_TRUE(std::equal(second.begin(), second.end(), all.begin() + 24));
  Matrix wide = bytes;
  wide.dims = 268435456;
  EXPECT_EQ(test::errorOf([&] { (void)asBits(wide); }),
            "vectors of 268435456 bytes are too long for packed bits; at most 268435455 are taken");
  EXPECT_EQ(test::errorOf([&] { (void)asBits(bits); }),
            "vectors of bits cannot be packed bits; give bytes of u8");
}

TEST(Bfloat16, CoordinatesAreTheUpperHalfOfFloats) {
  for (int32_t i = 0; i < 65536; ++i) {
    const int exponent = (i >> 7) & 255, fraction = i & 127;
    const auto bits = static_cast<uint16_t>(i);
    const float value = coordinate({&bits, 1, 1, ANNUDF_ELEMENT_BF16}, 0, 0);
    if (exponent == 255 && fraction != 0) {
      EXPECT_TRUE(std::isnan(value)) << i;
      continue;
    }
    const double size = exponent == 255 ? INFINITY
                        : exponent == 0 ? std::ldexp(fraction, -133)
                                        : std::ldexp(128 + fraction, exponent - 134);
    EXPECT_EQ(value, i & 0x8000 ? -size : size) << i;
  }
}

TEST_F(MatrixFile, BigAnnHeadersThatLie) {
  EXPECT_EQ(matrixError("a.fbin", "1234567"),
            "a.fbin: truncated: 7 bytes, a header of rows and dims takes 8");
  EXPECT_EQ(matrixError("a.fbin", u32(3) + u32(2) + std::string(20, 'x')),
            "a.fbin: the header promises 3 rows of 2 values of 4 bytes, but 20 bytes follow");
  EXPECT_EQ(matrixError("a.u8bin", u32(3) + u32(2) + std::string(7, 'x')),
            "a.u8bin: the header promises 3 rows of 2 values of 1 byte, but 7 bytes follow");
  EXPECT_EQ(matrixError("a.u8bin", u32(3) + u32(0)),
            "a.u8bin: the header promises 3 rows of 0 values of 1 byte");
  // 2^32 * 2^32 * 4 is 0 in 64 bits.
  EXPECT_TRUE(
      contains(matrixError("a.fbin", u32(0x80000000) + u32(0x80000000)), "but 0 bytes follow"));
  EXPECT_TRUE(
      contains(matrixError("a.fbin", u32(0xffffffff) + u32(0xffffffff)), "but 0 bytes follow"));
  EXPECT_EQ(matrixError("a.bin", "x"),
            "a.bin: unknown file ending; vectors have .fbin, .hbin, .i8bin, .u8bin or .npy");
  EXPECT_EQ(matrixError("a.ibin", u32(1) + u32(1) + "1234"),
            "a.ibin: holds i32; vectors are f32, f16, i8, u8, bf16, bits");
  EXPECT_EQ(strip(errorOf([&] { (void)readMatrix(dir / "none.fbin"); })),
            "none.fbin: cannot open: No such file or directory");
}

TEST_F(MatrixFile, Npy) {
  const char *accepted[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n",
      "{\"shape\": (2, 3,), \"fortran_order\": False, \"descr\": \"<f4\"}\n",
      "{'descr':'<f4','fortran_order':False,'shape':(2,3)}"};
  const float values[6] = {1, 2, 3, 4, 5, 6};
  const std::string data(reinterpret_cast<const char *>(values), sizeof values);
  for (int version : {1, 2, 3})
    for (const char *header : accepted) {
      const Matrix matrix = readMatrix(write("a.npy", npy(header, data, version)));
      EXPECT_EQ(matrix.rows, 2);
      EXPECT_EQ(matrix.dims, 3);
      EXPECT_EQ(coordinate(matrix.view(), 1, 2), 6);
    }
  const Matrix bytes = readMatrix(write(
      "a.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 4), }", "\1\2\3\xff")));
  EXPECT_EQ(bytes.element, ANNUDF_ELEMENT_U8);
  EXPECT_EQ(coordinate(bytes.view(), 0, 3), 255);
}

TEST_F(MatrixFile, DoublesAreRoundedIfAsked) {
  const double values[2] = {1.0 / 3, -1e300};
  const std::string path =
      write("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }",
                         {reinterpret_cast<const char *>(values), sizeof values}));
  const Matrix matrix = readMatrix(path, 0, true);
  EXPECT_EQ(matrix.element, ANNUDF_ELEMENT_F32);
  EXPECT_EQ(matrix.dims, 2);
  EXPECT_EQ(coordinate(matrix.view(), 0, 0), 1.0f / 3);
  EXPECT_EQ(coordinate(matrix.view(), 0, 1), -std::numeric_limits<float>::infinity());
}

TEST_F(MatrixFile, NpyThatIsRefused) {
  const auto header = [&](const std::string &text) {
    return matrixError("a.npy", npy(text, "12345678"));
  };
  EXPECT_EQ(header("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }"),
            "a.npy: Fortran order is not supported; save numpy.ascontiguousarray(a)");
  EXPECT_EQ(header("{'descr': '>f4', 'fortran_order': False, 'shape': (1, 2), }"),
            "a.npy: big-endian .npy data ('>f4') is not supported");
  EXPECT_EQ(header("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }"),
            "a.npy: .npy dtype '<c8' is not one of b1, f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8");
  EXPECT_EQ(header("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }"),
            "a.npy: structured .npy dtypes are not supported");
  EXPECT_EQ(header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"),
            "a.npy: holds an array of 1 dimensions; vectors need 2, rows and dims");
  EXPECT_EQ(header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }"),
            "a.npy: holds f64; vectors are f32, f16, i8, u8, bf16, bits; convert them to f32");
  EXPECT_EQ(header("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }"),
            "a.npy: the .npy header promises 12 bytes of data, but the file has 8");
  EXPECT_EQ(header("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 0), }"),
            "a.npy: the .npy header promises 0 bytes of data, but the file has 8");
  EXPECT_EQ(
      matrixError("a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 0), }", "")),
      "a.npy: holds vectors of 0 dims");
  const char *huge = "a.npy: the shape in the .npy header is too large";
  EXPECT_EQ(header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
            huge);
  EXPECT_EQ(
      header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 1), }"),
      huge);
  const char *malformed = "a.npy: the .npy header is malformed";
  for (const char *text :
       {"", "{", "{}", "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, -2), }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 2), }", "{'descr': '<f4",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), } trailing",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (", "['descr']"})
    EXPECT_EQ(header(text), malformed) << text;
}

TEST_F(MatrixFile, NpyContainerDamage) {
  const std::string whole =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", "12345678");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(contains(matrixError("a.npy", whole.substr(0, size)), "a.npy: ")) << size;
  std::string changed = whole;
  changed[1] = 'X';
  EXPECT_EQ(matrixError("a.npy", changed), "a.npy: not a .npy file (its first bytes are wrong)");
  changed = whole;
  changed[6] = 4;
  EXPECT_EQ(matrixError("a.npy", changed), "a.npy: .npy version 4 is not supported, 1 to 3 are");
  EXPECT_EQ(matrixError("a.npy", std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
            "a.npy: the .npy header has 4294967295 bytes; at most 10000 are read");
}

TEST_F(MatrixFile, CapturesFromFiles) {
  const float values[4] = {0.5f, 1, 2, 3};
  const std::string data(reinterpret_cast<const char *>(values), sizeof values);
  NumericArray array = readCapture(write("w.fbin", u32(1) + u32(4) + data));
  EXPECT_EQ(array.dtype, "f32");
  EXPECT_EQ(array.shape, std::vector<int64_t>{4});
  array = readCapture(write("w.fbin", u32(2) + u32(2) + data));
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 2}));
  array = readCapture(write("w.ibin", u32(1) + u32(4) + data));
  EXPECT_EQ(array.dtype, "i32");
  array = readCapture(
      write("w.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "12345678")));
  EXPECT_EQ(array.dtype, "f64");
  EXPECT_TRUE(array.shape.empty());
  const struct {
    const char *descr, *dtype, *data;
  } others[] = {
      {"|b1", "b1", "\1"}, {"<i2", "i16", "12"}, {"<u2", "u16", "12"}, {"<u8", "u64", "12345678"}};
  for (const auto &other : others) {
    array = readCapture(write("w.npy", npy("{'descr': '" + std::string(other.descr) +
                                               "', 'fortran_order': False, 'shape': (1,), }",
                                           other.data)));
    EXPECT_EQ(array.dtype, other.dtype);
  }
}

TEST_F(MatrixFile, CapturesFromText) {
  const auto real = [](const char *text) {
    const NumericArray array = readCapture(text);
    EXPECT_EQ(array.dtype, "f64") << text;
    EXPECT_EQ(array.origin, text);
    double value;
    std::memcpy(&value, array.storage.data(), 8);
    return value;
  };
  EXPECT_EQ(real("0.5"), 0.5);
  EXPECT_EQ(real("-1e-3"), -1e-3);
  EXPECT_EQ(real("+2.25"), 2.25);
  EXPECT_TRUE(std::isinf(real("inf")));
  const NumericArray integer = readCapture("-7");
  EXPECT_EQ(integer.dtype, "i64");
  int64_t value;
  std::memcpy(&value, integer.storage.data(), 8);
  EXPECT_EQ(value, -7);
  for (const char *text : {"", "abc", "1.5x", "1 2", "w.txt", "+", "+-1", "0x10"})
    EXPECT_EQ(errorOf([&] { (void)readCapture(text); }, ErrorKind::Usage),
              "'" + std::string(text) + "' is neither a number nor a .npy, .fbin or .ibin file");
  const NumericArray large = readCapture("18446744073709551615");
  EXPECT_EQ(large.dtype, "u64");
  EXPECT_EQ(*reinterpret_cast<const uint64_t *>(large.storage.data()), ~uint64_t(0));
  for (const std::string text : {"18446744073709551616", "-9223372036854775809",
                                 "+99999999999999999999999", "1180591620717411303424"})
    EXPECT_EQ(errorOf([&] { (void)readCapture(text); }, ErrorKind::Usage),
              "'" + text +
                  "' is an integer of more than 64 bits; write it with a "
                  "point or an exponent to have it rounded");
  EXPECT_EQ(readCapture("99999999999999999999999.0").dtype, "f64");
  EXPECT_EQ(readCapture("1e23").dtype, "f64");
  EXPECT_EQ(errorOf([&] { (void)readCapture("1e999"); }, ErrorKind::Usage),
            "'1e999' is beyond the range of f64");
}

TEST_F(MatrixFile, IdsAndDistances) {
  const int64_t ids[6] = {0, 5, -1, 2147483647, 3, 4};
  const float distances[6] = {0, 1.5f, INFINITY, 3, 4, 5};
  ResultWriter(dir / "out").write(ids, distances, 2, 3);
  EXPECT_EQ(dir.entries(), 2u);
  int64_t rows;
  int32_t columns;
  const std::vector<int32_t> read = readIds(dir / "out.ibin", rows, columns);
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(columns, 3);
  EXPECT_EQ(read, (std::vector<int32_t>{0, 5, -1, 2147483647, 3, 4}));
  EXPECT_EQ(coordinate(readMatrix(dir / "out.fbin").view(), 1, 2), 5);
  const int64_t large[1] = {2147483648};
  EXPECT_EQ(strip(errorOf([&] { ResultWriter(dir / "x").write(large, distances, 1, 1); })),
            "x.ibin: id 2147483648 does not fit the file's int32");
  EXPECT_EQ(dir.entries(), 2u);
  EXPECT_EQ(strip(errorOf([&] { readIds(dir / "out.fbin", rows, columns); })),
            "out.fbin: unknown file ending; ids have .ibin");
}

} // namespace
} // namespace annudf::runtime
