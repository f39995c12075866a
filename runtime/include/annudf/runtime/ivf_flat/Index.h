//===- Index.h - Rows in lists by their nearest center ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The IVF-Flat index: k-means centers and, for each list, its rows and their ids.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_IVF_FLAT_INDEX_H
#define ANNUDF_RUNTIME_IVF_FLAT_INDEX_H

#include "annudf/ABI/annudf_limits.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/rows/Candidates.h"
#include "annudf/runtime/rows/RowStore.h"
#include "annudf/runtime/support/Progress.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace annudf {
class FileReader;
} // namespace annudf

namespace annudf::runtime {

/// Most lists of an index.
inline constexpr uint32_t kMaxLists = ANNUDF_MAX_LISTS;

/// Names as in cuvs::neighbors::ivf_flat::index_params.
struct IndexParams {
  uint32_t nLists = ANNUDF_DEFAULT_N_LISTS; ///< 0: automaticLists of the rows.
  annudf_coarse metric = ANNUDF_COARSE_L2;  ///< What k-means clusters by.
  uint32_t kmeansIterations = ANNUDF_DEFAULT_KMEANS_N_ITERS;
  double kmeansTrainsetFraction = ANNUDF_DEFAULT_KMEANS_TRAINSET_FRACTION;
  uint64_t seed = ANNUDF_DEFAULT_SEED;
  int threads = 0;              ///< 0: all cores.
  bool adaptiveCenters = false; ///< Centers are the means of their lists' rows after each extend.
  bool addData = true;          ///< Else the index has centers and no rows.
  bool missingValues = false;   ///< Whether a coordinate may be NaN, which is a missing value.
  /// Bytes of a device that CudaBackend::buildFromHost may use; 0: nine tenths of what is free.
  uint64_t deviceMemoryLimit = 0;
};

/// Lists for so many rows where nobody says how many: the root of their number, or one for so few
/// that they are scanned as quickly as lists of them are ranked.
uint32_t automaticLists(int64_t rows);

/// Ids of rows that extend() adds.
struct NewIds {
  const int64_t *ids = nullptr; ///< One for each row, 0 or above; null: from rowExtent() on.
  bool allowRepeated = false;   ///< Ids that are given twice or are in the index already.
  /// Values of the index's columns, one a row. The first rows of an index decide which columns it
  /// has, unless addColumns() has.
  const NewColumns *columns = nullptr;
};

/// Ids of rows that are searched exactly.
struct RowIds {
  const int64_t *ids = nullptr; ///< One for each row, 0 or above and different.
  int64_t first = 0;            ///< Without those: ids go on from here.
};

namespace ivf_flat {
/// Names as in cuvs::neighbors::ivf_flat::search_params.
struct SearchParams {
  uint32_t nProbes = ANNUDF_DEFAULT_N_PROBES; ///< Lists that are scanned for a query.
};
} // namespace ivf_flat

class Index;
class SectionReader;

/// An index that was made where its rows are.
struct IndexParts {
  annudf_element element = ANNUDF_ELEMENT_F32;
  int32_t dims = 0;
  int64_t size = 0; ///< Ids are 0 to size - 1.
  annudf_coarse metric = ANNUDF_COARSE_L2;
  int threads = 0;
  std::vector<float> centers;
  std::shared_ptr<ListsElsewhere> lists; ///< Null where there are no rows.
  std::vector<float> fill = {};          ///< As Index::fill.
  bool adaptiveCenters = false;
};

/// What load() does with the rows of a file.
enum class FileUse {
  Read, ///< All are read into memory, and checked by the file's digest.
  Map,  ///< They stay in the file, which is mapped: a search on the host reads the lists that it
        ///< probes. Ids and columns are read; no digest but the header's is compared. What changes
        ///< rows changes copies in memory.
};

class Index : public RowStore {
public:
  Index() = default;
  explicit Index(IndexParts parts);
  /// Made of such parts without rows, and of all rows, which are on the host.
  /// \param lists  of each row.
  Index(IndexParts parts, const MatrixView &rows, const std::vector<uint32_t> &lists,
        const Progress &progress);
  /// Trains centers and adds every row with ids 0..rows-1, unless params.addData says not to.
  /// \throws Error(Input) on an empty base, rows < nLists, non-finite coordinates; Error(Usage) on
  /// missing values of elements that have no NaN.
  static Index build(const IndexParams &params, const MatrixView &base,
                     const Progress &progress = {});
  /// All rows in one list, for exact searches; without k-means.
  /// \param missingValues  whether the metric takes them; only floats have NaN to stand for one.
  /// \throws Error(Input) on no rows, coordinates that are not finite, and ids that are below 0 or
  /// repeated.
  static Index ofOneList(const MatrixView &rows, bool missingValues, int threads = 0,
                         const RowIds &ids = {}, const Progress &progress = {});
  /// The same of rows that stay where they are and as they are, as long as the index: a search on
  /// the host stores a piece of them at a time; who asks for the list, such as a device or
  /// extend(), makes a copy.
  static Index overRows(const MatrixView &rows, bool missingValues, int threads = 0,
                        const RowIds &ids = {});
  /// Adds rows. On any error the index is as before.
  /// \throws Error(Input) on an id below 0, or one that is repeated and may not be; on columns that
  /// are not the index's, or have another number of values.
  void extend(const MatrixView &rows, const NewIds &ids = {}, const Progress &progress = {});
  /// What extend() refuses before it looks at coordinates, but for repeated ids.
  void checkNewRows(const MatrixView &rows, const NewIds &ids) const;
  /// Adds columns to the rows that there are, which may be none. Lists that a device has stay
  /// there. On any error the index is as before.
  /// \param ids  which row each value is for, all rows once; null: value i is for id i.
  /// \throws Error(Input) on a column that the index has, and values that are not one a row.
  void addColumns(const NewColumns &columns, const int64_t *ids = nullptr);
  /// As extend() of rows that a device has added, or remove() of rows that it has removed: these
  /// are the lists then.
  /// \param lists  null where there are no rows.
  /// \param size, largestId  of all rows.
  /// \param centers  where they have moved; else empty.
  /// \param columns  of the rows then, as columnsAfter() or columnsWithout() has them.
  void changeTo(std::shared_ptr<ListsElsewhere> lists, int64_t size, int64_t largestId,
                std::vector<float> centers = {}, std::vector<ListColumns> columns = {});
  /// Values of the columns by list once new rows are in it, in the order of the rows.
  /// \param assigned  the list of each new row.
  std::vector<ListColumns> columnsAfter(const NewIds &ids,
                                        const std::vector<uint32_t> &assigned) const;
  /// The same once the rows with these ids are gone. No list comes to the host.
  std::vector<ListColumns> columnsWithout(std::span<const int64_t> ids) const;
  /// Removes every row that has one of these ids; an id that no row has is passed over, and so is
  /// one that is given twice. The other rows keep their ids, their lists and their order there. A
  /// list, and the index, may end up without rows; it still can be extended. Adaptive centers move
  /// to the means of what is left. On any error the index is as before.
  /// \returns how many rows went. Where none did the index has not changed.
  /// \throws ArgumentError(Input) on an id below 0.
  int64_t remove(std::span<const int64_t> ids, const Progress &progress = {});

  /// One file, written to a temporary and renamed; checked (digest too) before use.
  void save(const std::string &path, const Progress &progress = {}) const;
  static Index load(const std::string &path, FileUse use = FileUse::Read);

  /// The rows that a search scores for a query. More probes than lists are all lists, as in cuVS.
  Candidates candidates(const ivf_flat::SearchParams &params) const {
    return Lists{std::min(params.nProbes, nLists())};
  }
  annudf_coarse metric() const { return metric_; }
  /// Whether extend() and remove() move the centers to the means of their lists.
  bool adaptiveCenters() const { return adaptive_; }
  /// What a coordinate that is missing counts as where lists are ranked: of each dimension the mean
  /// of what build() was given. Empty where there are none.
  const std::vector<float> &fill() const { return centers_.fill; }
  const std::vector<float> &centers() const { return centers_.values; } ///< nLists x dims.
  const ListCenters *listCenters() const override { return &centers_; }
  /// As the centers of their lists tell it, or 0 where that is not finite.
  std::vector<float> meanOfRows() const override;

private:
  friend class BorrowedRows;
  /// ofOneList() of rows and ids that were checked.
  /// \param largest  no id is above it.
  static Index packed(const MatrixView &rows, const IndexParams &params, const RowIds &ids,
                      int64_t largest, const Progress &progress);
  /// What a file has of lists of these sizes.
  void readLists(FileReader &file, SectionReader &sections, std::span<const int64_t> sizes,
                 FileUse use);
  /// What follows the choice of a list for each row.
  void append(const MatrixView &rows, const NewIds &ids, const std::vector<uint32_t> &assigned,
              const Progress &progress);

  /// The columns that the index has once these rows are in it.
  std::vector<Column> columnsWith(const NewIds &ids) const;

  annudf_coarse metric_ = ANNUDF_COARSE_L2;
  bool adaptive_ = false;
  ListCenters centers_;
  /// The sums that adaptive centers are means of; empty after load() and where a device has
  /// the lists: these can tell.
  std::vector<double> sums_;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_IVF_FLAT_INDEX_H
