//===- Sha256Test.cpp - SHA-256 against NIST's vectors ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Sha256.h"

#include "annudf/Artifact/Artifact.h"

#include "../../lib/Support/Sha256Blocks.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace annudf {
namespace {

// FIPS 180-4 examples and the CAVP short messages of those lengths.
TEST(Sha256, NistVectors) {
  EXPECT_EQ(sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256Hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                      "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256Hex("\xd3"), "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
}

TEST(Sha256, AMillionLetters) {
  const std::string block(1000, 'a');
  Sha256 hash;
  for (int i = 0; i < 1000; ++i)
    hash.update(block.data(), block.size());
  EXPECT_EQ(Sha256::hex(hash.finish()),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Wherever the message is cut, and however it lies against the blocks of 64 bytes.
TEST(Sha256, PiecesDoNotMatter) {
  std::string message;
  for (int i = 0; i < 300; ++i)
    message += static_cast<char>(i * 7 + i / 64);
  for (size_t size = 0; size <= message.size(); ++size) {
    const std::string whole = sha256Hex(message.substr(0, size));
    for (size_t cut : {size_t(0), size / 3, size / 2, size}) {
      Sha256 hash;
      hash.update(message.data(), cut);
      hash.update(message.data() + cut, size - cut);
      EXPECT_EQ(Sha256::hex(hash.finish()), whole) << size << " cut at " << cut;
    }
  }
}

// The processor's instructions, if it has them, against plain arithmetic.
TEST(Sha256, PortableBlocksAgree) {
  std::vector<uint8_t> data(64 * 9);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint8_t>(i * i + i / 5);
  for (size_t blocks : {0, 1, 2, 9}) {
    uint32_t fast[8] = {1, 2, 3, 4, 5, 6, 7, 0xffffffff}, plain[8];
    std::copy(std::begin(fast), std::end(fast), plain);
    sha256Blocks(fast, data.data(), blocks);
    sha256BlocksPortable(plain, data.data(), blocks);
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(fast[i], plain[i]) << blocks << " blocks, word " << i;
  }
}

} // namespace
} // namespace annudf
