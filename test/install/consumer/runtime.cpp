//===----------------------------------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <annudf/runtime/ivf_flat/Index.h>

#include <cstdio>

int main(int, char **argv) {
  using namespace annudf::runtime;
  const float base[] = {0, 0, 1, 1, 9, 9, 10, 10};
  IndexParams params;
  params.nLists = 2;
  const Index built = Index::build(params, {base, 4, 2, ANNUDF_ELEMENT_F32});
  const std::string path = std::string(argv[0]) + ".ivf";
  built.save(path);
  const Index index = Index::load(path);
  std::printf("%lld rows of %d dims\n", static_cast<long long>(index.size()), index.dims());
}
