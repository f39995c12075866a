//===- RankLists.h - The lists that queries probe ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_RANKLISTS_H
#define ANNUDF_RUNTIME_ENGINE_RANKLISTS_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/rows/RowStore.h"

#include <memory>

namespace annudf::runtime {

/// The centers of a store, prepared on the host for the coarse metric of a manifest: an attachment
/// of the store, made once.
/// \pre the store has centers.
std::shared_ptr<const CoarseRanker> rankerOf(const RowStore &index, const Manifest &manifest);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_RANKLISTS_H
