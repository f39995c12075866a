//===- MergeTest.cpp - The k best of partial results on a device ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU, or the stand-in of host/; without either every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "SharedBackend.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "runtime/MergeTesting.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

uint64_t addressOf(const void *memory) { return reinterpret_cast<uint64_t>(memory); }

template <class T> class OnDevice {
public:
  explicit OnDevice(const std::vector<T> &values)
      : memory_(sharedBackend()->allocate(values.size() * sizeof(T), nullptr)) {
    sharedBackend()->copy(memory_->address(), addressOf(values.data()), memory_->size(), nullptr);
    sharedBackend()->synchronize(nullptr);
  }
  T *data() const { return reinterpret_cast<T *>(memory_->address()); }
  std::vector<T> values() const {
    std::vector<T> values(memory_->size() / sizeof(T));
    sharedBackend()->copy(addressOf(values.data()), memory_->address(), memory_->size(), nullptr);
    sharedBackend()->synchronize(nullptr);
    return values;
  }

private:
  std::unique_ptr<DeviceMemory> memory_;
};

TEST(CudaMerge, EqualsASort) {
  REQUIRE_GPU("the merge there is");
  forMergeCases(onStandIn() ? 300 : 5000, [](const MergeCase &one) {
    const OnDevice<int64_t> ids(one.ids),
        found(std::vector<int64_t>(size_t(one.queries * one.k), -7));
    const OnDevice<float> distances(one.distances),
        at(std::vector<float>(size_t(one.queries * one.k), -7));
    sharedBackend()->mergeParts({ids.data(), distances.data(), one.parts, one.queries, one.found,
                                 one.order, one.translations},
                                one.k, found.data(), at.data(), nullptr);
    one.check(found.values(), at.values());
  });
}

TEST(CudaMerge, RefusesMemoryThatIsNotThere) {
  REQUIRE_GPU("the merge there is");
  const OnDevice<int64_t> ids({1, 2, 3, 4});
  const OnDevice<float> distances({1, 2, 3, 4});
  const auto refused = [&](const PartialResults &from, int64_t k, int64_t *to, float *at) {
    try {
      sharedBackend()->mergeParts(from, k, to, at, nullptr);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const PartialResults from = {ids.data(), distances.data(), 2, 1, 2, ANNUDF_ORDER_MIN, {}};
  std::vector<int64_t> hostIds(4);
  EXPECT_EQ(refused(from, 0, ids.data(), distances.data()),
            "k is 0, it must be an integer from 1 to 1073741824");
  EXPECT_NE(refused(from, 2, hostIds.data(), distances.data()).find("ids at address 0x"),
            std::string::npos);
  PartialResults elsewhere = from;
  elsewhere.ids = hostIds.data();
  EXPECT_NE(refused(elsewhere, 2, ids.data(), distances.data()).find("ids of parts at address 0x"),
            std::string::npos);
  PartialResults none = from; // Nothing is read or written.
  none.queries = 0;
  EXPECT_EQ(refused(none, 2, nullptr, nullptr), "");
}

} // namespace
