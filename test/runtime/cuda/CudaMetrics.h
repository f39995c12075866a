//===- CudaMetrics.h - Metrics of the CUDA backend's tests ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_CUDAMETRICS_H
#define ANNUDF_TEST_RUNTIME_CUDA_CUDAMETRICS_H

#include "runtime/cpu/TestMetrics.h"

#include <cstdlib>

namespace annudf::test {

/// Before main(): what a test links it links, whatever runs before it left.
inline const int kNoCacheOnDisk = ::setenv("ANNUDF_CACHE_DISABLE", "1", 1);

/// And a search runs what the planner chooses, not what is linked sooner.
inline const int kWaitsForLinks = ::setenv("ANNUDF_LINK_AHEAD", "0", 1);

/// LTO-IR (in a fatbin) of udfs.cu for a metric.
inline std::string readFatbin(const std::string &name) {
  const std::string path = std::string(ANNUDF_TEST_CUDA_UDF_DIR) + "/" + name + ".fatbin";
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Artifact cudaArtifact(const TestMetric &metric, std::string bytes) {
  Artifact artifact = artifactOf(metric, "");
  artifact.payloads.clear();
  artifact.payloads.push_back(Payload::ltoIr(75, "", {"nvcc", "13.0"}, std::move(bytes)));
  return artifact;
}

inline runtime::Metric cudaMetric(const TestMetric &metric) {
  return runtime::Metric::fromArtifact(cudaArtifact(metric, readFatbin(metric.name)),
                                       metric.name + ".annudf");
}

/// The same as if our compiler had made it, so that no link fuses anything: the same bits in every
/// kernel.
inline runtime::Metric unfusedMetric(const TestMetric &metric, const std::string &fatbin) {
  Artifact artifact = cudaArtifact(metric, readFatbin(fatbin));
  artifact.payloads[0].producer.name = Producer::kLibNvvm;
  return runtime::Metric::fromArtifact(std::move(artifact), metric.name + ".annudf");
}
inline runtime::Metric unfusedMetric(const TestMetric &metric) {
  return unfusedMetric(metric, metric.name);
}

/// A filter, of filters.cu: evenRows or sameTenant.
inline runtime::Metric cudaFilter(Artifact filter) {
  filter.payloads.clear();
  filter.payloads.push_back(
      Payload::ltoIr(75, "", {"nvcc", "13.0"}, readFatbin(filter.manifest.name)));
  const std::string name = filter.manifest.name;
  return runtime::Metric::fromArtifact(std::move(filter), name + ".annudf");
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_CUDAMETRICS_H
