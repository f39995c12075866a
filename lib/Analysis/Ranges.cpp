//===- Ranges.cpp - Ranges of a body's integers -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Ranges.h"

#include "annudf/ABI/annudf_abi.h"
#include "annudf/Dialect/IR/Descriptor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>
#include <optional>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::ranges;

unsigned annudf::integerWidth(Type type) {
  if (type.isIndex())
    return 64;
  bool isNumber = type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64 &&
                  type.getIntOrFloatBitWidth() > 0;
  return isNumber ? type.getIntOrFloatBitWidth() : 0;
}

/// How long a chain of casts is followed.
static constexpr int kMaxCasts = 8;
/// How many operations of one condition are looked at.
static constexpr int kMaxFacts = 32;
/// Walks over the body before what loops carry is given up.
static constexpr int kMaxWalks = 10;
/// Walks that add to what loops carry no more than they find: a value that a loop took from its
/// counter, to use it after `break`, is known then.
static constexpr int kExactWalks = 2;

/// Both name the same ten predicates in the same order.
static Predicate toPredicate(arith::CmpIPredicate predicate) {
  static_assert(int(arith::CmpIPredicate::eq) == int(Predicate::Eq) &&
                int(arith::CmpIPredicate::sge) == int(Predicate::Sge) &&
                int(arith::CmpIPredicate::uge) == int(Predicate::Uge));
  return static_cast<Predicate>(predicate);
}

static IntRangeDomain domainOf(Operation *root) {
  auto udf = root->getParentOfType<UdfOpInterface>();
  if (udf && udf.getDims() && int32_t(*udf.getDims()) > 0)
    return IntRangeDomain(*udf.getDims(), *udf.getDims());
  return IntRangeDomain(1, ANNUDF_MAX_DIMS);
}

static bool isCast(Operation *op) {
  return isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
             arith::IndexCastUIOp>(op);
}

static bool isRecorded(Operation *op) {
  return isa<LoadOp, AtOp, GetOp, PutOp, scf::ForOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
             arith::RemUIOp, arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
}

namespace {
using Uses = llvm::DenseMap<OpOperand *, IntRange>;

/// Walks a body in its order, several times if loops carry integers: what they carry
/// grows from walk to walk until it no longer does.
class Walker {
public:
  Walker(const IntRangeDomain &domain, Uses &uses, llvm::DenseSet<Operation *> &unreachable)
      : domain(domain), uses(uses), unreachable(unreachable), dimsAtLeast(domain.dims(64)) {}

  void run(Operation *root) {
    for (int walks = 1; walks <= kMaxWalks; ++walks) {
      changed = false;
      giveUp = walks == kMaxWalks;
      widens = walks > kExactWalks;
      // What loops carry starts too small; a walk is right once it added nothing to it.
      // Nothing else outlives a walk, or it could be of a time when that was smaller.
      values = arguments;
      unreachable.clear();
      for (Region &region : root->getRegions())
        visit(region);
      if (!changed)
        return;
    }
  }

  void setArguments(Operation *root) {
    auto hook = dyn_cast<HookOpInterface>(root);
    auto metric = root->getParentOfType<MetricOp>();
    if (!hook || !metric) // A filter's hook has no arguments.
      return;
    switch (hookOf(hook)) {
    case ANNUDF_HOOK_INIT:
    case ANNUDF_HOOK_FINALIZE:
    case ANNUDF_HOOK_COMBINE:
      return; // An accumulator may be anything.
    case ANNUDF_HOOK_UPDATE:
      std::optional<IntRange> coordinate = coordinates(metric);
      if (coordinate) // The last two; an accumulator may be anything.
        for (Value argument : hook.getHookBlock()->getArguments().take_back(2))
          arguments.insert_or_assign(argument, *coordinate);
    }
  }

private:
  /// Every element as the compute type has it, if that is an integer.
  std::optional<IntRange> coordinates(MetricOp metric) const {
    unsigned width = integerWidth(metric.getComputeType());
    std::optional<IntRange> all;
    for (auto element : metric.getElements().getAsRange<ElementAttr>()) {
      const auto kind = static_cast<annudf_element>(element.getValue());
      const unsigned bits = bitsOf(kind);
      std::optional<IntRange> range;
      if (kindOf(kind) == NumberKind::Signed && width > bits)
        range = domain.between(width, -(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1);
      else if (kindOf(kind) == NumberKind::Unsigned && width > bits)
        range = domain.between(width, 0, (int64_t(1) << bits) - 1);
      if (!range)
        return std::nullopt;
      all = all ? domain.unite(*all, *range) : *range;
    }
    return all;
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  IntRange known(Value value) const {
    auto it = values.find(value);
    return it == values.end() ? domain.any(integerWidth(value.getType())) : it->second;
  }

  /// A condition may have told more about what a cast is of than about the cast.
  IntRange get(Value value, int depth = 0) const {
    IntRange range = known(value);
    Operation *op = value.getDefiningOp();
    if (!op || !isCast(op) || depth == kMaxCasts || !integerWidth(op->getOperand(0).getType()))
      return range;
    return domain.intersect(range, cast(op, get(op->getOperand(0), depth + 1))).value_or(range);
  }

  void set(Value value, const IntRange &range) { values.insert_or_assign(value, range); }

  /// Says more about a value until the facts are taken back. False if that cannot be.
  bool tell(Value value, const IntRange &range, int depth = 0) {
    unsigned width = integerWidth(value.getType());
    if (!width || depth == kMaxCasts)
      return true;
    std::optional<IntRange> both = domain.intersect(get(value), range);
    if (!both)
      return false;
    trail.push_back({value, known(value)});
    set(value, *both);
    Operation *op = value.getDefiningOp();
    if (auto index = dyn_cast_or_null<IndexOp>(op);
        index && index.getKind() == ScanIndex::Dims && both->smin > dimsAtLeast.smin) {
      trail.push_back({Value(), dimsAtLeast});
      dimsAtLeast = *both;
    }
    if (!op || !isCast(op) || !integerWidth(op->getOperand(0).getType()))
      return true;
    // Where the cast keeps the signed value, so does what is known of it.
    IntRange source = get(op->getOperand(0)), there = domain.any(source.width);
    bool isZeroExtension = isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) && width > source.width;
    IntRange result = domain.any(width);
    if (isZeroExtension && !source.isNonNegative()) // The low bits of the extension are the value.
      return tell(op->getOperand(0), domain.truncate(*both, source.width), depth + 1);
    if (!isZeroExtension && (source.smin < result.smin || source.smax > result.smax))
      return true;
    there.smin = std::max(there.smin, range.smin);
    there.smax = std::min(there.smax, range.smax);
    there.dmin = std::max(there.dmin, range.dmin);
    there.dmax = std::min(there.dmax, range.dmax);
    return tell(op->getOperand(0), there, depth + 1);
  }

  void takeBack(size_t mark) {
    while (trail.size() > mark) {
      auto [value, before] = trail.pop_back_val();
      if (value)
        set(value, before);
      else
        dimsAtLeast = before;
    }
  }

  /// A condition such as `4 < dims` tells of every 4 below it, not only of the one that it has.
  IntRange comparedWithDims(IntRange range) const {
    range.dmax = std::min(range.dmax, range.smax - dimsAtLeast.smin);
    return range;
  }

  /// Facts that follow from a condition. False if it never holds.
  bool assume(Value condition, bool holds) {
    if (!get(condition).mayBeUnsigned(holds))
      return false;
    SmallVector<std::pair<Value, bool>> pending = {{condition, holds}};
    for (int looked = 0; !pending.empty() && looked < kMaxFacts; ++looked) {
      auto [value, isTrue] = pending.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op)
        continue;
      if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
        if (!assume(compare, isTrue))
          return false;
      } else if (isTrue ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op)) {
        pending.push_back({op->getOperand(0), isTrue});
        pending.push_back({op->getOperand(1), isTrue});
      } else if (isa<arith::XOrIOp>(op)) {
        for (unsigned i : {0, 1})
          if (IntRange other = get(op->getOperand(1 - i)); other.isConstant())
            pending.push_back({op->getOperand(i), isTrue != (other.umin != 0)});
      }
    }
    return true;
  }

  bool assume(arith::CmpIOp compare, bool holds) {
    if (!integerWidth(compare.getLhs().getType()))
      return true;
    Predicate predicate = toPredicate(compare.getPredicate());
    auto facts = domain.assume(holds ? predicate : inverse(predicate), get(compare.getLhs()),
                               get(compare.getRhs()));
    return facts && tell(compare.getLhs(), facts->first) && tell(compare.getRhs(), facts->second);
  }

  //===--------------------------------------------------------------------===//
  // Regions
  //===--------------------------------------------------------------------===//

  void visit(Region &region) {
    for (Block &block : region)
      for (Operation &op : block)
        visit(&op);
  }

  void visit(Operation *op) {
    if (isRecorded(op) && isDead)
      unreachable.insert(op);
    if (isRecorded(op))
      for (OpOperand &operand : op->getOpOperands())
        if (integerWidth(operand.get().getType()))
          uses.insert_or_assign(&operand, comparedWithDims(get(operand.get())));
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitIf(branch);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitFor(loop);
    for (Region &region : op->getRegions())
      visit(region);
    if (op->getNumResults() == 1 && integerWidth(op->getResult(0).getType()))
      set(op->getResult(0), result(op));
  }

  static ValueRange yielded(Region &region) {
    return region.front().getTerminator()->getOperands();
  }

  void visitIf(scf::IfOp op) {
    SmallVector<std::optional<IntRange>> results(op.getNumResults());
    for (bool holds : {true, false}) {
      Region &region = holds ? op.getThenRegion() : op.getElseRegion();
      if (region.empty())
        continue;
      size_t mark = trail.size();
      bool isTaken = assume(op.getCondition(), holds), wasDead = isDead;
      isDead |= !isTaken;
      visit(region);
      isDead = wasDead;
      for (auto [result, value] : llvm::zip(results, yielded(region)))
        if (isTaken && integerWidth(value.getType()))
          result = result ? domain.unite(*result, get(value)) : get(value);
      takeBack(mark);
    }
    for (auto [result, range] : llvm::zip(op.getResults(), results))
      if (range)
        set(result, *range);
  }

  /// The counter, if it cannot wrap around.
  IntRange counter(scf::ForOp loop) const {
    IntRange all = domain.any(integerWidth(loop.getInductionVar().getType()));
    IntRange lower = get(loop.getLowerBound()), upper = get(loop.getUpperBound());
    IntRange step = get(loop.getStep()), range = all;
    bool isUnsigned = loop.getUnsignedCmp();
    Wide end = isUnsigned ? upper.umax + step.umax : upper.smax + step.smax;
    if (!step.isConstant() || step.smin <= 0 || end > (isUnsigned ? all.umax : all.smax))
      return all;
    if (isUnsigned) {
      range.umin = lower.umin;
      range.umax = upper.umax - 1;
    } else {
      range.smin = lower.smin;
      range.smax = upper.smax - 1;
      range.dmin = lower.dmin;
      range.dmax = upper.dmax - 1;
    }
    return domain.intersect(all, range).value_or(all);
  }

  void visitFor(scf::ForOp op) {
    if (integerWidth(op.getInductionVar().getType()))
      set(op.getInductionVar(), counter(op));
    for (auto [argument, init] : llvm::zip(op.getRegionIterArgs(), op.getInitArgs()))
      if (unsigned width = integerWidth(init.getType()))
        set(argument, grow(argument, giveUp ? domain.any(width) : get(init)));
    visit(op.getRegion());
    for (auto [argument, value] : llvm::zip(op.getRegionIterArgs(), yielded(op.getRegion())))
      if (integerWidth(value.getType()))
        grow(argument, get(value));
    for (auto [result, argument] : llvm::zip(op.getResults(), op.getRegionIterArgs()))
      if (integerWidth(result.getType()))
        set(result, carried.find(argument)->second);
  }

  /// What a loop carries also may be `range`. Returns all that it may be.
  IntRange grow(Value argument, const IntRange &range) {
    auto [it, isNew] = carried.try_emplace(argument, range);
    IntRange before = it->second, after = domain.unite(before, range);
    if (!isNew && after == before)
      return before;
    changed = true;
    return it->second = isNew || !widens ? after : domain.widen(before, after);
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  IntRange cast(Operation *op, const IntRange &source) const {
    unsigned width = integerWidth(op->getResult(0).getType());
    if (width < source.width)
      return domain.truncate(source, width);
    if (width == source.width)
      return source;
    return isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) ? domain.extendUnsigned(source, width)
                                                         : domain.extendSigned(source, width);
  }

  // No default: a new index has to say its range here.
  IntRange indexOf(ScanIndex kind) const {
    switch (kind) {
    case ScanIndex::Dim:
      return domain.dim(64);
    case ScanIndex::Dims:
      return domain.dims(64);
    case ScanIndex::Row: // An index may hold the largest id that there is.
      return domain.between(64, 0, std::numeric_limits<int64_t>::max());
    case ScanIndex::Query:
    case ScanIndex::List:
      return domain.between(64, 0, std::numeric_limits<int32_t>::max());
    }
    return domain.any(64);
  }

  /// What a capture that holds its value may give.
  std::optional<IntRange> entries(LoadOp load) const {
    auto capture = load.getCapture().getDefiningOp<CaptureOp>();
    unsigned width = integerWidth(load.getType());
    if (!capture || !capture.getValue() || !width)
      return std::nullopt;
    if (auto integer = dyn_cast<IntegerAttr>(*capture.getValue()))
      return domain.constant(width, integer.getValue().getZExtValue());
    auto dense = dyn_cast<DenseIntElementsAttr>(*capture.getValue());
    if (!dense || dense.empty())
      return std::nullopt;
    std::optional<IntRange> all;
    for (const APInt &entry : dense) {
      IntRange one = domain.constant(width, entry.getZExtValue());
      all = all ? domain.unite(*all, one) : one;
    }
    return all;
  }

  /// What a choice takes, computed again with what its condition tells of the operands:
  /// `r < 0 ? r + b : r`.
  IntRange taken(Value value) {
    IntRange range = get(value);
    Operation *op = value.getDefiningOp();
    // One step back, so that chains of choices take linear time.
    if (!op || !isa<arith::AddIOp, arith::SubIOp>(op))
      return range;
    range = domain.intersect(range, result(op)).value_or(range);
    if (auto sum = dyn_cast<arith::AddIOp>(op))
      range = domain.intersect(range, movedRest(sum)).value_or(range);
    return range;
  }

  /// `r + b` for a rest r = a % b: where r is negative and b is not, from 1 to b - 1, which the
  /// bounds of r and b alone do not tell.
  IntRange movedRest(arith::AddIOp sum) const {
    IntRange range = domain.any(integerWidth(sum.getType()));
    auto rest = sum.getLhs().getDefiningOp<arith::RemSIOp>();
    if (!rest || rest.getRhs() != sum.getRhs())
      return range;
    IntRange divisor = get(sum.getRhs());
    if (get(rest).smax >= 0 || divisor.smin <= 0)
      return range;
    range.smin = 1;
    range.smax = divisor.smax - 1;
    range.dmax = divisor.dmax - 1;
    return domain.intersect(domain.any(range.width), range).value_or(domain.any(range.width));
  }

  IntRange select(arith::SelectOp op) {
    std::optional<IntRange> all;
    for (bool holds : {true, false}) {
      size_t mark = trail.size();
      if (assume(op.getCondition(), holds)) {
        IntRange range = taken(holds ? op.getTrueValue() : op.getFalseValue());
        all = all ? domain.unite(*all, range) : range;
      }
      takeBack(mark);
    }
    return all.value_or(domain.any(integerWidth(op.getType())));
  }

  IntRange result(Operation *op) {
    IntRange any = domain.any(integerWidth(op->getResult(0).getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto integer = dyn_cast<IntegerAttr>(constant.getValue());
      return integer ? domain.constant(any.width, integer.getValue().getZExtValue()) : any;
    }
    if (auto index = dyn_cast<IndexOp>(op))
      return indexOf(index.getKind());
    if (auto load = dyn_cast<LoadOp>(op))
      return entries(load).value_or(any);
    if (auto choice = dyn_cast<arith::SelectOp>(op))
      return select(choice);
    // Everything below takes integers only.
    SmallVector<IntRange, 2> v;
    for (Value operand : op->getOperands()) {
      if (!integerWidth(operand.getType()))
        return any;
      v.push_back(get(operand));
    }
    if (isCast(op))
      return cast(op, v[0]);
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return domain.compare(toPredicate(compare.getPredicate()), v[0], v[1]);
    return compute(op, v, any);
  }

  IntRange compute(Operation *op, ArrayRef<IntRange> v, const IntRange &any) const {
    return llvm::TypeSwitch<Operation *, IntRange>(op)
        .Case([&](arith::AddIOp) { return domain.add(v[0], v[1]); })
        .Case([&](arith::SubIOp) { return domain.sub(v[0], v[1]); })
        .Case([&](arith::MulIOp) { return domain.mul(v[0], v[1]); })
        .Case([&](arith::DivSIOp) { return domain.divSigned(v[0], v[1]); })
        .Case([&](arith::DivUIOp) { return domain.divUnsigned(v[0], v[1]); })
        .Case([&](arith::RemSIOp) { return domain.remSigned(v[0], v[1]); })
        .Case([&](arith::RemUIOp) { return domain.remUnsigned(v[0], v[1]); })
        .Case([&](arith::AndIOp) { return domain.bitAnd(v[0], v[1]); })
        .Case([&](arith::OrIOp) { return domain.bitOr(v[0], v[1]); })
        .Case([&](arith::XOrIOp) { return domain.bitXor(v[0], v[1]); })
        .Case([&](arith::ShLIOp) { return domain.shiftLeft(v[0], v[1]); })
        .Case([&](arith::ShRSIOp) { return domain.shiftRightSigned(v[0], v[1]); })
        .Case([&](arith::ShRUIOp) { return domain.shiftRightUnsigned(v[0], v[1]); })
        .Case([&](arith::MinSIOp) { return domain.minSigned(v[0], v[1]); })
        .Case([&](arith::MaxSIOp) { return domain.maxSigned(v[0], v[1]); })
        .Case([&](arith::MinUIOp) { return domain.minUnsigned(v[0], v[1]); })
        .Case([&](arith::MaxUIOp) { return domain.maxUnsigned(v[0], v[1]); })
        .Case([&](arith::BitcastOp) { return v[0]; })
        .Case([&](math::AbsIOp) { return domain.abs(v[0]); })
        .Case([&](math::CountLeadingZerosOp) { return domain.countLeadingZeros(v[0]); })
        .Case([&](math::CountTrailingZerosOp) { return domain.countTrailingZeros(v[0]); })
        .Case([&](math::CtPopOp) { return domain.countOnes(v[0]); })
        .Default([&](Operation *) { return any; });
  }

  const IntRangeDomain &domain;
  Uses &uses;
  llvm::DenseSet<Operation *> &unreachable;
  llvm::DenseMap<Value, IntRange> arguments, carried, values;
  SmallVector<std::pair<Value, IntRange>> trail;
  IntRange dimsAtLeast; ///< What conditions say of the number of dimensions; no value in `trail`.
  bool changed = false, giveUp = false, widens = false, isDead = false;
};
} // namespace

RangeAnalysis::RangeAnalysis(Operation *root) : domain(domainOf(root)) {
  Walker walker(domain, uses, unreachable);
  walker.setArguments(root);
  walker.run(root);
}

IntRange RangeAnalysis::at(OpOperand &use) const {
  auto it = uses.find(&use);
  return it == uses.end() ? domain.any(integerWidth(use.get().getType())) : it->second;
}
