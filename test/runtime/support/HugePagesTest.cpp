//===- HugePagesTest.cpp - Blocks of shared chunks -------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/HugePages.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <new>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace annudf::runtime;

namespace {

/// A block, filled with bytes of its own.
struct Block {
  char *at;
  size_t bytes;
  char mark;
  Block(size_t bytes, char mark)
      : at(static_cast<char *>(takeHuge(bytes))), bytes(bytes), mark(mark) {
    std::memset(at, mark, bytes);
  }
  bool isWhole() const {
    for (size_t i = 0; i < bytes; ++i)
      if (at[i] != mark)
        return false;
    return true;
  }
  void give() { giveHuge(at, bytes); }
};

/// Takes and gives blocks of many sizes, most of them small.
void takeAndGive(unsigned seed, int steps) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  for (int step = 0; step < steps; ++step) {
    if (blocks.size() < 40 && random() % 5 < 3) {
      const size_t bytes = 1 + random() % (size_t(1) << (8 + random() % 15));
      blocks.emplace_back(bytes, char(random()));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(blocks.back().at) % kHugeAlignment, 0u);
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      ASSERT_TRUE(blocks.back().isWhole()) << "step " << step;
      blocks.back().give();
      blocks.pop_back();
    }
  }
  for (Block &block : blocks) {
    ASSERT_TRUE(block.isWhole());
    block.give();
  }
}

TEST(HugePages, BlocksKeepTheirBytesAndGoBack) {
  const size_t before = hugeBytesHeld();
  takeAndGive(1, 4000);
  EXPECT_EQ(hugeBytesHeld(), before) << "an empty chunk goes back to the system";
}

TEST(HugePages, ThreadsShareChunks) {
  const size_t before = hugeBytesHeld();
  constexpr unsigned kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([i] { takeAndGive(10 + i, 800); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(hugeBytesHeld(), before);
}

TEST(HugePages, ABlockMayBeLargerThanAChunk) {
  const size_t before = hugeBytesHeld(), bytes = (size_t(70) << 20) + 1;
  char *const at = static_cast<char *>(takeHuge(bytes));
  at[0] = at[bytes - 1] = 1;
  giveHuge(at, bytes);
  EXPECT_EQ(hugeBytesHeld(), before);
}

/// Small indexes that come and go do not wait for the system to clear a page.
TEST(HugePages, TheLastChunkStaysForTheNextBlock) {
  if (hugeBytesHeld() != 0)
    GTEST_SKIP() << "other blocks keep their chunk";
  constexpr size_t kBytes = size_t(64) << 10;
  constexpr int kTimes = 64;
  void *const first = takeHuge(kBytes);
  const bool isOurs = hugeBytesHeld() != 0;
  giveHuge(first, kBytes);
  if (!isOurs)
    GTEST_SKIP() << "blocks are a sanitizer's, which keeps none";
  long before = 0;
  for (int i = 0; i < kTimes; ++i) {
    rusage usage = {};
    ASSERT_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
    if (i == 1) // The first maps the chunk.
      before = usage.ru_minflt;
    if (i == kTimes - 1)
      EXPECT_LT(usage.ru_minflt - before, kTimes / 2) << "each block brought a page of its own";
    void *const block = takeHuge(kBytes);
    std::memset(block, i, kBytes);
    giveHuge(block, kBytes);
  }
  EXPECT_EQ(hugeBytesHeld(), 0U);
}

/// What is given is used again: a list that grows does not take memory for ever.
TEST(HugePages, RangesJoin) {
  const size_t before = hugeBytesHeld(), bytes = size_t(1) << 20;
  constexpr int kBlocks = 31;
  std::vector<Block> blocks;
  blocks.reserve(kBlocks);
  for (int i = 0; i < kBlocks; ++i)
    blocks.emplace_back(bytes, char(i));
  const size_t held = hugeBytesHeld();
  for (int i : {3, 5, 4, 9, 8, 7}) { // Each neighbour is there before, after, and on both sides.
    blocks[size_t(i)].give();
    blocks[size_t(i)].bytes = 0;
  }
  Block one(3 * bytes, 'a'), other(3 * bytes, 'b');
  EXPECT_EQ(hugeBytesHeld(), held) << "two ranges of three blocks each were free";
  for (Block &block : blocks)
    if (block.bytes != 0) {
      EXPECT_TRUE(block.isWhole());
      block.give();
    }
  EXPECT_TRUE(one.isWhole() && other.isWhole());
  one.give(), other.give();
  EXPECT_EQ(hugeBytesHeld(), before);
}

#ifndef __SANITIZE_THREAD__ // Which does not follow a fork with threads.
/// A child has the lock as it was, and no thread that would let it go.
TEST(HugePages, AProcessForkedMeanwhileHasMemory) {
  std::atomic<bool> isOver = false;
  std::thread busy([&] {
    while (!isOver)
      giveHuge(takeHuge(size_t(1) << 16), size_t(1) << 16);
  });
  for (int i = 0; i < 200; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      giveHuge(takeHuge(size_t(1) << 16), size_t(1) << 16);
      ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "fork " << i;
    if (status != 0)
      break;
  }
  isOver = true;
  busy.join();
}
#endif

TEST(HugePages, ListsBeginAtLines) {
  std::vector<float> rows(3000 * 16);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = float(i * 7919 % 1013);
  IndexParams params;
  params.nLists = 8;
  const Index index = Index::build(params, {rows.data(), 3000, 16, ANNUDF_ELEMENT_F32});
  for (uint32_t list = 0; list < index.nLists(); ++list)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(index.list(list).words.data()) % kHugeAlignment, 0u);
}

TEST(HugePages, TooMuchIsNoMemory) {
  Block one(size_t(1) << 20, 'a');
  const bool isOurs = hugeBytesHeld() != 0;
  one.give();
  if (!isOurs)
    GTEST_SKIP() << "blocks are a sanitizer's, which ends the process where there is no memory";
  EXPECT_THROW(takeHuge(size_t(1) << 60), std::bad_alloc);
  EXPECT_THROW(HugeAllocator<uint32_t>().allocate(size_t(1) << 62), std::bad_array_new_length);
  std::vector<uint32_t, HugeAllocator<uint32_t>> words(100000, 7), copy(words);
  EXPECT_EQ(words, copy);
  copy.shrink_to_fit();
  EXPECT_EQ(copy.back(), 7u);
}

} // namespace
