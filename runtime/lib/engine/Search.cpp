//===- Search.cpp - Checks that every backend shares ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Search.h"

#include "annudf/Support/FileIO.h"

#include <algorithm>

namespace annudf::runtime {
namespace {

std::string elementList(const Manifest &manifest) {
  std::string text;
  for (annudf_element element : manifest.elements)
    text += (text.empty() ? "" : ", ") + std::string(toString(element));
  return text;
}

std::string nameOf(const MetricView &metric) {
  return "metric '" + metric.artifact.manifest.name + "' (" + metric.origin + ")";
}

} // namespace

Metric Metric::fromArtifact(Artifact artifact, const std::string &origin) {
  Metric metric;
  metric.digest = sha256Hex(serializeArtifact(artifact));
  metric.artifact = std::move(artifact);
  metric.origin = origin;
  return metric;
}

Metric Metric::fromFile(const std::string &path) { return fromArtifact(readArtifact(path), path); }

void checkElement(const MetricView &metric, annudf_element element) {
  if (!metric.artifact.manifest.accepts(element))
    throw Error(ErrorKind::Input, nameOf(metric) + " takes " +
                                      elementList(metric.artifact.manifest) + ", not " +
                                      toString(element));
}

void checkSearch(const Index &index, const MetricView &metric, const MatrixView &queries, int k,
                 const SearchParams &params) {
  const Manifest &manifest = metric.artifact.manifest;
  auto input = [](const std::string &what) { throw Error(ErrorKind::Input, what); };
  auto usage = [](const std::string &what) { throw Error(ErrorKind::Usage, what); };
  const std::string name = nameOf(metric);
  if (queries.element != index.element())
    input(std::string("queries are ") + toString(queries.element) + ", the index holds " +
          toString(index.element()));
  if (queries.dims != index.dims())
    input("queries have " + std::to_string(queries.dims) + " dims, the index has " +
          std::to_string(index.dims()));
  if (queries.rows == 0)
    input("queries: there are none");
  if (queries.rows < 0 || !queries.data)
    input("queries: " + std::to_string(queries.rows) + " rows without data");
  if (!manifest.accepts(index.element()))
    input(name + " takes " + elementList(manifest) + ", the index holds " +
          toString(index.element()));
  if (manifest.dims != 0 && manifest.dims != index.dims())
    input(name + " was compiled for " + std::to_string(manifest.dims) + " dims, the index has " +
          std::to_string(index.dims()));
  if (k < 1 || k > kMaxK)
    usage("k = " + std::to_string(k) + ": must be between 1 and " + std::to_string(kMaxK));
  if (k > index.size())
    usage("k = " + std::to_string(k) + ": the index has only " + std::to_string(index.size()) +
          " rows");
  if (params.nProbes < 1 || params.nProbes > index.nLists())
    usage("probes = " + std::to_string(params.nProbes) + ": must be between 1 and the index's " +
          std::to_string(index.nLists()) + " lists");
}

} // namespace annudf::runtime
