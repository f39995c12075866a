//===- BuildPlan.cpp - How a build spends a device's memory ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildPlan.h"

#include "kernels/cuda/build/BuildArgs.h"
#include "vectors/Elements.h"
#include "vectors/Missing.h"
#include <algorithm>
#include <bit>

namespace annudf::runtime::cuda {

namespace {

uint64_t pieces(uint64_t count, uint64_t size) { return (count + size - 1) / size; }

/// Floats of a piece: enough to keep every multiprocessor at work.
constexpr uint64_t kPieceFloats = uint64_t(1) << 25;
/// Bytes of host memory that go there at once.
constexpr uint64_t kPieceBytes = uint64_t(16) << 20;
/// What may be lost to each of a build's allocations, of which there are some twenty.
constexpr uint64_t kSlack = uint64_t(64) << 10;

/// Bytes of each thing that a build has on the device.
struct Costs {
  explicit Costs(const BuildShape &s) : shape(s) {
    const uint64_t lists = s.lists, stride = s.stride();
    fixed = (s.padded() * (stride + 1) + 2 * stride) * 4 + kSlack;
    const uint64_t sums = (s.sample / ANNUDF_BUILD_SUM_ROWS + lists) * stride * 8;
    training = s.sample * 4 + sort(s.sample) + sums + (2 * lists + 1) * 4;
    // Each list may leave all but one row of its last group empty.
    const uint64_t rows = s.rows + 31 * std::min(lists, s.rows),
                   words = wordsPerRow(s.element, s.dims);
    const uint64_t places = (rows / 32 + 1) * 32;
    this->lists = places * (words * 4 + 8) + lists * (stride * 4 + 12);
    if (s.missingValues) {
      this->lists += stride * 4;
      present = uint64_t(PresentValues::piecesOf(int64_t(s.rows)).count) * uint64_t(s.dims) * 16;
    }
    if (s.adaptiveCenters)
      this->lists += lists * uint64_t(s.dims) * 4 +
                     (s.metric == ANNUDF_COARSE_COSINE ? places * sizeof(double) : 8);
    row = s.rowBytes();
    floats = stride * 4;
  }
  uint64_t sort(uint64_t rows) const {
    return rows * 4 * (sortPasses(shape.lists) ? 4 : 1) +
           1024 * pieces(rows, ANNUDF_BUILD_SORT_ITEMS) + (uint64_t(shape.lists) + 1) * 4;
  }
  uint64_t whole() const {
    const uint64_t all = shape.rows * row, piece = rowsAsFloats(shape) * floats;
    const uint64_t adding = shape.addData ? sort(shape.rows) + std::max(piece, lists) : 0;
    return fixed + all + std::max({training + piece, adding, present});
  }
  /// With pieces of so many rows.
  uint64_t inPieces(uint64_t piece) const {
    const uint64_t adding = shape.addData ? sort(shape.rows) + std::max(piece * floats, lists) : 0;
    return fixed + piece * row + std::max(training + shape.sample * floats, adding);
  }
  uint64_t listsOnHost(uint64_t piece) const {
    const uint64_t adding = shape.addData ? piece * (floats + 4) : 0;
    return fixed + piece * row + std::max(training + shape.sample * floats, adding);
  }

  const BuildShape &shape;
  uint64_t fixed, training, lists, row, floats;
  uint64_t present = 0; ///< For missing values, where all rows are there.
};

/// The largest piece with which `bytes` stays within the limit; 0 where none does.
template <class Bytes> uint64_t largestPiece(const BuildShape &shape, uint64_t limit, Bytes bytes) {
  const uint64_t most = rowsOfPiece(shape);
  for (uint64_t rows = most;; rows = std::max<uint64_t>(rows / 2, ANNUDF_BUILD_TILE)) {
    rows = std::min(rows, most);
    if (bytes(rows) <= limit)
      return rows;
    if (rows <= ANNUDF_BUILD_TILE)
      return 0;
  }
}

} // namespace

uint64_t BuildShape::rowBytes() const { return uint64_t(bytesOfRow(element, dims)); }
uint64_t BuildShape::stride() const {
  return pieces(uint64_t(dims), ANNUDF_BUILD_DEPTH) * ANNUDF_BUILD_DEPTH;
}
uint64_t BuildShape::padded() const { return pieces(lists, ANNUDF_BUILD_TILE) * ANNUDF_BUILD_TILE; }

int sortPasses(uint32_t lists) { return lists > 1 ? (std::bit_width(lists - 1) + 7) / 8 : 0; }

uint64_t rowsAsFloats(const BuildShape &shape) {
  return std::min(shape.rows, std::max(shape.sample, kPieceFloats / shape.stride()));
}

uint64_t rowsOfPiece(const BuildShape &shape) {
  return std::clamp<uint64_t>(
      std::min(kPieceFloats / shape.stride(), kPieceBytes / shape.rowBytes()), 1, shape.rows);
}

BuildPlan planBuild(const BuildShape &shape, uint64_t limit, const std::string &of,
                    ErrorKind kind) {
  const Costs costs(shape);
  if (const uint64_t bytes = costs.whole(); bytes <= limit)
    return {BuildPlan::Way::Whole, shape.rows, bytes};
  const auto inPieces = [&](uint64_t rows) { return costs.inPieces(rows); };
  if (const uint64_t rows = largestPiece(shape, limit, inPieces))
    return {BuildPlan::Way::Pieces, rows, inPieces(rows)};
  const auto onHost = [&](uint64_t rows) { return costs.listsOnHost(rows); };
  if (const uint64_t rows = largestPiece(shape, limit, onHost))
    return {BuildPlan::Way::ListsOnHost, rows, onHost(rows)};
  const uint64_t least = onHost(std::min<uint64_t>(ANNUDF_BUILD_TILE, rowsOfPiece(shape)));
  throw Error(kind, of + " is " + std::to_string(limit) + " bytes; k-means of " +
                        std::to_string(shape.sample) + " rows in " + std::to_string(shape.lists) +
                        " lists takes " + std::to_string(least) +
                        "; train on fewer rows (kmeans_trainset_fraction), or build on the host");
}

} // namespace annudf::runtime::cuda
