//===- Descriptor.cpp - A metric of the dialect as the ABI's descriptor ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Descriptor.h"

#include "annudf/Support/Printable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

/// The first row of the table that is written as `type`: of several, which differ by sign, the
/// signed one stands first. The verifier lets no other type get here.
template <typename Enum> static Enum rowFor(Type type) {
  for (const TableRow &row : tableOf<Enum>().rows)
    if (row.since != TableRow::kReserved &&
        typeOf(static_cast<Enum>(row.value), type.getContext()) == type)
      return static_cast<Enum>(row.value);
  llvm::report_fatal_error("annudf: a verified metric has a type that is in no table");
}

annudf_hook annudf::ir::hookOf(HookOpInterface hook) {
  const StringRef name = hook.getHookName();
  if (auto row = parseSpelling<annudf_hook>({name.data(), name.size()}))
    return *row;
  llvm::report_fatal_error("annudf: a hook of the dialect is in no table: " + llvm::Twine(name));
}

// No default: a new row has to say its type here.

Type annudf::ir::typeOf(annudf_accumulator accumulator, MLIRContext *context) {
  switch (accumulator) {
  case ANNUDF_ACCUMULATOR_F32:
    return Float32Type::get(context);
  case ANNUDF_ACCUMULATOR_F64:
    return Float64Type::get(context);
  case ANNUDF_ACCUMULATOR_I32:
  case ANNUDF_ACCUMULATOR_U32:
    return IntegerType::get(context, 32);
  case ANNUDF_ACCUMULATOR_I64:
    return IntegerType::get(context, 64);
  case ANNUDF_ACCUMULATOR_STRUCT:
    return {}; // Bodies see its fields.
  }
  llvm_unreachable("an accumulator that the tables do not have");
}

Type annudf::ir::typeOf(annudf_compute compute, MLIRContext *context) {
  switch (compute) {
  case ANNUDF_COMPUTE_F32:
    return Float32Type::get(context);
  case ANNUDF_COMPUTE_F64:
    return Float64Type::get(context);
  case ANNUDF_COMPUTE_I32:
    return IntegerType::get(context, 32);
  }
  llvm_unreachable("a compute type that the tables do not have");
}

Type annudf::ir::typeOf(annudf_capture_element element, MLIRContext *context) {
  switch (element) {
  case ANNUDF_CAPTURE_F32:
    return Float32Type::get(context);
  case ANNUDF_CAPTURE_F64:
    return Float64Type::get(context);
  case ANNUDF_CAPTURE_I32:
    return IntegerType::get(context, 32);
  case ANNUDF_CAPTURE_U32:
    return IntegerType::get(context, 32, IntegerType::Unsigned);
  case ANNUDF_CAPTURE_F16:
    return Float16Type::get(context);
  case ANNUDF_CAPTURE_BF16:
    return BFloat16Type::get(context);
  case ANNUDF_CAPTURE_I8:
    return IntegerType::get(context, 8);
  case ANNUDF_CAPTURE_U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case ANNUDF_CAPTURE_I16:
    return IntegerType::get(context, 16);
  case ANNUDF_CAPTURE_U16:
    return IntegerType::get(context, 16, IntegerType::Unsigned);
  case ANNUDF_CAPTURE_I64:
    return IntegerType::get(context, 64);
  case ANNUDF_CAPTURE_U64:
    return IntegerType::get(context, 64, IntegerType::Unsigned);
  case ANNUDF_CAPTURE_I1:
    return IntegerType::get(context, 1);
  }
  llvm_unreachable("an element type of captures that the tables do not have");
}

DictionaryAttr annudf::ir::toAttribute(const PackedSum &packed, MLIRContext *context) {
  Builder b(context);
  NamedAttrList dims, all;
  for (const PackedElement &entry : packed.elements)
    dims.append(toString(entry.element), b.getI32IntegerAttr(entry.dims));
  all.append("dims", dims.getDictionary(context));
  if (packed.negated)
    all.append("negated", b.getUnitAttr());
  all.append("term", b.getStringAttr(toString(packed.term)));
  return all.getDictionary(context);
}

std::optional<PackedSum> annudf::ir::packedOf(DictionaryAttr attribute) {
  PackedSum packed;
  const auto term = attribute.getAs<StringAttr>("term");
  const auto dims = attribute.getAs<DictionaryAttr>("dims");
  const auto row =
      term ? parseSpelling<annudf_packed_term>(std::string_view(term.getValue())) : std::nullopt;
  if (!row || !dims)
    return std::nullopt;
  packed.term = *row;
  packed.negated = attribute.contains("negated");
  for (NamedAttribute entry : dims) {
    const auto element =
        parseSpelling<annudf_element>(std::string_view(entry.getName().getValue()));
    const auto most = dyn_cast<IntegerAttr>(entry.getValue());
    if (!element || !most || !most.getType().isSignlessInteger(32) || most.getInt() < 1)
      return std::nullopt;
    packed.elements.push_back({*element, static_cast<int32_t>(most.getInt())});
  }
  llvm::sort(packed.elements,
             [](const PackedElement &a, const PackedElement &b) { return a.element < b.element; });
  // Whatever else stands in it.
  if (packed.elements.empty() || toAttribute(packed, attribute.getContext()) != attribute)
    return std::nullopt;
  return packed;
}

static CaptureInfo describeCapture(CaptureOp capture) {
  CaptureInfo info;
  info.name = capture.getName().str();
  info.element = rowFor<annudf_capture_element>(capture.getType().getElementType());
  for (int64_t extent : capture.getType().getExtents()) {
    // The dialect writes symbols as the negated numbers of the table.
    if (extent > 0)
      info.extents.push_back({ANNUDF_EXTENT_CONSTANT, extent});
    else
      info.extents.push_back({static_cast<annudf_extent>(-extent), 0});
  }
  return info;
}

/// What metrics of one coordinate and distances of whole vectors have.
template <typename OpT> static void describeDistance(OpT op, MetricDescriptor &result) {
  result.order = static_cast<annudf_order>(op.getOrder());
  result.coarse = static_cast<annudf_coarse>(op.getCoarse());
  result.coarseOrder = op.getCoarseOrder() ? static_cast<annudf_order>(*op.getCoarseOrder())
                                           : naturalOrder(result.coarse);
  result.compute = rowFor<annudf_compute>(op.getComputeType());
  result.numerics = static_cast<annudf_numerics>(op.getNumerics());
  for (auto element : op.getElements().template getAsRange<ElementAttr>())
    result.elements.push_back(static_cast<annudf_element>(element.getValue()));
  llvm::sort(result.elements); // A set: manifests have it in the order of its table.
  result.missingValues = op.getMissingValues();
}

/// What only a metric of one coordinate has.
static void describeScan(MetricOp metric, MetricDescriptor &result) {
  const SmallVector<Accumulator> fields = metric.getAccumulatorKinds();
  result.accumulator = fields.size() == 1 ? static_cast<annudf_accumulator>(fields.front())
                                          : ANNUDF_ACCUMULATOR_STRUCT;
  if (fields.size() > 1)
    for (Accumulator field : fields)
      result.fields.push_back(static_cast<annudf_accumulator>(field));
  if (std::optional<DictionaryAttr> packed = metric.getPacked())
    result.packed = packedOf(*packed);
  for (auto hook : metric.getBody().getOps<HookOpInterface>())
    result.hooks.push_back(hookOf(hook));
  llvm::sort(result.hooks); // As the table has them.
}

static void describeScratch(PairwiseOp pairwise, MetricDescriptor &result) {
  for (auto scratch : pairwise.getDistance().getBody().getOps<ScratchOp>()) {
    const ScratchType type = scratch.getType();
    result.scratchBytes += static_cast<int32_t>(type.getEntries() * type.getElementBytes());
    result.scratchPerDim += type.getPerDim() ? static_cast<int32_t>(type.getElementBytes()) : 0;
  }
}

MetricDescriptor annudf::ir::describe(UdfOpInterface udf) {
  MetricDescriptor result;
  result.name = udf.getSymName().str();
  if (auto metric = dyn_cast<MetricOp>(udf.getOperation())) {
    describeDistance(metric, result);
    describeScan(metric, result);
  } else if (auto pairwise = dyn_cast<PairwiseOp>(udf.getOperation())) {
    result.role = ANNUDF_ROLE_PAIRWISE;
    describeDistance(pairwise, result);
    describeScratch(pairwise, result);
  } else if (auto filter = dyn_cast<FilterOp>(udf.getOperation())) {
    result.role = ANNUDF_ROLE_FILTER;
    result.seesQuery = filter.seesQuery();
  } else
    llvm::report_fatal_error("annudf: only metrics and filters have a descriptor");
  result.dims = static_cast<int32_t>(udf.getDims().value_or(0));
  for (CaptureOp capture : udf.getCaptures())
    if (!capture.getValue())
      result.captures.push_back(describeCapture(capture));
  return result;
}

std::string annudf::ir::nounOf(ArrayRef<UdfOpInterface> udfs) {
  SmallVector<StringRef> nouns;
  auto add = [&](StringRef noun, auto isOne) {
    if (llvm::any_of(udfs, [&](UdfOpInterface udf) { return isOne(udf.getOperation()); }))
      nouns.push_back(noun);
  };
  add("metrics", llvm::IsaPred<MetricOp, PairwiseOp>);
  add("filters", llvm::IsaPred<FilterOp>);
  add("functions", llvm::IsaPred<FunctionOp>);
  return llvm::join(nouns, " and ");
}

std::string annudf::ir::listNames(ArrayRef<UdfOpInterface> udfs) {
  constexpr size_t kMostNames = 10, kMostBytes = 64;
  std::string text;
  for (UdfOpInterface udf : udfs.take_front(kMostNames)) {
    StringRef name = udf.getSymName();
    text += (text.empty() ? "" : ", ") + printable(name.take_front(kMostBytes)) +
            (name.size() > kMostBytes ? "..." : "");
  }
  if (udfs.size() > kMostNames)
    text += " and " + std::to_string(udfs.size() - kMostNames) + " more";
  return text;
}
