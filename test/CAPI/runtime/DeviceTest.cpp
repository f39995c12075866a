//===- DeviceTest.cpp - Device memory and streams through the C API -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU; without one every test is skipped and says so, or fails where
// ANNUDF_REQUIRE_GPU=1 says that there is one.
//
//===----------------------------------------------------------------------===//

#include "DeviceApi.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <thread>

using namespace annudf;
using namespace annudf::test;
using annudf::runtime::cuda::Buffer;
using annudf::runtime::cuda::check;
using annudf::runtime::cuda::Context;
using annudf::runtime::cuda::ContextScope;
using annudf::runtime::cuda::Driver;

namespace {

TEST_F(CApiDevice, EveryKindOfStream) {
  EXPECT_EQ(annudf_backend_get(backend)->device, 0);
  EXPECT_EQ(std::string(annudf_backend_get(backend)->description).find("CUDA device 0: "), 0u);
  const Found want = expected(queries);
  const Stream own(context);
  for (uint64_t stream : {uint64_t(0), kLegacy, kPerThread, own.handle()}) {
    Arrays arrays;
    upload(queries, stream, arrays);
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(enqueue(arrays, stream, nullptr, &stats), "ok");
    EXPECT_EQ(stats.links, 0);
    EXPECT_EQ(stats.upload_ms, 0);
    OwnedEvent event;
    ASSERT_EQ(outcome(annudf_event_record(backend, stream, &event)), "ok");
    ASSERT_EQ(outcome(annudf_event_wait(event)), "ok");
    bool done = false;
    ASSERT_EQ(outcome(annudf_event_done(event, &done)), "ok");
    EXPECT_TRUE(done);
    EXPECT_EQ(download(arrays, stream), want) << stream;
  }
}

TEST_F(CApiDevice, HandlesMayGoWhileTheSearchRuns) {
  const Found want = expected(queries);
  const Stream own(context);
  Arrays arrays;
  upload(queries, own.handle(), arrays);
  for (int i = 0; i < 20; ++i) { // Most of them are still to run when the handles go.
    OwnedCaptures passing;
    bindWeights(artifact, someWeights(kDims), &passing);
    ASSERT_EQ(enqueue(arrays, own.handle(), passing), "ok");
  }
  OwnedEvent event;
  ASSERT_EQ(annudf_event_record(backend, own.handle(), &event), ANNUDF_OK);
  // The search reads the copy that it began with: an extend does not reach it.
  const auto more = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, kDims, 77);
  const annudf_vectors view = vectorsOf(more);
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &view, nullptr, nullptr)), "ok");
  const Found after = expected(queries);
  EXPECT_FALSE(after == want);
  (void)&index; // An owner's & destroys what it holds.
  (void)&captures;
  ASSERT_EQ(outcome(annudf_event_wait(event)), "ok");
  EXPECT_EQ(download(arrays, own.handle()), want);
}

TEST_F(CApiDevice, WrongMemoryIsRefused) {
  Arrays arrays;
  upload(queries, 0, arrays);
  const uint64_t data = annudf_device_buffer_address(arrays.queries),
                 ids = annudf_device_buffer_address(arrays.ids),
                 distances = annudf_device_buffer_address(arrays.distances);
  const auto refused = [](const std::string &text, const char *what, const char *why) {
    EXPECT_EQ(text.find(std::string("usage: ") + what + " at address 0x"), 0u) << text;
    EXPECT_TRUE(contains(text, why)) << text;
  };
  const uint64_t host = reinterpret_cast<uint64_t>(queries.encoded.data());
  refused(enqueue(host, kQueries, ids, distances, 0), "queries",
          "it is no memory of a CUDA device");
  Found onHost = foundFor(queries, kK);
  refused(enqueue(data, kQueries, reinterpret_cast<uint64_t>(onHost.ids.data()), distances, 0),
          "ids", "it is no memory of a CUDA device");
  refused(enqueue(data, kQueries, ids, reinterpret_cast<uint64_t>(onHost.distances.data()), 0),
          "distances", "it is no memory of a CUDA device");
  const Buffer pinned(context, queries.encoded.size(), Buffer::Kind::Pinned);
  refused(enqueue(reinterpret_cast<uint64_t>(pinned.host()), kQueries, ids, distances, 0),
          "queries", "it is host memory; copy it to CUDA device 0 first");
  refused(enqueue(uint64_t(0x1000), kQueries, ids, distances, 0), "queries",
          "it is no memory of a CUDA device");
  refused(enqueue(data + 2, kQueries, ids, distances, 0), "queries", "not aligned to 4 bytes");
  refused(enqueue(data, kQueries, ids + 4, distances, 0), "ids", "not aligned to 8 bytes");

  // An allocation that ends too early: by itself, and where the array begins within it.
  const Buffer small(context, kQueries * kDims * 4 - 4);
  refused(enqueue(small.device(), kQueries, ids, distances, 0), "queries",
          "3200 bytes are needed, its allocation ends after 3196");
  const Buffer exact(context, kQueries * kK * 8);
  refused(enqueue(data, kQueries, exact.device() + 8, distances, 0), "ids",
          "3200 bytes are needed, its allocation ends after 3192");

  uint64_t freed = 0;
  {
    const Buffer gone(context, size_t(64) << 20);
    freed = gone.device();
  }
  refused(enqueue(freed, kQueries, ids, distances, 0), "queries", "freed already");

  // The context has not suffered.
  ASSERT_EQ(enqueue(arrays, 0), "ok");
  EXPECT_EQ(download(arrays, 0), expected(queries));
}

TEST_F(CApiDevice, MemoryOfAnotherDeviceIsRefused) {
  int count = 0;
  ANNUDF_CUDA(cuDeviceGetCount, &count);
  if (count < 2)
    GTEST_SKIP() << "one GPU only: memory and streams of another are NOT checked";
  const auto other = std::make_shared<Context>(1);
  const Buffer foreign(other, kQueries * kDims * 4);
  const Stream foreignStream(other);
  Arrays arrays;
  upload(queries, 0, arrays);
  EXPECT_TRUE(contains(enqueue(foreign.device(), kQueries, annudf_device_buffer_address(arrays.ids),
                               annudf_device_buffer_address(arrays.distances), 0),
                       "it is memory of CUDA device 1; the backend searches on device 0"));
  EXPECT_TRUE(contains(enqueue(arrays, foreignStream.handle()),
                       "it belongs to CUDA device 1, the backend searches on device 0"));
}

TEST_F(CApiDevice, APreparedSearchRefusesQueriesOfTheHost) {
  const annudf_vectors asked = vectorsOf(queries);
  Owner<annudf_ivf_flat_prepared, annudf_ivf_flat_prepared_destroy> prepared;
  EXPECT_EQ(outcome(annudf_ivf_flat_prepare(backend, index, artifact, captures, &asked, kK, kProbes,
                                            nullptr, &prepared, nullptr)),
            "usage: annudf_ivf_flat_prepare: queries is in host memory, the backend is " +
                std::string(annudf_backend_get(backend)->description) +
                "; give queries in memory of its device");
}

TEST_F(CApiDevice, ManagedMemoryIsTaken) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library)
    GTEST_SKIP() << "libcuda.so.1 is loaded by another name: managed memory is NOT checked";
  const auto allocate =
      reinterpret_cast<decltype(&::cuMemAllocManaged)>(dlsym(library, "cuMemAllocManaged"));
  ASSERT_NE(allocate, nullptr);
  ContextScope scope(*context);
  CUdeviceptr managed = 0;
  if (allocate(&managed, queries.encoded.size(), CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS)
    GTEST_SKIP() << "no managed memory on this device";
  std::memcpy(reinterpret_cast<void *>(managed), queries.encoded.data(), queries.encoded.size());
  Arrays arrays;
  upload(queries, 0, arrays);
  ASSERT_EQ(enqueue(managed, kQueries, annudf_device_buffer_address(arrays.ids),
                    annudf_device_buffer_address(arrays.distances), 0),
            "ok");
  EXPECT_EQ(download(arrays, 0), expected(queries));
  ANNUDF_CUDA(cuMemFree, managed);
}

/// As Torch's expandable segments: one array over two pieces of physical memory.
TEST_F(CApiDevice, MemoryMappedInPiecesIsTaken) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library)
    GTEST_SKIP() << "libcuda.so.1 is loaded by another name: mapped memory is NOT checked";
#define ANNUDF_LOAD(CALL)                                                                          \
  const auto CALL = reinterpret_cast<decltype(&::CALL)>(dlsym(library, #CALL));                    \
  ASSERT_NE(CALL, nullptr)
  ANNUDF_LOAD(cuMemGetAllocationGranularity);
  ANNUDF_LOAD(cuMemAddressReserve);
  ANNUDF_LOAD(cuMemAddressFree);
  ANNUDF_LOAD(cuMemCreate);
  ANNUDF_LOAD(cuMemMap);
  ANNUDF_LOAD(cuMemUnmap);
  ANNUDF_LOAD(cuMemSetAccess);
#undef ANNUDF_LOAD
  ContextScope scope(*context);
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t piece = 0;
  ASSERT_EQ(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_SUCCESS);
  CUdeviceptr start = 0;
  // A third piece stays without memory: what follows a reservation may be another's.
  ASSERT_EQ(cuMemAddressReserve(&start, 3 * piece, 0, 0, 0), CUDA_SUCCESS);
  for (size_t i = 0; i < 2; ++i) {
    CUmemGenericAllocationHandle handle = 0;
    ASSERT_EQ(cuMemCreate(&handle, piece, &properties, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(start + i * piece, piece, 0, handle, 0), CUDA_SUCCESS);
    (void)Driver::get().cuMemRelease(handle); // The mapping keeps it.
  }
  const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ASSERT_EQ(cuMemSetAccess(start, 2 * piece, &access, 1), CUDA_SUCCESS);
  const uint64_t across = start + piece - 1024;
  ANNUDF_CUDA(cuMemcpyHtoD, across, queries.encoded.data(), queries.encoded.size());
  Arrays arrays;
  upload(queries, 0, arrays);
  EXPECT_EQ(enqueue(across, kQueries, annudf_device_buffer_address(arrays.ids),
                    annudf_device_buffer_address(arrays.distances), 0),
            "ok");
  EXPECT_EQ(download(arrays, 0), expected(queries));
  // Beyond the last piece nothing is mapped.
  EXPECT_EQ(enqueue(start + 2 * piece - 1024, kQueries, annudf_device_buffer_address(arrays.ids),
                    annudf_device_buffer_address(arrays.distances), 0)
                .find("usage: queries at address 0x"),
            0u);
  EXPECT_EQ(cuMemUnmap(start, 2 * piece), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(start, 3 * piece), CUDA_SUCCESS);
}

TEST_F(CApiDevice, NonFiniteQueries) {
  auto some = queries;
  const float nan = NAN;
  std::memcpy(some.encoded.data() + 4 * (31 * kDims + 5), &nan, 4);
  // From host memory they are refused by name, and the workspace serves the next search.
  Found found = foundFor(some, kK);
  const annudf_vectors rows = vectorsOf(some);
  EXPECT_EQ(
      outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &rows, kK, kProbes,
                                     nullptr, found.ids.data(), found.distances.data(), nullptr)),
      "input: queries: row 31, dim 5 is nan; every coordinate must be finite unless index and "
      "metric say missing_values");
  const Found want = expected(queries);
  // On the device nobody looks at them: the row finds nothing, the others what they should.
  Arrays arrays;
  upload(some, 0, arrays);
  ASSERT_EQ(enqueue(arrays, 0), "ok");
  const Found got = download(arrays, 0);
  for (int64_t q = 0; q < kQueries; ++q)
    for (int64_t i = q * kK; i < (q + 1) * kK; ++i)
      ASSERT_EQ(got.ids[size_t(i)], q == 31 ? -1 : want.ids[size_t(i)]) << q;
}

TEST_F(CApiDevice, AStoppedSearchLeavesTheBackendUsable) {
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options;
  options.progress = [](void *, const char *, double) { return 1; };
  Found found = foundFor(queries, kK);
  const annudf_vectors rows = vectorsOf(queries);
  const auto search = [&] {
    return outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &rows, kK, kProbes,
                                          &options, found.ids.data(), found.distances.data(),
                                          nullptr));
  };
  EXPECT_EQ(search(), "interrupted: interrupted (upload)"); // The index's, which comes first.
  options.progress = [](void *, const char *stage, double) {
    return int(std::strcmp(stage, "search") == 0);
  };
  EXPECT_EQ(search(), "interrupted: interrupted (search)");
  const Found want = expected(queries);
  EXPECT_EQ(std::count(want.ids.begin(), want.ids.end(), -777), 0);
}

/// A search on a stream too, which is then waited for; and it finds what it finds without.
TEST_F(CApiDevice, TimesItsStagesIfAsked) {
  const Stream own(context);
  Arrays arrays;
  upload(queries, own.handle(), arrays);
  const annudf_vectors view = {
      sizeof view,
      reinterpret_cast<const void *>(annudf_device_buffer_address(arrays.queries)),
      arrays.rows,
      kDims,
      ANNUDF_ELEMENT_F32,
      {ANNUDF_MEMORY_CUDA, 0, own.handle()}};
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options, options.time_stages = 1;
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  const uint64_t ids = annudf_device_buffer_address(arrays.ids),
                 distances = annudf_device_buffer_address(arrays.distances);
  ASSERT_EQ(outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &view, kK, kProbes,
                                           &options, reinterpret_cast<int64_t *>(ids),
                                           reinterpret_cast<float *>(distances), &stats)),
            "ok");
  EXPECT_EQ(annudf_device_synchronize(backend, own.handle()), ANNUDF_OK);
  EXPECT_EQ(download(arrays, own.handle()).ids, expected(queries).ids);
  ASSERT_GE(stats.n_stages, 1);
  for (int i = 0; i < stats.n_stages; ++i)
    EXPECT_GT(stats.stages[i].ms, 0) << stats.stages[i].name;
  EXPECT_GT(stats.rows_per_query, 1);
  EXPECT_LT(stats.rows_per_query, 5000);
  EXPECT_GT(stats.workspace_bytes, 0u);
  EXPECT_GE(stats.evaluated_per_query, kK);
  EXPECT_LE(stats.evaluated_per_query, stats.rows_per_query);
}

/// On every kind of stream, with addresses that change, and after what it was made of is gone.
TEST_F(CApiDevice, PreparedSearches) {
  using OwnedPrepared = Owner<annudf_ivf_flat_prepared, annudf_ivf_flat_prepared_destroy>;
  const Stream own(context);
  const auto addressOf = [](const OwnedDeviceBuffer &buffer) {
    return reinterpret_cast<void *>(annudf_device_buffer_address(buffer));
  };
  const auto run = [&](annudf_ivf_flat_prepared *prepared, const Arrays &arrays) {
    return outcome(annudf_ivf_flat_prepared_run(
        prepared, addressOf(arrays.queries), static_cast<int64_t *>(addressOf(arrays.ids)),
        static_cast<float *>(addressOf(arrays.distances)), nullptr));
  };
  const auto prepare = [&](int64_t rows, uint64_t stream, annudf_ivf_flat_prepared **out) {
    const annudf_vectors shape = {
        sizeof shape, nullptr, rows, kDims, ANNUDF_ELEMENT_F32, {ANNUDF_MEMORY_CUDA, 0, stream}};
    return outcome(annudf_ivf_flat_prepare(backend, index, artifact, captures, &shape, kK, kProbes,
                                           nullptr, out, nullptr));
  };
  for (const uint64_t stream : {kLegacy, kPerThread, own.handle()})
    for (const int64_t rows : {1, 10, 50, 700}) { // pairs, and tiles or staged.
      const auto one = reference::randomVectors(ANNUDF_ELEMENT_F32, rows, kDims, 21);
      const auto other = reference::randomVectors(ANNUDF_ELEMENT_F32, rows, kDims, 22);
      OwnedPrepared prepared;
      ASSERT_EQ(prepare(rows, stream, &prepared), "ok");
      Arrays first, second;
      upload(one, stream, first), upload(other, stream, second);
      for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(run(prepared, first), "ok");
        ASSERT_EQ(run(prepared, second), "ok"); // Not waited for in between.
        EXPECT_EQ(download(first, stream), expected(one)) << rows;
        EXPECT_EQ(download(second, stream), expected(other)) << rows;
      }
    }
  Arrays arrays;
  upload(queries, own.handle(), arrays);
  OwnedPrepared prepared;
  ASSERT_EQ(prepare(kQueries, own.handle(), &prepared), "ok");
  const Found want = expected(queries);
  std::vector<float> host(size_t(kQueries * kDims));
  const std::string refused = outcome(annudf_ivf_flat_prepared_run(
      prepared, host.data(), static_cast<int64_t *>(addressOf(arrays.ids)),
      static_cast<float *>(addressOf(arrays.distances)), nullptr));
  EXPECT_EQ(refused.rfind("usage: queries at address 0x", 0), 0u) << refused;
  Arrays few;
  upload(reference::randomVectors(ANNUDF_ELEMENT_F32, 1, kDims, 23), own.handle(), few);
  EXPECT_NE(outcome(annudf_ivf_flat_prepared_run(prepared, addressOf(few.queries),
                                                 static_cast<int64_t *>(addressOf(arrays.ids)),
                                                 reinterpret_cast<float *>(uint64_t(3)), nullptr)),
            "ok");
  (void)&index, (void)&captures, (void)&artifact; // Destroyed.
  ASSERT_EQ(run(prepared, arrays), "ok");
  EXPECT_EQ(download(arrays, own.handle()), want);
}

TEST_F(CApiDevice, APreparedSearchRefusesAnIndexThatLostRowsThere) {
  const annudf_vectors rows = vectorsOf(base);
  OwnedIndex there;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(backend, &rows, 12, nullptr, &there, nullptr)), "ok");
  const annudf_vectors shape = {
      sizeof shape, nullptr, kQueries, kDims, ANNUDF_ELEMENT_F32, {ANNUDF_MEMORY_CUDA, 0, 0}};
  Owner<annudf_ivf_flat_prepared, annudf_ivf_flat_prepared_destroy> prepared;
  ASSERT_EQ(outcome(annudf_ivf_flat_prepare(backend, there, artifact, captures, &shape, kK, kProbes,
                                            nullptr, &prepared, nullptr)),
            "ok");
  Arrays arrays;
  upload(queries, 0, arrays);
  const auto run = [&] {
    return outcome(annudf_ivf_flat_prepared_run(
        prepared, reinterpret_cast<void *>(annudf_device_buffer_address(arrays.queries)),
        reinterpret_cast<int64_t *>(annudf_device_buffer_address(arrays.ids)),
        reinterpret_cast<float *>(annudf_device_buffer_address(arrays.distances)), nullptr));
  };
  const auto remove = [&](int64_t id) {
    int64_t removed = -1;
    EXPECT_EQ(outcome(annudf_ivf_flat_remove(backend, there, IdsOf({&id, 1}), nullptr, nullptr,
                                             &removed)),
              "ok");
    return removed;
  };
  EXPECT_EQ(remove(5000), 0);
  EXPECT_EQ(run(), "ok") << "no row went";
  EXPECT_EQ(remove(4999), 1);
  EXPECT_EQ(annudf_ivf_flat_device(there), 0);
  EXPECT_EQ(infoOf(there).rows, 4999);
  EXPECT_EQ(run(),
            "usage: annudf_ivf_flat_prepared_run: the index has changed since the search was "
            "prepared; prepare it again");
}

TEST_F(CApiDevice, APreparedSearchRefusesAnIndexThatWasExtended) {
  const annudf_vectors shape = {
      sizeof shape, nullptr, kQueries, kDims, ANNUDF_ELEMENT_F32, {ANNUDF_MEMORY_CUDA, 0, 0}};
  Owner<annudf_ivf_flat_prepared, annudf_ivf_flat_prepared_destroy> prepared;
  ASSERT_EQ(outcome(annudf_ivf_flat_prepare(backend, index, artifact, captures, &shape, kK, kProbes,
                                            nullptr, &prepared, nullptr)),
            "ok");
  const annudf_vectors rows = vectorsOf(queries);
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &rows, nullptr, nullptr)), "ok");
  Arrays arrays;
  upload(queries, 0, arrays);
  EXPECT_EQ(
      outcome(annudf_ivf_flat_prepared_run(
          prepared, reinterpret_cast<void *>(annudf_device_buffer_address(arrays.queries)),
          reinterpret_cast<int64_t *>(annudf_device_buffer_address(arrays.ids)),
          reinterpret_cast<float *>(annudf_device_buffer_address(arrays.distances)), nullptr)),
      "usage: annudf_ivf_flat_prepared_run: the index has changed since the search was "
      "prepared; prepare it again");
}

TEST_F(CApiDevice, PrecompileAndBufferErrors) {
  OwnedBackend fresh;
  ASSERT_EQ(annudf_backend_create(&kDevice, 0, &fresh), ANNUDF_OK);
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(outcome(annudf_ivf_flat_precompile(fresh, artifact, ANNUDF_ELEMENT_F32, 0, &stats)),
            "ok");
  EXPECT_GT(stats.link_ms, 0); // What this process has linked is loaded for this backend too.
  ASSERT_EQ(outcome(annudf_ivf_flat_precompile(fresh, artifact, ANNUDF_ELEMENT_F32, 0, &stats)),
            "ok");
  EXPECT_EQ(stats.links, 0);
  EXPECT_EQ(stats.link_ms, 0);
  OwnedDeviceBuffer buffer;
  const Stream own(context);
  for (uint64_t stream : {uint64_t(0), own.handle()}) {
    EXPECT_EQ(annudf_device_allocate(backend, uint64_t(1) << 50, stream, &buffer),
              ANNUDF_ENVIRONMENT);
    ASSERT_EQ(outcome(annudf_device_allocate(backend, 0, stream, &buffer)), "ok");
    EXPECT_NE(annudf_device_buffer_address(buffer), 0u);
  }
  EXPECT_EQ(outcome(annudf_device_copy(backend, 0, 1, 1, 0)),
            "usage: annudf_device_copy: destination is address 0");
}

/// 8 threads, each with a stream and weights of its own, find what one thread finds.
TEST_F(CApiDevice, ThreadsAndStreams) {
  constexpr int kThreads = 8, kRounds = 5;
  std::vector<Found> alone;
  for (int t = 0; t < kThreads; ++t) {
    OwnedCaptures bound;
    bindWeights(artifact, someWeights(kDims, t), &bound);
    alone.push_back(expected(queries, bound));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const Stream own(context);
      const uint64_t stream = t % 4 == 3 ? kPerThread : own.handle();
      for (int round = 0; round < kRounds; ++round) {
        OwnedCaptures bound;
        Arrays arrays;
        bindWeights(artifact, someWeights(kDims, t), &bound);
        upload(queries, stream, arrays);
        ASSERT_EQ(enqueue(arrays, stream, bound), "ok");
        EXPECT_EQ(download(arrays, stream), alone[size_t(t)]) << "thread " << t;
        EXPECT_EQ(expected(queries, bound), alone[size_t(t)]) << "thread " << t;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
