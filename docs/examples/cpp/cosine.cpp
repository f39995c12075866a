// Cosine distance: three sums over the dimensions are one accumulator of three fields.
#include <annudf/annudf.hpp>

#include <cstdio>
#include <vector>

template <class T> struct Sums {
  T xy, xx, yy;
};

int main() {
  const auto metric = annudf::metric(
      "my_cosine",
      annudf::hooks{
          .initial = Sums<float>{},
          .update = [](auto x, auto y,
                       auto acc) { return Sums{acc.xy + x * y, acc.xx + x * x, acc.yy + y * y}; },
          .finalize = [](auto acc) { return 1.0f - acc.xy / annudf::sqrt(acc.xx * acc.yy); }},
      {.coarse = annudf::coarse::cosine});

  const std::vector<float> base = {1, 0, 0, 1, 1, 1, 2, 1};
  const std::vector<float> query = {3, 3};
  const auto [distances, neighbors] = annudf::brute_force::knn(
      annudf::matrix_view(base, 2), annudf::matrix_view(query, 2), 4, {.metric = metric});
  for (int i = 0; i < 4; ++i)
    std::printf("row %d at %.4f\n", int(neighbors(0, i)), distances(0, i));
}
