//===- FreeMemory.cpp - How much memory is left ---------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/FreeMemory.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace annudf::runtime {

/// The number that follows a word at the beginning of a line; of the word "", a file's first.
static std::optional<uint64_t> numberIn(const std::string &path, const std::string &word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(word)) {
      const size_t at = line.find_first_not_of(" \t", word.size());
      if (at == std::string::npos || line[at] < '0' || line[at] > '9')
        return std::nullopt; // "max": no limit.
      return std::strtoull(line.c_str() + at, nullptr, 10);
    }
  return std::nullopt;
}

uint64_t freeMemory(const std::string &proc, const std::string &cgroups) {
  uint64_t free = numberIn(proc + "/meminfo", "MemAvailable:").value_or(0) << 10;
  std::ifstream file(proc + "/self/cgroup");
  std::string group;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::/"))
      group = line.substr(3);
  if (group == "/")
    group.clear(); // A container's own may be the root.
  for (;;) {
    const std::string folder = cgroups + group + "/memory.";
    const std::optional<uint64_t> most = numberIn(folder + "max", ""),
                                  used = numberIn(folder + "current", "");
    if (most && used) {
      // Pages of files that nobody has used of late go when others are needed.
      const uint64_t files = numberIn(folder + "stat", "inactive_file ").value_or(0),
                     taken = *used - std::min(*used, files);
      free = std::min(free, *most - std::min(*most, taken));
    }
    if (group.empty())
      return free;
    group.resize(group.rfind('/'));
  }
}

} // namespace annudf::runtime
