// A metric that calls a device function which is there already, here as CUDA C++. What it does
// nobody verifies, and it runs on GPUs only.
#include <annudf/annudf.hpp>

#include <cstdio>
#include <vector>

int main() {
  const annudf::linked<float(float, float)> huber(
      "huber", {annudf::cuda_source(R"(
        extern "C" __device__ float huber(float d, float delta) {
          return fabsf(d) < delta ? 0.5f * d * d : delta * (fabsf(d) - 0.5f * delta);
        })")},
      {.on_plain_numbers = [](float d, float delta) {
        const float size = d < 0 ? -d : d; // For unit tests: device code has no body there.
        return size < delta ? 0.5f * d * d : delta * (size - 0.5f * delta);
      }});
  const auto hook = [=](auto x, auto y, auto acc) { return acc + huber(x - y, 1); };

  const std::vector<float> x = {0, 0}, y = {0.5f, 4};
  std::printf("on plain numbers %g\n", annudf::plain::distance(hook, x, y));

  const annudf::metric metric("huber_distance", hook);
  std::printf("%s\n", metric.text().substr(0, metric.text().find('\n')).c_str());
  const annudf::matrix_view a(x, 2), b(y, 2);
  try {
    annudf::pairwise_distance(a, b, {.metric = metric, .backend = annudf::backend::cpu(1)});
  } catch (const annudf::error &error) {
    std::printf("on a CPU: %s\n", error.diagnostics().front().message.c_str());
  }
}
