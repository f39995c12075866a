//===- CompilerWrap.h - What C functions that compile share ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_CAPI_COMPILERWRAP_H
#define ANNUDF_LIB_CAPI_COMPILERWRAP_H

#include "Wrap.h"
#include "annudf-c/Compiler.h"
#include "annudf/Compiler/Compiler.h"

#include <cstddef>
#include <memory>

/// The size of a struct up to and with a field: what its first version had.
#define ANNUDF_SIZE_WITH(TYPE, FIELD) (offsetof(TYPE, FIELD) + sizeof(TYPE::FIELD))

struct annudf_diagnostics {
  std::vector<annudf::Diagnostic> entries;
};

namespace annudf::capi {

/// Runs `make`, which fills the diagnostics, and hands these over however it ends.
template <typename Make> void withDiagnostics(annudf_diagnostics **out, Make make) {
  auto list = std::make_unique<annudf_diagnostics>();
  auto handOver = [&] {
    if (out)
      *out = list.release();
  };
  try {
    make(list->entries);
  } catch (const Error &error) {
    // The compiler calls a source that it refuses bad input; here files are that.
    if (error.kind() == ErrorKind::Input) {
      handOver();
      throw Failure{ANNUDF_COMPILE, error.what()};
    }
    list->entries.clear();
    handOver();
    throw;
  }
  handOver();
}

inline std::vector<std::string> checkedList(const Call &call, const char *const *entries,
                                            size_t count, const char *what) {
  std::vector<std::string> list;
  if (count > 0)
    call.refuseNull(entries, what);
  for (size_t i = 0; i < count; ++i) {
    call.refuseNull(entries[i], (std::string(what) + "[" + std::to_string(i) + "]").c_str());
    list.push_back(entries[i]);
  }
  return list;
}

} // namespace annudf::capi

#endif // ANNUDF_LIB_CAPI_COMPILERWRAP_H
