//===- KernelWriter.cpp - Kernels of exact search ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread computes the distances of one row to kQueries queries. The block copies its rows and
// queries to workgroup memory first, some dimensions at a time: neighbours in a warp then read
// neighbouring numbers from memory, and each coordinate of a row is read once for all its queries.
//
//===----------------------------------------------------------------------===//

#include "KernelWriter.h"
#include "KernelOps.h"

#include "annudf/Dialect/IR/HookCaller.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace {

constexpr int64_t kThreads = kMaxNeighbors; ///< A block has them, and a tile as many rows.
constexpr int64_t kQueries = 8;             ///< A block computes them together.
constexpr int64_t kChunkBytes = 128;
constexpr int64_t kLoadsAhead = 8; ///< Loads that a thread begins before it waits for one.

/// What both kernels do: the distances of rows.
class DistanceKernel : public KernelOps {
public:
  DistanceKernel(OpBuilder &parent, MetricOp metric, Element element)
      : KernelOps(metric.getLoc(), parent), metric(metric), element(element),
        chunk(kChunkBytes * 8 / metric.getComputeType().getIntOrFloatBitWidth()) {}

protected:
  MemRefType shared(ArrayRef<int64_t> shape, Type type) {
    return MemRefType::get(shape, type, MemRefLayoutAttrInterface(),
                           gpu::AddressSpaceAttr::get(getContext(), gpu::AddressSpace::Workgroup));
  }

  /// The kernel's first lines. \param workgroup  memory beside that of the tiles.
  void beginScan(StringRef name, TypeRange outputs, TypeRange workgroup = {}) {
    const int64_t fixed = metric.getDims() ? int64_t(*metric.getDims()) : ShapedType::kDynamic;
    const Type vectors = MemRefType::get({ShapedType::kDynamic, fixed}, storedType());
    const SmallVector<Type> captureTypes = HookCaller::captureTypes(metric);
    SmallVector<Type> arguments = {vectors, vectors};
    llvm::append_range(arguments, captureTypes);
    llvm::append_range(arguments, outputs);
    const Type compute = metric.getComputeType();
    // A row has one entry more than it needs, or all of a warp would read the same bank.
    SmallVector<Type> memory = {shared({kThreads, chunk + 1}, compute),
                                shared({chunk, kQueries}, compute)};
    llvm::append_range(memory, workgroup);
    begin(name, kThreads, arguments, memory);
    queries = kernel.getArgument(0);
    rows = kernel.getArgument(1);
    captures = SmallVector<Value>(kernel.getArguments().slice(2, captureTypes.size()));
    rowTile = kernel.getWorkgroupAttributions()[0];
    queryTile = kernel.getWorkgroupAttributions()[1];
    thread = gpu::ThreadIdOp::create(*this, gpu::Dimension::x);
    part = gpu::BlockIdOp::create(*this, gpu::Dimension::x);
    firstQuery = mul(gpu::BlockIdOp::create(*this, gpu::Dimension::y), index(kQueries));
    queryCount = dim(queries, 0);
    rowCount = dim(rows, 0);
    dims = dim(rows, 1);
    lastQuery = sub(queryCount, index(1));
    lastRow = sub(rowCount, index(1));
    lastDim = sub(dims, index(1));
    lane = rem(thread, index(chunk));
    own = div(thread, index(chunk));
    for (int64_t i = 0; i < kQueries; ++i) {
      ids.push_back(i == 0 ? firstQuery : add(firstQuery, index(i)));
      areQueries.push_back(isLess(ids.back(), queryCount));
    }
  }
  Value output(unsigned i) { return kernel.getArgument(2 + captures.size() + i); }

  using Use = llvm::function_ref<void(Value row, Value isRow, ArrayRef<Value> distances)>;
  /// \param use  gets the thread's row of each tile, whether there is such a row, and its distance
  /// to each query of the block. What is behind the last query is computed for the last query.
  void forRows(Use use) {
    Value width = index(kThreads);
    Value step = mul(gpu::GridDimOp::create(*this, gpu::Dimension::x), width);
    loop(mul(part, width), rowCount, step, [&](Value first) {
      Value row = add(first, thread);
      Value isRow = isLess(row, rowCount);
      use(row, isRow, distancesTo(first, row));
    });
  }

private:
  /// In memory; integers have no sign there.
  Type storedType() {
    switch (element) {
    case Element::F32:
      return getF32Type();
    case Element::F16:
      return getF16Type();
    case Element::Bf16:
      return getBF16Type();
    case Element::I8:
    case Element::U8:
      return getI8Type();
    case Element::Bits:
      break; // Refused before.
    }
    llvm_unreachable("an element type without a kernel");
  }

  Value toComputeType(Value stored) {
    Type to = metric.getComputeType();
    const bool isSigned = element == Element::I8;
    if (stored.getType() == to)
      return stored;
    if (isa<FloatType>(stored.getType()))
      return arith::ExtFOp::create(*this, to, stored);
    if (isa<FloatType>(to))
      return isSigned ? arith::SIToFPOp::create(*this, to, stored).getResult()
                      : arith::UIToFPOp::create(*this, to, stored).getResult();
    return isSigned ? arith::ExtSIOp::create(*this, to, stored).getResult()
                    : arith::ExtUIOp::create(*this, to, stored).getResult();
  }

  /// Copies the dimensions from `from` of `count` vectors to a tile; what is behind the last vector
  /// or dimension is a copy of the last. \param put  stores the tile's entry of a vector at `lane`.
  void stage(Value vectors, Value first, Value last, Value from, int64_t count,
             llvm::function_ref<void(Value stored, Value vector)> put) {
    const int64_t perPass = kThreads / chunk, ahead = std::min(kLoadsAhead, count / perPass);
    Value column = min(add(from, lane), lastDim);
    auto copy = [&](Value base) {
      SmallVector<Value> places, loaded;
      for (int64_t i = 0; i < ahead; ++i) {
        places.push_back(i == 0 ? base : add(base, index(i * perPass)));
        loaded.push_back(load(vectors, {min(add(first, places.back()), last), column}));
      }
      for (auto [place, value] : llvm::zip(places, loaded))
        put(toComputeType(value), place);
    };
    if (ahead * perPass == count)
      return copy(own);
    loop(index(0), index(count), index(ahead * perPass), [&](Value pass) { copy(add(pass, own)); });
  }

  SmallVector<Value> distancesTo(Value firstRow, Value row) {
    const HookCaller hooks(metric, captures);
    SmallVector<ScanPlace> places;
    const SmallVector<ScanIndex> read = indicesReadIn(metric);
    auto reads = [&](ScanIndex kind) { return llvm::is_contained(read, kind); };
    Value known = reads(ScanIndex::Row) ? min(row, lastRow) : Value();
    for (Value id : ids)
      places.push_back({.dims = dims,
                        .row = known,
                        .query = reads(ScanIndex::Query) ? min(id, lastQuery) : Value(),
                        .list = index(0)}); // Exact search has one list.
    SmallVector<Value> accumulators;
    for (const ScanPlace &place : places)
      llvm::append_range(accumulators, hooks.init(*this, place));
    const size_t fields = accumulators.size() / kQueries;
    auto chunks = [&](Value from, ValueRange before) {
      barrier(); // Tiles are read no more.
      stage(rows, firstRow, lastRow, from, kThreads,
            [&](Value y, Value place) { store(y, rowTile, {place, lane}); });
      // By dimension, as a thread reads those of all queries together.
      stage(queries, firstQuery, lastQuery, from, kQueries,
            [&](Value x, Value place) { store(x, queryTile, {lane, place}); });
      barrier();
      auto coordinates = [&](Value d, ValueRange acc) {
        SmallVector<Value> next;
        Value y = load(rowTile, {thread, d});
        Value dimension = add(from, d);
        for (int64_t i = 0; i < kQueries; ++i) {
          Value x = load(queryTile, {d, index(i)});
          ScanPlace place = places[i];
          place.dim = dimension;
          llvm::append_range(next, hooks.update(*this, acc.slice(i * fields, fields), x, y, place));
        }
        return next;
      };
      return fold(index(0), min(index(chunk), sub(dims, from)), index(1), before, coordinates);
    };
    const SmallVector<Value> all = fold(index(0), dims, index(chunk), accumulators, chunks);
    SmallVector<Value> distances;
    for (int64_t i = 0; i < kQueries; ++i)
      distances.push_back(
          hooks.finalize(*this, ValueRange(all).slice(i * fields, fields), places[i]));
    return distances;
  }

protected:
  MetricOp metric;
  const Element element;
  const int64_t chunk; ///< Dimensions that a tile holds.
  Value queries, rows, rowTile, queryTile;
  SmallVector<Value> captures;
  SmallVector<Value> ids, areQueries; ///< The block's: numbers, and whether there are such queries.
  Value thread, part, firstQuery, queryCount, rowCount, dims, lastQuery, lastRow, lastDim;
  Value lane, own; ///< The dimension and the vector of a tile that the thread copies first.
};

class AllDistances : public DistanceKernel {
public:
  using DistanceKernel::DistanceKernel;

  void write(StringRef name) {
    const Type all = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic}, getF32Type());
    beginScan(name, all);
    forRows([&](Value row, Value isRow, ArrayRef<Value> distances) {
      for (auto [query, isQuery, distance] : llvm::zip(ids, areQueries, distances)) {
        when(both(isRow, isQuery),
             [&, query = query, distance = distance] { store(distance, output(0), {query, row}); });
      }
    });
    end();
  }
};

/// A row with its distance, or none: the id is then -1.
struct Candidate {
  Value distance, id;
};

class KNearest : public DistanceKernel {
public:
  KNearest(OpBuilder &parent, MetricOp metric, Element element, int64_t k)
      : DistanceKernel(parent, metric, element), k(k) {}

  void write(StringRef name) {
    auto output = [&](ArrayRef<int64_t> shape, Type type) { return MemRefType::get(shape, type); };
    constexpr int64_t any = ShapedType::kDynamic;
    writeScan(name, {output({any, any, k}, getF32Type()), output({any, any, k}, getI64Type())});
    writeMerge((name + "_merge").str(),
               {output({any, any, k}, getF32Type()), output({any, any, k}, getI64Type()),
                output({any, k}, getF32Type()), output({any, k}, getI64Type())});
  }

private:
  /// Lists of candidates in memory.
  struct List {
    Value distances, ids;
  };
  Candidate read(const List &list, ValueRange at) {
    return {load(list.distances, at), load(list.ids, at)};
  }
  void write(const Candidate &candidate, const List &list, ValueRange at) {
    store(candidate.distance, list.distances, at);
    store(candidate.id, list.ids, at);
  }
  Value constant(TypedAttr value) { return arith::ConstantOp::create(*this, value); }

  /// The order of results. As an unsigned number -1 is behind every id; NaN is before nothing.
  Value isBefore(const Candidate &a, const Candidate &b) {
    const bool isMin = metric.getOrder() == Order::Min;
    Value better =
        arith::CmpFOp::create(*this, isMin ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT,
                              a.distance, b.distance);
    Value equal = arith::CmpFOp::create(*this, arith::CmpFPredicate::OEQ, a.distance, b.distance);
    return either(better, both(equal, isLess(a.id, b.id)));
  }

  /// 1 where the condition holds, else 0.
  Value oneIf(Value condition) {
    return arith::SelectOp::create(*this, condition, index(1), index(0));
  }
  Value countOf(Value query) {
    return arith::IndexCastUIOp::create(*this, getIndexType(), load(counts, query));
  }

  /// Workgroup memory for the lists of `count` queries.
  SmallVector<Type> listMemory(int64_t count) {
    return {shared({count, k}, getF32Type()), shared({count, k}, getI64Type()),
            shared({count, kThreads}, getF32Type()), shared({count, kThreads}, getI64Type()),
            shared({count}, getI32Type())};
  }
  /// Fills the best with none. A barrier has to follow.
  void beginLists(ArrayRef<BlockArgument> memory, int64_t count) {
    held = count;
    best = {memory[0], memory[1]};
    found = {memory[2], memory[3]};
    counts = memory[4];
    const APFloat worst = APFloat::getInf(APFloat::IEEEsingle(), metric.getOrder() == Order::Max);
    const Candidate none = {constant(getFloatAttr(getF32Type(), worst)),
                            constant(getI64IntegerAttr(-1))};
    zero = constant(getI32IntegerAttr(0));
    isCounter = isLess(thread, index(held));
    forEntries([&](Value query, Value j) { write(none, best, {query, j}); });
    when(isCounter, [&] { store(zero, counts, thread); });
  }
  void forEntries(llvm::function_ref<void(Value query, Value j)> body) {
    loop(thread, index(held * k), index(kThreads),
         [&](Value i) { body(div(i, index(k)), rem(i, index(k))); });
  }

  void writeScan(StringRef name, TypeRange outputs) {
    beginScan(name, outputs, listMemory(kQueries));
    beginLists(kernel.getWorkgroupAttributions().drop_front(2), kQueries);
    forRows([&](Value row, Value isRow, ArrayRef<Value> distances) {
      Value id = arith::IndexCastOp::create(*this, getI64Type(), row);
      for (auto [i, isQuery, distance] : llvm::enumerate(areQueries, distances))
        collect({distance, id}, both(isRow, isQuery), index(static_cast<int64_t>(i)));
      barrier();
      insertFound();
    });
    forEntries([&](Value i, Value j) {
      Value query = add(firstQuery, i);
      when(isLess(query, queryCount),
           [&] { write(read(best, {i, j}), {output(0), output(1)}, {query, part, j}); });
    });
    end();
  }

  /// Appends what is better than the k-th best so far to the candidates of a query.
  void collect(const Candidate &candidate, Value isPair, Value query) {
    Value isBetter = isBefore(candidate, read(best, {query, index(k - 1)}));
    when(both(isPair, isBetter), [&] {
      Value one = constant(getI32IntegerAttr(1));
      Value place =
          memref::AtomicRMWOp::create(*this, arith::AtomicRMWKind::addi, one, counts, query);
      write(candidate, found, {query, arith::IndexCastUIOp::create(*this, getIndexType(), place)});
    });
  }

  /// Joins the candidates of all queries to their lists. A barrier has to precede the next ones.
  void insertFound() {
    loop(index(0), index(held), index(1), [&](Value query) {
      Value count = countOf(query);
      when(isLess(index(0), count), [&] { insert(query, count); });
    });
    barrier(); // Counts are read no more.
    when(isCounter, [&] { store(zero, counts, thread); });
  }

  /// Joins the candidates of a query to its sorted list. Each thread moves an entry of the list and
  /// a candidate to the places that they have among all.
  void insert(Value query, Value count) {
    const Candidate entry = read(best, {query, min(thread, index(k - 1))});
    const Candidate candidate = read(found, {query, min(thread, sub(count, index(1)))});
    const SmallVector<Value> amongFound =
        fold(index(0), count, index(1), {thread, index(0)}, [&](Value i, ValueRange places) {
          const Candidate other = read(found, {query, i});
          return SmallVector<Value>{add(places[0], oneIf(isBefore(other, entry))),
                                    add(places[1], oneIf(isBefore(other, candidate)))};
        });
    const SmallVector<Value> amongAll =
        fold(index(0), index(k), index(1), amongFound[1], [&](Value i, ValueRange places) {
          Value isEntryBefore = isBefore(read(best, {query, i}), candidate);
          return SmallVector<Value>{add(places[0], oneIf(isEntryBefore))};
        });
    barrier(); // All are read.
    auto move = [&](const Candidate &moved, Value of, Value to) {
      when(both(isLess(thread, of), isLess(to, index(k))),
           [&] { write(moved, best, {query, to}); });
    };
    move(entry, index(k), amongFound[0]);
    move(candidate, count, amongAll[0]);
  }

  /// A block reads the first entries of all lists of a query, then the second ones, and so on. The
  /// lists are sorted: if one entry of each in turn is not among the k best, none behind it is.
  void writeMerge(StringRef name, TypeRange arguments) {
    begin(name, kThreads, arguments, listMemory(1));
    const List lists = {kernel.getArgument(0), kernel.getArgument(1)};
    const List results = {kernel.getArgument(2), kernel.getArgument(3)};
    thread = gpu::ThreadIdOp::create(*this, gpu::Dimension::x);
    Value query = gpu::BlockIdOp::create(*this, gpu::Dimension::x);
    Value parts = dim(lists.distances, 1), all = mul(parts, index(k));
    beginLists(kernel.getWorkgroupAttributions(), 1);
    auto more = [&](OpBuilder &, Location, ValueRange carried) {
      scf::ConditionOp::create(*this, isLess(carried[0], min(carried[1], all)), carried);
    };
    auto tile = [&](OpBuilder &, Location, ValueRange carried) {
      Value entry = add(carried[0], thread), next = add(carried[0], index(kThreads));
      Value list = rem(entry, parts), j = min(div(entry, parts), index(k - 1));
      const Candidate candidate = read(lists, {query, list, j});
      barrier(); // The list and the count are written.
      collect(candidate, isLess(entry, all), index(0));
      barrier();
      Value isAny = isLess(index(0), countOf(index(0)));
      insertFound();
      Value end = arith::SelectOp::create(*this, isAny, add(next, parts), carried[1]);
      scf::YieldOp::create(*this, ValueRange{next, end});
    };
    const SmallVector<Type> types(2, getIndexType());
    scf::WhileOp::create(*this, types, ValueRange{index(0), parts}, more, tile);
    forEntries([&](Value, Value j) { write(read(best, {index(0), j}), results, {query, j}); });
    end();
  }

  const int64_t k;
  int64_t held = 0; ///< Queries that the block has lists of.
  List best, found; ///< The best so far, sorted, and candidates that may be among them.
  Value counts, zero, isCounter; ///< How many candidates each query has; a thread resets it.
};

} // namespace

void annudf::writeAllDistances(OpBuilder &builder, MetricOp metric, Element element,
                               StringRef name) {
  AllDistances(builder, metric, element).write(name);
}

void annudf::writeKNearest(OpBuilder &builder, MetricOp metric, Element element, StringRef name,
                           int64_t k) {
  KNearest(builder, metric, element, k).write(name);
}
