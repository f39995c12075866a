//===- HookJit.h - Compiles a metric and calls its hooks -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_HOOKJIT_H
#define ANNUDF_TEST_COMPILER_HOOKJIT_H

#include "HostJit.h"

#include "annudf/Compiler/Compiler.h"

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace annudf::test {

/// The hooks of one artifact's host bitcode, compiled for this machine. `Word` is
/// uint32_t or uint64_t and has to fit the metric.
class HookJit {
public:
  explicit HookJit(const Artifact &artifact);

  /// An accumulator of several fields: the words as a kernel holds them.
  template <typename Word> struct Words {
    Word word[ANNUDF_MAX_FIELDS];
  };
  template <typename Word> ANNUDF_CALLS_JIT void initWords(Words<Word> &acc) const {
    reinterpret_cast<void (*)(Word *, int32_t, int32_t, int32_t, const uint64_t *)>(init_)(
        acc.word, 1, query, list, slots);
  }
  template <typename Word, typename Coordinate>
  ANNUDF_CALLS_JIT void updateWords(Words<Word> &acc, Coordinate x, Coordinate y, int32_t dim = 0,
                                    int32_t dims = 1) const {
    reinterpret_cast<void (*)(Word *, Coordinate, Coordinate, int32_t, int32_t, int64_t, int32_t,
                              int32_t, const uint64_t *)>(update_)(acc.word, x, y, dim, dims, row,
                                                                   query, list, slots);
  }
  template <typename Word>
  ANNUDF_CALLS_JIT void combineWords(Words<Word> &acc, const Words<Word> &other) const {
    reinterpret_cast<void (*)(Word *, const Word *, int32_t, int64_t, int32_t, int32_t,
                              const uint64_t *)>(combine_)(acc.word, other.word, 1, row, query,
                                                           list, slots);
  }
  template <typename Word> ANNUDF_CALLS_JIT Word combine(Word acc, Word other) const {
    return reinterpret_cast<Word (*)(Word, Word, int32_t, int64_t, int32_t, int32_t,
                                     const uint64_t *)>(combine_)(acc, other, 1, row, query, list,
                                                                  slots);
  }
  template <typename Word> ANNUDF_CALLS_JIT float finalizeWords(const Words<Word> &acc) const {
    return reinterpret_cast<float (*)(const Word *, int32_t, int64_t, int32_t, int32_t,
                                      const uint64_t *)>(finalize_)(acc.word, 1, row, query, list,
                                                                    slots);
  }
  template <typename Word> ANNUDF_CALLS_JIT Word init(int32_t dims = 1) const {
    return reinterpret_cast<Word (*)(int32_t, int32_t, int32_t, const uint64_t *)>(init_)(
        dims, query, list, slots);
  }
  /// \tparam Word, Coordinate  have to fit the metric.
  template <typename Word, typename Coordinate>
  ANNUDF_CALLS_JIT Word update(Word acc, Coordinate x, Coordinate y, int32_t dim = 0,
                               int32_t dims = 1) const {
    return reinterpret_cast<Word (*)(Word, Coordinate, Coordinate, int32_t, int32_t, int64_t,
                                     int32_t, int32_t, const uint64_t *)>(update_)(
        acc, x, y, dim, dims, row, query, list, slots);
  }
  /// update() of two values, converted to the metric's compute type as a kernel does.
  template <typename Word, typename T>
  Word updateValues(Word acc, T x, T y, int32_t dim = 0, int32_t dims = 1) const {
    switch (compute_) {
    case ANNUDF_COMPUTE_F32:
      return update(acc, std::bit_cast<uint32_t>(float(x)), std::bit_cast<uint32_t>(float(y)), dim,
                    dims);
    case ANNUDF_COMPUTE_F64:
      return update(acc, std::bit_cast<uint64_t>(double(x)), std::bit_cast<uint64_t>(double(y)),
                    dim, dims);
    case ANNUDF_COMPUTE_I32:
      return update(acc, uint32_t(int32_t(x)), uint32_t(int32_t(y)), dim, dims);
    }
    return acc;
  }
  template <typename Word> ANNUDF_CALLS_JIT float finalize(Word acc, int32_t dims = 1) const {
    if (!finalize_) // As the runtime's own does.
      return accumulator_ == ANNUDF_ACCUMULATOR_I32   ? float(int32_t(acc))
             : accumulator_ == ANNUDF_ACCUMULATOR_U32 ? float(uint32_t(acc))
             : accumulator_ == ANNUDF_ACCUMULATOR_I64 ? float(int64_t(acc))
             : sizeof(Word) == 8                      ? float(std::bit_cast<double>(uint64_t(acc)))
                                                      : std::bit_cast<float>(uint32_t(acc));
    return reinterpret_cast<float (*)(Word, int32_t, int64_t, int32_t, int32_t, const uint64_t *)>(
        finalize_)(acc, dims, row, query, list, slots);
  }
  /// Whether the metric brings its own.
  bool hasFinalize() const { return finalize_; }
  ANNUDF_CALLS_JIT uint64_t contract() const {
    return reinterpret_cast<uint64_t (*)()>(contract_)();
  }

  /// Where the scan is, in every call.
  int64_t row = 0;
  int32_t query = 0, list = 0;

  /// Slot `i` as a scalar's bits or an array's address.
  template <typename T> void bind(int i, T value) {
    slots[i] = 0;
    if constexpr (std::is_pointer_v<T>)
      slots[i] = reinterpret_cast<uintptr_t>(value);
    else
      std::memcpy(&slots[i], &value, sizeof(T));
  }

private:
  HostJit jit;
  void *init_, *update_, *finalize_ = nullptr, *combine_ = nullptr, *contract_;
  annudf_accumulator accumulator_;
  annudf_compute compute_;
  uint64_t slots[ANNUDF_MAX_CAPTURES] = {};
};

/// Whether this machine has a libNVVM; without one the tests that need it are skipped.
bool haveLibNvvm();

/// Compiles text for the host, and for sm_75, sm_90 and sm_100 if `device`.
Artifact compileText(const std::string &text, bool device, const std::string &inlineCaptures = "");

/// Every symbol of a module of bitcode, declared or defined.
std::vector<std::string> symbolsOf(const std::string &bitcode);

/// The text of annudf::Error that compiling `text` for the host throws; empty if none.
std::string compileError(const std::string &text, const CompileOptions &options = {});

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_HOOKJIT_H
