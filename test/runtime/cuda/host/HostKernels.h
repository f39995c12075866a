//===- HostKernels.h - Device code that the host runs -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_HOST_HOSTKERNELS_H
#define ANNUDF_TEST_RUNTIME_CUDA_HOST_HOSTKERNELS_H

#include <functional>
#include <string>

namespace annudf::test {

/// Takes the addresses of a kernel's arguments and is one thread of it.
using HostKernel = std::function<void(void **arguments)>;

/// Null for a kernel that does not run on the host.
const HostKernel *hostKernel(const std::string &name);

/// All blocks, one after the other; one launch at a time.
void launchOnHost(const HostKernel &kernel, unsigned blocks, unsigned threads, void **arguments);

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_HOST_HOSTKERNELS_H
