// What both benchmarks share: a clock, and the vectors that they search.
// Row r belongs to cluster mix(seed + 7919 r) mod C, centre N(0,1), spread sigma.
#pragma once

#include <chrono>
#include <cstdint>

using Clock = std::chrono::steady_clock;
static double msSince(Clock::time_point t) { return std::chrono::duration<double, std::milli>(Clock::now() - t).count(); }

__host__ __device__ inline uint64_t mix(uint64_t z) {
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}
__device__ inline float normal(uint64_t s) {
  uint64_t a = mix(s), b = mix(s ^ 0x1234567890abcdefULL);
  float u = ((a >> 40) + 1) * (1.f / 16777217.f), v = (b >> 40) * (1.f / 16777216.f);
  return sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
}
__global__ void mixture(float* out, int64_t n, int d, int clusters, float sigma, uint64_t seed) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n * d; i += (int64_t)gridDim.x * blockDim.x) {
    int64_t row = i / d;
    uint64_t c = mix(seed + row * 7919) % clusters;
    out[i] = normal(0xC0FFEEULL * 1000003ULL + c * 131071ULL + i % d) + sigma * normal(seed * 0x10001ULL + i * 2 + 1);
  }
}
