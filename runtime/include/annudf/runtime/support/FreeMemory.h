//===- FreeMemory.h - How much memory is left ----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_SUPPORT_FREEMEMORY_H
#define ANNUDF_RUNTIME_SUPPORT_FREEMEMORY_H

#include <cstdint>
#include <string>

namespace annudf::runtime {

/// Bytes that the system could give this process without swapping, by Linux's MemAvailable and the
/// limits of the control groups (version 2) that the process is in. 0 where nothing tells.
/// \param proc, cgroups  where these file systems are.
uint64_t freeMemory(const std::string &proc = "/proc",
                    const std::string &cgroups = "/sys/fs/cgroup");

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_SUPPORT_FREEMEMORY_H
