//===- Matrix.cpp - Files of vectors, ids and numbers -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/vectors/Matrix.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/Support/FileIO.h"
#include "vectors/Npy.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

namespace annudf::runtime {
namespace {

[[noreturn]] void refuse(const std::string &path, const std::string &what) {
  throw Error(ErrorKind::Input, path + ": " + what);
}

/// BigANN endings and the dtype behind each.
constexpr struct {
  const char *ending, *dtype;
} kBigAnn[] = {{".fbin", "f32"}, {".hbin", "f16"}, {".i8bin", "i8"},
               {".u8bin", "u8"}, {".ibin", "i32"}, {".i32bin", "i32"}};

bool endsWith(const std::string &text, const std::string &ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

const char *bigAnnDtype(const std::string &path) {
  for (const auto &entry : kBigAnn)
    if (endsWith(path, entry.ending))
      return entry.dtype;
  return nullptr;
}

struct BigAnn {
  uint32_t rows, columns;
  std::vector<std::byte> storage;
};

/// \param rows  if above 0, at most so many are read.
BigAnn readBigAnn(const std::string &path, int size, int64_t rows = 0) {
  FileReader file(path);
  if (file.size() < 8)
    refuse(path, "truncated: " + std::to_string(file.size()) +
                     " bytes, a header of rows and dims takes 8");
  uint32_t header[2]; // Little-endian, as the host is.
  file.read(header, sizeof header);
  BigAnn result{header[0], header[1], {}};
  const std::string promise = "the header promises " + std::to_string(header[0]) + " rows of " +
                              std::to_string(header[1]) + " values of " + std::to_string(size) +
                              (size == 1 ? " byte" : " bytes");
  if (result.columns == 0)
    refuse(path, promise);
  uint64_t bytes = uint64_t(header[0]) * header[1];
  if (__builtin_mul_overflow(bytes, uint64_t(size), &bytes) || bytes != file.remaining())
    refuse(path, promise + ", but " + std::to_string(file.remaining()) + " bytes follow");
  if (result.columns > uint32_t(std::numeric_limits<int32_t>::max()))
    refuse(path, promise + ", too many");
  if (rows > 0 && rows < result.rows) {
    bytes = uint64_t(rows) * result.columns * uint64_t(size);
    result.rows = static_cast<uint32_t>(rows);
  }
  result.storage.resize(bytes);
  file.read(result.storage.data(), result.storage.size());
  return result;
}

void writeBigAnn(AtomicFileWriter &file, const void *data, int64_t rows, int32_t columns) {
  const uint32_t header[2] = {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns)};
  file.write(header, sizeof header);
  file.write(data, static_cast<size_t>(rows) * static_cast<size_t>(columns) * 4);
}

/// Numbers of f64 as f32; those beyond it become infinite, which no index takes.
std::vector<std::byte> narrowed(const std::vector<std::byte> &doubles) {
  std::vector<std::byte> floats(doubles.size() / 2);
  for (size_t i = 0; i < floats.size(); i += sizeof(float)) {
    double wide = 0;
    std::memcpy(&wide, &doubles[2 * i], sizeof wide);
    const auto narrow = static_cast<float>(wide);
    std::memcpy(&floats[i], &narrow, sizeof narrow);
  }
  return floats;
}

/// Elements of an index as f32.
Matrix widened(const Matrix &matrix) {
  Matrix wide;
  wide.rows = matrix.rows, wide.dims = matrix.dims, wide.element = ANNUDF_ELEMENT_F32;
  wide.storage.resize(static_cast<size_t>(wide.rows) * wide.dims * sizeof(float));
  auto *out = reinterpret_cast<float *>(wide.storage.data());
  const MatrixView view = matrix.view();
  for (int64_t row = 0; row < wide.rows; ++row)
    for (int32_t dim = 0; dim < wide.dims; ++dim)
      *out++ = coordinate(view, row, dim);
  return wide;
}

bool isIntegerForm(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-'))
    text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <typename T> NumericArray scalar(const char *dtype, T value, const std::string &text) {
  NumericArray array;
  array.dtype = dtype;
  array.origin = text;
  array.storage.resize(sizeof value);
  std::memcpy(array.storage.data(), &value, sizeof value);
  return array;
}

} // namespace

Matrix readMatrix(const std::string &path, int64_t rows, bool asF32) {
  Matrix matrix;
  std::string dtype;
  if (endsWith(path, ".npy")) {
    NumericArray array = readNpy(path, rows);
    if (array.shape.size() != 2)
      refuse(path, "holds an array of " + std::to_string(array.shape.size()) +
                       " dimensions; vectors need 2, rows and dims");
    if (array.shape[1] == 0 || array.shape[1] > std::numeric_limits<int32_t>::max())
      refuse(path, "holds vectors of " + std::to_string(array.shape[1]) + " dims");
    dtype = array.dtype;
    matrix.rows = array.shape[0];
    matrix.dims = static_cast<int32_t>(array.shape[1]);
    matrix.storage = std::move(array.storage);
    if (asF32 && dtype == "f64")
      dtype = "f32", matrix.storage = narrowed(matrix.storage);
  } else if (const char *known = bigAnnDtype(path)) {
    dtype = known;
  } else {
    refuse(path, "unknown file ending; vectors have .fbin, .hbin, .i8bin, .u8bin or .npy");
  }
  const auto element = parseSpelling<annudf_element>(dtype);
  if (!element)
    refuse(path, "holds " + dtype + "; vectors are " + tableOf<annudf_element>().listing() +
                     (dtype == "f64" ? "; convert them to f32" : ""));
  matrix.element = *element;
  if (matrix.dims == 0) {
    BigAnn file = readBigAnn(path, dtypeSize(dtype), rows);
    matrix.rows = file.rows;
    matrix.dims = static_cast<int32_t>(file.columns);
    matrix.storage = std::move(file.storage);
  }
  return asF32 && matrix.element != ANNUDF_ELEMENT_F32 ? widened(matrix) : matrix;
}

Matrix asBits(Matrix matrix) {
  if (matrix.element != ANNUDF_ELEMENT_U8)
    throw Error(ErrorKind::Input, std::string("vectors of ") + toString(matrix.element) +
                                      " cannot be packed bits; give bytes of u8");
  if (matrix.dims > std::numeric_limits<int32_t>::max() / 8)
    throw Error(ErrorKind::Input, "vectors of " + std::to_string(matrix.dims) +
                                      " bytes are too long for packed bits; at most " +
                                      std::to_string(std::numeric_limits<int32_t>::max() / 8) +
                                      " are taken");
  matrix.dims *= 8;
  matrix.element = ANNUDF_ELEMENT_BITS;
  return matrix;
}

NumericArray readCapture(const std::string &pathOrNumber) {
  if (endsWith(pathOrNumber, ".npy"))
    return readNpy(pathOrNumber);
  if (const char *dtype = bigAnnDtype(pathOrNumber)) {
    BigAnn file = readBigAnn(pathOrNumber, dtypeSize(dtype));
    NumericArray array;
    array.dtype = dtype;
    array.origin = pathOrNumber;
    if (file.rows != 1)
      array.shape.push_back(file.rows);
    array.shape.push_back(file.columns);
    array.storage = std::move(file.storage);
    return array;
  }
  const char *begin = pathOrNumber.c_str(), *end = begin + pathOrNumber.size();
  if (pathOrNumber.size() > 1 && *begin == '+' && begin[1] != '-')
    ++begin; // from_chars knows no plus sign.
  int64_t integer = 0;
  auto [stop, error] = std::from_chars(begin, end, integer);
  if (error == std::errc() && stop == end && begin != end)
    return scalar("i64", integer, pathOrNumber);
  uint64_t large = 0;
  const auto whole = std::from_chars(begin, end, large);
  if (whole.ec == std::errc() && whole.ptr == end && begin != end)
    return scalar("u64", large, pathOrNumber);
  double number = 0;
  const auto result = std::from_chars(begin, end, number);
  if (result.ptr == end && begin != end && result.ec == std::errc::result_out_of_range)
    throw Error(ErrorKind::Usage, "'" + pathOrNumber + "' is beyond the range of f64");
  if (result.ec != std::errc() || result.ptr != end || begin == end)
    throw Error(ErrorKind::Usage,
                "'" + pathOrNumber + "' is neither a number nor a .npy, .fbin or .ibin file");
  // What is given as an integer means that one, and this may be another.
  if (isIntegerForm(pathOrNumber))
    throw Error(ErrorKind::Usage, "'" + pathOrNumber +
                                      "' is an integer of more than 64 bits; write it with a point "
                                      "or an exponent to have it rounded");
  return scalar("f64", number, pathOrNumber);
}

std::vector<int32_t> readIds(const std::string &path, int64_t &rows, int32_t &columns) {
  const char *dtype = bigAnnDtype(path);
  if (!dtype || std::strcmp(dtype, "i32") != 0)
    refuse(path, "unknown file ending; ids have .ibin");
  const BigAnn file = readBigAnn(path, 4);
  rows = file.rows;
  columns = static_cast<int32_t>(file.columns);
  std::vector<int32_t> ids(file.storage.size() / 4);
  if (!ids.empty())
    std::memcpy(ids.data(), file.storage.data(), file.storage.size());
  return ids;
}

ResultWriter::ResultWriter(const std::string &prefix)
    : idsPath_(prefix + ".ibin"), ids_(idsPath_), distances_(prefix + ".fbin") {}

void ResultWriter::write(const int64_t *ids, const float *distances, int64_t rows,
                         int32_t columns) {
  if (rows < 0 || rows > std::numeric_limits<uint32_t>::max() || columns < 0)
    refuse(idsPath_, "cannot write " + std::to_string(rows) + " x " + std::to_string(columns) +
                         " values: rows and columns are stored as uint32");
  std::vector<int32_t> narrow(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  for (size_t i = 0; i < narrow.size(); ++i) {
    if (ids[i] < -1 || ids[i] > std::numeric_limits<int32_t>::max())
      refuse(idsPath_, "id " + std::to_string(ids[i]) + " does not fit the file's int32");
    narrow[i] = static_cast<int32_t>(ids[i]);
  }
  writeBigAnn(ids_, narrow.data(), rows, columns);
  writeBigAnn(distances_, distances, rows, columns);
  ids_.commit();
  distances_.commit();
}

} // namespace annudf::runtime
