//===- HookJit.h - Compiles a metric and calls its hooks -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_HOOKJIT_H
#define ANNUDF_TEST_COMPILER_HOOKJIT_H

#include "annudf/Compiler/Compiler.h"

#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

namespace annudf::test {

/// The hooks of one artifact's host bitcode, compiled for this machine. `Word` is
/// uint32_t or uint64_t and has to fit the metric.
class HookJit {
public:
  explicit HookJit(const Artifact &artifact);
  ~HookJit();

  template <typename Word> Word init(int32_t dims = 1) const {
    return reinterpret_cast<Word (*)(int32_t, int32_t, int32_t, const uint64_t *)>(init_)(dims, 0,
                                                                                          0, slots);
  }
  template <typename Word>
  Word update(annudf_element element, Word acc, uint32_t x, uint32_t y, int32_t dim = 0,
              int32_t count = 1, int32_t dims = 1) const {
    setElement(element);
    return reinterpret_cast<Word (*)(Word, uint32_t, uint32_t, int32_t, int32_t, int32_t, int64_t,
                                     int32_t, int32_t, const uint64_t *)>(update_)(
        acc, x, y, dim, count, dims, 0, 0, 0, slots);
  }
  template <typename Word> float finalize(Word acc, int32_t dims = 1) const {
    return reinterpret_cast<float (*)(Word, int32_t, int64_t, int32_t, int32_t, const uint64_t *)>(
        finalize_)(acc, dims, 0, 0, 0, slots);
  }
  int32_t order() const { return reinterpret_cast<int32_t (*)()>(order_)(); }
  int32_t dims() const { return reinterpret_cast<int32_t (*)()>(dims_)(); }

  /// Slot `i` as a scalar's bits or an array's address.
  template <typename T> void bind(int i, T value) {
    slots[i] = 0;
    if constexpr (std::is_pointer_v<T>)
      slots[i] = reinterpret_cast<uintptr_t>(value);
    else
      std::memcpy(&slots[i], &value, sizeof(T));
  }

private:
  static void setElement(annudf_element element);

  struct Implementation;
  std::unique_ptr<Implementation> implementation;
  void *init_, *update_, *finalize_, *order_, *dims_;
  uint64_t slots[ANNUDF_MAX_CAPTURES] = {};
};

/// Whether this machine has a libNVVM; without one the tests that need it are skipped.
bool haveLibNvvm();

/// Compiles text for the host, and for sm_75, sm_90 and sm_100 if `device`.
Artifact compileText(const std::string &text, bool device, const std::string &inlineCaptures = "");

/// The text of annudf::Error that compiling `text` for the host throws; empty if none.
std::string compileError(const std::string &text, const CompileOptions &options = {});

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_HOOKJIT_H
