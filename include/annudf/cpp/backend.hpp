//===- annudf/cpp/backend.hpp - Where searches run --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_BACKEND_HPP
#define ANNUDF_CPP_BACKEND_HPP

#include "annudf-c/Compiler.h"
#include "annudf-c/Device.h"
#include "annudf/cpp/matrix.hpp"

#include <array>
#include <map>
#include <mutex>
#include <vector>

namespace annudf {
inline namespace v0 {

/// Memory of a CUDA device that outlives its backend. Freed once the work that was enqueued
/// before is done.
class device_buffer {
public:
  std::uint64_t address() const noexcept { return annudf_device_buffer_address(handle_.get()); }
  std::uint64_t size() const noexcept { return size_; } ///< Bytes.
  void *data() const noexcept {
    return reinterpret_cast<void *>(static_cast<std::uintptr_t>(address()));
  }

private:
  friend class backend;
  device_buffer(annudf_device_buffer *handle, std::uint64_t size) noexcept
      : handle_(handle), size_(size) {}
  detail::owner<annudf_device_buffer, annudf_device_buffer_destroy> handle_;
  std::uint64_t size_;
};

/// A matrix in memory of a CUDA device that owns it, for programs that bring no CUDA library.
template <class T> class device_matrix {
public:
  T *data() const noexcept { return static_cast<T *>(memory_.data()); }
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t cols() const noexcept { return cols_; }
  device_matrix_view<T> view() const noexcept { return {data(), rows_, cols_, stream_, device_}; }

private:
  friend class backend;
  device_matrix(device_buffer memory, std::int64_t rows, std::int64_t cols, cuda_stream stream,
                std::int32_t device)
      : memory_(std::move(memory)), rows_(rows), cols_(cols), stream_(stream), device_(device) {}
  device_buffer memory_;
  std::int64_t rows_, cols_;
  cuda_stream stream_;
  std::int32_t device_;
};

/// What each of several devices has: all rows, or a part of every list.
enum class devices_mode { replicated, sharded };

/// Where searches run. Copies are the same backend. A default one stands for what suits the
/// queries: all cores of the CPU, or the device whose memory they are in.
class backend {
public:
  backend() = default;
  /// \param threads  0: all cores.
  static backend cpu(std::int32_t threads = 0) {
    annudf_backend *made = nullptr;
    detail::check(annudf_backend_create(nullptr, threads, &made));
    return backend(made);
  }
  /// A GPU, in its primary context.
  static backend cuda(std::int32_t device = 0) {
    annudf_backend *made = nullptr;
    const annudf_place place = {ANNUDF_MEMORY_CUDA, device, 0};
    detail::check(annudf_backend_create(&place, 0, &made));
    return backend(made);
  }
  /// Several GPUs, with the results of one. Arrays in device memory are on the first.
  static backend multi_device(const std::vector<std::int32_t> &devices,
                              devices_mode mode = devices_mode::sharded) {
    annudf_backend *made = nullptr;
    detail::check(annudf_backend_create_multi_device(devices.data(), devices.size(),
                                                     static_cast<std::int32_t>(mode), &made));
    return backend(made);
  }
  /// The one that all calls share that are given none: of a CUDA device, or -1 for the CPU.
  static const backend &shared(std::int32_t device = -1) {
    // Never destroyed: a search may run while the program's statics go, and CUDA may be gone.
    if (device < 0) {
      static const backend &host = *new backend(cpu());
      return host;
    }
    static auto &known = *new std::map<std::int32_t, backend>;
    static auto &lock = *new std::mutex;
    const std::lock_guard guard(lock);
    const auto found = known.find(device);
    return found != known.end() ? found->second : known.emplace(device, cuda(device)).first->second;
  }

  /// "CPU, 8 threads, ..." or "CUDA device 0: NVIDIA H200, sm_90"; "" of a default one.
  std::string describe() const { return info().description; }
  std::int32_t device() const noexcept { return info().device; } ///< -1 for the CPU.
  std::int32_t arch() const noexcept { return info().arch; }     ///< 90 of sm_90; CPU: 0.
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  annudf_backend *c() const noexcept { return handle_.get(); }

  /// Memory that may be used on `stream` from now on.
  device_buffer allocate(std::uint64_t bytes, cuda_stream stream = {}) const {
    annudf_device_buffer *made = nullptr;
    detail::check(annudf_device_allocate(c(), bytes, stream.c(), &made));
    return device_buffer(made, bytes);
  }
  template <class T>
  device_matrix<T> allocate(std::int64_t rows, std::int64_t cols, cuda_stream stream = {}) const {
    const auto bytes =
        std::uint64_t(rows) * std::uint64_t(cols / detail::coordinates<T>) * sizeof(T);
    return {allocate(bytes, stream), rows, cols, stream, device()};
  }
  /// Enqueues a copy between any two of host and device memory, by address. Pageable host memory
  /// may be used again at once.
  void copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes,
            cuda_stream stream = {}) const {
    detail::check(annudf_device_copy(c(), destination, source, bytes, stream.c()));
  }
  /// A copy of a matrix in memory of this device.
  template <class T>
  device_matrix<std::remove_const_t<T>> to_device(matrix_view<T> from,
                                                  cuda_stream stream = {}) const {
    auto made = allocate<std::remove_const_t<T>>(from.rows(), from.cols(), stream);
    copy(reinterpret_cast<std::uintptr_t>(made.data()),
         reinterpret_cast<std::uintptr_t>(from.data()), from.size() * sizeof(T), stream);
    return made;
  }
  /// A copy of a device's matrix, once its stream has got there.
  template <class T> matrix<std::remove_const_t<T>> to_host(device_matrix_view<T> from) const {
    static_assert(detail::coordinates<T> == 1, "of packed bits copy the bytes");
    matrix<std::remove_const_t<T>> made(from.rows(), from.cols());
    copy(reinterpret_cast<std::uintptr_t>(made.data()),
         reinterpret_cast<std::uintptr_t>(from.data()), from.size() * sizeof(T), from.stream());
    synchronize(from.stream());
    return made;
  }
  template <class T> matrix<T> to_host(const device_matrix<T> &from) const {
    return to_host(from.view());
  }
  /// Waits until all work enqueued on `stream` is done.
  void synchronize(cuda_stream stream = {}) const {
    detail::check(annudf_device_synchronize(c(), stream.c()));
  }

private:
  explicit backend(annudf_backend *handle) : handle_(handle, &annudf_backend_destroy) {}
  const annudf_backend_info &info() const noexcept {
    static constexpr annudf_backend_info none = {sizeof none, "", -1, 0};
    const annudf_backend_info *of = annudf_backend_get(c());
    return of ? *of : none;
  }
  std::shared_ptr<annudf_backend> handle_;
};

namespace detail {

/// What code is compiled for: the host, or an architecture of GPUs as a number.
inline constexpr std::int32_t host_target = 0;

/// The newest known architecture that the backend's device runs.
inline std::int32_t target_of(const backend &on) {
  const std::int32_t have = on.arch();
  if (have == 0)
    return host_target;
  std::array<std::int32_t, 64> known = {};
  const std::size_t count =
      std::min(known.size(), annudf_supported_archs(known.data(), known.size()));
  if (count == 0) // No compiler, so that what is loaded links or not.
    return have;
  std::int32_t best = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (known[i] <= have)
      best = std::max(best, known[i]);
  if (best == 0)
    throw error(errc::environment,
                "CUDA device " + std::to_string(on.device()) + " is sm_" + std::to_string(have) +
                    "; the oldest supported architecture is sm_" + std::to_string(known[0]) +
                    ", so search on the CPU or on a newer GPU");
  return best;
}

} // namespace detail

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_BACKEND_HPP
