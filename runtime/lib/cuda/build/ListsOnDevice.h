//===- ListsOnDevice.h - Lists that a device alone has ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_BUILD_LISTSONDEVICE_H
#define ANNUDF_RUNTIME_LIB_CUDA_BUILD_LISTSONDEVICE_H

#include "BuildKernels.h"
#include "cuda/resident/DeviceIndex.h"

namespace annudf::runtime::cuda {

/// The lists of a built index, copied from the device when somebody asks for them.
class ListsOnDevice final : public ListsElsewhere {
public:
  ListsOnDevice(std::shared_ptr<const Context> context, std::shared_ptr<const BuildKernels> kernels,
                std::shared_ptr<const DeviceIndex> copy, std::vector<uint32_t> sizes, int threads)
      : context_(std::move(context)), kernels_(std::move(kernels)), copy_(std::move(copy)),
        sizes_(std::move(sizes)), threads_(threads) {}

  int device() const override { return context_->device(); }
  std::span<const uint32_t> sizes() const override { return sizes_; }

private:
  std::vector<List> fetch() override;
  std::vector<int64_t> fetchIds() override;

  std::shared_ptr<const Context> context_;
  std::shared_ptr<const BuildKernels> kernels_;
  std::shared_ptr<const DeviceIndex> copy_;
  std::vector<uint32_t> sizes_;
  int threads_;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_BUILD_LISTSONDEVICE_H
