//===- RankLists.cpp - The lists that queries probe -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/RankLists.h"

#include <string>
#include <utility>

namespace annudf::runtime {
namespace {

/// An index's centers, prepared for one coarse metric.
struct PreparedCenters : IndexAttachment {
  explicit PreparedCenters(CoarseRanker made) : ranker(std::move(made)) {}
  const CoarseRanker ranker;
};

} // namespace

std::shared_ptr<const CoarseRanker> rankerOf(const RowStore &index, const Manifest &manifest) {
  bool made = false;
  const std::string key =
      std::string("coarse ") + toString(manifest.coarse) + " " + toString(manifest.coarseOrder);
  const auto prepared = index.attachments().get<PreparedCenters>(
      key,
      [&] {
        return std::make_shared<PreparedCenters>(
            CoarseRanker(*index.listCenters(), manifest.coarse, manifest.coarseOrder));
      },
      made);
  return {prepared, &prepared->ranker};
}

} // namespace annudf::runtime
