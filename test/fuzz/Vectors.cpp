//===- Vectors.cpp - Fuzzing files of vectors -------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The first byte chooses the reader, as the end of a file's name does.
#include "annudf/runtime/vectors/Matrix.h"
#include "fuzz/Fuzz.h"

using namespace annudf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::InputFile npy(".npy"), fbin(".fbin"), u8bin(".u8bin"), i8bin(".i8bin"),
      hbin(".hbin"), ibin(".ibin");
  if (size == 0)
    return 0;
  const std::string_view bytes = fuzz::viewOf(data + 1, size - 1);
  const auto matrix = [&](const fuzz::InputFile &file) {
    const runtime::Matrix read = runtime::readMatrix(file.with(bytes));
    runtime::checkFinite(read.view(), "input", 1);
  };
  fuzz::readOrRefuse([&] {
    switch (data[0] % 7) {
    case 0:
      return matrix(npy);
    case 1:
      return matrix(fbin);
    case 2:
      return matrix(u8bin);
    case 3:
      return matrix(i8bin);
    case 4:
      return (void)runtime::readCapture(npy.with(bytes));
    case 5: {
      int64_t rows = 0;
      int32_t columns = 0;
      return (void)runtime::readIds(ibin.with(bytes), rows, columns);
    }
    case 6:
      return matrix(hbin);
    }
  });
  return 0;
}
