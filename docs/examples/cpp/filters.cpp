// Rows that may be found: by a filter of code, by bits, and by both.
#include <annudf/annudf.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> base, price;
  for (int i = 0; i < 100; ++i) {
    base.insert(base.end(), {float(i), 0.0f});
    price.push_back(float(i % 10));
  }
  const auto index = annudf::ivf_flat::build({.n_lists = 2}, annudf::matrix_view(base, 2));

  const auto price_of = annudf::capture<float>("price", annudf::row);
  const auto most = annudf::capture<float>("most");
  const auto affordable =
      annudf::code_filter("affordable", [=](auto ctx) { return price_of[ctx.row] <= ctx(most); });
  const auto cheap =
      annudf::ivf_flat::filter(index, affordable.bind({{"price", price}, {"most", 2.0}}));

  std::vector<bool> in_stock(100, true);
  in_stock[50] = in_stock[51] = false;
  const auto available = annudf::filter::from_bools(in_stock);
  std::printf("%d are cheap, %d are cheap and there\n", int(cheap.count()),
              int((cheap & available).count()));

  const std::vector<float> query = {50.25f, 0};
  for (const auto &filter : {annudf::filter(), cheap, cheap & available, ~cheap & available}) {
    const auto [distances, neighbors] = annudf::ivf_flat::search(
        index, annudf::matrix_view(query, 2), 2, {.n_probes = 2, .filter = filter});
    std::printf("rows %d and %d\n", int(neighbors(0, 0)), int(neighbors(0, 1)));
  }
}
