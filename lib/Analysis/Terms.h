//===- Terms.h - An update as one expression -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_ANALYSIS_TERMS_H
#define ANNUDF_LIB_ANALYSIS_TERMS_H

#include "annudf/Analysis/Properties.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace annudf {

/// What an op is to the analyses. Each has to think of every one of them (their switches have no
/// default); what stands in no table of Terms.cpp is Unknown.
enum class TermKind : uint8_t {
  Unknown, ///< Anything, of anything.
  X,
  Y,
  Constant, ///< A float.
  Entry,    ///< A capture's, at indices that the query and the dimension give.
  Negated,
  Sum,
  Difference,
  Product,
  Fma,
  ExactProduct, ///< The product that fma adds to the field: not rounded by itself.
  Quotient,
  Absolute,
  Magnitude, ///< d < 0 ? -d : d: as Absolute, but a zero may have either sign.
  Root,
  Exponential, ///< e^x, 2^x
  Maximum,     ///< NaN and a number give NaN.
  Minimum,
  MaxNum, ///< The number.
  MinNum,
  Extended,
  Truncated,
  FromSigned,
  FromUnsigned,
  Compared,
  Chosen, ///< arith.select, and scf.if.
};

/// A value of an update. Equal ones are one node, unless they are unknown, or what is computed may
/// differ as a sum may be fused with a product.
struct Term {
  TermKind kind = TermKind::Unknown;
  mlir::Type type;
  llvm::SmallVector<uint32_t, 3> of;
  double number = 0;                         ///< Constant.
  uint32_t entry = 0;                        ///< Entry: of Terms::entries.
  mlir::arith::CmpFPredicate predicate = {}; ///< Compared.
  mlir::Operation *at = nullptr;             ///< The first op that computes it.
  std::string why;                           ///< Unknown: what of it is not known.
  bool isOfCoordinates = false;              ///< Whether it may depend on x or y.
  bool hasProduct = false;                   ///< Whether a rounded product is in it,
  bool mayFuse = false;                      ///< and whether a sum is, that may be fused with one.
};

struct TermEntry {
  std::string capture;
  std::vector<EntryIndex> indices;
  bool isUnsigned = false; ///< How the bits of integers are read.
};

/// Whether an op has flags that let devices give other results than the op.
bool mayDiffer(mlir::Operation *op);

/// All values of one update, operands before what uses them: helpers inlined, both sides of
/// branches computed.
class Terms {
public:
  explicit Terms(ir::MetricOp metric);

  uint32_t at(mlir::Value value) const { return values.lookup(value); }
  const std::vector<Term> &nodes() const & { return all; }
  const TermEntry &entryOf(const Term &term) const & { return entries[term.entry]; }

  /// The terms of a field, each as what is added to it; of other joins what is joined.
  std::vector<uint32_t> termsOf(const JoinedField &field);

  /// The node that is such a value, if there is one.
  std::optional<uint32_t> find(const Term &term) const;

private:
  using Key = std::tuple<TermKind, const void *, std::vector<uint32_t>, uint64_t, uint32_t>;
  static Key keyOf(const Term &term);
  uint32_t make(Term term);
  uint32_t unknown(mlir::Operation *op, std::string why);
  void run(mlir::Block &block);
  void apply(mlir::Operation &op);
  uint32_t choose(Term term);
  void branch(mlir::Operation &op);
  bool call(mlir::Operation &op);
  uint32_t load(ir::LoadOp op);

  mlir::Operation *update;
  std::vector<Term> all;
  std::vector<TermEntry> entries;
  std::map<Key, uint32_t> known;
  llvm::DenseMap<mlir::Value, uint32_t> values;
  int ops = 0;
};

//===----------------------------------------------------------------------===//
// The analyses, each of all nodes
//===----------------------------------------------------------------------===//

/// Why a node has no fact: of which op, in words.
struct Lost {
  mlir::Operation *at = nullptr;
  std::string why;
};

/// Polynomials.cpp
class Polynomials {
public:
  /// What they are polynomials of: of the rounded x - y alone, which then stands in the place of
  /// x; |x - y| of sizes.
  enum class Of : uint8_t { Coordinates, Difference };
  Polynomials(const Terms &terms, Coefficients &coefficients, Of variable = Of::Coordinates);
  /// Null where it is none.
  const PolynomialForm *find(uint32_t node) const {
    return facts[node].form ? &*facts[node].form : nullptr;
  }
  /// Whether a node is what they are of.
  bool isDifference(const Term &term) const;
  std::optional<PolynomialForm> sumOf(llvm::ArrayRef<uint32_t> nodes);
  /// What the first of the nodes that is lost loses, or their sum.
  Lost lost(llvm::ArrayRef<uint32_t> nodes) const;

private:
  struct Fact {
    std::optional<PolynomialForm> form;
    Lost lost;
  };
  Fact of(const Term &term);
  Fact difference(const Term &term);
  Fact entry(const Term &term);
  Fact converted(const Term &term);
  Fact multiplied(const Term &term);
  Fact quotient(const Term &term);
  Fact chosen(const Term &term);
  std::optional<PolynomialForm> product(const PolynomialForm &a, const PolynomialForm &b);
  PolynomialForm sum(const PolynomialForm &a, const PolynomialForm &b, bool minus = false);
  PolynomialForm constant(uint32_t exact, uint32_t size);

  const Terms &terms;
  Coefficients &coefficients;
  const Of variable;
  std::vector<Fact> facts;
};

/// Exchanges.cpp: what happens when x and y are exchanged.
enum class Parity : uint8_t {
  Unknown,
  Odd,     ///< The number with the other sign.
  Even,    ///< The same number.
  EvenBits ///< And the same sign of a zero.
};
class Exchanges {
public:
  explicit Exchanges(const Terms &terms);
  Parity parityOf(uint32_t node) const { return parities[node]; }
  /// Whether it is a function of the rounded x - y.
  bool isOfDifference(uint32_t node) const { return differences[node].format != Format::Unknown; }
  Lost asymmetric(uint32_t node) const;
  Lost notOfDifference(uint32_t node) const;

private:
  enum class Format : uint8_t { Unknown, None, F16, F32, F64 };
  /// A function of the rounded x - y of one format, None where it is of neither x nor y.
  struct Difference {
    Format format = Format::Unknown;
    bool hasBits = false; ///< Not only the number: also the sign of a zero is one.
  };
  std::optional<uint32_t> exchanged(uint32_t node) const;
  Parity parity(const Term &term) const;
  Parity added(Parity a, Parity b) const;
  Parity multiplied(const Term &term) const;
  Parity chosen(const Term &term) const;
  Parity compared(const Term &term) const;
  Parity largest(const Term &term) const;
  bool arePair(uint32_t a, uint32_t b) const;
  Difference difference(const Term &term) const;

  const Terms &terms;
  std::vector<std::optional<uint32_t>> others; ///< For each node the one with x and y exchanged.
  std::vector<Parity> parities;
  std::vector<Difference> differences;
};

/// Signs.cpp: what a value is or NaN.
class Signs {
public:
  using Conditions = std::vector<Condition>;
  struct Fact {
    std::optional<Conditions> nonNegative; ///< >= 0 or NaN.
    std::optional<Conditions> nonPositive;
    std::optional<Conditions> isPlus; ///< And no -0: the sign bit is 0, or NaN.
    bool isNumber = false;            ///< Never NaN.
  };
  explicit Signs(const Terms &terms);
  const Fact &of(uint32_t node) const & { return facts[node]; }
  Lost lost(uint32_t node) const;

private:
  Fact fact(const Term &term) const;
  Fact leaf(const Term &term) const;
  Fact largest(const Term &term) const;
  Fact converted(const Term &term) const;
  Fact product(const Term &term) const;

  const Terms &terms;
  std::vector<Fact> facts;
};

} // namespace annudf

#endif // ANNUDF_LIB_ANALYSIS_TERMS_H
