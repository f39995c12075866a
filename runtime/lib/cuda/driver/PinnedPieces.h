//===- PinnedPieces.h - The way from host memory to a device ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy from pageable memory runs at the speed of one core that stages it. Here threads fill one
// of two pinned pieces while the device reads the other.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_DRIVER_PINNEDPIECES_H
#define ANNUDF_RUNTIME_LIB_CUDA_DRIVER_PINNEDPIECES_H

#include "Driver.h"

#include "annudf/runtime/support/Progress.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <array>
#include <functional>
#include <memory>
#include <mutex>

namespace annudf::runtime::cuda {

/// A stream of one's own, which waits for no other.
class OwnStream {
public:
  explicit OwnStream(std::shared_ptr<const Context> context);
  ~OwnStream(); ///< What is on it is done, or goes on without it.
  OwnStream(const OwnStream &) = delete;
  OwnStream &operator=(const OwnStream &) = delete;
  CUstream get() const { return stream_; }

private:
  const std::shared_ptr<const Context> context_;
  CUstream stream_ = nullptr;
};

/// Two pieces, pinned by the first use and kept for the next, no larger than what was copied asks
/// for. Thread-safe: one copy at a time, as there is one bus.
class PinnedPieces {
public:
  /// Pinning takes longer than copying does: larger pieces are no faster.
  static constexpr uint64_t kMostBytes = uint64_t(16) << 20;

  /// \param most  bytes of a piece, though never less than one unit.
  explicit PinnedPieces(std::shared_ptr<const Context> context, uint64_t most = kMostBytes)
      : context_(std::move(context)), most_(most) {}
  ~PinnedPieces();
  PinnedPieces(const PinnedPieces &) = delete;
  PinnedPieces &operator=(const PinnedPieces &) = delete;

  /// What is copied: `count` units of so many bytes.
  struct Units {
    uint64_t count, bytes;
    uint64_t most = ~uint64_t(0); ///< That go at once.
  };
  /// Writes units [first, last) to `to`; called by several threads.
  using Fill = std::function<void(uint64_t first, uint64_t last, std::byte *to)>;
  /// Enqueues what reads a piece of `count` units at `from`.
  using Enqueue = std::function<void(uint64_t first, uint64_t count, const std::byte *from)>;

  /// Units that are enqueued at once.
  uint64_t atOnce(Units units) const;
  /// All units, piece by piece. Waits for the stream, also where it throws.
  /// \param stage  that `progress` is told of, up to but not with its end.
  void send(Units units, CUstream stream, const Fill &fill, const Enqueue &enqueue,
            const Progress &progress, const char *stage);

private:
  struct Piece {
    std::unique_ptr<Buffer> memory;
    CUevent read = nullptr; ///< When the device has read it.
  };
  void grow(uint64_t bytes);
  void sendAll(Units units, CUstream stream, const Fill &fill, const Enqueue &enqueue,
               const Progress &progress, const char *stage);

  const std::shared_ptr<const Context> context_;
  const uint64_t most_;
  std::mutex mutex_;
  std::array<Piece, 2> pieces_;
};

/// Copies all rows of a matrix in host memory.
/// \param to  device address.
void sendRows(PinnedPieces &pieces, const MatrixView &rows, uint64_t to, CUstream stream,
              const Progress &progress, const char *stage);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_DRIVER_PINNEDPIECES_H
