//===- Pipeline.cpp - The kernels of a search, in order -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipeline.h"

#include "DevicePredicate.h"

#include "cuda/link/Embedded.h"
#include "kernels/cuda/common/RankArgs.h"

#include <algorithm>
#include <cmath>

namespace annudf::runtime::cuda {

namespace {

/// Segments to cut each list into, so that `blocks` lists keep every processor busy.
uint64_t segments(uint64_t blocks, uint64_t mostGroups, int processors, uint64_t perProcessor,
                  uint64_t atOnce) {
  const uint64_t wanted = (perProcessor * processors + blocks - 1) / blocks;
  return std::clamp<uint64_t>(wanted, 1, std::max<uint64_t>(1, (mostGroups + atOnce - 1) / atOnce));
}

/// Long vectors need more than the default 48 KiB of shared memory.
void allowAllSharedMemory(CUfunction function, const Context &context) {
  ContextScope scope(context);
  ANNUDF_CUDA(cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              context.mostSharedBytes());
}

} // namespace

SearchKernels::SearchKernels(std::shared_ptr<const Context> context)
    : module(context, searchModule().data()), coarseFew(module.function("annudf_coarse_few")),
      coarseMany(module.function("annudf_coarse_many")),
      selectProbes(module.function("annudf_select_probes")),
      selectProbesByWarp(module.function("annudf_select_probes_by_warp")),
      takeProbes(module.function("annudf_take_probes")),
      tileOffsets(module.function("annudf_tile_offsets")),
      tileSort(module.function("annudf_tile_sort")), tileFill(module.function("annudf_tile_fill")),
      queryWords(module.function("annudf_query_words")), finish(module.function("annudf_finish")),
      finishMany(module.function("annudf_finish_many")),
      everyDistance(module.function("annudf_every_distance")),
      within(module.function("annudf_within_keys")), merge(module.function("annudf_merge")),
      mergeFew(module.function("annudf_merge_few")),
      dealProbes(module.function("annudf_deal_probes")),
      filterBits(module.function("annudf_filter_bits")),
      joinWords(module.function("annudf_join_words")) {}

ScanKernel::ScanKernel(const std::shared_ptr<const Context> &context, const std::string &cubin,
                       const char *kernel)
    : module(context, cubin.data()), function(module.function(kernel)) {
  allowAllSharedMemory(function, *context);
}

uint64_t ScanKernel::readContract(std::shared_ptr<const Context> context) const {
  ContextScope scope(*context);
  const Buffer number(context, sizeof(uint64_t));
  uint64_t address = number.device(), value = 0;
  StreamLauncher(*context, nullptr)
      .first(module.function("annudf_read_contract"), {}, 1, 0, address);
  ANNUDF_CUDA(cuMemcpyDtoH, &value, number.device(), sizeof(value));
  return value;
}

BatchShape shapeOf(const DeviceIndex &index, const Workload &batch, const CudaFamily &family,
                   bool isFiltered, const DevicePredicate *predicate) {
  BatchShape shape;
  shape.queries = static_cast<uint64_t>(batch.queries);
  shape.lists = index.args().nLists;
  shape.probes = batch.probes;
  shape.groups = std::max<uint64_t>(1, index.mostGroups(batch.probes));
  shape.allGroups = index.mostGroups(index.args().nLists);
  shape.dims = index.args().dims;
  shape.isFiltered = isFiltered;
  shape.depth = predicate ? predicate->depth : 0;
  shape.isRanked = index.args().centers != 0;
  shape.tiling = family.tiling(batch);
  return shape;
}

int64_t Pipeline::pairsOf(uint64_t count) const {
  return std::llround(workOf(count).queriesPerRow() * static_cast<double>(plan.work.rows) *
                      plan.work.pass);
}

namespace {

/// A family's scan of one batch.
class StreamQueue final : public ScanQueue {
public:
  /// \param ids, distances  of the best rows, where the scan finds them.
  StreamQueue(const Pipeline &search, CUfunction kernel, const BatchShape &shape,
              annudf_scan_args &args, Launcher &to, StageClock *clock, uint64_t ids,
              uint64_t distances)
      : search(search), kernel(kernel), shape(shape), args(args), to(to), clock(clock), ids(ids),
        distances(distances) {}

  uint64_t sortPairs() override {
    const SearchKernels &kernels = search.kernels;
    const uint32_t pairs = static_cast<uint32_t>(shape.queries * shape.probes);
    if (shape.lists <= ANNUDF_SORT_MOST_LISTS) {
      constexpr uint32_t kThreads = ANNUDF_SORT_THREADS;
      to.next(kernels.tileSort, {(pairs + kThreads - 1) / kThreads}, kThreads, 0, args.index,
              args.work, pairs);
    } else {
      to.next(kernels.tileOffsets, {}, 1024, 0, args.index, args.work);
      to.next(kernels.tileFill, {(pairs + 255) / 256}, 256, 0, args.index, args.work, pairs);
    }
    if (shape.tiling.coordinates) {
      const int compute =
          shape.tiling.packed ? ANNUDF_QUERY_AS_IT_IS : static_cast<int>(search.plan.work.compute);
      to.next(kernels.queryWords, {shape.queries}, 128, 0, args.index, args.queries, args.work,
              compute);
    }
    if (shape.tiling.bounds)
      to.next(search.bound->kernels().queries, {shape.queries}, search.bound->queryThreads(),
              search.bound->querySharedBytes(), matrixArgs());
    if (args.work.terms && search.bound->tiles())
      to.next(search.bound->kernels().passing, {search.bound->tiles()}, ANNUDF_MATRIX_ROWS, 0,
              matrixArgs());
    if (search.predicate)
      search.enqueuePredicate(args, shape, to);
    if (clock)
      clock->mark("sort");
    return mostTiles(shape);
  }

  void scan(uint64_t items, uint64_t perProcessor, uint64_t sharedBytes,
            uint64_t groupsAtOnce) override {
    to.next(kernel,
            {items, segments(items, search.index.mostGroups(1), search.context.processors(),
                             perProcessor, groupsAtOnce)},
            ANNUDF_SCAN_THREADS, static_cast<unsigned>(sharedBytes), args);
  }

  void scanByTicket(uint64_t tiles, unsigned threads, uint64_t sharedBytes) override {
    to.next(kernel, {std::min(tiles, blocksThatStay(kStagedThreads / threads, sharedBytes))},
            threads, static_cast<unsigned>(sharedBytes), args);
  }

  void multiply(uint64_t tiles, uint64_t perProcessor, uint64_t sharedBytes) override {
    const BoundRows &bound = *search.bound;
    annudf_matrix_args matrix = matrixArgs();
    if (args.work.terms)
      matrix.terms = args.work.terms;
    to.next(bound.kernels().scan(shape.tiling.boundsByWarps, matrix.nPanels),
            {std::min(tiles, blocksThatStay(perProcessor, sharedBytes))}, ANNUDF_MATRIX_THREADS,
            static_cast<unsigned>(sharedBytes), matrix);
  }

  /// The first kernel, but where stages are timed.
  void rank(uint32_t rows, uint32_t chunks, uint64_t sharedBytes) override {
    annudf_rank_args rank = {};
    rank.scan = args;
    rank.outIds = ids, rank.outDistances = distances;
    rank.firstList = static_cast<uint32_t>(args.queries.base - search.firstOwn);
    rank.k = search.k, rank.rows = rows, rank.chunks = chunks;
    rank.places = static_cast<uint32_t>(search.index.mostGroups(1) * 32);
    to.first(kernel, {shape.queries}, ANNUDF_RANK_THREADS, static_cast<unsigned>(sharedBytes),
             rank);
  }

private:
  /// Up to `perProcessor` blocks a multiprocessor, as many as its shared memory has room for: one
  /// that began only when others end would hold its first tile back.
  uint64_t blocksThatStay(uint64_t perProcessor, uint64_t sharedBytes) const {
    return static_cast<uint64_t>(search.context.processors()) *
           std::min(perProcessor, blocksWithRoom(sharedBytes, search.context.mostSharedBytes()));
  }
  annudf_matrix_args matrixArgs() const {
    annudf_matrix_args matrix = search.bound->args();
    matrix.scan = args;
    return matrix;
  }

  const Pipeline &search;
  const CUfunction kernel;
  const BatchShape &shape;
  annudf_scan_args &args;
  Launcher &to;
  StageClock *const clock;
  const uint64_t ids, distances;
};

} // namespace

void Pipeline::reserve(Workspace &workspace, uint64_t count) const {
  (void)workspace.prepare(shapeOf(count));
}

annudf_scan_args Pipeline::argsOf(Workspace &workspace, const BatchShape &shape, uint64_t queryData,
                                  int64_t base) const {
  annudf_scan_args args = {};
  args.index = index.args();
  args.index.nLists += hasSpareLists ? ANNUDF_SPARE_LISTS : 0;
  args.work = workspace.prepare(shape);
  args.queries = queriesAt(queryData, shape.queries, queryElement, args.index.dims, base);
  args.slots = slots;
  args.filter = filter;
  args.nan = nan;
  args.order = order;
  args.packedNegated = packedNegated;
  args.rowsAreSlots = rowsAreSlots;
  return args;
}

void Pipeline::enqueue(const FamilyKernels &linked, Workspace &workspace, Launcher &to,
                       uint64_t queryData, uint64_t count, int64_t base, uint64_t ids,
                       uint64_t distances, StageClock *clock) const {
  const CudaFamily &family = familyOf(plan);
  const Workload work = workOf(count);
  const BatchShape shape = shapeOf(count);
  annudf_scan_args args = argsOf(workspace, shape, queryData, base);
  const auto stage = [&](const char *name) {
    if (clock)
      clock->mark(name);
  };
  const bool ranks = shape.tiling.ranks;
  if (!ranks || clock) // Which counts the rows of the lists.
    enqueueProbes(args, shape, to, clock);
  if (predicate && shape.tiling.queries == 0) { // Else it follows the sort.
    enqueuePredicate(args, shape, to);
    stage("sort");
  }

  StreamQueue queue(*this, linked.scan(), shape, args, to, clock, ids, distances);
  family.enqueue(queue, work);
  stage("scan");
  if (ranks) {
    if (clock)
      clock->end(args.index, args.work.probes, count * nProbes);
    return;
  }
  const uint64_t evaluated = clock && shape.tiling.endsInHooks() ? clock->granules() : 0;
  if (within)
    enqueueRows(args, shape, linked.last(), to, *within, count, evaluated, false);
  else if (shape.tiling.endsInHooks())
    enqueueExact(args, shape, linked.last(), to, ids, distances, evaluated);
  else
    enqueueFinish(args, shape, to, ids, distances);
  stage("finish");
  if (clock)
    clock->end(args.index, args.work.probes, count * nProbes);
}

void Pipeline::enqueueProbes(const annudf_scan_args &args, const BatchShape &shape, Launcher &to,
                             StageClock *clock) const {
  if (isRanked) {
    enqueueRanking(kernels, index, {coarse, coarseOrder}, args, shape, to, clock);
    return;
  }
  uint64_t lists = 0; // All.
  if (given)
    lists = *given + static_cast<uint64_t>(args.queries.base) * nProbes * sizeof(uint32_t);
  constexpr uint64_t kWarp = 32, kMost = 1024;
  to.first(kernels.takeProbes, {shape.queries},
           static_cast<unsigned>(std::min((shape.probes + kWarp - 1) / kWarp * kWarp, kMost)), 0,
           args.index, args.work, lists);
  if (clock)
    clock->mark("select");
}

void Pipeline::enqueuePredicate(const annudf_scan_args &args, const BatchShape &shape,
                                Launcher &to) const {
  constexpr uint64_t kWarps = ANNUDF_SCAN_THREADS / 32, kPerProcessor = 64, kThreads = 256;
  const uint64_t items = shape.tiling.queries ? mostTiles(shape) : shape.queries * shape.probes;
  const uint64_t cut =
      segments(items, std::min<uint64_t>(index.mostGroups(1), shape.tiling.segmentGroups),
               context.processors(), kPerProcessor, kWarps);
  const uint64_t words = shape.queries * shape.groups;
  const auto result = [&](uint64_t i) { return args.work.passing + i * words * sizeof(uint32_t); };
  uint64_t results = 0;
  for (const DevicePredicate::Step &step : predicate->steps) {
    if (step.isJoin) {
      --results;
      const int both = step.both;
      to.next(kernels.joinWords, {(words + kThreads - 1) / kThreads}, kThreads, 0,
              result(results - 1), result(results), words, both);
      continue;
    }
    annudf_predicate_args filter = {};
    filter.index = args.index, filter.work = args.work;
    filter.words = result(results++);
    filter.base = args.queries.base;
    filter.negated = step.negated;
    if (step.code)
      filter.slots = step.captures->slots, filter.rowsAreSlots = step.rowsAreSlots;
    else
      filter.bits = step.bits->device(), filter.bitsOfQuery = step.bitsOfQuery;
    to.next(step.code ? step.code->function : kernels.filterBits, {items, cut}, ANNUDF_SCAN_THREADS,
            ANNUDF_PREDICATE_SHARED_BYTES, filter);
  }
}

annudf_queries queriesAt(uint64_t data, uint64_t count, annudf_element element, uint32_t dims,
                         int64_t base) {
  annudf_queries queries = {};
  queries.data = data;
  queries.rowBytes = static_cast<uint32_t>(bytesOfRow(element, static_cast<int32_t>(dims)));
  queries.count = static_cast<uint32_t>(count);
  queries.element = element;
  queries.base = static_cast<int32_t>(base);
  return queries;
}

BatchShape shapeOfRanking(const DeviceIndex &index, uint64_t queries, uint32_t probes) {
  BatchShape shape;
  shape.queries = queries, shape.probes = probes;
  shape.lists = index.args().nLists, shape.dims = index.args().dims;
  shape.groups = shape.allGroups = 1;
  return shape;
}

void enqueueRanking(const SearchKernels &kernels, const DeviceIndex &index, const RankBy &by,
                    const annudf_scan_args &args, const BatchShape &shape, Launcher &to,
                    StageClock *clock) {
  const uint64_t lists = shape.lists, count = shape.queries;
  const auto blocks = [](uint64_t of, uint64_t each) { return (of + each - 1) / each; };
  const int kind = by.metric, rank = by.order;
  const uint64_t fill = index.fill();
  if (count <= ANNUDF_FEW_QUERIES)
    to.first(kernels.coarseFew,
             {blocks(lists, ANNUDF_FEW_TILE_CENTERS), blocks(count, ANNUDF_FEW_TILE_QUERIES)}, 256,
             0, args.index, args.queries, args.work, kind, rank, fill);
  else
    to.first(kernels.coarseMany,
             {blocks(lists, ANNUDF_MANY_TILE_CENTERS), blocks(count, ANNUDF_MANY_TILE_QUERIES)},
             256, 0, args.index, args.queries, args.work.coarse, kind, rank, fill);
  if (clock)
    clock->mark("coarse");
  if (args.work.arrived) // The coarse kernel has chosen.
    return;
  if (ANNUDF_CHOSEN_BY_WARP(lists, shape.probes)) {
    const uint32_t queries = static_cast<uint32_t>(count);
    to.next(kernels.selectProbesByWarp, {blocks(count, ANNUDF_WARPS_THAT_CHOOSE)},
            32 * ANNUDF_WARPS_THAT_CHOOSE, 0, args.index, args.work, queries);
  } else {
    to.next(kernels.selectProbes, {count}, lists > 8192 ? 1024 : 256, 0, args.index, args.work);
  }
  if (clock)
    clock->mark("select");
}

void Pipeline::enqueueFinish(const annudf_scan_args &args, const BatchShape &shape, Launcher &to,
                             uint64_t ids, uint64_t distances) const {
  const uint64_t count = shape.queries;
  annudf_finish_args last = {};
  last.index = args.index;
  last.work = args.work;
  last.outIds = ids, last.outDistances = distances;
  last.k = k, last.order = order;
  if (everyDistance) {
    constexpr uint64_t kRowsOfBlock = 4096;
    to.next(kernels.everyDistance,
            {count, std::clamp<uint64_t>(shape.groups * 32 / kRowsOfBlock, 1, 1024)}, 256, 0, last);
    return;
  }
  if (k > ANNUDF_FINISH_MOST_K) {
    to.next(kernels.finishMany, {count}, 1024, 0, last);
    return;
  }
  const uint64_t candidates =
      std::max<uint64_t>(shape.groups, std::min<uint64_t>(shape.groups, k) * 32);
  to.next(kernels.finish, {count}, candidates > 8192 ? 1024 : 256, 0, last);
}

annudf_survivors_args Pipeline::survivorsOf(const annudf_scan_args &args,
                                            uint64_t evaluated) const {
  annudf_survivors_args last = {};
  last.scan = args;
  last.evaluated = evaluated;
  last.k = k, last.sign = bound ? bound->sign() : 1;
  last.product = bound ? bound->product() : 0, last.zeros = bound ? bound->zeros() : 0;
  return last;
}

void Pipeline::enqueueExact(const annudf_scan_args &args, const BatchShape &shape,
                            CUfunction kernel, Launcher &to, uint64_t ids, uint64_t distances,
                            uint64_t evaluated) const {
  annudf_survivors_args last = survivorsOf(args, evaluated);
  last.outIds = ids, last.outDistances = distances;
  constexpr uint32_t kFew = 100;
  to.next(kernel, {shape.queries},
          k <= kFew ? ANNUDF_SURVIVORS_THREADS : ANNUDF_SURVIVORS_MANY_THREADS,
          (args.index.dims + 3) / 4 * 16 + ANNUDF_SURVIVORS_SHARED_BYTES, last);
}

} // namespace annudf::runtime::cuda
