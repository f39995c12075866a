//===- Remove.cpp - annudf remove -----------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include <cstdio>
#include <cstring>

using namespace annudf;
using namespace annudf::tool;

namespace {
struct RemoveArguments {
  std::string index, output;
  std::vector<std::string> ids;
  bool quiet = false;
};
} // namespace

template <typename T>
static void append(const runtime::NumericArray &from, std::vector<int64_t> &to) {
  for (size_t at = 0; at < from.storage.size(); at += sizeof(T)) {
    T id;
    std::memcpy(&id, from.storage.data() + at, sizeof id);
    if (std::cmp_less(id, 0) || std::cmp_greater(id, INT64_MAX))
      throw Error(ErrorKind::Input, from.origin + ": id " + std::to_string(id) + " at " +
                                        std::to_string(at / sizeof(T)) +
                                        "; ids are between 0 and " + std::to_string(INT64_MAX));
    to.push_back(static_cast<int64_t>(id));
  }
}

static void append(const std::string &given, std::vector<int64_t> &to) {
  const runtime::NumericArray array = runtime::readCapture(given);
  if (array.shape.size() > 1)
    throw Error(ErrorKind::Input, array.origin + ": " + "it has " +
                                      std::to_string(array.shape.size()) +
                                      " dimensions; ids have one");
  static const std::map<std::string,
                        void (*)(const runtime::NumericArray &, std::vector<int64_t> &)>
      kinds = {{"i8", append<int8_t>},    {"i16", append<int16_t>}, {"i32", append<int32_t>},
               {"i64", append<int64_t>},  {"u8", append<uint8_t>},  {"u16", append<uint16_t>},
               {"u32", append<uint32_t>}, {"u64", append<uint64_t>}};
  const auto kind = kinds.find(array.dtype);
  if (kind == kinds.end())
    throw Error(ErrorKind::Input,
                array.origin + ": its type is " + array.dtype + "; ids are integers");
  kind->second(array, to);
}

static void runRemove(const RemoveArguments &arguments) {
  InterruptGuard guard;
  checkOutput(guard, arguments.output, arguments.ids); // --index may be replaced.
  const auto start = std::chrono::steady_clock::now();
  std::vector<int64_t> ids;
  for (const std::string &given : arguments.ids)
    append(given, ids);
  runtime::Index index = runtime::Index::load(arguments.index);
  const runtime::Progress progress = progressBar(arguments.quiet);
  const int64_t removed = index.remove(ids, progress);
  const std::string &output = arguments.output.empty() ? arguments.index : arguments.output;
  index.save(output, progress);
  if (arguments.quiet)
    return;
  print(stdout, output);
  std::printf(": %lld rows removed, %lld left, %.2f s\n", static_cast<long long>(removed),
              static_cast<long long>(index.size()), msSince(start) / 1e3);
}

void tool::addRemoveCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("remove", "Remove rows from an index");
  auto arguments = std::make_shared<RemoveArguments>();
  command->add_option("--index", arguments->index, "Index to remove rows from")->required();
  command
      ->add_option("--ids", arguments->ids,
                   "Ids of the rows: a 1-D .npy of integers, or a number; may be given several "
                   "times. An id that no row has is ignored")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("-o,--output", arguments->output,
                      "Index to write (default: replaces --index)");
  command->add_flag("-q,--quiet", arguments->quiet, "Print errors only");
  command->callback([arguments] { runRemove(*arguments); });
}
