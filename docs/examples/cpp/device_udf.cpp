// A metric as cuVS's proof of concept passes it around: code for a GPU, a symbol, and where its
// capture lies. Needs no GPU.
#include <annudf/annudf.hpp>

#include <cstdio>

int main() {
  // What another program made: CUDA C++, or LTO-IR.
  const annudf::device_udf udf({.payload_kind = annudf::udf_payload::cuda_source,
                                .payload = "extern \"C\" __device__ float f(float x, float y, "
                                           "float acc) { return acc + (x - y) * (x - y); }\n",
                                .symbol_name = "f"});
  std::printf("%s: %s, %d bytes\n", udf.abi().c_str(), udf.symbol_name().c_str(),
              int(udf.payload().size()));
  std::printf("%s...\n", udf.cache_key().substr(0, 38).c_str());
  const annudf_device_udf &c = udf.c(); // For a library that takes the struct of C.
  std::printf("from C: %d\n", annudf::device_udf::from_c(c).cache_key() == udf.cache_key());

  // A metric that needs more than the ABI has is refused by name.
  const annudf::metric dot("dot", [](auto x, auto y, auto acc) { return acc + x * y; },
                           {.order = annudf::order::max, .coarse = annudf::coarse::inner_product});
  try {
    annudf::device_udf::from_metric(dot, "sm_90");
  } catch (const annudf::error &error) {
    std::printf("rule %s\n", error.rule().c_str());
  }
}
