//===- Columns.cpp - Captures that are columns of a store -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Columns.h"

#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/rows/SlotsOfIds.h"
#include "captures/Values.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace annudf::runtime {
namespace {

constexpr int64_t kMostEntries = int64_t(1) << 40;

std::optional<annudf_capture_element> elementOf(const std::string &dtype) {
  return dtype == "i1" ? std::nullopt
                       : parseSpelling<annudf_capture_element>(dtype == "b1" ? "i1" : dtype);
}

NewColumns::Values valuesOf(const std::string &name, const CaptureValue &given) {
  const auto refuse = [&](const std::string &what) {
    throw Error(ErrorKind::Input, "column '" + name + "' from " + given.origin + ": " + what);
  };
  if (!isName(name))
    refuse("its name is invalid; use letters, digits and _, not beginning with a digit, at most " +
           std::to_string(int(ANNUDF_MAX_NAME)) + " bytes");
  const std::optional<annudf_capture_element> element = elementOf(given.dtype);
  if (!element)
    refuse("dtype '" + given.dtype + "' is not supported; give " +
           tableOf<annudf_capture_element>().listing() + ", i1 as b1");
  if (given.space != MemorySpace::Host)
    refuse("it is on CUDA device " + std::to_string(given.device) + "; give host memory");
  if (given.shape.size() != 1)
    refuse("it has " + std::to_string(given.shape.size()) +
           " axes; give one, with a value for each row");
  const int64_t rows = given.shape.front();
  const size_t size = bytesOf(*element);
  if (rows < 0 || rows > kMostEntries)
    refuse("it has " + std::to_string(rows) + " values; give one a row");
  if (!given.strides.empty() && given.strides.size() != 1)
    refuse("it has " + std::to_string(given.strides.size()) + " strides for one axis; give one");
  if (given.strides.empty() && given.bytes != static_cast<uint64_t>(rows) * size)
    refuse("it has " + std::to_string(given.bytes) + " bytes, " + std::to_string(rows) +
           " values of " + given.dtype + " take " +
           std::to_string(static_cast<uint64_t>(rows) * size));
  const int64_t step = given.strides.empty() ? static_cast<int64_t>(size) : given.strides.front();
  NewColumns::Values values{{name, *element}, std::vector<std::byte>(size_t(rows) * size)};
  const auto *from = static_cast<const std::byte *>(given.data);
  std::byte *to = values.bytes.data();
  for (int64_t i = 0; i < rows; ++i, to += size)
    std::memcpy(to, from + i * step, size);
  if (*element == ANNUDF_CAPTURE_I1)
    for (std::byte &value : values.bytes)
      value = std::byte(value != std::byte(0));
  return values;
}

std::string keyOf(const RowStore &store, const std::string &column, bool bySlot) {
  return "column " + column + (bySlot ? " by slot, " : " by id, ") +
         std::to_string(store.columnsNumber());
}

struct AttachedColumn : IndexAttachment {
  ColumnArray array;
};

/// Looks at the values once, so that no search has to.
void measure(ColumnArray &array, annudf_capture_element element, const RowStore &store, size_t c) {
  const Load load = loadOf(dtypeOf(element));
  const size_t size = bytesOf(element);
  for (uint32_t l = 0; l < store.nLists(); ++l)
    for (size_t i = 0; i < static_cast<size_t>(store.listSize(l)); ++i)
      if (!load(store.columnsOf(l)[c].data() + i * size).isFinite()) {
        array.notFinite = store.idsOf(l)[i];
        return;
      }
}

/// Entry i is the value of the row with id i; ids that no row has are 0.
ColumnArray byId(const RowStore &store, size_t c) {
  const Column &column = store.columns()[c];
  const size_t size = bytesOf(column.element);
  ColumnArray array;
  array.entries = std::max<int64_t>(store.rowExtent(), 1);
  if (array.entries > kMostEntries)
    throw Error(ErrorKind::Usage, "column '" + column.name +
                                      "' of the index is read by id, and the largest id is " +
                                      std::to_string(store.largestId()) +
                                      "; give the rows smaller ids, or use their number only as "
                                      "the index of columns");
  auto values = std::make_shared<std::vector<std::byte>>(size_t(array.entries) * size);
  std::vector<bool> seen(size_t(array.entries));
  for (uint32_t l = 0; l < store.nLists(); ++l) {
    const std::span<const int64_t> ids = store.idsOf(l);
    for (size_t i = 0; i < static_cast<size_t>(store.listSize(l)); ++i) {
      const std::byte *from = store.columnsOf(l)[c].data() + i * size;
      const auto id = static_cast<size_t>(ids[i]);
      std::byte *to = values->data() + id * size;
      if (seen[id] && std::memcmp(from, to, size) != 0)
        throw Error(ErrorKind::Input, "column '" + column.name +
                                          "' of the index differs between rows with id " +
                                          std::to_string(id) + "; give each row its own id");
      std::memcpy(to, from, size);
      seen[id] = true;
    }
  }
  array.values = std::move(values);
  return array;
}

/// The values of a list after those of the list before, each list's padded to whole groups.
ColumnArray bySlotOf(const RowStore &store, size_t c) {
  const size_t size = bytesOf(store.columns()[c].element);
  ColumnArray array;
  const std::vector<int64_t> first = firstSlotsOf(store);
  array.entries = first.back();
  auto values = std::make_shared<std::vector<std::byte>>(size_t(array.entries) * size);
  for (uint32_t l = 0; l < store.nLists(); ++l)
    std::ranges::copy(store.columnsOf(l)[c], values->data() + size_t(first[l]) * size);
  array.values = std::move(values);
  return array;
}

} // namespace

NewColumns newColumns(const std::map<std::string, CaptureValue> &values) {
  if (values.size() > kMaxColumns)
    throw Error(ErrorKind::Input, "columns: there are " + std::to_string(values.size()) +
                                      "; an index has at most " + std::to_string(kMaxColumns));
  NewColumns columns;
  for (const auto &[name, value] : values)
    columns.values.push_back(valuesOf(name, value));
  return columns;
}

ColumnTypes columnTypes(const RowStore &store) {
  ColumnTypes types;
  for (const Column &column : store.columns())
    types.emplace(column.name, column.element);
  return types;
}

StoreCaptures::StoreCaptures(const RowStore &store, const Manifest &manifest,
                             const BoundCaptures &captures)
    : store_(store), given_(captures) {
  if (!captures.hasColumns())
    return;
  bySlot_ = captures.takeAnyOrder();
  const RowStore &from = source();
  const ColumnTypes types = columnTypes(from);
  own_ = captures.withColumns([&](const CaptureInfo &capture) {
    if (const std::optional<std::string> fault = faultOfColumn(capture, &types))
      throw Error(ErrorKind::Usage, std::string(manifest.noun()) + " '" + manifest.name +
                                        "' takes capture '" + capture.name + "' of the index" +
                                        *fault);
    const auto c =
        static_cast<size_t>(findColumn(from.columns(), capture.name) - from.columns().data());
    bool made = false;
    return from.attachments()
        .get<AttachedColumn>(
            keyOf(from, capture.name, bySlot_),
            [&] {
              auto attached = std::make_shared<AttachedColumn>();
              attached->array = bySlot_ ? bySlotOf(from, c) : byId(from, c);
              attached->array.digest =
                  keyOf(from, capture.name, bySlot_) + " of " + std::to_string(from.generation());
              measure(attached->array, capture.element, from, c);
              return attached;
            },
            made)
        ->array;
  });
}

std::shared_ptr<const std::vector<int64_t>>
integersById(const RowStore &store, const std::string &name, const char *argument) {
  const auto refuse = [&](const std::string &rest) {
    throw ArgumentError(ErrorKind::Usage, {argument, name}, " is '" + name + "', " + rest);
  };
  const auto column = std::ranges::find(store.columns(), name, &Column::name);
  if (column == store.columns().end())
    refuse("which is no column of the index; add it by columns=, or give an array");
  if (kindOf(column->element) == NumberKind::Float)
    refuse(std::string("a column of ") + toString(column->element) + "; give one of integers");
  struct AttachedIntegers : IndexAttachment {
    std::shared_ptr<const std::vector<int64_t>> values;
  };
  bool made = false;
  return store.attachments()
      .get<AttachedIntegers>(
          keyOf(store, "integers of " + name, false),
          [&] {
            const ColumnArray array = byId(store, size_t(column - store.columns().begin()));
            const Load load = loadOf(dtypeOf(column->element));
            const size_t size = bytesOf(column->element);
            std::vector<int64_t> values(static_cast<size_t>(array.entries));
            for (size_t i = 0; i < values.size(); ++i)
              values[i] = static_cast<int64_t>(load(array.values->data() + i * size).integer);
            auto attached = std::make_shared<AttachedIntegers>();
            attached->values = std::make_shared<const std::vector<int64_t>>(std::move(values));
            return attached;
          },
          made)
      ->values;
}

std::vector<int64_t> StoreCaptures::firstSlots() const {
  return bySlot_ ? firstSlotsOf(source()) : std::vector<int64_t>();
}

} // namespace annudf::runtime
