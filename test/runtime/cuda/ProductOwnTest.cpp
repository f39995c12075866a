//===- ProductOwnTest.cpp - Bounds with coefficients of each query's own ----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ProductOwn.cuh on the host, with the rest of Products.cu and Survivors.cuh: weights of each
// query's own of every kind, and random updates. No bound is above what hooks make of a row, and
// the rows that are found are those of a sort of all.
//
//===----------------------------------------------------------------------===//

#include "HostSearch.h"

#include "annudf/runtime/engine/Reason.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

const EntryIndex kQuery{EntryIndex::Kind::Query};

/// The form with entries of "w" by query and dimension, and of "s" by query, unless it is a number.
QuadraticForm ofEachQuery(QuadraticForm form, bool isNumber = false) {
  for (Coefficient &node : form.nodes)
    if (node.kind == Coefficient::Kind::Entry && node.capture == "w")
      node.indices = {kQuery, runtime::test::kDim};
    else if (node.kind == Coefficient::Kind::Entry && node.capture == "s" && !isNumber)
      node.indices = {kQuery};
  return form;
}

/// (w x) y, fused with the sum.
QuadraticForm weightedProduct() {
  QuadraticForm form;
  runtime::test::Nodes nodes(form.nodes);
  const uint32_t w = nodes.entry("w", {runtime::test::kDim}),
                 size = nodes.one(Coefficient::Kind::Absolute, w), one = nodes.number(1);
  using Q = Quadratic;
  form.exact.of[Q::XY] = w;
  form.size.of[Q::XY] = size;
  form.small.of[Q::Y] = form.small.of[Q::One] = one;
  form.largest.of = {0, size, 0, size, one, one};
  form.roundings.f32 = 2, form.eta = 0x1p-150;
  return form;
}

Fields l2Update(Fields sums, float w, float x, float y) {
  const float difference = x - y;
  return {sums[0] + w * difference * difference};
}
Fields productUpdate(Fields sums, float w, float x, float y) {
  return {std::fma(w * x, y, sums[0])};
}
float asItIs(Fields sums, float) { return sums[0]; }

const std::vector<Hooks> &allHooks() {
  static const std::vector<Hooks> hooks = {
      {"l2", runtime::test::weightedL2(), Course::Identity, ANNUDF_ORDER_MIN, true, l2Update,
       asItIs},
      {"largest l2", runtime::test::weightedL2(), Course::Identity, ANNUDF_ORDER_MAX, true,
       l2Update, asItIs},
      {"root of l2", runtime::test::weightedL2(), Course::Rises, ANNUDF_ORDER_MIN, true, l2Update,
       [](Fields sums, float) { return std::sqrt(sums[0]); }},
      {"inner product", weightedProduct(), Course::Identity, ANNUDF_ORDER_MAX, true, productUpdate,
       asItIs},
      {"less the inner product", weightedProduct(), Course::Falls, ANNUDF_ORDER_MIN, true,
       productUpdate, [](Fields sums, float) { return 1 - sums[0]; }},
  };
  return hooks;
}

/// What a metric's weights are, of each query and dimension.
struct KindOfWeights {
  const char *name;
  float (*change)(float value, size_t query, size_t dim);
};
constexpr KindOfWeights kWeights[] = {
    {"normal", [](float v, size_t, size_t) { return std::abs(v); }},
    {"of both signs", [](float v, size_t, size_t) { return v; }},
    {"many zeros", [](float v, size_t q, size_t d) { return (q + d) % 3 ? 0 : std::abs(v); }},
    {"a query of zeros", [](float v, size_t q, size_t) { return q == 1 ? 0 : std::abs(v); }},
    {"some of 1e6", [](float v, size_t, size_t d) { return d % 3 ? std::abs(v) : 1e6F; }},
    {"a query of 1e15", [](float v, size_t q, size_t) { return q == 2 ? v * 1e15F : v; }},
    {"1e-20", [](float v, size_t, size_t) { return v * 1e-20F; }},
    {"denormal", [](float v, size_t, size_t) { return v * 1e-42F; }},
    {"many scales",
     [](float v, size_t q, size_t d) { return std::ldexp(v, int((q * 31 + d * 17) % 60) - 30); }},
    {"one no number", [](float v, size_t q, size_t d) { return q == 3 && d == 0 ? NAN : v; }},
    {"one infinite", [](float v, size_t q, size_t d) { return q == 4 && d == 0 ? INFINITY : v; }},
};

/// Weights of a search's queries, of which those searched begin with number `base`.
struct Weights {
  static constexpr int32_t kBase = 3;
  std::vector<float> values;
  BoundCaptures bound;
  annudf_slots slots = {};

  Weights(Data &data, const KindOfWeights &kind, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const size_t dims = data.weights.size(), count = data.queries.size();
    values.assign((kBase + count) * dims, -1e30F); // Nobody reads those of queries before.
    data.ofQueries.assign(count, Vector(dims));
    for (size_t q = 0; q < count; ++q)
      for (size_t d = 0; d < dims; ++d)
        values[(kBase + q) * dims + d] = data.ofQueries[q][d] = kind.change(normal(random), q, d);
    Manifest manifest;
    manifest.name = "m";
    manifest.captures = {
        {"w", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_QUERY, 0}, {ANNUDF_EXTENT_DIM, 0}}}};
    const auto rows = int64_t(kBase + count);
    bound = BoundCaptures::bindViews(
        manifest, {int32_t(dims), 0, rows},
        {{"w", runtime::test::given("f32", {rows, int64_t(dims)}, values.data(), values.size())}},
        true);
    slots.slot[0] = addressOf(values);
  }
};

std::optional<runtime::cuda::BoundNumbers>
numbersFor(const Data &data, const Hooks &hooks, const BoundCaptures &captures, std::string &why) {
  QuadraticForm form = ofEachQuery(hooks.form);
  form.finalize = hooks.course;
  return runtime::cuda::ownNumbersOf(form, captures, int32_t(data.weights.size()), {}, hooks.order,
                                     why);
}

/// What was seen of searches.
struct Seen {
  int searches = 0;
  uint64_t granules = 0, isNothing = 0, evaluated = 0;
  float most = 0;
  void add(const Search &search) {
    ++searches, granules += search.granules, isNothing += search.isNothing;
    evaluated += search.evaluated, most = std::max(most, search.most);
  }
};

void check(Data data, const Hooks &hooks, const KindOfWeights &weights, Seen &seen) {
  SCOPED_TRACE(std::string(hooks.name) + ", weights " + weights.name + ", dims " +
               std::to_string(data.weights.size()));
  const Weights of(data, weights, uint32_t(data.weights.size()));
  std::string why;
  const auto numbers = numbersFor(data, hooks, of.bound, why);
  ASSERT_TRUE(numbers) << why;
  Search search(data, hooks, *numbers, of.slots, Weights::kBase);
  if (holds(search, 10))
    seen.add(search);
}

} // namespace

/// By hand.
TEST(CudaProductOwn, SquaresAreAsLargeAsCoordinates) {
  using runtime::cuda::squaresOf;
  EXPECT_EQ(squaresOf({}, 4).square, 2);
  EXPECT_EQ(squaresOf({4, 7, 1e30F}, 4).square, 0.5); // 2 and 6, of coordinates of 2 and 3.5.
  EXPECT_EQ(squaresOf({4, 7, 1e30F}, 4).mostLength, 4096 * 2 / 0.5);
  EXPECT_EQ(squaresOf({0, NAN, INFINITY, 0.25F}, 1).square, 8);
  EXPECT_EQ(squaresOf({1e-40F}, 1).square, 0x1p101);
  EXPECT_EQ(squaresOf({3e38F}, 1).square, 0x1p-99);
}

TEST(CudaProductOwn, SaysWhyThereIsNoBound) {
  Data data = dataOf(1, 2, kKinds[0].change);
  const Weights of(data, kWeights[0], 1);
  const auto whyNot = [&](auto change) {
    QuadraticForm form = ofEachQuery(runtime::test::weightedL2());
    change(form);
    std::string why = "bound";
    const bool isBound =
        runtime::cuda::ownNumbersOf(form, of.bound, 2, {}, ANNUDF_ORDER_MIN, why).has_value();
    EXPECT_EQ(isBound, why == "bound");
    return why;
  };
  const auto entry = [&](std::vector<EntryIndex> indices) {
    return whyNot([&](QuadraticForm &form) { form.nodes[1].indices = indices; });
  };
  EXPECT_EQ(whyNot([](QuadraticForm &) {}), "bound");
  EXPECT_EQ(entry({kQuery, kQuery}), "it reads capture 'w' by query, but that extent is not query");
  EXPECT_EQ(entry({kQuery, {EntryIndex::Kind::Number, 2}}),
            "it reads entry 2 of capture 'w', which has 2");
  EXPECT_EQ(entry({kQuery}), "it reads capture 'w' with 1 indices, it has 2 extents");
  EXPECT_EQ(whyNot([](QuadraticForm &form) { form.nodes.resize(ANNUDF_MATRIX_OWN_NODES); }),
            "bound");
  EXPECT_EQ(whyNot([](QuadraticForm &form) { form.nodes.resize(ANNUDF_MATRIX_OWN_NODES + 1); }),
            "its coefficients take more than 128 steps for each query");
  EXPECT_EQ(whyNot([](QuadraticForm &form) { form.eta = -1; }),
            "the artifact's form has an underflow of -1.000000");
}

TEST(CudaProductOwn, BoundsHoldAndFindWhatASortFindsWhateverTheData) {
  Seen all;
  for (const Hooks &hooks : allHooks())
    for (const KindOfData &kind : kKinds)
      for (const size_t dims : {1, 5, 33, 130}) {
        SCOPED_TRACE(kind.name);
        check(dataOf(uint32_t(dims), dims, kind.change), hooks, kWeights[dims % 2], all);
        if (HasFatalFailure())
          return;
      }
  EXPECT_EQ(all.searches, 5 * 19 * 4);
}

TEST(CudaProductOwn, BoundsHoldWhateverTheWeights) {
  Seen all;
  for (const Hooks &hooks : allHooks())
    for (const KindOfWeights &weights : kWeights)
      for (const size_t dims : {1, 31, 64, 257})
        for (const size_t kind : {0, 1, 5}) {
          SCOPED_TRACE(kKinds[kind].name);
          check(dataOf(uint32_t(dims), dims, kKinds[kind].change), hooks, weights, all);
          if (HasFatalFailure())
            return;
        }
  EXPECT_EQ(all.searches, 5 * 11 * 4 * 3);
}

TEST(CudaProductOwn, AreOfTheRowsThatPass) {
  Seen all;
  for (const Hooks &hooks : allHooks())
    for (const size_t kind : {0, 5, 6, 7})
      for (const uint32_t pattern : {0x7fff7fffU, 0x00880100U, 0x80000000U, 0U}) {
        SCOPED_TRACE(std::string(kKinds[kind].name) + ", filter " + std::to_string(pattern));
        Data data = dataOf(9, 40, kKinds[kind].change);
        data.passing.assign(10, pattern);
        check(data, hooks, kWeights[0], all);
        if (HasFatalFailure())
          return;
      }
  EXPECT_EQ(all.searches, 5 * 4 * 4);
}

/// Few rows of usual data are left, and of data with one row far from all others.
TEST(CudaProductOwn, AreNear) {
  for (const Hooks &hooks : {allHooks()[0], allHooks()[3]})
    for (const size_t kind : {0, 1, 5})
      for (const size_t weights : {0, 4, 5}) {
        if (kind == 5 && weights == 5) // Beyond what floats allow, of that query.
          continue;
        Seen seen;
        SCOPED_TRACE(kKinds[kind].name);
        check(dataOf(4, 96, kKinds[kind].change), hooks, kWeights[weights], seen);
        if (std::getenv("ANNUDF_SHOW"))
          std::printf("%-15s %-20s %-20s %5.1f%% nothing, slack %g, %.1f evaluated\n", hooks.name,
                      kKinds[kind].name, kWeights[weights].name,
                      100.0 * double(seen.isNothing) / double(seen.granules), double(seen.most),
                      double(seen.evaluated) / 6);
        EXPECT_LE(seen.isNothing, kind == 5 ? 6u : 0u); // The huge row's granule, of each query.
      }
}

/// An infinite product would be a bound above every row.
TEST(CudaProductOwn, NothingIsSaidOfWhatNoFloatHolds) {
  Seen seen;
  check(dataOfLargeWeights(), productOfLargeWeights(),
        {"large", [](float, size_t, size_t) { return kLargeWeight; }}, seen);
  EXPECT_EQ(seen.isNothing, seen.granules);
}

/// Rows without a bound do not change how the others of their list are scaled.
TEST(CudaProductOwn, AreAsNearBesideRowsFarFromAll) {
  Data data = dataOf(4, 96, kKinds[0].change);
  data.lists[2][10].assign(96, 1e20F);
  data.lists[2][50].assign(96, -1e20F); // Their mean is nothing.
  Seen seen;
  check(data, allHooks()[0], kWeights[0], seen);
  EXPECT_EQ(seen.isNothing, 12u); // Two granules, of six queries.
  EXPECT_LT(seen.most, 3);
}

namespace {

/// A random update whose every query has a "w" of its own and an "s", by the rules of the analysis,
/// as FormTesting.h computes it; with data and weights of some kind.
struct RandomSearch {
  runtime::test::Formula formula;
  annudf_order order;
  bool isNumber; ///< Whether "s" is the same for all queries.
  Data data;
  std::vector<float> w, v, s;
  std::string name;
  std::optional<runtime::cuda::BoundNumbers> numbers; ///< None: of too many nodes.

  explicit RandomSearch(uint32_t seed)
      : formula(seed), order(seed % 2 ? ANNUDF_ORDER_MAX : ANNUDF_ORDER_MIN),
        isNumber(seed % 3 == 0) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const size_t dims = std::array<size_t, 6>{1, 2, 7, 40, 64, 129}[random() % 6];
    const KindOfData &kind = kKinds[random() % std::size(kKinds)];
    const KindOfWeights &weights = kWeights[random() % std::size(kWeights)];
    name = "seed " + std::to_string(seed) + ", " + kind.name + ", weights " + weights.name;
    data = dataOf(seed, dims, kind.change);
    data.lists.resize(2);
    data.queries.resize(5);
    for (size_t i = 0; i < dims; ++i)
      v.push_back(normal(random));
    for (size_t q = 0; q < data.queries.size(); ++q) {
      s.push_back(isNumber && q != 0 ? s[0] : normal(random) * (q % 2 ? 1 : 1e3F));
      for (size_t d = 0; d < dims; ++d)
        w.push_back(weights.change(normal(random), q, d));
    }
    bind();
  }

  size_t dims() const { return v.size(); }
  annudf_slots slots() const {
    return {{addressOf(w), addressOf(v), isNumber ? std::bit_cast<uint32_t>(s[0]) : addressOf(s)}};
  }
  /// As if all queries had those of one.
  runtime::test::Captures capturesOf(size_t query) const {
    const auto first = w.begin() + std::ptrdiff_t(query * dims());
    return {{first, first + std::ptrdiff_t(dims())}, v, s[query]};
  }

private:
  void bind() {
    Manifest manifest;
    manifest.name = "m";
    manifest.captures = {
        {"w", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_QUERY, 0}, {ANNUDF_EXTENT_DIM, 0}}},
        {"v", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_DIM, 0}}},
        {"s", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_QUERY, 0}}}};
    if (isNumber)
      manifest.captures[2].extents.clear();
    using runtime::test::given;
    const auto queries = int64_t(data.queries.size()), length = int64_t(dims());
    const BoundCaptures captures =
        BoundCaptures::bindViews(manifest, {int32_t(dims()), 0, queries},
                                 {{"w", given("f32", {queries, length}, w.data(), w.size())},
                                  {"v", given("f32", {length}, v.data(), v.size())},
                                  {"s", isNumber ? given("f32", {}, s.data(), 1)
                                                 : given("f32", {queries}, s.data(), s.size())}},
                                 true);
    std::string why;
    numbers = runtime::cuda::ownNumbersOf(ofEachQuery(formula.form, isNumber), captures,
                                          int32_t(dims()), {}, order, why);
    EXPECT_TRUE(numbers || why == textOf({Reason::ManyNodes, ANNUDF_MATRIX_OWN_NODES})) << why;
  }
};

uint32_t countOfSeeds() {
  const char *asked = std::getenv("ANNUDF_BOUNDS");
  return asked ? uint32_t(std::strtoul(asked, nullptr, 10)) : 300;
}

/// What the host's bound of one query's captures says that the kernel's numbers have to be.
struct Expected {
  double factor = 0, added = 0,
         error = 0; ///< Error of lengths; but for what is taken off; which that is.
  double slack = 0; ///< Roundoff of doubles at these numbers.
  double share = 0; ///< The largest share of what is allowed.

  Expected(const BoundForm &form, const Vector &x, const annudf_matrix_own &own) {
    using F = BoundForm;
    double product = 0, rowError = 0, rowLargest = 0, rounded = 0;
    for (size_t d = 0; d < x.size(); ++d) {
      const auto of = [&](F::Term term) { return form.of(term)[d]; };
      const double at = double(x[d]) - of(F::Shift);
      product += std::pow(of(F::XY) * at + of(F::Y1), 2) + std::pow(of(F::Y2) / own.square, 2);
      rowError += std::pow(of(F::ErrorY1), 2) + std::pow(of(F::ErrorY2) / own.square, 2);
      rowLargest += std::pow(of(F::LargestY1), 2) + std::pow(of(F::LargestY2) / own.square, 2);
      rounded += std::abs(of(F::XY) * at) + std::abs(of(F::Y1));
      slack += 1e-13 * (std::abs(of(F::X1) * at) + std::abs(of(F::X2) * at * at) + rounded);
    }
    const BoundPart query = queryPart(form, x);
    factor = std::sqrt(product) * lengthFactor(int(2 * x.size())) + std::sqrt(rowError);
    added = form.constant + query.value, error = form.error + query.error;
    share = std::max((form.largest + query.largest + std::sqrt(rowLargest) * own.mostLength) /
                         form.limit,
                     std::sqrt(product) * own.mostLength / 0x1p125);
    slack += rounded * 1e-13;
  }
};

} // namespace

/// What the kernel computes of a query is what the host binds with that query's captures.
TEST(CudaProductOwn, NumbersAreThoseOfTheHost) {
  size_t same = 0, nothing = 0;
  for (uint32_t seed = 1; seed <= countOfSeeds(); ++seed) {
    const RandomSearch random(seed);
    if (!random.numbers)
      continue;
    HostProducts matrix(random.data.lists, random.data.mean(), *random.numbers);
    (void)matrix.bounds(random.data.queries, random.slots());
    for (size_t q = 0; q < random.data.queries.size(); ++q) {
      SCOPED_TRACE(random.name + ", query " + std::to_string(q));
      const float4 &is = matrix.queryNumbers()[q];
      const auto form = bindForm(random.formula.form, random.capturesOf(q).bound,
                                 int32_t(random.dims()), random.data.mean(), random.order, nullptr);
      if (!form) {
        ASSERT_TRUE(std::isnan(is.z));
        ++nothing;
        continue;
      }
      const Expected expected(*form, random.data.queries[q], matrix.args().own);
      if (!(expected.share < 1 - 1e-5)) {
        ASSERT_TRUE(std::isnan(is.z) || expected.share < 1 + 1e-5) << expected.share;
        ++nothing;
        continue;
      }
      ++same;
      ASSERT_GE(double(is.y), expected.factor * (1 - 1e-13));
      ASSERT_LE(double(is.y), expected.factor * (1 + 1e-5) + expected.slack + 1e-37);
      const double low = expected.added - expected.error;
      ASSERT_LE(double(is.z), low - 0x1p-22 * std::abs(low) + expected.slack);
      ASSERT_GE(double(is.z), low - 0x1p-20 * (std::abs(expected.added) + expected.error) -
                                  expected.slack - 1e-33);
    }
  }
  EXPECT_GT(same, 4 * nothing);
}

/// Which a file may have, and what a query's entries make of it is seen by that query alone.
TEST(CudaProductOwn, AFormThatContradictsItselfHasNoBounds) {
  Data data = dataOf(3, 70, kKinds[0].change);
  const Weights of(data,
                   {"one below 0", [](float v, size_t q,
                                      size_t d) { return q == 2 && d == 66 ? -1 : std::abs(v); }},
                   3);
  QuadraticForm form = ofEachQuery(runtime::test::weightedL2());
  form.size.of[Quadratic::XX] = form.exact.of[Quadratic::XX]; // w, and not |w|.
  std::string why;
  const auto numbers = runtime::cuda::ownNumbersOf(form, of.bound, 70, {}, ANNUDF_ORDER_MIN, why);
  ASSERT_TRUE(numbers) << why;
  HostProducts matrix(data.lists, data.mean(), *numbers);
  (void)matrix.bounds(data.queries, of.slots, Weights::kBase);
  for (size_t q = 0; q < data.queries.size(); ++q)
    EXPECT_EQ(std::isnan(matrix.queryNumbers()[q].z), q == 2) << q;
}

TEST(CudaProductOwn, BoundsOfRandomUpdatesHold) {
  size_t bound = 0, checked = 0, near = 0;
  for (uint32_t seed = 1; seed <= countOfSeeds(); ++seed) {
    const RandomSearch random(seed);
    if (!random.numbers)
      continue;
    ++bound;
    HostProducts matrix(random.data.lists, random.data.mean(), *random.numbers);
    const std::vector<float> bounds = matrix.bounds(random.data.queries, random.slots());
    for (size_t q = 0; q < random.data.queries.size(); ++q) {
      const runtime::test::Captures own = random.capturesOf(q);
      size_t group = 0;
      for (const FloatRows &rows : random.data.lists) {
        for (size_t row = 0; row < rows.size(); ++row) {
          const float of =
              bounds[(q * matrix.groups() + group) * ANNUDF_GRANULES + row / ANNUDF_GRANULE_ROWS];
          const float acc = random.numbers->sign *
                            random.formula.computed(own, random.data.queries[q], rows[row]);
          ++checked, near += of != -FLT_MAX;
          ASSERT_TRUE(of == -FLT_MAX || std::isnan(acc) || of <= acc)
              << random.name << ", query " << q << ", row " << row << ": " << of << " above "
              << acc;
        }
        group += (rows.size() + 31) / 32;
      }
    }
  }
  if (std::getenv("ANNUDF_SHOW"))
    std::printf("%zu formulas, %zu pairs, %zu with a bound\n", bound, checked, near);
  EXPECT_GT(bound * 3, countOfSeeds());
  EXPECT_GT(near * 4, checked);
}
