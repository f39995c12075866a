//===- MutantsTest.cpp - Damaged modules of the frontend form are refused -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Deletes, doubles and swaps lines and words of recorded and random modules. What the
// parser still reads must be refused with a diagnostic or become a module that verifies.
//
//===----------------------------------------------------------------------===//

#include "ImportText.h"
#include "Program.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <regex>
#include <sstream>

using namespace annudf::test;

namespace {

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string join(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

class FrontendMutants : public ::testing::Test {
protected:
  void read(const std::string &text) {
    Imported imported = importText(text);
    ++(imported.parsed ? parsed : refused);
    accepted += imported.accepted;
    if (!imported.imported)
      EXPECT_FALSE(imported.messages.empty()) << text;
    else
      EXPECT_TRUE(imported.isValid || !imported.messages.empty()) << text;
    // What the pass lets through is MLIR, whatever the ABI says about it.
    EXPECT_TRUE(!imported.imported || imported.isValid) << imported.messages << text;
  }

  /// Damages a text `count` times.
  void mutate(const std::string &text, int count) {
    const std::vector<std::string> lines = linesOf(text);
    for (int i = 0; i < count; ++i) {
      std::vector<std::string> mutant = lines;
      size_t a = random() % lines.size(), b = random() % lines.size();
      switch (random() % 6) {
      case 0:
        mutant.erase(mutant.begin() + a);
        break;
      case 1:
        std::swap(mutant[a], mutant[b]);
        break;
      case 2:
        mutant.insert(mutant.begin() + a, mutant[b]);
        break;
      case 3:
        swapWords(mutant[a], mutant[b], std::regex("%\\w+"));
        break;
      case 4:
        swapWords(mutant[a], mutant[b], std::regex("\\^\\w+"));
        break;
      default:
        swapWords(mutant[a], mutant[b], std::regex("-?\\b\\d+\\b|\\b[if]\\d+\\b|\\w+\\.\\w+"));
      }
      read(join(mutant));
    }
  }

  std::mt19937 random{20260401};
  int refused = 0, parsed = 0, accepted = 0;

private:
  /// Puts a word of `from` in the place of one of `to`.
  void swapWords(std::string &to, const std::string &from, const std::regex &word) {
    auto all = [&](const std::string &text) {
      return std::vector<std::smatch>(std::sregex_iterator(text.begin(), text.end(), word), {});
    };
    auto places = all(to), words = all(from);
    if (places.empty() || words.empty())
      return;
    const std::smatch &place = places[random() % places.size()];
    std::string with = words[random() % words.size()].str();
    to = to.substr(0, place.position()) + with + to.substr(place.position() + place.length());
  }
};

TEST_F(FrontendMutants, OfRecordedModules) {
  for (const auto &entry : std::filesystem::directory_iterator(ANNUDF_RECORDED)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream file(entry.path());
    mutate({std::istreambuf_iterator<char>(file), {}}, 60);
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(parsed, 100);
  EXPECT_GT(accepted, 20);
}

TEST_F(FrontendMutants, OfRandomPrograms) {
  for (uint32_t seed = 1000; seed < 1030; ++seed)
    mutate(Program(seed).text(), 60);
  EXPECT_GT(refused, 100);
  EXPECT_GT(parsed, 100);
  EXPECT_GT(accepted, 20);
}

TEST_F(FrontendMutants, Truncated) {
  std::string text = Program(7).text();
  for (size_t size = 0; size < text.size(); size += 7)
    read(text.substr(0, size));
  EXPECT_GT(refused, 100);
  // Nothing at all is a module, and so is what ends before the metric.
  EXPECT_LE(accepted, 1);
}

} // namespace
