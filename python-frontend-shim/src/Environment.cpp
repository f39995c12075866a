//===- Environment.cpp - What this machine offers -------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <nanobind/stl/string.h>

namespace annudf::python {

namespace {

/// A text of the library, or why there is none.
nb::object foundOrWhyNot(annudf_cuda_compiler which, bool &found) {
  annudf_buffer *text = nullptr;
  found = withoutGil([&] { return annudf_describe_cuda_compiler(which, &text); }) == ANNUDF_OK;
  const BufferPtr owner(text);
  return found ? nb::object(toText(text)) : nb::object(nb::str(annudf_last_error()));
}

nb::dict describeEnvironment() {
  annudf_environment *raw = nullptr;
  const Outcome status = withoutGil([&] { return annudf_environment_describe(&raw); });
  const EnvironmentPtr environment(raw);
  check(status);
  const annudf_environment_info &info = *annudf_environment_get(raw);
  nb::list devices;
  for (size_t i = 0; i < info.device_count; ++i)
    devices.append(info.devices[i]);
  bool nvptxFound = false, nvvmFound = false, nvrtcFound = false;
  const nb::object nvptx = foundOrWhyNot(ANNUDF_CUDA_NVPTX, nvptxFound);
  const nb::object nvvm = foundOrWhyNot(ANNUDF_CUDA_LIBNVVM, nvvmFound);
  const nb::object nvrtc = foundOrWhyNot(ANNUDF_CUDA_NVRTC, nvrtcFound);
  nb::dict result;
  result["version"] = annudf_version();
  result["llvm"] = annudf_llvm_version();
  result["cpu_built"] = info.has_cpu != 0;
  result["cpu"] = info.cpu;
  result["cuda_built"] = info.has_cuda != 0;
  result["driver_found"] = info.driver_found != 0;
  result["driver"] = info.driver;
  result["devices"] = devices;
  result["linker_found"] = info.linker_found != 0;
  result["linker"] = info.linker;
  result["nvptx_found"] = nvptxFound;
  result["nvptx"] = nvptx;
  result["libnvvm_found"] = nvvmFound;
  result["libnvvm"] = nvvm;
  result["nvrtc_found"] = nvrtcFound;
  result["nvrtc"] = nvrtc;
  return result;
}

} // namespace

void addEnvironment(nb::module_ &module) {
  module.def("describe_environment", &describeEnvironment,
             nb::sig("def describe_environment() -> dict[str, str | bool | list[str]]"),
             "What this build and this machine offer. `X_found` false: `X` says why not.");
}

} // namespace annudf::python
