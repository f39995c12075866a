//===- DocTables.h - Tables of the documentation, to be held to -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_DOCTABLES_H
#define ANNUDF_TEST_RUNTIME_DOCTABLES_H

#include "gtest/gtest.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace annudf::test {

/// The rows of the tables below a heading of a page of docs/develop, up to the next heading of any
/// level; without those of the tables' heads. A cell is without blanks around it.
inline std::vector<std::vector<std::string>> tableBelow(const std::string &page,
                                                        const std::string &heading) {
  std::ifstream file(ANNUDF_DOCS_DIR "/develop/" + page);
  std::string line;
  while (std::getline(file, line) && line != heading)
    ;
  EXPECT_TRUE(file) << page << " has no line '" << heading << "'";
  std::vector<std::vector<std::string>> rows;
  while (std::getline(file, line) && !line.starts_with("#")) {
    if (line.starts_with("|--")) // The row before it is the head.
      rows.pop_back();
    else if (line.starts_with("|")) {
      std::istringstream cells(line.substr(1));
      rows.emplace_back();
      for (std::string cell; std::getline(cells, cell, '|');) {
        cell.erase(cell.find_last_not_of(' ') + 1);
        cell.erase(0, std::min(cell.find_first_not_of(' '), cell.size()));
        rows.back().push_back(cell);
      }
    }
  }
  return rows;
}

/// "10,000", "1 %".
inline double numberOf(std::string cell) {
  std::erase(cell, ',');
  const double number = std::stod(cell);
  return cell.ends_with('%') ? number / 100 : number;
}

/// The error of a search that names `family`, whose words a page has without how they begin.
inline std::string refusalOf(const std::string &family, const std::string &words) {
  return words.starts_with("no family")
             ? words
             : "family '" + family + "' cannot run this search: " + words;
}

/// What a page calls something, and what that changes.
template <class T> struct Named {
  const char *name;
  void (*change)(T &);
};

/// Makes the change that has the name.
template <class T, size_t N>
void change(const Named<T> (&all)[N], const std::string &name, T &what) {
  for (const Named<T> &one : all)
    if (name == one.name)
      return one.change(what);
  ADD_FAILURE() << "no test knows what '" << name << "' is";
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_DOCTABLES_H
