// Squared distance with a weight a dimension, as a lambda.
#include <annudf/annudf.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> base; // A grid of 10 x 10.
  for (int i = 0; i < 100; ++i)
    base.insert(base.end(), {float(i % 10), float(i / 10)});
  const auto index = annudf::ivf_flat::build({.n_lists = 4}, annudf::matrix_view(base, 2));

  const auto metric = annudf::metric(
      "weighted_l2",
      [w = annudf::capture<float>("w", annudf::dim)](auto x, auto y, auto acc, auto ctx) {
        auto d = x - y;
        return acc + w[ctx.dim] * d * d;
      },
      {.order = annudf::order::min, .coarse = annudf::coarse::l2});

  const std::vector<double> weights = {1, 100};
  const std::vector<float> queries = {4.25f, 7, 0, 2.5f};
  const auto [distances, neighbors] =
      annudf::ivf_flat::search(index, annudf::matrix_view(queries, 2), 3,
                               {.n_probes = 4, .metric = metric.bind({{"w", weights}})});
  for (int query = 0; query < 2; ++query)
    for (int i = 0; i < 3; ++i)
      std::printf("query %d: row %d at %g\n", query, int(neighbors(query, i)), distances(query, i));
}
