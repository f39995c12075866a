//===- HalfRows.cpp - Rows in half precision, and forms bound to them -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalfRows.h"

#include "DeviceCopies.h"
#include "cuda/link/Embedded.h"

#include <algorithm>

namespace annudf::runtime::cuda {

namespace {

/// There is none of no bytes.
std::unique_ptr<Buffer> bufferOf(const std::shared_ptr<const Context> &context, size_t bytes) {
  return std::make_unique<Buffer>(context, std::max<size_t>(bytes, 16));
}

std::unique_ptr<Buffer> copyOf(const std::shared_ptr<const Context> &context, const void *values,
                               size_t bytes, CUstream stream) {
  auto buffer = bufferOf(context, bytes);
  if (bytes) // Pageable memory has been read when the call returns.
    ANNUDF_CUDA(cuMemcpyHtoDAsync, buffer->device(), values, bytes, stream);
  return buffer;
}

constexpr unsigned kTileThreads = ANNUDF_MATRIX_ROWS;

} // namespace

ProductKernels::Kind::Kind(const Context &context, const Module &module, const std::string &prefix)
    : terms(module.function((prefix + "terms").c_str())),
      passing(module.function((prefix + "passing").c_str())),
      queries(module.function((prefix + "queries").c_str())),
      byWarps_{module.function((prefix + "scan_mma").c_str()),
               module.function((prefix + "scan_mma_long").c_str())} {
  if (context.sm() == kMatrixSm) {
    byWarpgroups_[0] = module.function((prefix + "scan").c_str());
    byWarpgroups_[1] = module.function((prefix + "scan_long").c_str());
  }
  ContextScope scope(context);
  for (CUfunction function : {byWarpgroups_[0], byWarpgroups_[1], byWarps_[0], byWarps_[1]})
    if (function)
      ANNUDF_CUDA(cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  context.mostSharedBytes());
}

ProductKernels::Kind ProductKernels::Kind::ofEachQuery(const Module &module) const {
  Kind own = *this;
  own.terms = module.function("annudf_matrix_own_terms");
  own.queries = module.function("annudf_matrix_own_queries");
  return own;
}

CUfunction ProductKernels::Kind::scan(bool byWarps, uint32_t panels) const {
  return (byWarps ? byWarps_ : byWarpgroups_)[panels > ANNUDF_MATRIX_RESIDENT_PANELS];
}

ProductKernels::ProductKernels(const std::shared_ptr<const Context> &context)
    : module(context, matrixModule().data()), largest(module.function("annudf_matrix_largest")),
      plain{module.function("annudf_matrix_scale"), module.function("annudf_matrix_rows")},
      squares{module.function("annudf_matrix_own_scale"),
              module.function("annudf_matrix_own_rows")},
      form(*context, module, "annudf_matrix_"), ratio(*context, module, "annudf_matrix_ratio_"),
      own(form.ofEachQuery(module)) {
  const ContextScope scope(*context);
  ANNUDF_CUDA(cuFuncSetAttribute, own.queries, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              context->mostSharedBytes() - ANNUDF_MATRIX_OWN_STATIC_BYTES);
}

BoundRows::BoundRows(const BoundNumbers &numbers, const annudf_matrix_args &args, uint64_t tiles,
                     const std::shared_ptr<const Context> &context,
                     std::shared_ptr<const ProductKernels> kernels)
    : kernels_(std::move(kernels)), args_(args), tiles_(tiles), sign_(numbers.sign),
      isRatio_(numbers.isRatio), isOwn_(numbers.isOwn), product_(numbers.product),
      zeros_(numbers.zeros) {
  const ContextScope scope(*context);
  const OwnStream stream(context);
  if (isOwn_) {
    dims_ = copyOf(context, numbers.nodes.data(), numbers.nodes.size() * sizeof numbers.nodes[0],
                   stream.get());
    args_.own = numbers.own;
    args_.own.nodes = dims_->device();
    ANNUDF_CUDA(cuStreamSynchronize, stream.get());
    return;
  }
  dims_ = copyOf(context, numbers.dims.data(), numbers.dims.size() * sizeof numbers.dims[0],
                 stream.get());
  terms_ = bufferOf(context, tiles * ANNUDF_MATRIX_TERMS * sizeof(float));
  args_.form = numbers.form, args_.ratio = numbers.ratio;
  (isRatio_ ? args_.ratio.dims : args_.form.dims) = dims_->device();
  args_.terms = terms_->device();
  if (tiles)
    StreamLauncher(*context, stream.get())
        .first(this->kernels().terms, {tiles}, kTileThreads, 0, args_);
  ANNUDF_CUDA(cuStreamSynchronize, stream.get());
}

unsigned BoundRows::queryThreads() const {
  return isOwn_ ? ANNUDF_MATRIX_OWN_THREADS(args_.own.nNodes) : 128;
}

unsigned BoundRows::querySharedBytes() const {
  return isOwn_ ? static_cast<unsigned>(
                      ANNUDF_MATRIX_OWN_SHARED_BYTES(args_.own.nNodes, args_.scan.index.dims))
                : 0;
}

HalfRows::HalfRows(const RowStore &index, const DeviceIndex &copy, bool withSquares,
                   const std::shared_ptr<const Context> &context,
                   std::shared_ptr<const ProductKernels> kernels)
    : context_(context), kernels_(std::move(kernels)),
      panels_(static_cast<uint32_t>(
          panelsOf(static_cast<uint64_t>(index.dims()) * (withSquares ? 2 : 1)))),
      element_(index.element()), withSquares_(withSquares) {
  constexpr uint32_t kRows = ANNUDF_MATRIX_ROWS;
  std::vector<uint32_t> start;
  for (uint32_t l = 0; l < index.nLists(); ++l) {
    start.push_back(static_cast<uint32_t>(tiles_));
    tiles_ += (static_cast<uint64_t>(index.listSize(l)) + kRows - 1) / kRows;
  }
  const ContextScope scope(*context);
  const uint64_t bytes = tiles_ * panels_ * ANNUDF_MATRIX_PANEL_BYTES;
  size_t free = 0, all = 0;
  ANNUDF_CUDA(cuMemGetInfo, &free, &all);
  if (bytes > free / 2)
    throw Error(ErrorKind::Environment, "rows in half precision take " + std::to_string(bytes) +
                                            " bytes, more than half of the " +
                                            std::to_string(free) + " that the device has left");
  mean_ = index.meanOfRows();
  std::vector<annudf_matrix_dim> dims(mean_.size());
  for (size_t d = 0; d < dims.size(); ++d)
    dims[d].shift = mean_[d];
  const OwnStream stream(context);
  dims_ = copyOf(context, dims.data(), dims.size() * sizeof dims[0], stream.get());
  tileStart_ = copyOf(context, start.data(), start.size() * sizeof start[0], stream.get());
  listScale_ = bufferOf(context, start.size() * sizeof(float));
  ANNUDF_CUDA(cuMemsetD8Async, listScale_->device(), 0, listScale_->size(), stream.get());
  panelBuffer_ = bufferOf(context, bytes);
  annudf_matrix_args args = this->args(copy.args());
  StreamLauncher to(*context, stream.get());
  makeScales(args, to, stream.get(), index.nLists());
  if (tiles_)
    to.first((withSquares_ ? kernels_->squares : kernels_->plain).rows, {tiles_}, kTileThreads, 0,
             args);
  if (tiles_ && withSquares_)
    to.first(kernels_->own.terms, {tiles_}, kTileThreads, 0, args);
  ANNUDF_CUDA(cuStreamSynchronize, stream.get());
}

void HalfRows::makeScales(annudf_matrix_args &args, StreamLauncher &to, CUstream stream,
                          uint32_t lists) {
  if (tiles_)
    to.first(kernels_->largest, {tiles_}, kTileThreads, 0, args);
  if (withSquares_) {
    std::vector<float> largest(lists);
    ANNUDF_CUDA(cuMemcpyDtoHAsync, largest.data(), listScale_->device(), lists * sizeof(float),
                stream);
    ANNUDF_CUDA(cuStreamSynchronize, stream);
    squares_ = squaresOf(std::move(largest), static_cast<int32_t>(args.scan.index.dims));
    args.own.square = squares_.square, args.own.mostLength = squares_.mostLength;
    terms_ = bufferOf(context_, tiles_ * ANNUDF_MATRIX_TERMS * sizeof(float));
    args.terms = terms_->device();
  }
  to.first((withSquares_ ? kernels_->squares : kernels_->plain).scale, {(lists + 127u) / 128}, 128,
           0, args);
}

annudf_matrix_args HalfRows::args(const annudf_device_index &index) const {
  annudf_matrix_args args = {};
  args.scan.index = index;
  args.panels = panelBuffer_->device();
  args.tileStart = tileStart_->device();
  args.listScale = listScale_->device();
  args.nPanels = panels_;
  args.form.dims = dims_->device(); // Shifts.
  args.terms = terms_ ? terms_->device() : 0;
  args.element = element_;
  return args;
}

std::shared_ptr<const BoundRows> HalfRows::bind(const MetricView &metric,
                                                const BoundCaptures &captures,
                                                const DeviceIndex &copy, std::string &why) const {
  const Manifest &manifest = metric.artifact.manifest;
  std::optional<BoundNumbers> numbers;
  std::string key = metric.digest;
  if (withSquares_) { // Values of captures do not count, what they are made of takes microseconds.
    numbers = this->numbers(manifest, captures, why);
    if (!numbers)
      return nullptr;
    key.append(reinterpret_cast<const char *>(numbers->nodes.data()),
               numbers->nodes.size() * sizeof numbers->nodes[0]);
  } else {
    key += captures.digest();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(recent_.begin(), recent_.end(),
                                  [&](const auto &one) { return one.first == key; });
  if (found != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, found);
    return recent_.front().second;
  }
  if (!numbers)
    numbers = this->numbers(manifest, captures, why);
  if (!numbers)
    return nullptr;
  auto rows =
      std::make_shared<const BoundRows>(*numbers, args(copy.args()), tiles_, context_, kernels_);
  recent_.emplace_front(key, rows);
  if (recent_.size() > kKept)
    recent_.pop_back();
  return rows;
}

std::optional<BoundNumbers>
HalfRows::numbers(const Manifest &manifest, const BoundCaptures &captures, std::string &why) const {
  return withSquares_ ? ownNumbersOf(*manifest.form, captures, static_cast<int32_t>(mean_.size()),
                                     squares_, manifest.order, why)
                      : numbersOf(*manifest.form, captures, mean_, manifest.order, why);
}

bool ProductBounds::wasAsked(const std::string &key) {
  const auto found = std::find(asked_.begin(), asked_.end(), key);
  const bool asked = found != asked_.end();
  if (asked)
    asked_.splice(asked_.begin(), asked_, found);
  else
    asked_.push_front(key);
  if (asked_.size() > kAsked)
    asked_.pop_back();
  return asked;
}

std::shared_ptr<const BoundRows> ProductBounds::get(const RowStore &index, const DeviceIndex &copy,
                                                    const MetricView &metric,
                                                    const BoundCaptures &captures, bool isOwn,
                                                    bool atOnce, Refusal &why) try {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // What is of each query is made of no values.
    const bool asked = wasAsked(std::to_string(index.generation()) + metric.digest +
                                (isOwn ? "" : captures.digest()));
    if (!asked && !atOnce) {
      why = Reason::NotAskedBefore;
      return nullptr;
    }
    if (!kernels_)
      kernels_ = std::make_shared<const ProductKernels>(context_);
  }
  bool made = false;
  const auto half = index.attachments().get<HalfRows>(
      (isOwn ? DeviceCopies::squaresKeyOf : DeviceCopies::halfKeyOf)(context_->device()),
      [&] { return std::make_shared<HalfRows>(index, copy, isOwn, context_, kernels_); }, made);
  struct Both {
    std::shared_ptr<const HalfRows> half;
    std::shared_ptr<const BoundRows> bound;
  };
  std::string words;
  const auto both = std::make_shared<Both>(Both{half, half->bind(metric, captures, copy, words)});
  if (!both->bound) {
    why = {Reason::NotBound, std::make_shared<const std::string>(std::move(words))};
    return nullptr;
  }
  return {both, both->bound.get()};
} catch (const Error &error) {
  if (error.kind() != ErrorKind::Environment)
    throw;
  why = {Reason::NotBound, std::make_shared<const std::string>(error.what())};
  return nullptr;
}

} // namespace annudf::runtime::cuda
