//===- CuvsMetric.cpp - What rapids.cuvs.ivf_flat.metric.v1 has no place for -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// That ABI is a symbol and a payload: whoever scans begins every row with 0, gives f32
// coordinates one by one and takes what the last call gives as the distance, the smallest as
// the best; it ranks lists by l2. Nothing in it could tell otherwise, so what a metric needs
// beyond that is refused by name rather than lost.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "annudf/Dialect/IR/Descriptor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

/// The part of a metric besides its captures and bodies.
static LogicalResult verifyPolicy(MetricOp metric) {
  const MetricDescriptor descriptor = describe(metric);
  LogicalResult result = success();
  if (descriptor.accumulator != ANNUDF_ACCUMULATOR_F32) {
    metric.emitOpError() << "[R2] keeps an accumulator of " << accumulatorText(descriptor)
                         << ", and rapids.cuvs.ivf_flat.metric.v1 has one f32; keep one";
    result = failure();
  }
  if (descriptor.compute != ANNUDF_COMPUTE_F32) {
    metric.emitOpError() << "[R3] takes coordinates as " << toString(descriptor.compute)
                         << ", and rapids.cuvs.ivf_flat.metric.v1 hands over f32; take them as f32";
    result = failure();
  }
  if (!descriptor.accepts(ANNUDF_ELEMENT_F32)) {
    metric.emitOpError() << "[R4] does not accept element type f32, the only one "
                            "that rapids.cuvs.ivf_flat.metric.v1 is defined for; list it";
    result = failure();
  }
  if (descriptor.order != ANNUDF_ORDER_MIN) {
    metric.emitOpError() << "[R5] ranks by order(" << toString(descriptor.order)
                         << "), and with rapids.cuvs.ivf_flat.metric.v1 the smallest distance is "
                            "best; negate the distance and write "
                            "order(min)";
    result = failure();
  }
  if (descriptor.coarse != ANNUDF_COARSE_L2 || descriptor.coarseOrder != ANNUDF_ORDER_MIN) {
    metric.emitOpError() << "[R6] ranks lists by coarse(" << toString(descriptor.coarse) << " "
                         << toString(descriptor.coarseOrder)
                         << "), and with rapids.cuvs.ivf_flat.metric.v1 they are ranked by l2, "
                            "nearest first; write coarse(l2)";
    result = failure();
  }
  if (descriptor.missingValues) {
    metric.emitOpError() << "[R7] takes missing values, which rapids.cuvs.ivf_flat.metric.v1 does "
                            "not support; drop missing_values";
    result = failure();
  }
  return result;
}

/// The hooks but update: of init its value, of finalize that there is none. A combine is no
/// fault: it may be called, and need not be.
static LogicalResult verifyHooks(MetricOp metric) {
  LogicalResult result = success();
  Block *init = cast<HookOpInterface>(metric.getInit().getOperation()).getHookBlock();
  auto constant = init->getTerminator()->getOperand(0).getDefiningOp<arith::ConstantOp>();
  auto value = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  if (metric.getAccumulatorTypes().size() == 1 && !(value && value.getValue().isPosZero())) {
    metric.getInit().emitOpError()
        << "[R8] yields another value than the constant 0.0, with "
           "which rapids.cuvs.ivf_flat.metric.v1 begins every row; yield 0.0";
    result = failure();
  }
  if (FinalizeOp finalize = metric.getFinalize()) {
    finalize.emitOpError() << "[R9] has no place in rapids.cuvs.ivf_flat.metric.v1, where the "
                              "accumulator is the distance; drop annudf.finalize";
    result = failure();
  }
  return result;
}

static LogicalResult verifyCaptures(MetricOp metric) {
  LogicalResult result = success();
  SmallVector<CaptureOp> bound = metric.getCaptures();
  llvm::erase_if(bound, [](CaptureOp capture) { return bool(capture.getValue()); });
  if (bound.size() > 1) {
    metric.emitOpError() << "[R10] binds " << bound.size()
                         << " captures, and rapids.cuvs.ivf_flat.metric.v1 has one; bake the "
                            "others in with annudf-inline-captures";
    result = failure();
  }
  for (CaptureOp capture : bound) {
    const CaptureType type = capture.getType();
    if (type.getElementType().isF32() && type.getExtents() == ArrayRef{CaptureType::kDim})
      continue;
    capture.emitOpError()
        << "[R11] is " << type
        << ", and rapids.cuvs.ivf_flat.metric.v1 has !annudf.capture<dim x f32>; bake it in with "
           "annudf-inline-captures, or bind an f32 for each dimension";
    result = failure();
  }
  // Which coordinate it is comes with the capture, and nothing else of where the scan is.
  metric.getUpdate().walk([&](IndexOp index) {
    if (index.getKind() == ScanIndex::Dim && !bound.empty())
      return;
    index.emitOpError()
        << "[R12] reads " << stringifyEnum(index.getKind())
        << ", but rapids.cuvs.ivf_flat.metric.v1 hands over only dim, and only beside a capture; "
           "bind a capture for dim, fix dims with annudf-inline-captures, or drop the read";
    result = failure();
  });
  return result;
}

static LogicalResult verifyNoLinks(MetricOp metric) {
  if (metric->getParentRegion()->getOps<ExternOp>().empty())
    return success();
  return metric.emitOpError() << "[R15] is in a module with linked code, which "
                                 "rapids.cuvs.ivf_flat.metric.v1 cannot hold; drop annudf.extern";
}

LogicalResult annudf::verifyCuvsMetric(UdfOpInterface udf) {
  auto metric = dyn_cast<MetricOp>(udf.getOperation());
  if (isa<FunctionOp>(udf.getOperation()))
    return udf->emitOpError() << "[R14] is a function, and rapids.cuvs.ivf_flat.metric.v1 is for "
                                 "metrics only; leave the target ABI out";
  if (isa<PairwiseOp>(udf.getOperation()))
    return udf->emitOpError() << "[R16] is a distance of whole vectors, and "
                                 "rapids.cuvs.ivf_flat.metric.v1 sees one coordinate at a time; "
                                 "write one pass over the coordinates";
  if (!metric)
    return udf->emitOpError() << "[R1] is a filter, and rapids.cuvs.ivf_flat.metric.v1 has none; "
                                 "compile it for annudf.accumulator.v1";
  LogicalResult result = verifyPolicy(metric);
  if (failed(verifyHooks(metric)))
    result = failure();
  if (failed(verifyCaptures(metric)) || failed(verifyNoLinks(metric)))
    result = failure();
  return result;
}

LogicalResult annudf::verifyCuvsSymbol(UdfOpInterface udf, StringRef symbol) {
  // Names of hooks, tables and what belongs to compilers: code would be called in their place.
  const bool isTaken = symbol.starts_with("annudf1_") || symbol.starts_with("annudf2_") ||
                       symbol.starts_with("annudf_table_") || symbol.starts_with("__") ||
                       symbol.starts_with("llvm");
  if (rules::isIdentifier(symbol) && !isTaken && symbol.size() <= 2 * ANNUDF_MAX_NAME)
    return success();
  return udf->emitOpError() << "[R13] cannot become the function '" << symbol.take_front(64)
                            << "'; use letters, digits and _, not beginning with a digit, __, "
                               "annudf1_, annudf2_, annudf_table_ or llvm";
}
