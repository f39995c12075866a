// Times and checks cuVS IVF-Flat, built-in L2 and metric UDFs, on generated or given vectors.
// One JSON object a line. Build with ./build.sh; ../gpu.md has the figures.
//
// cuvs_bench [--base F --queries F] [--rows N --dims D --clusters C --sigma S] [--lists L] [--probes 32,64]
//            [--dtype f32|f16|i8|u8] [--k 10,100] [--batch 1,10,100,1000,10000] [--udf] [--wrong]
// F is .fbin or .u8bin (two u32: rows, dims; then rows). Generated data is a Gaussian mixture, the same for
// the same arguments: row r belongs to cluster mix(seed + 7919 r) mod C, centre N(0,1), spread S.
#include "mixture.cuh"

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <cuvs/neighbors/brute_force.hpp>
#include <cuvs/neighbors/ivf_flat.hpp>
#include <raft/core/device_mdarray.hpp>
#include <raft/core/device_resources.hpp>
#include <raft/core/resource/cuda_stream.hpp>

namespace ivf = cuvs::neighbors::ivf_flat;

CUVS_METRIC(udf_l2, { acc += squared_diff(x, y); })
CUVS_METRIC(udf_l1, { acc += abs_diff(x, y); })
CUVS_METRIC(udf_chebyshev, { auto d = abs_diff(x, y); acc = (d > acc) ? d : acc; })

template <class T> __global__ void convert(const float* in, T* out, int64_t n, float scale, float shift) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
    float v = in[i] * scale + shift;
    if constexpr (std::is_same_v<T, int8_t>) out[i] = (int8_t)fminf(127, fmaxf(-127, roundf(v)));
    else if constexpr (std::is_same_v<T, uint8_t>) out[i] = (uint8_t)fminf(255, fmaxf(0, roundf(v)));
    else out[i] = (T)v;
  }
}

struct Args : std::map<std::string, std::string> {
  std::string str(const char* key, const char* fallback) const { auto it = find(key); return it == end() ? fallback : it->second; }
  int64_t num(const char* key, int64_t fallback) const { auto it = find(key); return it == end() ? fallback : atoll(it->second.c_str()); }
  std::vector<int64_t> list(const char* key, const char* fallback) const {
    std::vector<int64_t> out;
    std::string s = str(key, fallback);
    for (char* p = s.data(); *p;) { out.push_back(strtoll(p, &p, 10)); if (*p == ',') ++p; }
    return out;
  }
};
// Vectors of a .fbin or .u8bin file as float32 on the device.
static raft::device_matrix<float, int64_t> load(raft::device_resources& res, const std::string& path) {
  FILE* f = fopen(path.c_str(), "rb");
  uint32_t head[2];
  if (!f || fread(head, 4, 2, f) != 2) { fprintf(stderr, "cannot read %s\n", path.c_str()); exit(1); }
  size_t n = (size_t)head[0] * head[1];
  std::vector<float> v(n);
  if (path.ends_with(".u8bin")) {
    std::vector<uint8_t> b(n);
    if (fread(b.data(), 1, n, f) != n) exit(1);
    std::copy(b.begin(), b.end(), v.begin());
  } else if (fread(v.data(), 4, n, f) != n) exit(1);
  fclose(f);
  auto m = raft::make_device_matrix<float, int64_t>(res, head[0], head[1]);
  cudaMemcpy(m.data_handle(), v.data(), n * 4, cudaMemcpyHostToDevice);
  return m;
}

template <class T> int bench(const Args& args) {
  raft::device_resources res;
  cudaStream_t stream = raft::resource::get_cuda_stream(res).get();
  auto sync = [&] { cudaStreamSynchronize(stream); };
  std::string dtype = args.str("dtype", "f32");
  const bool given = args.count("base");
  int64_t rows = args.num("rows", 1000000), dims = args.num("dims", 128), queries = 10000;
  auto base32 = given ? load(res, args.str("base", "")) : raft::make_device_matrix<float, int64_t>(res, rows, dims);
  auto query32 = given ? load(res, args.str("queries", "")) : raft::make_device_matrix<float, int64_t>(res, queries, dims);
  rows = base32.extent(0), dims = base32.extent(1), queries = query32.extent(0);
  if (!given) {
    int clusters = args.num("clusters", 20000);
    float sigma = atof(args.str("sigma", "0.6").c_str());
    mixture<<<4096, 256, 0, stream>>>(base32.data_handle(), rows, dims, clusters, sigma, 11);
    mixture<<<4096, 256, 0, stream>>>(query32.data_handle(), queries, dims, clusters, sigma, 77777);
  }
  auto base = raft::make_device_matrix<T, int64_t>(res, rows, dims);
  auto query = raft::make_device_matrix<T, int64_t>(res, queries, dims);
  float scale = given ? 1 : std::is_same_v<T, int8_t> ? 30 : std::is_same_v<T, uint8_t> ? 25 : 1;
  float shift = given || !std::is_same_v<T, uint8_t> ? 0 : 128;
  convert<<<4096, 256, 0, stream>>>(base32.data_handle(), base.data_handle(), rows * dims, scale, shift);
  convert<<<4096, 256, 0, stream>>>(query32.data_handle(), query.data_handle(), queries * dims, scale, shift);
  sync();

  ivf::index_params params;
  params.n_lists = args.num("lists", 1024);
  params.metric = cuvs::distance::DistanceType::L2Expanded;
  double build = 1e30;
  for (int i = 0; i < 3; ++i) {
    auto start = Clock::now();
    auto discard = ivf::build(res, params, raft::make_const_mdspan(base.view()));
    sync();
    build = std::min(build, msSince(start));
  }
  auto index = ivf::build(res, params, raft::make_const_mdspan(base.view()));
  printf("{\"what\":\"build\",\"dtype\":\"%s\",\"rows\":%ld,\"dims\":%ld,\"lists\":%u,\"best_ms\":%.1f}\n", dtype.c_str(), rows, dims,
         params.n_lists, build);

  auto ks = args.list("k", "10"), batches = args.list("batch", "1,10,100,1000,10000");
  int64_t maxK = *std::max_element(ks.begin(), ks.end()), truthRows = std::min<int64_t>(queries, 1000);
  auto search = [&](const ivf::search_params& p, int64_t batch, int64_t k, int64_t* ids, float* dist) {
    ivf::search(res, p, index, raft::make_device_matrix_view<const T, int64_t>(query.data_handle(), batch, dims),
                raft::make_device_matrix_view<int64_t, int64_t>(ids, batch, k), raft::make_device_matrix_view<float, int64_t>(dist, batch, k));
  };
  // Exact neighbours: every list probed with the built-in metric.
  auto truth = raft::make_device_matrix<int64_t, int64_t>(res, truthRows, 10);
  auto truthD = raft::make_device_matrix<float, int64_t>(res, truthRows, 10);
  ivf::search_params all;
  all.n_probes = params.n_lists;
  search(all, truthRows, 10, truth.data_handle(), truthD.data_handle());
  sync();
  auto ids = raft::make_device_matrix<int64_t, int64_t>(res, queries, maxK);
  auto dist = raft::make_device_matrix<float, int64_t>(res, queries, maxK);
  // Share of the true 10 nearest among the 10 best returned, and whether every row came back in order of distance.
  auto quality = [&](int64_t k) {
    std::vector<int64_t> a(truthRows * 10), b(truthRows * k);
    std::vector<float> d(truthRows * k);
    cudaMemcpy(a.data(), truth.data_handle(), 8 * a.size(), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), ids.data_handle(), 8 * b.size(), cudaMemcpyDeviceToHost);
    cudaMemcpy(d.data(), dist.data_handle(), 4 * d.size(), cudaMemcpyDeviceToHost);
    int64_t hits = 0, sorted = 0;
    std::vector<int64_t> order(k);
    for (int64_t q = 0; q < truthRows; ++q) {
      const float* row = d.data() + q * k;
      sorted += std::is_sorted(row, row + k);
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + 10, order.end(), [&](auto x, auto y) { return row[x] < row[y]; });
      std::set<int64_t> s(a.begin() + q * 10, a.begin() + q * 10 + 10);
      for (int64_t j = 0; j < 10; ++j) hits += s.count(b[q * k + order[j]]);
    }
    return std::pair{double(hits) / (truthRows * 10), sorted};
  };
  auto time = [&](const char* name, ivf::search_params p, int64_t batch, int64_t k) {
    batch = std::min(batch, queries);
    auto start = Clock::now();
    search(p, batch, k, ids.data_handle(), dist.data_handle());
    sync();
    double first = msSince(start);
    std::vector<double> t(batch <= 100 ? 101 : 15);
    for (double& ms : t) {
      start = Clock::now();
      search(p, batch, k, ids.data_handle(), dist.data_handle());
      sync();
      ms = msSince(start);
    }
    std::sort(t.begin(), t.end());
    double median = t[t.size() / 2];
    printf("{\"what\":\"%s\",\"dtype\":\"%s\",\"probes\":%u,\"k\":%ld,\"batch\":%ld,\"first_ms\":%.2f,\"median_ms\":%.4f,\"min_ms\":%.4f,\"qps\":%.0f",
           name, dtype.c_str(), p.n_probes, k, batch, first, median, t[0], batch * 1e3 / median);
    if (batch >= truthRows && k >= 10) {
      auto [recall, sorted] = quality(k);
      printf(",\"recall10\":%.4f,\"rows_sorted\":%ld,\"of\":%ld", recall, sorted, truthRows);
    }
    printf("}\n");
    fflush(stdout);
  };
  ivf::search_params p;
  for (int64_t probes : args.list("probes", "32"))
    for (int64_t k : ks)
      for (int64_t batch : batches) {
        p.n_probes = probes;
        time("built-in L2", p, batch, k);
      }
  if constexpr (!std::is_same_v<T, half>)
    if (args.count("udf")) {
      p.metric_udf = udf_l2_udf();
      for (int64_t batch : batches) time("UDF L2", p, batch, 10);
      p.metric_udf = udf_l1_udf();
      for (int64_t batch : {int64_t(1), queries}) time("UDF L1", p, batch, 10);
      p.metric_udf = udf_l2_udf();
      p.n_probes = params.n_lists;
      time("UDF L2", p, 1000, 10);
    }
  if constexpr (std::is_same_v<T, int8_t>)
    if (args.count("wrong")) {  // distances of three UDFs against the host, every list probed, 20 queries
      std::vector<int8_t> x(rows * dims), q(20 * dims);
      cudaMemcpy(x.data(), base.data_handle(), x.size(), cudaMemcpyDeviceToHost);
      cudaMemcpy(q.data(), query.data_handle(), q.size(), cudaMemcpyDeviceToHost);
      p.n_probes = params.n_lists;
      std::pair<const char*, std::string> udfs[] = {{"chebyshev", udf_chebyshev_udf()}, {"L1", udf_l1_udf()}, {"L2", udf_l2_udf()}};
      for (auto& [name, source] : udfs) {
        p.metric_udf = source;
        search(p, 20, 10, ids.data_handle(), dist.data_handle());
        sync();
        std::vector<float> got(200), row(rows);
        cudaMemcpy(got.data(), dist.data_handle(), 800, cudaMemcpyDeviceToHost);
        int wrong = 0;
        for (int i = 0; i < 20; ++i) {
          for (int64_t r = 0; r < rows; ++r) {
            int acc = 0;
            for (int64_t j = 0; j < dims; ++j) {
              int d = abs(q[i * dims + j] - x[r * dims + j]);
              acc = *name == 'c' ? std::max(acc, d) : name[1] == '1' ? acc + d : acc + d * d;
            }
            row[r] = acc;
          }
          std::partial_sort(row.begin(), row.begin() + 10, row.end());
          for (int j = 0; j < 10; ++j) wrong += std::fabs(got[i * 10 + j] - row[j]) > 0.5;
        }
        printf("{\"what\":\"UDF %s on i8, every list probed\",\"wrong_distances\":%d,\"of\":200}\n", name, wrong);
      }
    }
  return 0;
}

int main(int argc, char** argv) {
  Args args;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--", 2)) { fprintf(stderr, "unexpected argument %s\n", argv[i]); return 2; }
    bool flag = i + 1 == argc || !strncmp(argv[i + 1], "--", 2);
    args[argv[i] + 2] = flag ? "1" : argv[i + 1];
    i += !flag;
  }
  std::string dtype = args.str("dtype", "f32");
  return dtype == "f16" ? bench<half>(args) : dtype == "i8" ? bench<int8_t>(args) : dtype == "u8" ? bench<uint8_t>(args) : bench<float>(args);
}
