//===- Launcher.cpp - Where kernels go ------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"

#include "cuda/plan/Families.h"

namespace annudf::runtime::cuda {

Launcher::Launcher(const Context &context) : overlaps_(context.sm() >= kOverlapSm) {}

void StreamLauncher::launch(const Launch &launch) {
  CUlaunchAttribute overlap = {};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {};
  config.gridDimX = static_cast<unsigned>(launch.grid.x);
  config.gridDimY = static_cast<unsigned>(launch.grid.y);
  config.gridDimZ = 1;
  config.blockDimX = launch.threads, config.blockDimY = 1, config.blockDimZ = 1;
  config.sharedMemBytes = launch.sharedBytes, config.hStream = stream_;
  config.attrs = &overlap, config.numAttrs = launch.overlaps ? 1 : 0;
  ANNUDF_CUDA(cuLaunchKernelEx, &config, launch.function, launch.parameters, nullptr);
}

GraphLauncher::GraphLauncher(const Context &context) : Launcher(context) {
  ANNUDF_CUDA(cuGraphCreate, &graph_, 0);
}

GraphLauncher::~GraphLauncher() {
  if (built_)
    (void)Driver::get().cuGraphExecDestroy(built_);
  (void)Driver::get().cuGraphDestroy(graph_);
}

void GraphLauncher::launch(const Launch &launch) {
  CUgraphNodeParams node = {};
  node.type = CU_GRAPH_NODE_TYPE_KERNEL;
  CUDA_KERNEL_NODE_PARAMS_v3 &kernel = node.kernel;
  kernel.func = launch.function;
  kernel.gridDimX = static_cast<unsigned>(launch.grid.x);
  kernel.gridDimY = static_cast<unsigned>(launch.grid.y);
  kernel.gridDimZ = 1;
  kernel.blockDimX = launch.threads, kernel.blockDimY = 1, kernel.blockDimZ = 1;
  kernel.sharedMemBytes = launch.sharedBytes;
  kernel.kernelParams = launch.parameters;
  if (built_) {
    ANNUDF_CUDA(cuGraphExecNodeSetParams, built_, nodes_.at(place_++), &node);
    return;
  }
  CUgraphEdgeData edge = {};
  if (launch.overlaps) {
    edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  }
  CUgraphNode added = nullptr;
  ANNUDF_CUDA(cuGraphAddNode, &added, graph_, nodes_.empty() ? nullptr : &nodes_.back(),
              nodes_.empty() ? nullptr : &edge, nodes_.empty() ? 0 : 1, &node);
  nodes_.push_back(added);
}

void GraphLauncher::build() { ANNUDF_CUDA(cuGraphInstantiate, &built_, graph_, 0); }

void GraphLauncher::run(CUstream stream) const { ANNUDF_CUDA(cuGraphLaunch, built_, stream); }

} // namespace annudf::runtime::cuda
