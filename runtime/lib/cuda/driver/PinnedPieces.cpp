//===- PinnedPieces.cpp - The way from host memory to a device ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PinnedPieces.h"

#include "annudf/runtime/support/Parallel.h"
#include "vectors/Elements.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace annudf::runtime::cuda {

OwnStream::OwnStream(std::shared_ptr<const Context> context) : context_(std::move(context)) {
  ContextScope scope(*context_);
  ANNUDF_CUDA(cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
}

OwnStream::~OwnStream() {
  const Driver &driver = Driver::get();
  if (driver.cuCtxPushCurrent(context_->handle()) != CUDA_SUCCESS)
    return;
  (void)driver.cuStreamDestroy(stream_);
  CUcontext popped;
  (void)driver.cuCtxPopCurrent(&popped);
}

PinnedPieces::~PinnedPieces() {
  const Driver &driver = Driver::get();
  if (driver.cuCtxPushCurrent(context_->handle()) != CUDA_SUCCESS)
    return;
  for (Piece &piece : pieces_)
    if (piece.read)
      (void)driver.cuEventDestroy(piece.read);
  CUcontext popped;
  (void)driver.cuCtxPopCurrent(&popped);
}

uint64_t PinnedPieces::atOnce(Units units) const {
  return std::clamp<uint64_t>(std::min(most_ / units.bytes, units.most), 1,
                              std::max<uint64_t>(units.count, 1));
}

void PinnedPieces::grow(uint64_t bytes) {
  for (Piece &piece : pieces_) {
    if (!piece.read)
      ANNUDF_CUDA(cuEventCreate, &piece.read, CU_EVENT_DISABLE_TIMING);
    if (piece.memory && piece.memory->size() >= bytes)
      continue;
    piece.memory = nullptr; // Not both at once.
    piece.memory = std::make_unique<Buffer>(
        context_, std::max(bytes, std::min(std::bit_ceil(bytes), most_)), Buffer::Kind::Pinned);
  }
}

void PinnedPieces::send(Units units, CUstream stream, const Fill &fill, const Enqueue &enqueue,
                        const Progress &progress, const char *stage) {
  std::lock_guard<std::mutex> lock(mutex_);
  ContextScope scope(*context_);
  try {
    sendAll(units, stream, fill, enqueue, progress, stage);
  } catch (...) {
    // The next to have the pieces, and who frees what is written, must find nothing under way.
    (void)Driver::get().cuStreamSynchronize(stream);
    throw;
  }
}

void PinnedPieces::sendAll(Units units, CUstream stream, const Fill &fill, const Enqueue &enqueue,
                           const Progress &progress, const char *stage) {
  if (units.count == 0)
    return;
  const uint64_t atOnce = this->atOnce(units);
  grow(atOnce * units.bytes);
  // Enough tasks for every thread, each worth its start.
  constexpr uint64_t kTaskBytes = uint64_t(1) << 19;
  constexpr int kMostThreads = 16; // More add nothing: memory is busy.
  const int threads = std::min(resolveThreads(0), kMostThreads);
  const uint64_t ofTask = std::max<uint64_t>(1, kTaskBytes / units.bytes);
  size_t turn = 0;
  for (uint64_t first = 0; first < units.count; first += atOnce, turn ^= 1) {
    report(progress, stage, double(first) / double(units.count));
    const uint64_t count = std::min(atOnce, units.count - first);
    Piece &piece = pieces_[turn];
    if (first >= 2 * atOnce)
      ANNUDF_CUDA(cuEventSynchronize, piece.read);
    std::byte *to = piece.memory->host();
    parallelFor(threads, int64_t((count + ofTask - 1) / ofTask), [&](int64_t task, int) {
      const uint64_t begin = uint64_t(task) * ofTask, end = std::min(begin + ofTask, count);
      fill(first + begin, first + end, to + begin * units.bytes);
    });
    enqueue(first, count, to);
    ANNUDF_CUDA(cuEventRecord, piece.read, stream);
  }
  ANNUDF_CUDA(cuStreamSynchronize, stream);
}

void sendRows(PinnedPieces &pieces, const MatrixView &rows, uint64_t to, CUstream stream,
              const Progress &progress, const char *stage) {
  const auto *data = static_cast<const std::byte *>(rows.data);
  const auto bytes = uint64_t(bytesOfRow(rows.element, rows.dims));
  pieces.send(
      {uint64_t(rows.rows), bytes}, stream,
      [&](uint64_t first, uint64_t last, std::byte *out) {
        std::memcpy(out, data + first * bytes, (last - first) * bytes);
      },
      [&](uint64_t first, uint64_t count, const std::byte *from) {
        ANNUDF_CUDA(cuMemcpyHtoDAsync, to + first * bytes, from, count * bytes, stream);
      },
      progress, stage);
}

} // namespace annudf::runtime::cuda
