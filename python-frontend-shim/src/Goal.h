//===- Goal.h - What a search must find, from Python ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_PYTHON_GOAL_H
#define ANNUDF_PYTHON_GOAL_H

#include "Support.h"

#include <cstdint>
#include <string>
#include <tuple>

namespace annudf::python {

/// What queries must find: max_probes, min_rows, address and length of the groups, and their
/// column.
using GoalOfPython = std::tuple<int64_t, int64_t, uintptr_t, int64_t, std::string>;
class Goal {
public:
  explicit Goal(const GoalOfPython &given) {
    const auto &[maxProbes, minRows, of, entries, column] = given;
    maxProbes_ = maxProbes, minRows_ = minRows;
    groups_.of = reinterpret_cast<const int64_t *>(of), groups_.entries = entries;
    groups_.column = column.empty() ? nullptr : column.c_str();
  }
  void addTo(annudf_ivf_flat_search_options &options) const {
    options.max_probes = maxProbes_, options.min_rows = minRows_;
    if (groups_.of || groups_.column)
      options.group_by = &groups_;
  }

private:
  int64_t maxProbes_, minRows_;
  annudf_groups groups_ = {sizeof groups_, nullptr, 0, nullptr};
};

/// A metric that ranks what a search finds, and what that cost the last search.
struct SecondPhase {
  annudf_second_phase phase = {};
  annudf_ivf_flat_search_stats stats = emptyStats();
};

/// Tells Python of SecondPhase.
inline void addSecondPhase(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<SecondPhase>(module, "SecondPhase",
                          "A metric that ranks what a search finds, for one search at a time.")
      .def(
          "__init__",
          [](SecondPhase *self, const Artifact &artifact, const Captures &captures, double ratio) {
            new (self) SecondPhase;
            self->phase = {sizeof self->phase, artifact.handle.get(), captures.handle.get(), ratio,
                           nullptr};
          },
          "artifact"_a, "captures"_a, "ratio"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def_ro("stats", &SecondPhase::stats, "What it cost the last search.");
}

} // namespace annudf::python

#endif // ANNUDF_PYTHON_GOAL_H
