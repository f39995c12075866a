//===- Sha256.cpp - FIPS 180-4 message digest -----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Sha256.h"

#include "Sha256Blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace annudf {
namespace {

alignas(64) constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

} // namespace

void sha256BlocksPortable(uint32_t *state, const uint8_t *data, size_t blocks) {
  for (; blocks != 0; --blocks, data += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i)
      w[i] = uint32_t(data[4 * i]) << 24 | uint32_t(data[4 * i + 1]) << 16 |
             uint32_t(data[4 * i + 2]) << 8 | uint32_t(data[4 * i + 3]);
    for (int i = 16; i < 64; ++i) {
      const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
      const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
      const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
}

#if defined(__x86_64__)
/// The same with the SHA instructions: an index of hundreds of megabytes is
/// digested at memory speed instead of at a third of a gigabyte a second.
__attribute__((target("sha,sse4.1,ssse3"))) static void
blocksShaNi(uint32_t *state, const uint8_t *data, size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  // The instructions want the state as ABEF and CDGH.
  __m128i abcd = _mm_loadu_si128(reinterpret_cast<const __m128i *>(state));
  __m128i efgh = _mm_loadu_si128(reinterpret_cast<const __m128i *>(state + 4));
  abcd = _mm_shuffle_epi32(abcd, 0xb1);
  efgh = _mm_shuffle_epi32(efgh, 0x1b);
  __m128i abef = _mm_alignr_epi8(abcd, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);
  for (; blocks != 0; --blocks, data += 64) {
    const __m128i abefStart = abef, cdghStart = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i *>(data) + i), swap);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      if (i >= 4) {
        // Words 4i..4i+3 of the schedule from the 16 before them.
        const __m128i w0 = w[i & 3], w1 = w[(i + 1) & 3], w2 = w[(i + 2) & 3], w3 = w[(i + 3) & 3];
        const __m128i mixed =
            _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
        w[i & 3] = _mm_sha256msg2_epu32(mixed, w3);
      }
      const __m128i k = _mm_load_si128(reinterpret_cast<const __m128i *>(kRound) + i);
      const __m128i wk = _mm_add_epi32(w[i & 3], k);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
    }
    abef = _mm_add_epi32(abef, abefStart);
    cdgh = _mm_add_epi32(cdgh, cdghStart);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool cpuHasSha() noexcept {
  // __builtin_cpu_supports knows "sha" only in newer compilers: CPUID leaf 7, EBX bit 29.
  uint32_t a = 7, b = 0, c = 0, d = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3") && (b >> 29 & 1);
}
static const bool hasSha = cpuHasSha();
#endif

void sha256Blocks(uint32_t *state, const uint8_t *data, size_t blocks) {
#if defined(__x86_64__)
  if (hasSha)
    return blocksShaNi(state, data, blocks);
#endif
  sha256BlocksPortable(state, data, blocks);
}

Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::update(const void *data, size_t size) {
  if (size == 0)
    return;
  const auto *bytes = static_cast<const uint8_t *>(data);
  total_ += size;
  if (tailSize_ != 0) {
    const size_t take = std::min(size, tail_.size() - tailSize_);
    std::memcpy(tail_.data() + tailSize_, bytes, take);
    tailSize_ += take, bytes += take, size -= take;
    if (tailSize_ < tail_.size())
      return;
    sha256Blocks(state_.data(), tail_.data(), 1);
    tailSize_ = 0;
  }
  sha256Blocks(state_.data(), bytes, size / 64);
  tailSize_ = size % 64;
  std::memcpy(tail_.data(), bytes + size - tailSize_, tailSize_);
}

Sha256::Digest Sha256::finish() {
  const uint64_t bits = total_ * 8;
  const uint8_t one = 0x80, zeros[64] = {};
  update(&one, 1);
  update(zeros, (64 + 56 - tailSize_) % 64);
  uint8_t length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = uint8_t(bits >> (56 - 8 * i));
  update(length, 8);
  Digest digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = uint8_t(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Sha256::Digest Sha256::of(const void *data, size_t size) {
  Sha256 hash;
  hash.update(data, size);
  return hash.finish();
}

std::string Sha256::hex(const Digest &digest) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string sha256Hex(std::string_view bytes) {
  return Sha256::hex(Sha256::of(bytes.data(), bytes.size()));
}

} // namespace annudf
