//===- Sha256Blocks.h - The compression function of SHA-256 -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_SUPPORT_SHA256BLOCKS_H
#define ANNUDF_LIB_SUPPORT_SHA256BLOCKS_H

#include <cstddef>
#include <cstdint>

namespace annudf {

/// Feeds `blocks` blocks of 64 bytes to `state`, by SHA instructions where there are any.
void sha256Blocks(uint32_t *state, const uint8_t *data, size_t blocks);
/// The same on any processor.
void sha256BlocksPortable(uint32_t *state, const uint8_t *data, size_t blocks);

} // namespace annudf

#endif // ANNUDF_LIB_SUPPORT_SHA256BLOCKS_H
