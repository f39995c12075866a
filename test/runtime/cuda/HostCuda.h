//===- HostCuda.h - One warp of a CUDA block on the host ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As much of CUDA as Coarse.cuh, Exact.cuh, Finish.cuh, Probes.cuh and RemoveLists.cuh use, for
// blocks of one warp. Its lanes are coroutines of one thread that take turns at every barrier. To
// be included before the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_HOSTCUDA_H
#define ANNUDF_TEST_RUNTIME_CUDA_HOSTCUDA_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <math.h>
#include <ucontext.h>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static
#define __align__(BYTES) __attribute__((aligned(BYTES)))

using std::max;
using std::min;

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  uint32_t x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }
template <class T> T __ldcs(const T *address) { return *address; }
template <class T> T __ldg(const T *address) { return *address; }

namespace annudf::test {

inline constexpr unsigned kLanes = 32;
struct Dim {
  unsigned x = 0, y = 0;
};

} // namespace annudf::test

inline annudf::test::Dim threadIdx, blockIdx;
inline const annudf::test::Dim blockDim{annudf::test::kLanes, 1}, gridDim{1, 1};

namespace annudf::test {

/// A warp under way.
class Warp {
public:
  explicit Warp(std::function<void()> kernel) : kernel(std::move(kernel)) { current = this; }

  void run() {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      stacks[lane].resize(256 * 1024);
      getcontext(&contexts[lane]);
      contexts[lane].uc_stack.ss_sp = stacks[lane].data();
      contexts[lane].uc_stack.ss_size = stacks[lane].size();
      contexts[lane].uc_link = nullptr;
      makecontext(&contexts[lane], &Warp::enter, 0);
    }
    while (ended < kLanes) // Every lane goes on to its next barrier, or to its end.
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if (!done[lane]) {
          threadIdx.x = lane;
          swapcontext(&host, &contexts[lane]);
        }
  }
  static void wait() { swapcontext(&current->contexts[threadIdx.x], &current->host); }

private:
  static void enter() {
    current->kernel();
    current->done[threadIdx.x] = true;
    ++current->ended;
    setcontext(&current->host);
  }
  static inline Warp *current = nullptr;
  std::function<void()> kernel;
  ucontext_t host, contexts[kLanes];
  std::vector<char> stacks[kLanes];
  bool done[kLanes] = {};
  unsigned ended = 0;
};

} // namespace annudf::test

inline void __syncthreads() { annudf::test::Warp::wait(); }
inline uint32_t __shfl_up_sync(unsigned, uint32_t value, unsigned distance) {
  static uint32_t values[annudf::test::kLanes];
  values[threadIdx.x] = value;
  __syncthreads();
  const uint32_t result = threadIdx.x >= distance ? values[threadIdx.x - distance] : value;
  __syncthreads();
  return result;
}
template <class T> T __shfl_xor_sync(unsigned, T value, unsigned bits) {
  static T values[annudf::test::kLanes];
  values[threadIdx.x] = value;
  __syncthreads();
  const T result = values[threadIdx.x ^ bits];
  __syncthreads();
  return result;
}
inline void __syncwarp() { __syncthreads(); }
inline void __threadfence() {}
inline int __syncthreads_or(int value) {
  static bool any[annudf::test::kLanes];
  any[threadIdx.x] = value != 0;
  __syncthreads();
  const bool result = std::find(std::begin(any), std::end(any), true) != std::end(any);
  __syncthreads();
  return result;
}
inline uint32_t __shfl_sync(unsigned, uint32_t value, unsigned lane) {
  static uint32_t values[annudf::test::kLanes];
  values[threadIdx.x] = value;
  __syncthreads();
  const uint32_t result = values[lane];
  __syncthreads();
  return result;
}
inline uint32_t __reduce_add_sync(unsigned mask, uint32_t value) {
  for (unsigned bit = 16; bit > 0; bit /= 2)
    value += __shfl_xor_sync(mask, value, bit);
  return value;
}
inline uint32_t __reduce_min_sync(unsigned mask, uint32_t value) {
  for (unsigned bit = 16; bit > 0; bit /= 2)
    value = std::min(value, __shfl_xor_sync(mask, value, bit));
  return value;
}
inline uint32_t __ballot_sync(unsigned mask, bool value) {
  return __reduce_add_sync(mask, value ? 1u << threadIdx.x : 0);
}
inline int __popc(uint32_t value) { return std::popcount(value); }
inline int __clzll(long long value) { return std::countl_zero(static_cast<uint64_t>(value)); }
inline uint32_t __float_as_uint(float value) { return std::bit_cast<uint32_t>(value); }
inline float __uint_as_float(uint32_t value) { return std::bit_cast<float>(value); }
inline uint32_t atomicAdd(uint32_t *at, uint32_t value) {
  *at += value;
  return *at - value;
}
inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long value) {
  *at += value;
  return *at - value;
}
inline void atomicSub(uint32_t *at, uint32_t value) { *at -= value; }
inline void atomicMax(uint32_t *at, uint32_t value) { *at = std::max(*at, value); }
inline void atomicMax(unsigned long long *at, unsigned long long value) {
  *at = std::max(*at, value);
}
inline void atomicAnd(unsigned long long *at, unsigned long long value) { *at &= value; }
inline void atomicOr(unsigned long long *at, unsigned long long value) { *at |= value; }

#endif // ANNUDF_TEST_RUNTIME_CUDA_HOSTCUDA_H
