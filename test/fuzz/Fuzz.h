//===- Fuzz.h - What the targets share --------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_FUZZ_FUZZ_H
#define ANNUDF_TEST_FUZZ_FUZZ_H

#include "annudf/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

/// The functions that libFuzzer calls, or gives.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace annudf::fuzz {

inline std::string_view viewOf(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

/// Runs `read`; an Error is the answer that a reader owes to damage, all else is a finding.
template <typename Read> void readOrRefuse(Read read) {
  try {
    read();
  } catch (const Error &error) {
    // What a fuzzer learns it writes into its inputs, so the text proves nothing: messages repeat
    // keys.
    if (error.kind() != ErrorKind::Input || !*error.what())
      std::abort(); // A refusal says what is wrong with the input.
  }
}

/// A file of this process, for readers that take paths; in memory where Linux has such a folder.
class InputFile {
public:
  explicit InputFile(const std::string &suffix)
      : path_(
            (std::filesystem::exists("/dev/shm") ? std::string("/dev/shm") : std::string("/tmp")) +
            "/annudf-fuzz-" + std::to_string(::getpid()) + suffix) {}
  ~InputFile() { ::unlink(path_.c_str()); }
  const std::string &with(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
    return path_;
  }

private:
  std::string path_;
};

} // namespace annudf::fuzz

#endif // ANNUDF_TEST_FUZZ_FUZZ_H
