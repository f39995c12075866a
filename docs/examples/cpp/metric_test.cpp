// A unit test of a metric: the same lambda on plain numbers. It needs nothing of annudf but a
// header.
#include <annudf/cpp/trace.hpp>

#include <cstdio>

int main() {
  const auto weighted = [w = annudf::capture<float>("w", annudf::dim)](auto x, auto y, auto acc,
                                                                       auto ctx) {
    auto d = x - y;
    return acc + w[ctx.dim] * d * d;
  };
  const annudf::plain::values weights("w", {1.0f, 10.0f});
  const float x[] = {1, 2}, y[] = {4, 4};
  float distance = 0;
  for (int dim = 0; dim < 2; ++dim)
    distance = weighted(x[dim], y[dim], distance, annudf::plain::context{.dim = dim, .dims = 2});
  std::printf("1 * 3 * 3 + 10 * 2 * 2 = %g\n", distance);
  return distance == 49 ? 0 : 1;
}
