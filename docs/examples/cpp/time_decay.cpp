// A distance that grows with the age of a row: a value a row, and a number.
#include <annudf/annudf.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> base = {0, 0, 1, 0, 2, 0, 3, 0};
  const std::vector<float> age = {4, 1, 0, 0}; // Years, one a row.
  const auto index = annudf::ivf_flat::build({.n_lists = 1}, annudf::matrix_view(base, 2));

  const auto age_of = annudf::capture<float>("age", annudf::row);
  const auto half_life = annudf::capture<float>("half_life");
  const auto metric = annudf::metric(
      "time_decay", annudf::hooks{.initial = 0.0f,
                                  .update =
                                      [](auto x, auto y, auto acc) {
                                        auto d = x - y;
                                        return acc + d * d;
                                      },
                                  .finalize =
                                      [=](auto acc, auto ctx) {
                                        return acc * annudf::exp2(age_of[ctx.row] / ctx(half_life));
                                      }});

  const auto bound = metric.bind({{"age", age}, {"half_life", 1.0}});
  const std::vector<float> query = {0.5f, 0};
  for (const double years : {1.0, 4.0}) { // Other values compile nothing.
    const auto [distances, neighbors] = annudf::ivf_flat::search(
        index, annudf::matrix_view(query, 2), 2, {.metric = bound.bind({{"half_life", years}})});
    std::printf("half-life %g: row %d at %.4f, row %d at %.4f\n", years, int(neighbors(0, 0)),
                distances(0, 0), int(neighbors(0, 1)), distances(0, 1));
  }
}
