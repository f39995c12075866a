//===- RefineOwnTesting.h - Candidates among the rows of an index ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is found among candidates is compared, to the bit, with an exact search that asks for all
// rows, of which those that are no candidates are struck out.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_REFINEOWNTESTING_H
#define ANNUDF_TEST_RUNTIME_REFINEOWNTESTING_H

#include "PredicateTesting.h"
#include "RefineTesting.h"

#include <numeric>

namespace annudf::test {

/// How indexes are made and changed: on the host or by a device.
struct IndexMaker {
  std::function<runtime::Index(const runtime::IndexParams &, const runtime::MatrixView &)> build;
  std::function<runtime::Index(const runtime::MatrixView &, const runtime::RowIds &)> oneList;
  std::function<void(runtime::Index &, const runtime::MatrixView &, const runtime::NewIds &)>
      extend;
  std::function<void(runtime::Index &, std::span<const int64_t>)> remove;
};

struct OwnIndex {
  std::string name;
  runtime::Index index;
  std::vector<int64_t> ids; ///< Its rows have these, in any order.
};

/// Lists are made, and stay, in host memory.
inline IndexMaker onHost() {
  return {[](const runtime::IndexParams &params, const runtime::MatrixView &rows) {
            return runtime::Index::build(params, rows);
          },
          [](const runtime::MatrixView &rows, const runtime::RowIds &ids) {
            return runtime::Index::ofOneList(rows, false, 2, ids);
          },
          [](runtime::Index &index, const runtime::MatrixView &rows, const runtime::NewIds &ids) {
            index.extend(rows, ids);
          },
          [](runtime::Index &index, std::span<const int64_t> ids) { index.remove(ids); }};
}

inline std::vector<int64_t> idsFrom(int64_t first, int64_t count, int64_t step = 1) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = first + int64_t(i) * step;
  return ids;
}

inline runtime::MatrixView partOf(const reference::Vectors &rows, int64_t first, int64_t count) {
  runtime::MatrixView part = view(rows);
  part.data = static_cast<const std::byte *>(part.data) +
              size_t(first) * rows.encoded.size() / size_t(rows.rows);
  part.rows = count;
  return part;
}

/// Ids that are row numbers, that have gaps, and that are far from each other; in one list and in
/// several; as they were built, and extended with rows gone.
inline std::vector<OwnIndex> ownIndexes(const IndexMaker &maker, const reference::Vectors &base) {
  std::vector<OwnIndex> made;
  const int64_t rows = base.rows;
  std::mt19937 random(3);
  made.push_back({"rows", maker.oneList(view(base), {}), idsFrom(0, rows)});
  for (const auto &[name, step] : {std::pair("gaps", int64_t(2)), {"far", int64_t(1) << 33}}) {
    std::vector<int64_t> ids = idsFrom(5, rows, step);
    std::shuffle(ids.begin(), ids.end(), random);
    made.push_back({name, maker.oneList(view(base), {ids.data(), 0}), ids});
  }
  runtime::IndexParams build;
  build.nLists = 7, build.kmeansIterations = 2, build.threads = 2;
  made.push_back({"lists", maker.build(build, view(base)), idsFrom(0, rows)});
  const int64_t first = rows * 2 / 3;
  for (const auto &[name, from] :
       {std::pair("changed", first + 10), {"changed far", int64_t(1) << 40}}) {
    OwnIndex one = {name, maker.build(build, partOf(base, 0, first)), idsFrom(0, first)};
    std::vector<int64_t> more = idsFrom(from, rows - first), gone;
    std::shuffle(more.begin(), more.end(), random);
    maker.extend(one.index, partOf(base, first, rows - first), {more.data()});
    one.ids.insert(one.ids.end(), more.begin(), more.end());
    std::shuffle(one.ids.begin(), one.ids.end(), random);
    gone.assign(one.ids.begin() + rows * 4 / 5, one.ids.end());
    one.ids.resize(size_t(rows * 4 / 5));
    maker.remove(one.index, gone);
    made.push_back(std::move(one));
  }
  return made;
}

/// As someCandidates(), of an index's ids.
inline std::vector<int64_t> someOf(const std::vector<int64_t> &ids, int64_t queries,
                                   int64_t columns) {
  std::vector<int64_t> candidates = someCandidates(queries, columns, int64_t(ids.size()));
  for (int64_t &one : candidates)
    one = one < 0 ? one : ids[size_t(one)];
  return candidates;
}

/// All rows for each query, best first.
inline Found everyRow(runtime::Backend &backend, const runtime::Index &index,
                      const runtime::Metric &metric, const runtime::BoundCaptures &captures,
                      const reference::Vectors &queries, const runtime::SearchParams &given = {}) {
  Found all;
  all.ids.resize(size_t(queries.rows * index.size()));
  all.distances.resize(all.ids.size());
  runtime::SearchParams params = given;
  params.candidates = runtime::All{};
  backend.search(index, metric, captures, view(queries), int(index.size()), params, all.ids.data(),
                 all.distances.data());
  return all;
}

inline void expectOwn(const Found &all, const std::vector<int64_t> &candidates, int64_t queries,
                      int k, annudf_order order, const Found &found) {
  const size_t columns = candidates.size() / size_t(queries),
               rows = all.ids.size() / size_t(queries);
  const float worst = order == ANNUDF_ORDER_MIN ? INFINITY : -INFINITY;
  for (size_t q = 0; q < size_t(queries); ++q) {
    const std::set<int64_t> own(candidates.begin() + std::ptrdiff_t(q * columns),
                                candidates.begin() + std::ptrdiff_t((q + 1) * columns));
    size_t from = q * rows;
    for (int i = 0; i < k; ++i, ++from) {
      while (from < (q + 1) * rows && (all.ids[from] < 0 || !own.contains(all.ids[from])))
        ++from;
      const bool isLeft = from < (q + 1) * rows;
      const size_t at = q * size_t(k) + size_t(i);
      ASSERT_EQ(found.ids[at], isLeft ? all.ids[from] : -1) << "query " << q << ", rank " << i;
      ASSERT_EQ(std::bit_cast<uint32_t>(found.distances[at]),
                std::bit_cast<uint32_t>(isLeft ? all.distances[from] : worst))
          << "query " << q << ", rank " << i;
    }
  }
}

/// The values of a column "tenant" for rows with these ids.
inline std::vector<int32_t> tenantsOf(const std::vector<int64_t> &ids) {
  std::vector<int32_t> tenants;
  for (const int64_t id : ids)
    tenants.push_back(int32_t((uint64_t(id) * 0x9E3779B97F4A7C15U >> 40) % 3));
  return tenants;
}

/// Gives the index that column.
inline void addTenants(OwnIndex &own) {
  const std::vector<int32_t> tenants = tenantsOf(own.ids);
  own.index.addColumns(runtime::newColumns({{"tenant", valueOf(tenants)}}), own.ids.data());
}

/// What lets a query find rows of its tenant, which the column says.
inline std::shared_ptr<const runtime::Predicate>
tenantPredicate(const std::shared_ptr<const runtime::Metric> &filter, const runtime::Index &index,
                const std::vector<int32_t> &mine) {
  return predicateOf({codeOf(filter, {index.dims(), index.rowExtent(), int64_t(mine.size())},
                             nullptr, mine, runtime::columnTypes(index))});
}

/// The message of an error.
template <class Call> std::string messageOf(const Call &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_REFINEOWNTESTING_H
