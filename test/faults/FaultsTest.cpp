//===- FaultsTest.cpp - The C API where memory, threads and disks run out -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"

#include "Wrap.h"
#include "annudf/Compiler/Verify.h"
#include "annudf/Support/FileIO.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <cmath>
#include <numeric>
#include <vector>

using namespace annudf;
using namespace annudf::test;

namespace {

int64_t rowsOf(const annudf_ivf_flat_index *index) {
  annudf_ivf_flat_info info = {};
  info.size = sizeof info;
  EXPECT_EQ(annudf_ivf_flat_get(index, &info), ANNUDF_OK);
  return info.rows;
}

using OwnedIndex = Owner<annudf_ivf_flat_index, annudf_ivf_flat_destroy>;
using OwnedCaptures = Owner<annudf_captures, annudf_captures_destroy>;
using OwnedBackend = Owner<annudf_backend, annudf_backend_destroy>;

constexpr int64_t kDims = 6, kRows = 700, kK = 4, kQueries = 9;
constexpr int kThreads = 3;

/// What the C API would make of a function of the libraries below it.
template <typename Body> annudf_status statusOf(Body body) noexcept {
  return capi::guard("test", [&](const capi::Call &) { body(); });
}

/// Everything that calls need, made where nothing fails.
class Faults : public testing::Test {
protected:
  void SetUp() override {
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = std::sin(float(i) * 0.7f) * 9;
    for (int64_t i = 0; i < kDims; ++i)
      weights.push_back(1 + float(i));
    compileForHost(kMetric, &artifact);
    ASSERT_EQ(outcome(annudf_artifact_to_bytes(artifact, &bytes)), "ok");
    ASSERT_EQ(outcome(annudf_artifact_save(artifact, metricPath.c_str())), "ok");
    ASSERT_EQ(outcome(build(&index)), "ok");
    ASSERT_EQ(outcome(annudf_ivf_flat_save(index, indexPath.c_str(), nullptr, nullptr)), "ok");
    ASSERT_EQ(outcome(bind(&captures)), "ok");
    ASSERT_EQ(outcome(annudf_backend_create(nullptr, kThreads, &backend)), "ok");
  }

  annudf_vectors view(int64_t count) const {
    return {sizeof(annudf_vectors), rows.data(), count, kDims, ANNUDF_ELEMENT_F32, {}};
  }
  annudf_status build(annudf_ivf_flat_index **out) const {
    const annudf_vectors base = view(kRows);
    annudf_ivf_flat_build_options options = {};
    options.size = sizeof options, options.threads = kThreads, options.kmeans_n_iters = 2;
    return annudf_ivf_flat_build(nullptr, &base, 5, &options, out, nullptr);
  }
  annudf_status bind(annudf_captures **out) const {
    const annudf_extents extents = {sizeof extents, kDims, 0, 0};
    annudf_capture_value value = {};
    value.size = sizeof value, value.name = "w", value.dtype = "f32";
    value.shape = &kDims, value.rank = 1;
    value.data = weights.data(), value.bytes = weights.size() * sizeof(float);
    return annudf_captures_bind(artifact, &extents, &value, 1, nullptr, out);
  }
  annudf_status search(annudf_backend *with) {
    const annudf_vectors queries = view(kQueries);
    return annudf_ivf_flat_search(with, index, artifact, captures, &queries, kK, 3, nullptr,
                                  ids.data(), distances.data(), nullptr);
  }
  /// A call that makes one thing.
  template <typename Owned, typename Make> static Work making(Owned &made, Make make) {
    Work work;
    work.run = [&made, make] { return make(&made); };
    work.reset = [&made] { &made; };
    work.look = [&made](annudf_status status) {
      return (made != nullptr) == (status == ANNUDF_OK) ? "" : "status and output disagree";
    };
    return work;
  }
  /// The link of a search's code, for a backend that has none yet. Whatever became of it, the
  /// same backend links and searches afterwards.
  Work linking(OwnedBackend &made) {
    Work work;
    work.run = [this, &made] {
      return annudf_ivf_flat_precompile(made, artifact, ANNUDF_ELEMENT_U8, 0, nullptr);
    };
    work.look = [this, &made](annudf_status) {
      return search(made) == ANNUDF_OK ? "" : std::string(annudf_last_error());
    };
    work.reset = [&made] { (void)annudf_backend_create(nullptr, kThreads, &made); };
    work.reset();
    return work;
  }
  /// A call that replaces `path`, where "before" stood.
  template <typename Write> Work writing(const std::string &path, Write write) {
    EXPECT_EQ(write(path.c_str()), ANNUDF_OK) << annudf_last_error();
    const std::string whole = readFile(path, 1 << 30);
    const auto prepare = [path] { writePlainly(path, "before"); };
    Work work;
    work.run = [path, write] { return write(path.c_str()); };
    work.reset = prepare;
    work.look = [this, path, whole](annudf_status status) -> std::string {
      for (const auto &file : std::filesystem::directory_iterator(folder.path()))
        if (contains(file.path().filename(), ".tmp-"))
          return file.path().filename().string() + " is left";
      const std::string found = readFile(path, 1 << 30);
      return found == (status == ANNUDF_OK ? whole : "before") ? ""
                                                               : "the file is not as it should be";
    };
    prepare();
    return work;
  }

  TempDir folder;
  const std::string metricPath = folder / "metric.annudf", indexPath = folder / "index.ivf";
  std::vector<float> rows = std::vector<float>(kRows * kDims), weights;
  std::vector<int64_t> ids = std::vector<int64_t>(kQueries * kK);
  std::vector<float> distances = std::vector<float>(kQueries * kK);
  OwnedArtifact artifact;
  OwnedBuffer bytes;
  OwnedIndex index;
  OwnedCaptures captures;
  OwnedBackend backend;
};

TEST_F(Faults, MemoryOfArtifacts) {
  OwnedArtifact made;
  sweepMemory(making(made, [&](annudf_artifact **out) {
    return annudf_artifact_from_bytes(annudf_buffer_data(bytes), annudf_buffer_size(bytes), "test",
                                      out);
  }));
  sweepMemory(making(
      made, [&](annudf_artifact **out) { return annudf_artifact_load(metricPath.c_str(), out); }));
  Work damaged = making(made, [&](annudf_artifact **out) {
    return annudf_artifact_from_bytes(annudf_buffer_data(bytes), annudf_buffer_size(bytes) - 1,
                                      "test", out);
  });
  damaged.expected = ANNUDF_INPUT;
  sweepMemory(damaged);
}

TEST_F(Faults, MemoryOfTexts) {
  OwnedBuffer made;
  sweepMemory(
      making(made, [&](annudf_buffer **out) { return annudf_artifact_to_bytes(artifact, out); }));
  sweepMemory(
      making(made, [&](annudf_buffer **out) { return annudf_artifact_manifest(artifact, out); }));
  sweepMemory(making(
      made, [&](annudf_buffer **out) { return annudf_artifact_describe(artifact, "test", out); }));
  Work refused;
  int32_t element = -1;
  refused.run = [&] { return annudf_element_parse("a name that no element has", &element); };
  refused.reset = [] {};
  refused.expected = ANNUDF_USAGE;
  sweepMemory(refused);
}

TEST_F(Faults, MemoryOfCaptures) {
  OwnedCaptures made;
  Work work = making(made, [&](annudf_captures **out) { return bind(out); });
  // A vector's copy is linked once for this code and for the compiler's, which is built without
  // exceptions: where the linker takes the latter, a copy that fails loses what it began.
  work.mayLose = true;
  sweepMemory(work);
}

TEST_F(Faults, MemoryOfIndexes) {
  OwnedIndex made;
  sweepMemory(making(made, [&](annudf_ivf_flat_index **out) { return build(out); }));
  sweepMemory(making(made, [&](annudf_ivf_flat_index **out) {
    return annudf_ivf_flat_load(indexPath.c_str(), /*mmap=*/0, out);
  }));
  sweepMemory(writing(folder / "saved", [&](const char *path) {
    return annudf_ivf_flat_save(index, path, nullptr, nullptr);
  }));
}

TEST_F(Faults, MemoryOfExtend) {
  OwnedIndex grown;
  const auto load = [&] {
    ASSERT_EQ(outcome(annudf_ivf_flat_load(indexPath.c_str(), /*mmap=*/0, &grown)), "ok");
  };
  const std::string before = readFile(indexPath, 1 << 30);
  Work work;
  work.run = [&] {
    const annudf_vectors more = view(300);
    return annudf_ivf_flat_extend(nullptr, grown, &more, nullptr, nullptr);
  };
  work.reset = load;
  work.look = [&](annudf_status status) -> std::string {
    if (status == ANNUDF_OK)
      return rowsOf(grown) == kRows + 300 ? "" : "it has not grown";
    // As it was, to the byte.
    const std::string path = folder / "after";
    if (rowsOf(grown) != kRows ||
        annudf_ivf_flat_save(grown, path.c_str(), nullptr, nullptr) != ANNUDF_OK)
      return "it is not as before";
    return readFile(path, 1 << 30) == before ? "" : "it is not as before";
  };
  load();
  // The index that is extended is made outside, and what it holds is replaced: nothing to count.
  work.mayLose = true;
  sweepMemory(work);
}

TEST_F(Faults, MemoryOfRemove) {
  OwnedIndex shrunk;
  const auto load = [&] {
    ASSERT_EQ(outcome(annudf_ivf_flat_load(indexPath.c_str(), /*mmap=*/0, &shrunk)), "ok");
  };
  const std::string before = readFile(indexPath, 1 << 30);
  std::vector<int64_t> gone(kRows - 10);
  std::iota(gone.begin(), gone.end(), 5);
  Work work;
  work.run = [&] {
    const annudf_ids ids = {sizeof ids, gone.data(), int64_t(gone.size()), {}};
    return annudf_ivf_flat_remove(nullptr, shrunk, &ids, nullptr, nullptr, nullptr);
  };
  work.reset = load;
  work.look = [&](annudf_status status) -> std::string {
    if (status == ANNUDF_OK)
      return rowsOf(shrunk) == 10 ? "" : "rows are left";
    const std::string path = folder / "after";
    if (rowsOf(shrunk) != kRows ||
        annudf_ivf_flat_save(shrunk, path.c_str(), nullptr, nullptr) != ANNUDF_OK)
      return "it is not as before";
    return readFile(path, 1 << 30) == before ? "" : "it is not as before";
  };
  load();
  work.mayLose = true; // As in MemoryOfExtend.
  sweepMemory(work);
}

TEST_F(Faults, MemoryOfSearches) {
  Work work;
  ASSERT_EQ(outcome(search(backend)), "ok");
  const std::vector<int64_t> right = ids;
  work.run = [&] { return search(backend); };
  work.reset = [&] { ids.assign(ids.size(), -7); };
  work.look = [&](annudf_status status) {
    return status != ANNUDF_OK || ids == right ? "" : "it found something else";
  };
  sweepMemory(work);
}

TEST_F(Faults, MemoryOfBackends) {
  OwnedBackend made;
  sweepMemory(making(
      made, [&](annudf_backend **out) { return annudf_backend_create(nullptr, kThreads, out); }));
}

TEST_F(Faults, MemoryOfLinks) {
  OwnedBackend made;
  Work work = linking(made);
  work.mayLose = true;
  work.step = everyNth(29);
  sweepMemory(work);
}

TEST_F(Faults, MemoryOfTheCompiler) {
  OwnedArtifact made;
  OwnedBuffer code;
  OwnedDiagnostics diagnostics;
  annudf_compile_options options = {};
  options.size = sizeof options, options.skip_lto_ir = 1;
  Work work = making(made, [&](annudf_artifact **out) {
    return annudf_compile(kMetric.data(), kMetric.size(), "test.mlir", &options, out, nullptr);
  });
  work.mayLose = true;
  sweepMemory(work);
  for (const char *target : {"mlir", "nvvm-ir"}) {
    Work lower = making(code, [&, target](annudf_buffer **out) {
      return annudf_lower(kMetric.data(), kMetric.size(), "test.mlir", target, nullptr, out,
                          nullptr);
    });
    lower.mayLose = true;
    sweepMemory(lower);
  }
  std::string wrong = kMetric;
  wrong.replace(wrong.find("order(min)"), 10, "order(mad)");
  Work refused;
  refused.run = [&] {
    return annudf_compile(wrong.data(), wrong.size(), "test.mlir", &options, &made, &diagnostics);
  };
  refused.reset = [&] { &diagnostics; };
  refused.expected = ANNUDF_COMPILE;
  refused.mayLose = true;
  sweepMemory(refused);
}

TEST_F(Faults, Files) {
  OwnedIndex read;
  OwnedArtifact metric;
  const Work writes[] = {writing(folder / "saved.ivf",
                                 [&](const char *path) {
                                   return annudf_ivf_flat_save(index, path, nullptr, nullptr);
                                 }),
                         writing(folder / "saved.annudf", [&](const char *path) {
                           return annudf_artifact_save(artifact, path);
                         })};
  const char *names[] = {"saved.ivf: cannot", "saved.annudf: cannot"};
  for (int i = 0; i < 2; ++i) {
    // Opening the folder to sync it, and that, may fail: the file is there by then.
    EXPECT_GE(sweep("open", writes[i], names[i]), 1);
    EXPECT_GE(sweep("write", writes[i], names[i]), 1);
    EXPECT_EQ(sweep("fsync", writes[i], names[i]), 1);
    EXPECT_EQ(sweep("rename", writes[i], names[i]), 1);
  }
  const Work load = making(read, [&](annudf_ivf_flat_index **out) {
    return annudf_ivf_flat_load(indexPath.c_str(), /*mmap=*/0, out);
  });
  const Work loadMetric = making(
      metric, [&](annudf_artifact **out) { return annudf_artifact_load(metricPath.c_str(), out); });
  EXPECT_EQ(sweep("open", load, "index.ivf: cannot open: Too many open files"), 1);
  EXPECT_GE(sweep("read", load, "index.ivf: cannot read: Input/output error"), 4);
  EXPECT_EQ(sweep("open", loadMetric, "metric.annudf: cannot open: Too many open files"), 1);
  EXPECT_EQ(sweep("read", loadMetric, "metric.annudf: cannot read: Input/output error"), 1);
}

TEST_F(Faults, Links) {
  OwnedBackend made;
  const Work work = linking(made);
  sweep("mmap", work, "");
  sweep("pthread_create", work, "");
}

TEST_F(Faults, MemoryOfReaders) {
  const std::string array = folder / "array.npy", vectors = folder / "vectors.fbin",
                    numbers = folder / "ids.ibin";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' '), header += '\n';
  const std::string six(24, '\0'), shape("\2\0\0\0\3\0\0\0", 8);
  writePlainly(array, "\x93NUMPY\1" + std::string("\0\x76\0", 3) + header + six);
  writePlainly(vectors, shape + six);
  writePlainly(numbers, shape + six);
  Work work;
  work.reset = [] {};
  for (const std::string &path : {array, vectors}) {
    work.run = [path] { return statusOf([&] { (void)runtime::readMatrix(path); }); };
    sweepMemory(work);
    work.run = [path] { return statusOf([&] { (void)runtime::readCapture(path); }); };
    sweepMemory(work);
  }
  work.run = [numbers] {
    return statusOf([&] {
      int64_t count = 0;
      int32_t columns = 0;
      (void)runtime::readIds(numbers, count, columns);
    });
  };
  sweepMemory(work);
  const Artifact compiled = readArtifact(metricPath);
  work.run = [&] { return statusOf([&] { (void)verifyArtifact(compiled, "test"); }); };
  work.mayLose = true;
  sweepMemory(work);
}

} // namespace
