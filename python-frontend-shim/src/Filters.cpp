//===- Filters.cpp - Filters for Python -----------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <cstdint>

namespace annudf::python {

namespace {

template <class Make> Filter made(Make make) {
  annudf_filter *filter = nullptr;
  const Outcome status = withoutGil([&] { return make(&filter); });
  check(status);
  return {FilterPtr(filter)};
}

Filter fromBitset(uintptr_t words, int64_t bits) {
  return made([&](annudf_filter **filter) {
    return annudf_filter_from_bitset(reinterpret_cast<const uint32_t *>(words), bits, filter);
  });
}

Filter fromBytes(uintptr_t bytes, int64_t count) {
  return made([&](annudf_filter **filter) {
    return annudf_filter_from_bytes(reinterpret_cast<const uint8_t *>(bytes), count, filter);
  });
}

Filter fromBitmap(uintptr_t words, int64_t queries, int64_t bits) {
  return made([&](annudf_filter **filter) {
    return annudf_filter_from_bitmap(reinterpret_cast<const uint32_t *>(words), queries, bits,
                                     filter);
  });
}

Filter both(const Filter &self, const Filter &other) {
  return made([&](annudf_filter **filter) {
    return annudf_filter_combine(ANNUDF_FILTER_AND, self.handle.get(), other.handle.get(), filter);
  });
}

Filter either(const Filter &self, const Filter &other) {
  return made([&](annudf_filter **filter) {
    return annudf_filter_combine(ANNUDF_FILTER_OR, self.handle.get(), other.handle.get(), filter);
  });
}

Filter inverted(const Filter &self) {
  return made([&](annudf_filter **filter) {
    return annudf_filter_combine(ANNUDF_FILTER_NOT, self.handle.get(), nullptr, filter);
  });
}

} // namespace

void addFilters(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<Filter>(module, "Filter",
                     "A bit for every id, set where a search may find the row; or code and bits "
                     "that say so for each query.")
      .def_static("from_bitset", &fromBitset, "words"_a, "bits"_a,
                  "Copies uint32 words at a host address; id 0 is the lowest bit of the first.")
      .def_static("from_bytes", &fromBytes, "bytes"_a, "count"_a,
                  "From bytes at a host address, one an id.")
      .def_static("from_bitmap", &fromBitmap, "words"_a, "queries"_a, "bits"_a,
                  "Copies uint32 words at a host address; query q has the bits from q * bits on.")
      .def("both", &both, "other"_a, "Rows that pass this and the other.")
      .def("either", &either, "other"_a, "Rows that pass this or the other.")
      .def("inverted", &inverted, "Rows that do not pass this.")
      .def_prop_ro(
          "bits", [](const Filter &self) { return annudf_filter_get(self.handle.get())->bits; },
          "Ids that its bits say something of; 0 if it is code alone.")
      .def_prop_ro(
          "count", [](const Filter &self) { return annudf_filter_get(self.handle.get())->count; },
          "How many of them pass; -1 if each query has its own.");
}

} // namespace annudf::python
