//===- AttachmentsTest.cpp - What backends keep of an index ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/ivf_flat/Index.h"

#include "Support/TestFiles.h"
#include "cuda/resident/DeviceCopies.h"

#include <atomic>
#include <thread>

namespace annudf::runtime {
namespace {

/// Counts those alive.
struct Fake : IndexAttachment {
  static inline std::atomic<int> alive{0};
  explicit Fake(int64_t rows) : rows(rows) { ++alive; }
  ~Fake() override { --alive; }
  const int64_t rows;
};

class Attachments : public testing::Test {
protected:
  std::vector<float> rows = {0, 1, 2, 3, 4, 5, 6, 7};
  Index build() { return Index::build({.nLists = 2}, {rows.data(), 4, 2, ANNUDF_ELEMENT_F32}); }
  std::shared_ptr<Fake> attach(const Index &index, const char *key = "fake 0") {
    return index.attachments().get<Fake>(
        key, [&] { return std::make_shared<Fake>(index.size()); }, made);
  }
  bool made = false;
};

TEST_F(Attachments, AreMadeOnceAndGoWithTheIndex) {
  {
    const Index index = build();
    const Fake *first = attach(index).get();
    EXPECT_TRUE(made);
    EXPECT_EQ(attach(index).get(), first);
    EXPECT_FALSE(made);
    EXPECT_NE(attach(index, "fake 1").get(), first);
    EXPECT_EQ(Fake::alive, 2);
    index.attachments().drop("fake 1");
    EXPECT_EQ(Fake::alive, 1);
  }
  EXPECT_EQ(Fake::alive, 0);
}

TEST_F(Attachments, GoWhenTheIndexIsExtendedButNotUnderASearch) {
  Index index = build();
  auto searching = attach(index);
  (void)attach(index, "fake 1");
  index.extend({rows.data(), 4, 2, ANNUDF_ELEMENT_F32});
  EXPECT_EQ(Fake::alive, 1); // The one that the search holds.
  const auto fresh = attach(index);
  EXPECT_TRUE(made);
  EXPECT_NE(fresh, searching);
  EXPECT_EQ(fresh->rows, 8);
  EXPECT_EQ(searching->rows, 4);
  searching.reset();
  EXPECT_EQ(Fake::alive, 1);
}

TEST_F(Attachments, StayWhenAnExtendFails) {
  Index index = build();
  const auto before = attach(index);
  const int64_t bad[] = {1, -1, 2, 3};
  EXPECT_THROW(index.extend({rows.data(), 4, 2, ANNUDF_ELEMENT_F32}, {bad}), Error);
  EXPECT_THROW(index.extend({rows.data(), 4, 2, ANNUDF_ELEMENT_F32}, {},
                            [](const char *, double) { return false; }),
               Error);
  EXPECT_EQ(attach(index), before);
  // A copy is the same state; changed, it is another.
  Index copy = index;
  EXPECT_EQ(attach(copy), before);
  copy.extend({rows.data(), 4, 2, ANNUDF_ELEMENT_F32});
  EXPECT_NE(attach(copy), before);
  EXPECT_EQ(attach(index), before);
}

TEST_F(Attachments, AreMadeByOneOfManyThreads) {
  const Index index = build();
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      bool mine = false;
      (void)index.attachments().get<Fake>(
          "fake 0",
          [&] {
            ++calls;
            return std::make_shared<Fake>(1);
          },
          mine);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(calls, 1);
}

TEST_F(Attachments, CopiesOfOtherIndexesGoWhereMemoryIsShort) {
  cuda::DeviceCopies copies;
  const Index first = build(), second = build(), third = build();
  int room = 2;
  auto get = [&](const Index &index) {
    return copies.get(
        index, 0,
        [&] {
          if (Fake::alive >= room)
            throw Error(ErrorKind::Environment, "no memory");
          return std::make_shared<Fake>(index.size());
        },
        made);
  };
  (void)get(first);
  auto searching = get(second);
  EXPECT_EQ(Fake::alive, 2);
  auto also = get(third); // The first makes room; the second is in use.
  EXPECT_EQ(Fake::alive, 2);
  EXPECT_THROW(get(first), Error) << "both are in use";
  room = 3;
  (void)get(first);
  EXPECT_TRUE(made);
}

/// A copy and what products take of its rows; what others keep of the index stays.
TEST_F(Attachments, WhatIsMadeOfACopyGoesWithItWhereMemoryIsShort) {
  using cuda::DeviceCopies;
  DeviceCopies copies;
  const Index first = build(), second = build();
  constexpr int kDevice = 3;
  const auto isKept = [&](const std::string &key) {
    (void)attach(first, key.c_str());
    return !made;
  };
  (void)copies.get(first, kDevice, [&] { return std::make_shared<Fake>(first.size()); }, made);
  for (const std::string &key :
       {DeviceCopies::halfKeyOf(kDevice), DeviceCopies::squaresKeyOf(kDevice),
        DeviceCopies::keyOf(4), DeviceCopies::halfKeyOf(4), DeviceCopies::squaresKeyOf(4)})
    (void)attach(first, key.c_str());
  EXPECT_EQ(Fake::alive, 6);
  int tries = 0;
  const auto copy = copies.get(
      second, kDevice,
      [&] {
        if (++tries == 1)
          throw Error(ErrorKind::Environment, "no memory");
        EXPECT_EQ(Fake::alive, 3) << "when it is tried again there is room";
        return std::make_shared<Fake>(second.size());
      },
      made);
  EXPECT_EQ(tries, 2);
  EXPECT_FALSE(isKept(DeviceCopies::keyOf(kDevice)));
  EXPECT_FALSE(isKept(DeviceCopies::halfKeyOf(kDevice)));
  EXPECT_FALSE(isKept(DeviceCopies::squaresKeyOf(kDevice)));
  EXPECT_TRUE(isKept(DeviceCopies::keyOf(4)));
  EXPECT_TRUE(isKept(DeviceCopies::halfKeyOf(4)));
  EXPECT_TRUE(isKept(DeviceCopies::squaresKeyOf(4)));
}

TEST_F(Attachments, AnInterruptedCopyIsNotTriedAgain) {
  cuda::DeviceCopies copies;
  const Index first = build(), second = build();
  const auto make = [&] { return std::make_shared<Fake>(first.size()); };
  (void)copies.get(first, 0, make, made);
  int tries = 0;
  const auto stopped = [&]() -> std::shared_ptr<Fake> {
    ++tries;
    throw Error(ErrorKind::Interrupted, "interrupted (upload)");
  };
  EXPECT_THROW((void)copies.get(second, 0, stopped, made), Error);
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(Fake::alive, 1) << "it asked for no room";
  (void)copies.get(second, 0, make, made);
  EXPECT_TRUE(made);
}

} // namespace
} // namespace annudf::runtime
