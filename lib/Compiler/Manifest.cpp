//===- Manifest.cpp - What a scan must know, read off the metric ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

/// Signless integers are signed: so they are compared and converted by default.
static std::string spell(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return (integer.isUnsigned() ? "u" : "i") + std::to_string(integer.getWidth());
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static CaptureInfo describe(CaptureOp capture) {
  CaptureInfo info;
  CaptureType type = capture.getType();
  info.name = capture.getName().str();
  info.element = spell(type.getElementType());
  for (int64_t extent : type.getExtents()) {
    switch (extent) {
    case CaptureType::kDim:
      info.extents.push_back({ANNUDF_EXTENT_DIM, 0});
      break;
    case CaptureType::kRow:
      info.extents.push_back({ANNUDF_EXTENT_ROW, 0});
      break;
    case CaptureType::kQuery:
      info.extents.push_back({ANNUDF_EXTENT_QUERY, 0});
      break;
    default:
      info.extents.push_back({ANNUDF_EXTENT_CONSTANT, extent});
    }
  }
  return info;
}

Manifest annudf::compiler::makeManifest(MetricOp metric) {
  Manifest manifest;
  manifest.name = metric.getSymName().str();
  manifest.order = static_cast<annudf_order>(metric.getOrder());
  manifest.coarse = static_cast<annudf_coarse>(metric.getCoarse());
  manifest.coarseOrder = static_cast<annudf_order>(metric.getEffectiveCoarseOrder());
  manifest.accumulator = static_cast<annudf_accumulator>(metric.getAccumulatorKind());
  manifest.computeType = spell(metric.getComputeType());
  for (auto element : metric.getElements().getAsRange<ElementAttr>())
    manifest.elements.push_back(static_cast<annudf_element>(element.getValue()));
  manifest.dims = static_cast<int32_t>(metric.getDims().value_or(0));
  manifest.hooks = {"init", "update"};
  if (metric.getFinalize())
    manifest.hooks.push_back("finalize");
  for (CaptureOp capture : metric.getCaptures())
    if (!capture.getValue())
      manifest.captures.push_back(describe(capture));
  if (metric.getFinalize())
    manifest.requiredFeatures |= ANNUDF_FEATURE_FINALIZE;
  if (!manifest.captures.empty())
    manifest.requiredFeatures |= ANNUDF_FEATURE_CAPTURES;
  if (manifest.accumulatorWidth() == 64)
    manifest.requiredFeatures |= ANNUDF_FEATURE_ACC64;
  if (auto place = metric.getLoc()->findInstanceOf<FileLineColLoc>()) {
    manifest.sourceFile = place.getFilename().str();
    manifest.sourceLine = place.getLine();
  }
  manifest.annudfVersion = ANNUDF_VERSION;
  manifest.llvmVersion = LLVM_VERSION_STRING;
  return manifest;
}
