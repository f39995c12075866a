// What goes wrong is an annudf::error: with a code, and of a metric with the rule and the line.
#include <annudf/annudf.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

template <class Call> void attempt(const char *what, Call call) {
  try {
    call();
  } catch (const annudf::error &error) {
    std::printf("%s: code %d\n", what, int(error.code()));
    if (const auto place = error.location(); place.line != 0) {
      const char *file = std::strrchr(place.file.c_str(), '/');
      std::printf("  rule %s at %s:%d\n", error.rule().c_str(),
                  file ? file + 1 : place.file.c_str(), place.line);
    } else {
      std::printf("  %s\n", error.what());
    }
  }
}

int main() {
  attempt("a load past the end", [] {
    const auto table = annudf::capture<float>("table", 4);
    annudf::metric("broken", [=](auto x, auto y, auto acc, auto ctx) {
      auto d = x - y;
      return acc + table[ctx.dim] * d; // Nothing says that there are only 4 dimensions.
    }).mlir();
  });

  const std::vector<float> base(20, 1.0f);
  const annudf::matrix_view rows(base, 4);
  const auto index = annudf::ivf_flat::build({.n_lists = 1}, rows);
  attempt("k", [&] { annudf::ivf_flat::search(index, rows, 6); });
  attempt("rows", [&] { annudf::matrix_view(base, 3); });
  attempt("a file", [] { annudf::ivf_flat::load("not-there.ivf"); });
}
