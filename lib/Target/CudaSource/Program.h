//===- Program.h - A metric in CUDA C++ as a whole program ---- -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_TARGET_CUDASOURCE_PROGRAM_H
#define ANNUDF_LIB_TARGET_CUDASOURCE_PROGRAM_H

#include "annudf/Support/Diagnostic.h"
#include "annudf/Target/CudaSource.h"

#include "llvm/ADT/StringRef.h"

namespace annudf {

/// What a source looks like from outside: found without parsing C++.
struct SourceForm {
  bool isPeer = false;      ///< Defines compute_dist_udf_impl, as for cuVS.
  bool hasFinalize = false; ///< Defines finalize beside update.
  bool hasPoint = false;    ///< Brings its own point and helpers, as CUVS_METRIC's text does.
  bool hasIsSame = false;   ///< Brings its own std::is_same.
  int line = 0;             ///< Where the function that updates is; 0: there is none.
  std::string symbol;       ///< Defines this function of ANNUDF_CUVS_METRIC_ABI_ID instead.
  bool isLinked = false;    ///< Or declares it, as there is code of it to link.
  int openBrace = 0;        ///< Line of a brace that nothing closes, as far as one can see; or 0.
};

SourceForm findForm(llvm::StringRef source);

/// The same for source that defines `symbol`, of ANNUDF_CUVS_METRIC_ABI_ID.
SourceForm findSymbol(llvm::StringRef source, const std::string &symbol);

/// A program that lets a linker keep the function `symbol` as it is, to look at.
std::string makeProbe(const std::string &symbol, bool hasCapture);

/// Names under which NVRTC's log speaks of the source and of what stands around it.
inline constexpr const char *kSourceName = "annudf_source";
inline constexpr const char *kGeneratedName = "annudf_generated";

/// The program: preamble, source, hooks of annudf_abi.h. `options` are checked, and
/// complete: elements and compute are set.
std::string makeProgram(llvm::StringRef source, const SourceForm &form,
                        const CudaSourceOptions &options, uint64_t contract);

/// Why the first #include of a path is refused; "" where there is none. Caches know a source by its
/// text, so another file's text must not be a part of it; headers beside NVRTC change with that.
std::string findIncludedPath(llvm::StringRef source);

/// NVRTC's log in parts. What it says of `source` is at its lines, under the name
/// `origin`; errors elsewhere have no line. Warnings of generated text are left out, and
/// its errors where the source has some of its own.
std::vector<Diagnostic> parseLog(llvm::StringRef log, llvm::StringRef source,
                                 const std::string &origin);

} // namespace annudf

#endif // ANNUDF_LIB_TARGET_CUDASOURCE_PROGRAM_H
