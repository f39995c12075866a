//===- ReadCorpus.cpp - The targets without libFuzzer -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reads every file of the folders that are named, once; options are libFuzzer's and ignored.
#include "fuzz/Fuzz.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

/// Custom mutators are linked, though nobody calls them here.
extern "C" size_t LLVMFuzzerMutate(uint8_t *, size_t size, size_t) { return size; }

int main(int argc, char **argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i)
    if (argv[i][0] != '-')
      for (const auto &entry : std::filesystem::recursive_directory_iterator(argv[i]))
        if (entry.is_regular_file())
          files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto &file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout); // The last line names what crashed.
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs read\n", files.size());
  return files.empty(); // A corpus that is gone tests nothing.
}
