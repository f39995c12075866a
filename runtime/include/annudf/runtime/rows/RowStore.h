//===- RowStore.h - Rows of one element type, in lists -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a search reads: rows and their ids. Which of them it scores is Candidates.h's.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ROWS_ROWSTORE_H
#define ANNUDF_RUNTIME_ROWS_ROWSTORE_H

#include "annudf/runtime/rows/Attachments.h"
#include "annudf/runtime/rows/Columns.h"
#include "annudf/runtime/rows/ListWords.h"
#include "annudf/runtime/support/Progress.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace annudf::runtime {

struct ListCenters;

/// Layout of a list ("interleaved words"). Rows stand in groups of kGroupRows; a
/// row is `words()` 32-bit words, its coordinates packed as annudf_abi.h says and
/// zero-padded to 16 bytes. Word w of row r of a group is at
///     (group * words + w) * kGroupRows + r
/// so rows are lanes: 32 consecutive words are the same dimension of 32 rows. The
/// last group is zero-filled. A GPU copy regroups 4 words to 16 bytes a lane.
inline constexpr int kGroupRows = 32;
/// Groups of a list with so many rows; the last may have padding.
constexpr int64_t groupsOf(int64_t rows) { return (rows + kGroupRows - 1) / kGroupRows; }

struct List {
  using Words = ListWords;
  int64_t size = 0;         ///< Rows that exist.
  Words words;              ///< groups() * words() * kGroupRows.
  std::vector<int64_t> ids; ///< groups() * kGroupRows source ids; -1 in padding.
  int64_t groups() const { return groupsOf(size); }
};

/// Lists that are in a device's memory alone, until somebody on the host asks for one. Thread-safe.
class ListsElsewhere {
public:
  virtual ~ListsElsewhere() = default;
  /// All of them; the first call copies them. \throws Error; then the next call tries again.
  const std::vector<List> &get();
  bool fetched() const { return fetched_; }
  /// get() for the last who asks.
  std::vector<List> release() {
    (void)get();
    return std::move(lists_);
  }
  /// Ids of a list as List has them; where the lists are elsewhere yet, ids alone are copied.
  std::span<const int64_t> ids(uint32_t list);
  /// The CUDA device that has them.
  virtual int device() const = 0;
  /// Rows of each; asks no device.
  virtual std::span<const uint32_t> sizes() const = 0;

protected:
  virtual std::vector<List> fetch() = 0;
  /// Ids of all lists, one after the other, each in whole groups; nothing where they come with the
  /// lists alone. Never while fetch() runs, nor after.
  virtual std::vector<int64_t> fetchIds() { return {}; }

private:
  std::once_flag once_, idsOnce_;
  std::mutex fetching_;
  std::atomic<bool> fetched_{false};
  std::vector<List> lists_;
  std::vector<int64_t> ids_;
  std::vector<size_t> firstId_; ///< In ids_, by list.
};

/// Values of a list's rows, by column of the store, in the order of the rows.
using ListColumns = std::vector<std::vector<std::byte>>;

class RowStore;

/// Tells lists in host memory from those of a copy: a copy gets another one, a move takes it along.
class ListsIdentity {
public:
  ListsIdentity() = default;
  ListsIdentity(const ListsIdentity &) {}
  ListsIdentity(ListsIdentity &&other) noexcept : token_(std::move(other.token_)) {}
  ListsIdentity &operator=(const ListsIdentity &) {
    token_ = std::make_shared<char>();
    return *this;
  }
  ListsIdentity &operator=(ListsIdentity &&other) noexcept {
    token_ = std::move(other.token_);
    return *this;
  }
  /// Is never that of other lists, as long as somebody holds it.
  std::weak_ptr<const void> get() const { return token_; }

private:
  std::shared_ptr<char> token_ = std::make_shared<char>();
};

/// Rows that are somebody else's memory, row-major; a list is made of all of them only where
/// somebody asks for it. A search on the host stores a piece of them at a time.
class RowsInPlace : public ListsElsewhere {
public:
  int device() const override { return -1; }
  const MatrixView &rows() const { return rows_; }
  /// Rows [first, first + count) in one list, with their ids.
  virtual std::unique_ptr<const RowStore> piece(int64_t first, int64_t count,
                                                const Progress &progress) const = 0;
  /// Which row has the id; -1: none.
  virtual int64_t numberOf(int64_t id) const = 0;
  virtual int64_t idOf(int64_t number) const = 0;

protected:
  explicit RowsInPlace(const MatrixView &rows) : rows_(rows) {}
  MatrixView rows_;
};

/// 32-bit words of a row of `dims` coordinates, padded to 16 bytes.
int32_t wordsPerRow(annudf_element element, int32_t dims);

/// Rows of one element type in lists, with their ids. An index is a store that its class fills.
class RowStore {
public:
  RowStore() = default;
  RowStore(const RowStore &) = default;
  RowStore(RowStore &&) = default;
  RowStore &operator=(const RowStore &) = default;
  RowStore &operator=(RowStore &&) = default;
  virtual ~RowStore() = default;

  annudf_element element() const { return element_; }
  int32_t dims() const { return dims_; }
  int64_t size() const { return size_; }
  /// Rows of the store that this is a part of (Shards.h); else its own.
  virtual int64_t rowsOfWhole() const { return size_; }
  /// Largest id of a row: what a capture over rows must reach. -1 if there are none.
  int64_t largestId() const { return largestId_; }
  /// Entries of such a capture. An id may be the largest number there is; no array reaches that
  /// far.
  int64_t rowExtent() const { return largestId_ == INT64_MAX ? largestId_ : largestId_ + 1; }
  /// Whether ids are 0 to size() - 1, each once. Looked at once a state.
  bool idsAreRowNumbers() const;
  /// Whether coordinates of rows and queries may be NaN.
  bool missingValues() const { return missing_; }
  /// 32-bit words of a row, a multiple of 4.
  int32_t words() const;
  uint32_t nLists() const { return static_cast<uint32_t>(lists_.size()) + listsNeverHere_; }
  const List &list(uint32_t i) const { return lists()[i]; }
  /// What hooks get as the number of a list.
  int32_t listNumber(uint32_t i) const { return holdsCandidates_ ? 0 : static_cast<int32_t>(i); }
  /// Whether each list is one query's rows of a data set or an index: to hooks all rows are one
  /// list, and ids are numbers of the data set's rows, or those of the index.
  bool holdsCandidates() const { return holdsCandidates_; }
  /// The index whose rows those candidates are, which outlives this; null: they are of a data set.
  const RowStore *source() const { return source_; }
  /// The slots of a list's rows in the source (SlotsOfIds.h), in whole groups; null where nobody on
  /// the host needs them.
  virtual const int64_t *slotsInSource(uint32_t) const { return nullptr; }
  /// list(i).size, wherever the list is.
  int64_t listSize(uint32_t i) const {
    return elsewhere_ ? int64_t(elsewhere_->sizes()[i]) : lists_[i].size;
  }
  const std::vector<List> &lists() const { return elsewhere_ ? elsewhere_->get() : lists_; }
  /// list(i).ids, for which no list comes to the host.
  std::span<const int64_t> idsOf(uint32_t i) const {
    return elsewhere_ ? elsewhere_->ids(i) : std::span<const int64_t>(lists_[i].ids);
  }
  /// Whether rows are in a file that is mapped: whoever can should not read all of them.
  bool isMapped() const { return isMapped_; }
  /// Whether its lists are in host memory: they are not where a device made them and nobody asked.
  bool onHost() const { return !elsewhere_ || elsewhere_->fetched(); }
  /// Where its rows are somebody else's memory and nobody has asked for a list of them; else null.
  const RowsInPlace *rowsInPlace() const {
    return onHost() ? nullptr : dynamic_cast<const RowsInPlace *>(elsewhere_.get());
  }
  /// The CUDA device that made its lists and still has the last word on them; -1: the host has.
  int device() const { return elsewhere_ ? elsewhere_->device() : -1; }
  int threads() const { return threads_; } ///< For work on it; 0: all cores.
  /// Values that every row has beside its coordinates, sorted by name.
  const std::vector<Column> &columns() const { return columns_; }
  /// Those of the rows of a list. They are in host memory, wherever the lists are.
  const ListColumns &columnsOf(uint32_t i) const { return columnValues_[i]; }
  /// Another one when columns are added to rows that there were.
  uint64_t columnsNumber() const { return columnsNumber_; }
  /// Changes with the rows.
  uint64_t generation() const { return generation_; }
  /// The mean of the rows or near it, each number finite: a shift that makes bounds of products
  /// tight. Zeros, which are right too, where nobody says.
  virtual std::vector<float> meanOfRows() const;
  /// What its lists are ranked by for a query, one center a list; null where nothing ranks them.
  /// They change with the rows only.
  virtual const ListCenters *listCenters() const { return nullptr; }

  /// What backends keep of it; of this state only, so whatever changes the rows begins anew.
  IndexAttachments &attachments() const { return *attachments_; }
  /// The same for who may outlive it.
  std::weak_ptr<IndexAttachments> weakAttachments() const { return attachments_; }
  /// Which lists these are: a copy of a store shares its attachments, not its lists.
  std::weak_ptr<const void> listsIdentity() const {
    return elsewhere_ ? std::weak_ptr<const void>(elsewhere_) : identity_.get();
  }

  /// Lists that are elsewhere come here, and nothing stays there but what a search holds.
  void bringToHost();

protected:
  /// Before lists change: those that are elsewhere come here.
  void takeLists();
  /// After the rows changed: what was made of the state before goes.
  /// \param attachments  empty ones, made where that could still fail.
  void changed(std::shared_ptr<IndexAttachments> attachments);

  annudf_element element_ = ANNUDF_ELEMENT_F32;
  int32_t dims_ = 0;
  int64_t size_ = 0;
  int64_t largestId_ = -1;
  bool missing_ = false;
  bool holdsCandidates_ = false, isMapped_ = false;
  const RowStore *source_ = nullptr;
  std::vector<List> lists_;     ///< Empty ones while they are elsewhere.
  uint32_t listsNeverHere_ = 0; ///< Lists elsewhere for which lists_ has none.
  std::vector<Column> columns_;
  std::vector<ListColumns> columnValues_; ///< By list; empty where there are no columns.
  uint64_t columnsNumber_ = 0;
  std::shared_ptr<ListsElsewhere> elsewhere_;
  ListsIdentity identity_;
  uint64_t generation_ = 0;
  std::shared_ptr<IndexAttachments> attachments_ = std::make_shared<IndexAttachments>();
  int threads_ = 0;
};

/// Never the same twice in a process.
uint64_t nextGeneration();

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ROWS_ROWSTORE_H
