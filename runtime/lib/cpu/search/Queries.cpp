//===- Queries.cpp - Queries in a metric's compute type -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Queries.h"

#include "kernels/Coordinates.h"

namespace annudf::runtime::cpu {

namespace {

using namespace annudf_kernels;

int bitsOf(annudf_compute compute) {
  switch (compute) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case ANNUDF_COMPUTE_##NAME:                                                                      \
    return BITS;
    ANNUDF_COMPUTE_TYPES(ANNUDF_X)
#undef ANNUDF_X
  }
  return 0;
}

/// Both types are constants of the loop, so that it becomes vector code.
template <int element, int compute> void convertAll(const void *from, int64_t count, uint32_t *to) {
  using Word = typename WordOf<ComputeRow<compute>::kBits>::Type;
  for (int64_t i = 0; i < count; ++i) {
    const Word word = convert<Word, element, compute>(elementAt<element>(from, uint64_t(i)));
    __builtin_memcpy(to + i * (sizeof(Word) / 4), &word, sizeof(Word));
  }
}

template <int element>
void convertAll(annudf_compute compute, const void *from, int64_t count, uint32_t *to) {
  switch (compute) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case ANNUDF_COMPUTE_##NAME:                                                                      \
    return convertAll<element, VALUE>(from, count, to);
    ANNUDF_COMPUTE_TYPES(ANNUDF_X)
#undef ANNUDF_X
  }
}

} // namespace

QueryCoordinates::QueryCoordinates(const MatrixView &queries, annudf_compute compute)
    : dims_(queries.dims), stride_(words(queries.dims, compute)),
      words_(size_t(queries.rows * stride_)) {
  const int64_t count = queries.rows * queries.dims;
  if (isInteger(queries.element))
    integers_.resize(size_t(count));
  switch (queries.element) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case ANNUDF_ELEMENT_##NAME:                                                                      \
    convertAll<VALUE>(compute, queries.data, count, words_.data());                                \
    if constexpr (ElementRow<VALUE>::kKind != Kind::FLOAT)                                         \
      convertAll<VALUE, ANNUDF_COMPUTE_I32>(queries.data, count, integers_.data());                \
    break;
    ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
  }
}

int64_t QueryCoordinates::words(int32_t dims, annudf_compute compute) {
  return int64_t(dims) * (bitsOf(compute) / 32);
}

int64_t QueryCoordinates::bytes(int32_t dims, annudf_element element, annudf_compute compute) {
  return 4 * (words(dims, compute) + (isInteger(element) ? dims : 0));
}

} // namespace annudf::runtime::cpu
