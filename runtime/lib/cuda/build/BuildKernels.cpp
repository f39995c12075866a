//===- BuildKernels.cpp - What a build does on a device -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildKernels.h"

#include "annudf/Artifact/Artifact.h"
#include "cuda/link/Embedded.h"
#include "vectors/Missing.h"

#include <limits>

namespace annudf::runtime::cuda {

BuildKernels::BuildKernels(std::shared_ptr<const Context> context)
    : module(std::move(context), buildModule().data()),
      finite(module.function("annudf_build_finite")),
      convert(module.function("annudf_build_convert")),
      normalise(module.function("annudf_build_normalise")),
      biases(module.function("annudf_build_biases")),
      assign(module.function("annudf_build_assign")), count(module.function("annudf_build_count")),
      prefix(module.function("annudf_build_prefix")),
      scatter(module.function("annudf_build_scatter")),
      bounds(module.function("annudf_build_bounds")), sums(module.function("annudf_build_sums")),
      means(module.function("annudf_build_means")), pack(module.function("annudf_build_pack")),
      places(module.function("annudf_build_places")), place(module.function("annudf_build_place")),
      append(module.function("annudf_build_append")),
      ungroup(module.function("annudf_build_ungroup")), flag(module.function("annudf_remove_flag")),
      mark(module.function("annudf_remove_mark")),
      markPassing(module.function("annudf_passing_mark")),
      sizes(module.function("annudf_remove_sizes")), move(module.function("annudf_remove_move")),
      present(module.function("annudf_build_present")),
      listScales(module.function("annudf_list_scales")),
      listMeans(module.function("annudf_list_means")),
      candidates(module.function("annudf_build_candidates")),
      fewCandidates(module.function("annudf_build_few_candidates")),
      gather(module.function("annudf_build_gather")) {}

std::vector<float> meansOfPresent(const std::shared_ptr<const Context> &context,
                                  const BuildKernels &kernels, const MatrixView &rows,
                                  CUstream stream) {
  const PresentValues::Pieces pieces = PresentValues::piecesOf(rows.rows);
  PresentValues found(pieces.count, rows.dims);
  const uint64_t values = found.sums.size();
  const Buffer sums(context, values * sizeof(double)), counts(context, values * sizeof(int64_t));
  const uint64_t slices = cuda::pieces(uint64_t(rows.dims), ANNUDF_BUILD_MEAN_DIMS);
  StreamLauncher(*context, stream)
      .first(kernels.present, {uint64_t(pieces.count) * slices}, ANNUDF_BUILD_MEAN_DIMS, 0,
             reinterpret_cast<uint64_t>(rows.data), uint64_t(rows.rows), uint64_t(pieces.rows),
             uint32_t(rows.dims), int(rows.element), sums.device(), counts.device());
  ANNUDF_CUDA(cuMemcpyDtoHAsync, found.sums.data(), sums.device(), sums.size(), stream);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, found.counts.data(), counts.device(), counts.size(), stream);
  ANNUDF_CUDA(cuStreamSynchronize, stream);
  return found.means();
}

std::optional<NotFinite> firstNotFinite(const std::shared_ptr<const Context> &context,
                                        const BuildKernels &kernels, const MatrixView &rows,
                                        NaNs nans, CUstream stream) {
  if (kindOf(rows.element) != NumberKind::Float)
    return std::nullopt;
  const Buffer first(context, 8);
  ANNUDF_CUDA(cuMemsetD8Async, first.device(), 0xFF, 8, stream);
  const uint64_t coordinates = uint64_t(rows.rows) * uint64_t(rows.dims);
  StreamLauncher(*context, stream)
      .first(kernels.finite, {blocksFor(coordinates)}, 256, 0,
             reinterpret_cast<uint64_t>(rows.data), coordinates, int(rows.element),
             int(nans == NaNs::Missing), first.device());
  uint64_t found = 0;
  ANNUDF_CUDA(cuMemcpyDtoHAsync, &found, first.device(), 8, stream);
  ANNUDF_CUDA(cuStreamSynchronize, stream);
  if (found == UINT64_MAX)
    return std::nullopt;
  NotFinite fault = {int64_t(found / uint64_t(rows.dims)),
                     std::vector<std::byte>(size_t(bytesOfRow(rows.element, rows.dims)))};
  ANNUDF_CUDA(cuMemcpyDtoH, fault.bytes.data(),
              reinterpret_cast<uint64_t>(rows.data) + uint64_t(fault.row) * fault.bytes.size(),
              fault.bytes.size());
  return fault;
}

const uint32_t *SortedRows::sort() {
  uint64_t from = keys_.device(), to = otherKeys_.device(), order = 0, nextOrder = order_.device(),
           spare = otherOrder_.device();
  const uint64_t blocks = pieces(rows_, ANNUDF_BUILD_SORT_ITEMS);
  for (uint32_t shift = 0; shift < uint32_t(passes_) * 8; shift += 8) {
    launcher_.first(kernels_.count, {blocks}, 256, 0, from, rows_, shift, counts_.device());
    launcher_.first(kernels_.prefix, {1}, 1024, 0, counts_.device(), uint64_t(256 * blocks));
    launcher_.first(kernels_.scatter, {blocks}, 256, 0, from, order, rows_, shift, counts_.device(),
                    to, nextOrder);
    std::swap(from, to);
    order = nextOrder, std::swap(nextOrder, spare);
  }
  launcher_.first(kernels_.bounds, {blocksFor(uint64_t(rows_) + 1)}, 256, 0, from, rows_, lists_,
                  starts_.device());
  ANNUDF_CUDA(cuMemcpyDtoHAsync, pinned_.host(), starts_.device(), starts_.size(), stream_);
  ANNUDF_CUDA(cuStreamSynchronize, stream_);
  return reinterpret_cast<const uint32_t *>(pinned_.host());
}

uint64_t SortedRows::places() {
  if (!passes_)
    return 0;
  // The sort needs one of the two no more.
  const uint64_t to = (passes_ % 2 ? otherOrder_ : order_).device();
  launcher_.first(kernels_.places, {blocksFor(rows_)}, 256, 0, order(), rows_, to);
  return to;
}

Assigner::Assigner(const std::shared_ptr<const Context> &context, const BuildKernels &kernels,
                   const BuildShape &shape, bool l2, CUstream stream)
    : kernels_(kernels), launcher_(*context, stream), lists_(shape.lists),
      stride_(uint32_t(shape.stride())), padded_(uint32_t(shape.padded())), l2_(l2),
      stream_(stream), centers_(context, uint64_t(padded_) * stride_ * 4),
      biases_(context, uint64_t(padded_) * 4), origin_(context, uint64_t(stride_) * 4),
      fill_(context, uint64_t(stride_) * 4) {}

void Assigner::load(const CoarseRanker &ranker) {
  std::vector<float> factors(uint64_t(padded_) * stride_), origin(stride_),
      biases(padded_, std::numeric_limits<float>::infinity());
  ranker.copyFactors(factors.data(), stride_);
  std::copy_n(ranker.biases(), lists_, biases.begin());
  std::copy(ranker.origin().begin(), ranker.origin().end(), origin.begin());
  // Pageable memory has been read when the call returns.
  ANNUDF_CUDA(cuMemcpyHtoDAsync, centers_.device(), factors.data(), centers_.size(), stream_);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, origin_.device(), origin.data(), origin_.size(), stream_);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, biases_.device(), biases.data(), biases_.size(), stream_);
  loaded_ = true;
}

void Assigner::setFill(const std::vector<float> &fill) {
  fills_ = !fill.empty();
  if (fills_)
    ANNUDF_CUDA(cuMemcpyHtoDAsync, fill_.device(), fill.data(), fill.size() * 4, stream_);
}

void Assigner::convert(uint64_t from, uint64_t chosen, uint64_t first, uint64_t count, uint64_t to,
                       annudf_element element, uint32_t dims, bool lessOrigin) {
  launcher_.first(kernels_.convert, {blocksFor(count * (stride_ / 4))}, 256, 0, from, chosen, first,
                  count, dims, stride_, int(element), lessOrigin ? origin_.device() : uint64_t(0),
                  fills_ ? fill_.device() : uint64_t(0), to);
}

void Assigner::normalise(uint64_t rows, uint64_t count) {
  launcher_.first(kernels_.normalise, {blocksFor(count * 32)}, 256, 0, rows, count, stride_);
}

void Assigner::assign(uint64_t rows, uint64_t count, uint64_t lists) {
  if (!loaded_)
    launcher_.first(kernels_.biases, {blocksFor(uint64_t(padded_) * 32)}, 256, 0, centers_.device(),
                    lists_, padded_, stride_, int(l2_), biases_.device());
  launcher_.first(kernels_.assign, {pieces(count, ANNUDF_BUILD_TILE)}, 256, 0, rows, count,
                  centers_.device(), biases_.device(), padded_, stride_,
                  loaded_ ? 1.0f
                  : l2_   ? -2.0f
                          : -1.0f,
                  lists);
}

} // namespace annudf::runtime::cuda
