//===- Builder.h - Metrics, filters and functions, built by other compilers -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   MetricBuilder metric(builder, loc, "weighted_l1");
//   Value w = metric.capture("w", {CaptureType::kDim}, builder.getF32Type());
//   metric.init([](HookBuilder &b) { return b.number(b.getF32Type(), 0); });
//   metric.update([&](HookBuilder &b, ValueRange acc, Value x, Value y) {
//     Value apart = math::AbsFOp::create(b, arith::SubFOp::create(b, x, y));
//     return math::FmaOp::create(b, b.load(w, b.dim()), apart, acc[0]);
//   });
//   FailureOr<MetricOp> op = metric.finish();
//
// Blocks, arguments and terminators are the builder's work. What is used wrongly is a diagnostic at
// the location given, when it happens or, where only the whole shows it, from finish(). Nothing is
// erased then: that is for the caller's pass, which fails, or its rewriter.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_DIALECT_IR_BUILDER_H
#define ANNUDF_DIALECT_IR_BUILDER_H

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <initializer_list>
#include <optional>
#include <type_traits>

namespace annudf::ir {

/// What a hook gives: a value, or one a field of the accumulator.
class Yield {
public:
  /// A value, or an operation with one result.
  template <typename T, std::enable_if_t<std::is_convertible_v<T, mlir::Value>, int> = 0>
  Yield(T &&value) : values{static_cast<mlir::Value>(value)} {}
  Yield(std::initializer_list<mlir::Value> values) : values(values) {}
  Yield(mlir::ValueRange values) : values(values.begin(), values.end()) {}
  Yield(const llvm::SmallVectorImpl<mlir::Value> &values) : values(values.begin(), values.end()) {}

  llvm::ArrayRef<mlir::Value> get() const { return values; }

private:
  llvm::SmallVector<mlir::Value, 4> values;
};

/// Builds the body of one hook. Any op that bodies may hold (docs/spec/rules.md, rule B1) can be
/// created with it.
class HookBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// An index of the scan that the hook has (rules H8 and K7): `dim` only in update, `row` not
  /// in init.
  mlir::Value index(ScanIndex kind);
  mlir::Value dim() { return index(ScanIndex::Dim); }
  mlir::Value dims() { return index(ScanIndex::Dims); }
  mlir::Value row() { return index(ScanIndex::Row); }
  mlir::Value query() { return index(ScanIndex::Query); }
  mlir::Value list() { return index(ScanIndex::List); }

  /// An element of what UdfBuilder::capture() gave: one index an extent, none for a scalar.
  mlir::Value load(mlir::Value capture, mlir::ValueRange indices = {});

  /// A constant of a float, integer or index type, which has to hold `value`.
  mlir::Value number(mlir::Type type, double value);

private:
  friend class UdfBuilder;
  HookBuilder(mlir::OpBuilder &parent, mlir::Location loc, HookOpInterface hook, bool &refused);

  mlir::InFlightDiagnostic refuse();

  HookOpInterface hook;
  bool &refused;
};

/// What metrics, filters and functions have in common. Lives as long as one is built.
class UdfBuilder {
public:
  UdfBuilder(const UdfBuilder &) = delete;
  UdfBuilder &operator=(const UdfBuilder &) = delete;

  /// Declares a capture. Slots of the ABI follow the order of the calls.
  /// \param extents  numbers, or CaptureType::kDim, kRow, kQuery; none for a scalar.
  mlir::Value capture(llvm::StringRef name, llvm::ArrayRef<int64_t> extents, mlir::Type element);

protected:
  UdfBuilder(mlir::OpBuilder &builder, mlir::Location loc);
  /// Says so if finish() was forgotten.
  ~UdfBuilder();

  using Body = llvm::function_ref<Yield(HookBuilder &, mlir::ValueRange arguments)>;
  template <typename HookT>
  void addHook(mlir::TypeRange arguments, mlir::TypeRange results, Body body);
  mlir::LogicalResult finishUdf();
  mlir::InFlightDiagnostic refuse();

  mlir::OpBuilder &builder;
  mlir::Location loc;
  UdfOpInterface udf;

private:
  void fillHook(HookOpInterface hook, mlir::TypeRange arguments, mlir::TypeRange results,
                Body body);

  mlir::Operation *lastCapture = nullptr;
  bool refused = false, finished = false;
};

/// What a metric says besides its hooks; as the attributes of annudf.metric.
struct MetricOptions {
  Order order = Order::Min;
  Coarse coarse = Coarse::L2;
  std::optional<Order> coarseOrder;
  llvm::SmallVector<Element> elements = {Element::F32};
  /// One, or the fields in order; u32 is an i32 in bodies.
  llvm::SmallVector<Accumulator> accumulator = {Accumulator::F32};
  /// Type in which update sees coordinates.
  annudf_compute compute = ANNUDF_COMPUTE_F32;
  Numerics numerics = Numerics::Strict;
  std::optional<uint32_t> dims;
  bool missingValues = false;
};

class MetricBuilder : public UdfBuilder {
public:
  /// Creates the op where `builder` stands, which has to be in a module, and keeps `builder`.
  MetricBuilder(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                const MetricOptions &options = {});

  void init(llvm::function_ref<Yield(HookBuilder &)> body);
  void update(
      llvm::function_ref<Yield(HookBuilder &, mlir::ValueRange acc, mlir::Value x, mlir::Value y)>
          body);
  /// Without it the accumulator, one number, is the distance.
  void finalize(llvm::function_ref<Yield(HookBuilder &, mlir::ValueRange acc)> body);
  /// For Numerics::Reassociate; without it annudf-infer-combine writes one if it can.
  void combine(
      llvm::function_ref<Yield(HookBuilder &, mlir::ValueRange acc, mlir::ValueRange other)> body);

  /// The metric, whose structure is verified; what bodies may do is for annudf-verify-abi.
  mlir::FailureOr<MetricOp> finish();

private:
  llvm::SmallVector<mlir::Type> acc;
  mlir::Type coordinate;
};

class FilterBuilder : public UdfBuilder {
public:
  FilterBuilder(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                std::optional<uint32_t> dims = std::nullopt);

  /// Gives an i1: true where the row may be found.
  void keep(llvm::function_ref<Yield(HookBuilder &)> body);

  mlir::FailureOr<FilterOp> finish();
};

/// A device function, for code outside a search.
class FunctionBuilder : public UdfBuilder {
public:
  /// \param signature  as the caller sees it: numbers, also unsigned ones, and tuples of them; one
  /// result.
  FunctionBuilder(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                  mlir::FunctionType signature, Convention convention = Convention::Raw);

  /// Gets and gives the fields of tuples one by one, and integers without their sign.
  void body(llvm::function_ref<Yield(HookBuilder &, mlir::ValueRange arguments)> body);

  mlir::FailureOr<FunctionOp> finish();

private:
  mlir::FunctionType signature;
};

} // namespace annudf::ir

#endif // ANNUDF_DIALECT_IR_BUILDER_H
