//===- Columns.cpp - Values that an index has for its rows -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

using namespace annudf;
using namespace annudf::tool;

static std::map<std::string, runtime::CaptureValue>
viewsOf(const std::map<std::string, runtime::NumericArray> &values) {
  std::map<std::string, runtime::CaptureValue> views;
  for (const auto &[name, array] : values)
    views.emplace(name, runtime::CaptureValue::of(array));
  return views;
}

runtime::BoundCaptures tool::bind(const runtime::Metric &metric,
                                  const runtime::CaptureExtents &extents,
                                  const runtime::Index &index,
                                  const std::map<std::string, runtime::NumericArray> &values,
                                  bool allowNonFinite) {
  const runtime::ColumnTypes columns = runtime::columnTypes(index);
  return runtime::BoundCaptures::bindViews(metric.artifact.manifest, extents, viewsOf(values),
                                           allowNonFinite, &columns);
}

runtime::NewColumns tool::readColumns(const std::vector<std::string> &pairs) {
  const auto arrays = readCaptures(pairs, "--column", "NAME=FILE"); // The views are of its memory.
  return runtime::newColumns(viewsOf(arrays));
}

void tool::addColumnOption(CLI::App *command, std::vector<std::string> &pairs) {
  command
      ->add_option("--column", pairs,
                   "NAME=FILE (.npy) with one value a vector, which metrics and filters read by "
                   "row; once for each column")
      ->allow_extra_args(false);
}

void tool::addFiles(const std::vector<std::string> &pairs, std::vector<std::string> &files) {
  for (const std::string &pair : pairs)
    files.push_back(pair.substr(pair.find('=') + 1));
}
