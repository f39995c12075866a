//===- CandidateStore.cpp - Candidates of queries on a device -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CandidateStore.h"

#include "cuda/driver/CallerMemory.h"
#include "vectors/Elements.h"

#include <algorithm>
#include <bit>

namespace annudf::runtime::cuda {

std::shared_ptr<const Buffer> CandidateMemory::take(uint64_t bytes) {
  std::unique_ptr<Buffer> buffer;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    buffer = std::move(kept_);
  }
  if (!buffer || buffer->size() < bytes) {
    buffer.reset(); // First, so that both need not fit.
    buffer = std::make_unique<Buffer>(context_, bytes, Buffer::Kind::Device, "candidates");
  }
  return {buffer.release(), [self = weak_from_this()](const Buffer *done) {
            std::unique_ptr<Buffer> owned(const_cast<Buffer *>(done));
            if (const auto memory = self.lock())
              memory->giveBack(std::move(owned));
          }};
}

void CandidateMemory::giveBack(std::unique_ptr<Buffer> buffer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (buffer->size() <= kMostKept && (!kept_ || kept_->size() < buffer->size()))
    kept_.swap(buffer);
}

static uint64_t addressOf(const MatrixView &rows) { return reinterpret_cast<uint64_t>(rows.data); }

/// How the rows of the candidates lie.
static uint32_t layoutOf(const CandidateCall &call) {
  if (call.of.index)
    return ANNUDF_ROWS_BY_NUMBER;
  const bool inPlace = alignmentOfRows(addressOf(call.rows), uint64_t(rowBytes(call.rows))) == 16;
  return inPlace ? ANNUDF_ROWS_BY_ID : ANNUDF_ROWS_BY_SLOT;
}

/// Bytes of a place of a list in memory of the store.
static uint64_t bytesOfNumber(uint32_t layout) {
  return layout == ANNUDF_ROWS_BY_NUMBER ? sizeof(uint32_t) : 0;
}
static uint64_t bytesOfRowCopy(uint32_t layout, const MatrixView &rows) {
  return layout == ANNUDF_ROWS_BY_SLOT ? uint64_t(wordsPerRow(rows.element, rows.dims)) * 4 : 0;
}

int64_t bytesOfCandidatesThere(const CandidateCall &call) {
  const int64_t columns = call.candidates.columns,
                places = groupsOf(std::min(columns, call.rows.rows)) * kGroupRows;
  const uint32_t layout = layoutOf(call);
  return places *
             int64_t(sizeof(int64_t) + bytesOfNumber(layout) + bytesOfRowCopy(layout, call.rows)) +
         columns * int64_t(sizeof(int64_t));
}

SlotsThere::SlotsThere(std::shared_ptr<const SlotsOfIds> slots,
                       const std::shared_ptr<const Context> &context, CUstream stream)
    : slots_(std::move(slots)), ids_(context, slots_->ids().size_bytes()),
      numbers_(context, slots_->slots().size_bytes()) {
  if (!slots_->ids().empty())
    ANNUDF_CUDA(cuMemcpyHtoDAsync, ids_.device(), slots_->ids().data(), ids_.size(), stream);
  if (!slots_->slots().empty())
    ANNUDF_CUDA(cuMemcpyHtoDAsync, numbers_.device(), slots_->slots().data(), numbers_.size(),
                stream);
  ANNUDF_CUDA(cuStreamSynchronize, stream);
}

annudf_id_slots SlotsThere::args() const {
  return {slots_->ids().empty() ? 0 : ids_.device(),
          slots_->slots().empty() ? 0 : numbers_.device(), slots_->first(), slots_->count()};
}

namespace {

/// Lists whose rows are on a device, each of as many as a query has candidates at most.
class ListsOfCandidates final : public ListsElsewhere {
public:
  ListsOfCandidates(int device, int64_t lists, int64_t most)
      : device_(device), sizes_(static_cast<size_t>(lists), static_cast<uint32_t>(most)) {}
  int device() const override { return device_; }
  std::span<const uint32_t> sizes() const override { return sizes_; }

protected:
  std::vector<List> fetch() override {
    throw Error(ErrorKind::Environment,
                "candidates on CUDA device " + std::to_string(device_) +
                    " were let go, as memory there is short; refine fewer queries at once");
  }

private:
  const int device_;
  const std::vector<uint32_t> sizes_;
};

class StoreOfCandidates final : public RowStore {
public:
  StoreOfCandidates(int device, const CandidateCall &call, int64_t most) {
    element_ = call.rows.element, dims_ = call.rows.dims;
    source_ = call.of.index, largestId_ = source_ ? source_->largestId() : call.rows.rows - 1;
    missing_ = call.missingValues && kindOf(element_) == NumberKind::Float;
    holdsCandidates_ = true;
    listsNeverHere_ = static_cast<uint32_t>(call.count); // Many are made for each call.
    size_ = call.count * std::max(most, call.candidates.columns);
    elsewhere_ = std::make_shared<ListsOfCandidates>(device, call.count, most);
    changed(std::make_shared<IndexAttachments>());
  }
};

[[noreturn]] void refuse(const CandidateCall &call, int64_t query, int64_t column, int64_t id) {
  if (call.of.index)
    refuseUnknownId(query, column, id);
  refuseCandidate(query, column, id, call.rows.rows);
}

/// The rows of a query's candidates, each once.
/// \param query  of all of them.
std::vector<int64_t> rowsOf(const CandidateCall &call, int64_t query,
                            std::span<const int64_t> candidates) {
  std::vector<int64_t> rows;
  for (size_t c = 0; c < candidates.size(); ++c) {
    const int64_t id = candidates[c];
    if (id == -1)
      continue;
    const bool isRow = call.of.index ? call.of.slots->here().slotOf(id) != SlotsOfIds::kNone
                                     : id >= 0 && id < call.rows.rows;
    if (!isRow)
      refuse(call, query, int64_t(c), id);
    rows.push_back(id);
  }
  return distinctCandidates(rows);
}

/// The lists of candidates that a block's table is too small for, made on the host.
void uploadLists(const CandidateCall &call, const CandidateShape &shape) {
  const size_t columns = size_t(call.candidates.columns), places = shape.groups * kGroupRows;
  std::vector<int64_t> copied;
  const int64_t *given = call.candidates.ids + call.first * call.candidates.columns;
  if (call.onDevice) {
    copied.resize(size_t(call.count) * columns);
    ANNUDF_CUDA(cuMemcpyDtoHAsync, copied.data(), reinterpret_cast<uint64_t>(given),
                copied.size() * sizeof(int64_t), call.stream);
    ANNUDF_CUDA(cuStreamSynchronize, call.stream);
    given = copied.data();
  }
  std::vector<int64_t> ids(size_t(call.count) * places, -1);
  std::vector<uint32_t> starts, sizes, numbers;
  if (call.of.index)
    numbers.resize(ids.size());
  for (size_t q = 0; q < size_t(call.count); ++q) {
    const std::vector<int64_t> distinct =
        rowsOf(call, call.first + int64_t(q), {given + q * columns, columns});
    std::ranges::copy(distinct, ids.begin() + std::ptrdiff_t(q * places));
    for (size_t i = 0; call.of.index && i < distinct.size(); ++i)
      numbers[q * places + i] = call.of.slots->here().slotOf(distinct[i]);
    starts.push_back(uint32_t(q * shape.groups)), sizes.push_back(uint32_t(distinct.size()));
  }
  starts.push_back(uint32_t(size_t(call.count) * shape.groups));
  // Pageable memory has been read when the call returns.
  ANNUDF_CUDA(cuMemcpyHtoDAsync, shape.ids, ids.data(), ids.size() * sizeof(int64_t), call.stream);
  if (call.of.index)
    ANNUDF_CUDA(cuMemcpyHtoDAsync, shape.numbers, numbers.data(), numbers.size() * 4, call.stream);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, shape.listGroup, starts.data(), starts.size() * 4, call.stream);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, shape.listSize, sizes.data(), sizes.size() * 4, call.stream);
}

/// The same on the device.
/// \param wrong  where it may write a number. \param copy  where candidates of the host may go.
void makeLists(const Context &context, const BuildKernels &kernels, const CandidateCall &call,
               const CandidateShape &shape, uint64_t wrong, uint64_t copy) {
  const auto columns = static_cast<uint32_t>(call.candidates.columns);
  const int64_t *const given = call.candidates.ids + call.first * call.candidates.columns;
  uint64_t from = reinterpret_cast<uint64_t>(given);
  if (!call.onDevice) {
    ANNUDF_CUDA(cuMemcpyHtoDAsync, copy, given, uint64_t(call.count) * columns * sizeof(int64_t),
                call.stream);
    from = copy;
  }
  ANNUDF_CUDA(cuMemsetD8Async, wrong, 0xFF, sizeof(uint64_t), call.stream);
  const uint32_t slots = std::bit_ceil(2 * columns), groups = uint32_t(shape.groups);
  const annudf_id_slots rows =
      call.of.index ? call.of.slots->args() : annudf_id_slots{0, 0, 0, uint64_t(call.rows.rows)};
  StreamLauncher(context, call.stream)
      .first(columns <= ANNUDF_BUILD_FEW_CANDIDATES ? kernels.fewCandidates : kernels.candidates,
             {uint64_t(call.count)}, ANNUDF_BUILD_CANDIDATE_THREADS, 0, from, columns, rows, groups,
             slots, shape.ids, shape.numbers, shape.listGroup, shape.listSize, wrong);
}

/// Waits for it. \throws as makeCandidates().
/// \param copy  of makeLists().
void checkLists(const CandidateCall &call, uint64_t wrong, uint64_t copy) {
  uint64_t at = 0;
  ANNUDF_CUDA(cuMemcpyDtoHAsync, &at, wrong, sizeof at, call.stream);
  ANNUDF_CUDA(cuStreamSynchronize, call.stream);
  if (at == ~uint64_t(0))
    return;
  const auto columns = static_cast<uint64_t>(call.candidates.columns);
  const uint64_t from = call.onDevice ? reinterpret_cast<uint64_t>(call.candidates.ids) +
                                            uint64_t(call.first) * columns * sizeof(int64_t)
                                      : copy;
  int64_t id = 0;
  ANNUDF_CUDA(cuMemcpyDtoHAsync, &id, from + at * sizeof id, sizeof id, call.stream);
  ANNUDF_CUDA(cuStreamSynchronize, call.stream);
  refuse(call, call.first + int64_t(at / columns), int64_t(at % columns), id);
}

} // namespace

MadeCandidates makeCandidates(const std::shared_ptr<const Context> &context,
                              const BuildKernels &kernels, CandidateMemory &memory,
                              const CandidateCall &call) {
  const int64_t columns = call.candidates.columns, most = std::min(columns, call.rows.rows);
  const uint64_t lists = uint64_t(call.count), groups = uint64_t(groupsOf(most));
  const uint32_t layout = layoutOf(call);
  const uint32_t chunks = uint32_t(wordsPerRow(call.rows.element, call.rows.dims)) / 4;
  if (lists * groups > std::numeric_limits<uint32_t>::max() / kGroupRows)
    throw Error(ErrorKind::Usage, "candidates: " + std::to_string(lists) + " x " +
                                      std::to_string(columns) +
                                      " are more than a search can number; refine fewer at once");
  Places places;
  const uint64_t slots = lists * groups * kGroupRows, ids = places.add(slots * sizeof(int64_t)),
                 starts = places.add((lists + 1) * 4), sizes = places.add(lists * 4),
                 wrong = places.add(sizeof(uint64_t)),
                 copy = places.add(call.onDevice ? 0 : lists * uint64_t(columns) * 8),
                 numbers = places.add(slots * bytesOfNumber(layout)),
                 rows = places.add(slots * bytesOfRowCopy(layout, call.rows));
  const std::shared_ptr<const Buffer> buffer = memory.take(places.used());
  const uint64_t base = buffer->device(), data = addressOf(call.rows);
  const bool isCopied = layout == ANNUDF_ROWS_BY_SLOT;
  const CandidateShape shape = {uint32_t(lists),
                                groups,
                                uint32_t(call.rows.dims),
                                chunks,
                                call.of.index ? call.of.copy->args().rows
                                : isCopied    ? base + rows
                                              : data,
                                layout,
                                base + ids,
                                call.of.index ? base + numbers : 0,
                                base + starts,
                                base + sizes};
  const bool there = columns <= ANNUDF_BUILD_CANDIDATES;
  if (there)
    makeLists(*context, kernels, call, shape, base + wrong, base + copy);
  else
    uploadLists(call, shape);
  if (isCopied) {
    const auto bytes = static_cast<uint32_t>(rowBytes(call.rows));
    StreamLauncher(*context, call.stream)
        .first(kernels.gather, {blocksFor(slots * chunks)}, 256, 0, data, bytes,
               alignmentOfRows(data, bytes), shape.ids, slots, chunks, shape.rows);
  }
  std::vector<std::shared_ptr<const void>> held = {buffer, call.copy, call.of.copy};
  MadeCandidates made = {std::make_unique<StoreOfCandidates>(context->device(), call, most),
                         std::make_shared<DeviceIndex>(shape, std::move(held)),
                         {}};
  if (there)
    made.check = [&call, wrongAt = base + wrong, copyAt = base + copy] {
      checkLists(call, wrongAt, copyAt);
    };
  else
    made.check = [stream = call.stream] { ANNUDF_CUDA(cuStreamSynchronize, stream); };
  return made;
}

} // namespace annudf::runtime::cuda
