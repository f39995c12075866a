// An index grows, is written to a file and read again.
#include <annudf/annudf.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::vector<std::uint8_t> base;
  for (int i = 0; i < 200; ++i)
    base.insert(base.end(), {std::uint8_t(i), std::uint8_t(255 - i)});
  auto index = annudf::ivf_flat::build({.n_lists = 8, .adaptive_centers = true},
                                       annudf::matrix_view(base, 2));

  const std::vector<std::uint8_t> more = {250, 250};
  const std::vector<std::int64_t> ids = {1000};
  annudf::ivf_flat::extend(index, annudf::matrix_view(more, 2), ids);
  annudf::ivf_flat::save(index, "bytes.ivf");

  const auto loaded = annudf::ivf_flat::load("bytes.ivf");
  const auto [distances, neighbors] = annudf::ivf_flat::search(
      loaded, annudf::matrix_view(more, 2), 2, {.n_probes = 8, .metric = "cityblock"});
  std::printf("%d rows of %d bytes in %d lists\n", int(loaded.size()), int(loaded.dim()),
              int(loaded.n_lists()));
  std::printf("row %d at %g, row %d at %g\n", int(neighbors(0, 0)), distances(0, 0),
              int(neighbors(0, 1)), distances(0, 1));

  // A stop token ends what takes long; the index is as it was.
  std::stop_source stop;
  stop.request_stop();
  try {
    annudf::ivf_flat::extend(index, annudf::matrix_view(base, 2), {}, {.stop = stop.get_token()});
  } catch (const annudf::error &error) {
    std::printf("stopped: %s, still %d rows\n",
                error.code() == annudf::errc::interrupted ? "interrupted" : error.what(),
                int(index.size()));
  }
}
