//===- Search.cpp - Checks that every backend shares ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Search.h"

#include "annudf/Support/ArgumentError.h"
#include "annudf/Support/FileIO.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/engine/Predicate.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

namespace annudf::runtime {
namespace {

std::string elementList(const Manifest &manifest) {
  std::string text;
  for (annudf_element element : manifest.elements)
    text += (text.empty() ? "" : ", ") + std::string(toString(element));
  return text;
}

std::string nameOf(const MetricView &metric) {
  return std::string(metric.artifact.manifest.noun()) + " '" + metric.artifact.manifest.name +
         "' (" + metric.origin + ")";
}

bool sameDeclaration(const CaptureInfo &a, const CaptureInfo &b) {
  auto same = [](const CaptureExtent &a, const CaptureExtent &b) {
    return a.kind == b.kind && (a.kind != ANNUDF_EXTENT_CONSTANT || a.constant == b.constant);
  };
  return a.name == b.name && a.element == b.element &&
         std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(), b.extents.end(), same);
}

} // namespace

void addStage(std::vector<StageTime> &stages, std::string_view name, double ms) {
  for (StageTime &stage : stages)
    if (stage.name == name) {
      stage.ms += ms;
      return;
    }
  if (std::find(std::begin(kStages), std::end(kStages), name) == std::end(kStages))
    throw std::logic_error("searches have no stage '" + std::string(name) + "'");
  stages.push_back({std::string(name), ms});
}

Metric Metric::fromArtifact(Artifact artifact, const std::string &origin) {
  Metric metric;
  metric.digest = sha256Hex(serializeArtifact(artifact));
  metric.artifact = std::move(artifact);
  metric.origin = origin;
  return metric;
}

Metric Metric::fromFile(const std::string &path) { return fromArtifact(readArtifact(path), path); }

void SearchStats::addPairs(const SearchStats &other) {
  if (nanDistances == 0)
    nanQuery = other.nanQuery, nanRow = other.nanRow;
  scored += other.scored, nanDistances += other.nanDistances;
}

void addCost(SearchStats &to, const SearchStats &cost) {
  to.linkMs += cost.linkMs, to.links += cost.links;
  to.diskHits += cost.diskHits;
  if (!cost.fault.empty())
    to.fault = cost.fault;
  to.uploadMs += cost.uploadMs, to.searchMs += cost.searchMs;
  to.family = cost.family, to.why = cost.why, to.slow = cost.slow;
  to.passingShare = cost.passingShare;
  to.workspaceBytes = std::max(to.workspaceBytes, cost.workspaceBytes);
  for (const StageTime &stage : cost.stages)
    addStage(to.stages, stage.name, stage.ms);
  to.rowsPerQuery += cost.rowsPerQuery;
  to.evaluatedPerQuery += cost.evaluatedPerQuery;
  to.addPairs(cost);
}

void tell(const ExecutionPlan &plan, const SearchParams &params, SearchStats &stats) {
  if (params.tellWhy)
    stats.family = plan.family->name(), stats.why = textOf(plan);
  stats.passingShare = plan.work.passingShare();
}

Workload workloadOf(const Manifest &manifest, const RowStore &index, int64_t queries, int k,
                    const SearchParams &params) {
  Workload work = workloadOf(manifest, index, queries, k, probesOf(index, params.candidates));
  work.family = params.family;
  // Ids of candidates are those of an index or a data set, which has more rows.
  const int64_t rows = index.source()            ? index.source()->size()
                       : index.holdsCandidates() ? index.rowExtent()
                                                 : index.rowsOfWhole();
  if (params.filter)
    work.pass = params.filter->passingShare(rows);
  if (params.predicate)
    work.pass = std::min(work.pass, params.predicate->passingShare(rows));
  return work;
}

void checkContract(const MetricView &metric, uint64_t contractOfCode) {
  const uint64_t expected = contractOf(metric.artifact.manifest);
  if (contractOfCode == expected)
    return;
  char numbers[64];
  std::snprintf(numbers, sizeof(numbers), "%016" PRIx64 ", its manifest describes %016" PRIx64,
                contractOfCode, expected);
  throw Error(ErrorKind::Input, nameOf(metric) + ": its code was made for contract " + numbers +
                                    ": one of them was altered; compile the metric again");
}

void checkElements(const MetricView &metric, ScanElements elements) {
  for (annudf_element element : {elements.rows, elements.queries})
    if (!metric.artifact.manifest.accepts(element))
      throw Error(ErrorKind::Input, nameOf(metric) + " takes " +
                                        elementList(metric.artifact.manifest) + ", not " +
                                        toString(element));
}

void checkRole(const MetricView &metric) {
  const Manifest &manifest = metric.artifact.manifest;
  if (manifest.role == metric.as || (manifest.isPairwise() && metric.as == ANNUDF_ROLE_SCAN))
    return;
  const char *what = manifest.isFilter()
                         ? " gives no distances; search with a metric, and pass this as the filter"
                         : " gives distances and cannot filter; write an annudf.filter";
  throw Error(ErrorKind::Input, nameOf(metric) + what);
}

namespace {

void checkCandidates(const RowStore &index, const Candidates &candidates, int64_t queries) {
  const auto usage = [](const std::string &what) { throw Error(ErrorKind::Usage, what); };
  const uint32_t probes = probesOf(index, candidates), lists = index.nLists();
  checkRange("probes", probes, 1, lists, ", the lists of the index");
  const ListCenters *const centers = index.listCenters();
  if (areRanked(index, candidates) && (!centers || centers->count() != lists))
    usage("probes = " + std::to_string(probes) + ": the index's " + std::to_string(lists) +
          " lists have no centers to rank by; probe all lists, or name the lists of each query");
  const auto *given = std::get_if<Given>(&candidates);
  if (!given)
    return;
  if (!given->lists)
    usage("the lists of each query are missing; give " + std::to_string(queries) + " x " +
          std::to_string(probes) + " list numbers");
  std::vector<int64_t> lastQuery(lists, -1);
  for (int64_t q = 0; q < queries; ++q)
    for (uint32_t p = 0; p < probes; ++p) {
      const uint32_t list = given->lists[q * probes + p];
      const auto named = [&] {
        return "query " + std::to_string(q) + " names list " + std::to_string(list) + " at " +
               std::to_string(p);
      };
      if (list >= lists)
        usage(named() + "; the index has lists 0 to " + std::to_string(lists - 1));
      if (std::exchange(lastQuery[list], q) == q)
        usage(named() + " again; name each list once a query");
    }
}

} // namespace

int checkK(int64_t k, int64_t rows) {
  checkRange("k", k, 1, ANNUDF_MAX_K);
  if (k <= rows)
    return static_cast<int>(k);
  const std::string given = std::to_string(k), most = std::to_string(rows);
  throw ArgumentError(ErrorKind::Usage, {"k", given, "an integer from 1 to " + most},
                      " is " + given + ", but the index has " + most + " rows" +
                          (rows == 0 ? "; add some first" : ""));
}

void checkSearch(const RowStore &index, const MetricView &metric, const MatrixView &queries, int k,
                 const SearchParams &params) {
  checkRole(metric);
  const Manifest &manifest = metric.artifact.manifest;
  auto input = [](const std::string &what) { throw Error(ErrorKind::Input, what); };
  auto ofQueries = [](const std::string &what) {
    throw ArgumentError(ErrorKind::Input, {"queries"}, what);
  };
  const std::string name = nameOf(metric);
  if (queries.dims != index.dims()) {
    const bool packed = index.element() == ANNUDF_ELEMENT_BITS && bitsOf(queries.element) == 8 &&
                        int64_t(queries.dims) * 8 == index.dims();
    ofQueries(" have " + std::to_string(queries.dims) + " dims, the index has " +
              std::to_string(index.dims()) +
              (packed ? " of bits; give them as bits too if their bytes are packed" : ""));
  }
  if (const std::string fault = faultOfDims(queries.element, queries.dims); !fault.empty())
    ofQueries(": " + fault);
  if (queries.rows == 0)
    ofQueries(": there are 0 rows; give at least one");
  if (queries.rows < 0 || !queries.data)
    ofQueries(": " + std::to_string(queries.rows) + " rows without data");
  // A hook gets the number of a query as an int32_t, and a capture of queries is read there.
  if (queries.rows > std::numeric_limits<int32_t>::max())
    ofQueries(": " + std::to_string(queries.rows) + " rows, a search takes at most " +
              std::to_string(std::numeric_limits<int32_t>::max()) + "; search in parts");
  if (!manifest.accepts(index.element()))
    input(name + " takes " + elementList(manifest) + ", the index holds " +
          toString(index.element()));
  if (params.firstQuery < 0 ||
      params.firstQuery > std::numeric_limits<int32_t>::max() - queries.rows)
    input("the first query has number " + std::to_string(params.firstQuery) + " and there are " +
          std::to_string(queries.rows) + " queries; numbers are 0 to " +
          std::to_string(std::numeric_limits<int32_t>::max() - 1));
  if (params.ofQueries != 0 && params.firstQuery > params.ofQueries - queries.rows)
    input("queries " + std::to_string(params.firstQuery) + " to " +
          std::to_string(params.firstQuery + queries.rows - 1) + " are not among the " +
          std::to_string(params.ofQueries) + " of the search");
  if (params.ofQueries == 0)
    checkFirstQuery(metric, params.firstQuery);
  if (!manifest.accepts(queries.element))
    input(name + " takes " + elementList(manifest) + ", the queries are " +
          toString(queries.element));
  if (index.missingValues() && !manifest.missingValues && !manifest.isFilter())
    input(name + " does not take missing values, and the index may hold them; search by a metric "
                 "with missing_values, such as nan_euclidean");
  checkDims(metric, index.dims());
  checkK(k, index.size());
  checkCandidates(index, params.candidates, queries.rows);
  if (params.filter)
    checkBits("the filter has", params.filter->bits(), index);
  if (params.predicate)
    checkPredicate(*params.predicate, index, queries, params);
}

void checkDims(const MetricView &metric, int32_t dims) {
  const int32_t made = metric.artifact.manifest.dims;
  if (made != 0 && made != dims)
    throw Error(ErrorKind::Input, nameOf(metric) + " was compiled for " + std::to_string(made) +
                                      " dims, the index has " + std::to_string(dims));
}

void checkFirstQuery(const MetricView &metric, int64_t firstQuery) {
  if (firstQuery != 0 && metric.artifact.manifest.hasQueryCaptures())
    throw Error(ErrorKind::Input,
                nameOf(metric) + " has captures of queries, so all queries are searched at once, "
                                 "from number 0");
}

void checkDistances(const RowStore &index, const MetricView &metric, const MatrixView &queries,
                    int64_t firstQuery) {
  checkSearch(index, metric, queries, 1, {.firstQuery = firstQuery});
  if (!index.idsAreRowNumbers())
    throw Error(ErrorKind::Usage,
                "distances by id: the index has " + std::to_string(index.size()) + " rows and " +
                    (index.largestId() >= index.size()
                         ? "a row with id " + std::to_string(index.largestId())
                         : "some of its ids are repeated") +
                    "; each id from 0 to " + std::to_string(index.size() - 1) + " must occur once");
}

CaptureExtents extentsOf(const RowStore &index, const MatrixView &queries,
                         const SearchParams &params) {
  return {index.dims(), index.rowExtent(), params.ofQueries ? params.ofQueries : queries.rows};
}

void checkCaptures(const MetricView &metric, const BoundCaptures &captures,
                   const CaptureExtents &searched) {
  const Manifest &manifest = metric.artifact.manifest;
  const std::vector<CaptureInfo> &needed = manifest.captures;
  const std::string who = nameOf(metric);
  auto usage = [](const std::string &what) { throw Error(ErrorKind::Usage, what); };
  if (captures.size() == 0 && !needed.empty())
    usage(who + " needs captures " + captureText(needed) + "; none were bound");
  if (!std::equal(needed.begin(), needed.end(), captures.declared().begin(),
                  captures.declared().end(), sameDeclaration))
    usage(who + (needed.empty() ? " has no captures" : " needs captures " + captureText(needed)) +
          "; those given were bound for " + captures.owner() + ": " +
          captureText(captures.declared()));
  const CaptureExtents &bound = captures.extents();
  const std::string were = "captures of " + who + " were bound for ";
  if (!needed.empty() && bound.dims != searched.dims)
    usage(were + std::to_string(bound.dims) + " dims, the index has " +
          std::to_string(searched.dims));
  auto checkExtent = [&](size_t i, ExtentBound by) {
    switch (by) {
    case ExtentBound::Number: // Compared by bind.
    case ExtentBound::Dims:   // Compared above.
      return;
    case ExtentBound::Rows:
      if (captures.isColumn(i)) // It has as many as the store, whatever its ids.
        return;
      if (captures.rowsOf(i, bound.rows) < searched.rows)
        usage(boundText(captures, i) + ", the largest id of the index is " +
              std::to_string(searched.rows - 1) + "; bind an array of at least " +
              std::to_string(searched.rows) + " rows");
      return;
    case ExtentBound::Queries:
      if (bound.queries != searched.queries)
        usage(boundText(captures, i) + ", this search has " + std::to_string(searched.queries) +
              (searched.queries == 1 ? " query" : " queries") +
              "; bind an array with one entry a query");
      return;
    }
  };
  for (size_t i = 0; i < needed.size(); ++i)
    for (const CaptureExtent &extent : needed[i].extents)
      checkExtent(i, boundBy(extent.kind));
}

void checkNoColumns(const BoundCaptures &captures) {
  for (size_t i = 0; i < captures.size(); ++i)
    if (captures.isColumn(i))
      throw Error(ErrorKind::Usage, "capture '" + captures.declared()[i].name + "' of " +
                                        captures.owner() +
                                        " is a column of an index; rows that come with the call "
                                        "have none, so bind an array with one entry a row");
}

void checkOwnRows(const BoundCaptures &captures, int64_t rows) {
  for (size_t i = 0; i < captures.size(); ++i)
    if (!captures.isColumn(i) && hasExtent({captures.declared()[i]}, ExtentBound::Rows) &&
        captures.shape(i)[0] > rows)
      throw Error(ErrorKind::Usage,
                  boundText(captures, i) + ", the data set has " + std::to_string(rows) +
                      " rows; bind one entry a row, or search an index that was extended with "
                      "the ids of the rows");
}

void checkRowsOfCall(const BoundCaptures &captures, const SearchParams &params, int64_t rows) {
  const auto check = [rows](const BoundCaptures &some) {
    checkNoColumns(some);
    checkOwnRows(some, rows);
  };
  check(captures);
  if (!params.predicate)
    return;
  for (const Predicate::Step &step : params.predicate->steps())
    if (const auto *code = std::get_if<Predicate::Code>(&step))
      check(*code->captures);
}

} // namespace annudf::runtime
