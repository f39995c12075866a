//===- HostCuda.h - Blocks of CUDA threads on the host ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As much of CUDA as Build.cu, Coarse.cuh, Survivors.cuh, Finish.cuh, Products.cu and Probes.cuh
// use. The threads of a block are coroutines of one thread that take turns at every barrier. To be
// included before the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_HOSTCUDA_H
#define ANNUDF_TEST_RUNTIME_CUDA_HOSTCUDA_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <math.h>
#include <setjmp.h>
#include <type_traits>
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

using std::isfinite;
using std::isnan;
using std::max;
using std::min;

struct alignas(8) float2 {
  float x, y;
};
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
template <class T> T __ldcg(const T *address) { return *address; }
template <class T> T __ldg(const T *address) { return *address; }

namespace annudf::test {

inline constexpr unsigned kLanes = 32, kMostThreads = 1024;
struct Dim {
  unsigned x = 0, y = 0;
};

} // namespace annudf::test

inline annudf::test::Dim threadIdx, blockIdx;
inline annudf::test::Dim blockDim{annudf::test::kLanes, 1}, gridDim{1, 1};

namespace annudf::test {

/// The threads of a block under way, of which there is one at a time.
class Block {
public:
  /// \param threads  whole warps.
  static void run(unsigned threads, const std::function<void()> &kernel) {
    blockDim.x = threads;
    state().begin(threads, kernel);
  }
  static void waitForBlock() {
    State &s = state();
    s.wait(s.block, [&s] { s.goOn(0, blockDim.x); });
  }
  static void waitForWarp() {
    State &s = state();
    const unsigned first = threadIdx.x / kLanes * kLanes;
    s.wait(s.warps[threadIdx.x / kLanes], [&] { s.goOn(first, kLanes); });
  }
  /// Changes at each of its barriers, for all threads of the warp alike.
  static unsigned turnOfWarp() { return state().warps[threadIdx.x / kLanes].turn; }

private:
  /// A thread that has ended counts as one that has arrived.
  struct Barrier {
    unsigned live = 0, arrived = 0, turn = 0;
    void pass() {
      if (arrived == live)
        arrived = 0, ++turn;
    }
  };
  /// Once made it runs one kernel after the other.
  struct Thread {
    ucontext_t context;
    jmp_buf at;
    std::vector<char> stack;
    bool done = true;
  };
  struct State {
    std::vector<Thread> threads{kMostThreads};
    Barrier block, warps[kMostThreads / kLanes];
    const std::function<void()> *kernel = nullptr;
    jmp_buf caller;

    void begin(unsigned count, const std::function<void()> &what) {
      kernel = &what;
      block = {count};
      for (unsigned t = 0; t < count; ++t)
        threads[t].done = false, warps[t / kLanes] = {kLanes};
      threadIdx.x = 0;
      if (_setjmp(caller) == 0)
        enter(threads[0]);
      threadIdx.x = 0;
    }
    template <class Next> void wait(Barrier &barrier, Next next) {
      const unsigned turn = barrier.turn;
      ++barrier.arrived;
      barrier.pass();
      while (barrier.turn == turn)
        next();
    }
    /// The next thread of these that has not ended; there is one.
    void goOn(unsigned first, unsigned count) {
      Thread &own = threads[threadIdx.x];
      do
        threadIdx.x = threadIdx.x + 1 == first + count ? first : threadIdx.x + 1;
      while (threads[threadIdx.x].done);
      if (_setjmp(own.at) == 0)
        enter(threads[threadIdx.x]);
    }
    /// Quicker than swapcontext, which asks the system each time.
    [[noreturn]] void enter(Thread &thread) {
      if (!thread.stack.empty())
        _longjmp(thread.at, 1);
      thread.stack.resize(256 * 1024);
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack.data();
      thread.context.uc_stack.ss_size = thread.stack.size();
      thread.context.uc_link = nullptr;
      makecontext(&thread.context, &State::main, 0);
      setcontext(&thread.context);
      __builtin_unreachable();
    }
    static void main() {
      for (State &s = state();;) {
        (*s.kernel)();
        const unsigned own = threadIdx.x;
        s.threads[own].done = true;
        for (Barrier *barrier : {&s.block, &s.warps[own / kLanes]})
          --barrier->live, barrier->pass();
        if (_setjmp(s.threads[own].at) == 0) {
          if (s.block.live == 0)
            _longjmp(s.caller, 1);
          do
            threadIdx.x = threadIdx.x + 1 == blockDim.x ? 0 : threadIdx.x + 1;
          while (s.threads[threadIdx.x].done);
          s.enter(s.threads[threadIdx.x]);
        }
      }
    }
  };
  static State &state() {
    static State state;
    return state;
  }
};

/// What `from` makes of the values of a warp's lanes, of which it is told the own one.
template <class T, class From> T exchange(T value, From from) {
  // Two turns: who is ahead by one has not overwritten what others still read.
  static T values[2][kMostThreads / kLanes][kLanes];
  T(&own)[kLanes] = values[Block::turnOfWarp() % 2][threadIdx.x / kLanes];
  own[threadIdx.x % kLanes] = value;
  Block::waitForWarp();
  return from(own, threadIdx.x % kLanes);
}

} // namespace annudf::test

inline void __syncthreads() { annudf::test::Block::waitForBlock(); }
inline void __syncwarp(unsigned = ~0u) { annudf::test::Block::waitForWarp(); }
inline void __threadfence() {}
inline int __syncthreads_or(int value) {
  static bool any[annudf::test::kMostThreads];
  any[threadIdx.x] = value != 0;
  __syncthreads();
  const bool result = std::find(any, any + blockDim.x, true) != any + blockDim.x;
  __syncthreads();
  return result;
}
template <class T> T __shfl_sync(unsigned, T value, unsigned lane) {
  return annudf::test::exchange(value, [lane](const T *all, unsigned) { return all[lane]; });
}
template <class T> T __shfl_up_sync(unsigned, T value, unsigned distance) {
  return annudf::test::exchange(value, [distance](const T *all, unsigned lane) {
    return all[lane >= distance ? lane - distance : lane];
  });
}
template <class T> T __shfl_xor_sync(unsigned, T value, unsigned bits) {
  return annudf::test::exchange(value,
                                [bits](const T *all, unsigned lane) { return all[lane ^ bits]; });
}
inline uint32_t __ballot_sync(unsigned, bool value) {
  return annudf::test::exchange<uint32_t>(value, [](const uint32_t *all, unsigned) {
    uint32_t mask = 0;
    for (unsigned lane = 0; lane < annudf::test::kLanes; ++lane)
      mask |= all[lane] << lane;
    return mask;
  });
}
inline uint32_t __match_any_sync(unsigned, uint32_t value) {
  return annudf::test::exchange(value, [](const uint32_t *all, unsigned own) {
    uint32_t mask = 0;
    for (unsigned lane = 0; lane < annudf::test::kLanes; ++lane)
      mask |= uint32_t(all[lane] == all[own]) << lane;
    return mask;
  });
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
inline int __popc(uint32_t value) { return std::popcount(value); }
inline int __ffs(int value) {
  return value == 0 ? 0 : std::countr_zero(static_cast<uint32_t>(value)) + 1;
}
inline int __clzll(long long value) { return std::countl_zero(static_cast<uint64_t>(value)); }
inline uint32_t __float_as_uint(float value) { return std::bit_cast<uint32_t>(value); }
inline float __uint_as_float(uint32_t value) { return std::bit_cast<float>(value); }
struct __half {
  uint16_t bits;
};
inline __half __float2half_rn(float value) {
  return {std::bit_cast<uint16_t>(static_cast<_Float16>(value))};
}
inline float __double2float_rd(double value) {
  const auto nearest = static_cast<float>(value);
  return double(nearest) > value ? nextafterf(nearest, -INFINITY) : nearest;
}
inline float __double2float_ru(double value) { return -__double2float_rd(-value); }

namespace annudf::test {

/// No other thread comes between.
template <class T, class Change> T changed(T *at, Change change) {
  const T before = *at;
  *at = change(before);
  return before;
}

} // namespace annudf::test

template <class T> T atomicAdd(T *at, std::type_identity_t<T> value) {
  return annudf::test::changed(at, [value](T before) { return before + value; });
}
template <class T> T atomicSub(T *at, std::type_identity_t<T> value) {
  return annudf::test::changed(at, [value](T before) { return before - value; });
}
template <class T> T atomicMin(T *at, std::type_identity_t<T> value) {
  return annudf::test::changed(at, [value](T before) { return std::min(before, value); });
}
template <class T> T atomicMax(T *at, std::type_identity_t<T> value) {
  return annudf::test::changed(at, [value](T before) { return std::max(before, value); });
}
template <class T> T atomicAnd(T *at, std::type_identity_t<T> value) {
  return annudf::test::changed(at, [value](T before) { return before & value; });
}
template <class T> T atomicOr(T *at, std::type_identity_t<T> value) {
  return annudf::test::changed(at, [value](T before) { return before | value; });
}
template <class T>
T atomicCAS(T *at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return annudf::test::changed(at, [=](T before) { return before == expected ? value : before; });
}

#endif // ANNUDF_TEST_RUNTIME_CUDA_HOSTCUDA_H
