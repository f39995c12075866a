//===- MetricOptions.h - What every command with a metric takes -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TOOLS_METRICOPTIONS_H
#define ANNUDF_TOOLS_METRICOPTIONS_H

#include "Commands.h"

#include "annudf/runtime/captures/Captures.h"

#include <memory>
#include <string>
#include <vector>

namespace annudf::tool {

/// A metric, its captures and where it runs, as options.
struct MetricOptions {
  std::string metric, device = "cpu";
  std::vector<std::string> captures;
  int threads = 0, gpu = 0;
  Gpus gpus;
  bool allowNonFinite = false;

  void addTo(CLI::App *command);
  /// Files that the command reads.
  std::vector<std::string> inputs() const;
};

/// The same, ready to search.
struct Engine {
  std::unique_ptr<runtime::Backend> backend;
  runtime::Metric metric;
  double compileMs = 0;

  /// A missing device is told before minutes go into loading and compiling.
  explicit Engine(const MetricOptions &options);
  /// \throws Error naming the capture.
  runtime::BoundCaptures bind(const MetricOptions &options, const runtime::Index &index,
                              const runtime::MatrixView &queries) const;
  /// Queries given to it at once; Ctrl-C is heard in between. What is bound for all queries cannot
  /// serve a part of them.
  int64_t batch(int64_t queries, int64_t most) const;
  /// All rows of a file in one list, which a search looks at without ranking; they may have missing
  /// values where the metric says what these are.
  /// \param bits  its bytes are packed bits.
  /// \param kept  where the rows stay, for one search on the host; null: they are copied.
  runtime::Index indexOf(const std::string &path, bool asF32, bool bits, int threads,
                         runtime::Matrix *kept = nullptr) const;
  /// Says on stderr what a search that lacks rows would not show.
  /// \param total  of the searches for these queries.
  void warnOfNan(const runtime::Index &index, const runtime::BoundCaptures &captures,
                 const runtime::MatrixView &queries, const runtime::SearchStats &total) const;
};

/// "12.5 % of the distances are NaN (3 of 24)".
std::string nanText(const runtime::SearchStats &total);

/// Queries of a file, for the vectors of `base`, whose index no user has seen.
/// \throws Error naming both files where their dims differ.
runtime::Matrix loadAgainst(const runtime::Index &vectors, const std::string &base,
                            const std::string &path, int64_t rows, bool asF32);

/// `count` rows of a matrix, from `first` on.
runtime::MatrixView rowsOf(const runtime::Matrix &matrix, int64_t first, int64_t count);

} // namespace annudf::tool

#endif // ANNUDF_TOOLS_METRICOPTIONS_H
