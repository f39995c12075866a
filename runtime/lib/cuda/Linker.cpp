//===- Linker.cpp - Metric + scan kernel = cubin --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linker.h"

#include "Embedded.h"

#include "annudf/ABI/Hooks.h"
#include "annudf/Support/CudaFiles.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nvJitLink.h>
#include <vector>

namespace annudf::runtime::cuda {

namespace {

struct Library {
  LinkerVersion version;
  decltype(&::nvJitLinkCreate) create = nullptr;
  decltype(&::nvJitLinkDestroy) destroy = nullptr;
  decltype(&::nvJitLinkAddData) addData = nullptr;
  decltype(&::nvJitLinkComplete) complete = nullptr;
  decltype(&::nvJitLinkGetLinkedCubinSize) cubinSize = nullptr;
  decltype(&::nvJitLinkGetLinkedCubin) cubin = nullptr;
  decltype(&::nvJitLinkGetErrorLogSize) logSize = nullptr;
  decltype(&::nvJitLinkGetErrorLog) log = nullptr;
};

Library open() {
  Library library;
  const auto refuse = [&](void *handle, const std::string &path) -> std::string {
    decltype(&::nvJitLinkVersion) version = nullptr;
    CudaSymbols load(handle);
    load(version, "nvJitLinkVersion");
    load(library.create, "nvJitLinkCreate");
    load(library.destroy, "nvJitLinkDestroy");
    load(library.addData, "nvJitLinkAddData");
    load(library.complete, "nvJitLinkComplete");
    load(library.cubinSize, "nvJitLinkGetLinkedCubinSize");
    load(library.cubin, "nvJitLinkGetLinkedCubin");
    load(library.logSize, "nvJitLinkGetErrorLogSize");
    load(library.log, "nvJitLinkGetErrorLog");
    if (const std::string lacks = load.complaint(); !lacks.empty())
      return lacks;
    if (version(&library.version.major, &library.version.minor) != NVJITLINK_SUCCESS)
      return "does not tell its version";
    library.version.path = path;
    return "";
  };
  const CudaLibrary found =
      openCudaLibrary(cudaLibraryCandidates("libnvJitLink.so.13", "ANNUDF_NVJITLINK"), refuse);
  if (!found.handle)
    throw Error(ErrorKind::Environment,
                "no nvJitLink found, which links metrics for the GPU; looked at " + found.searched +
                    "; install the CUDA toolkit 13 or `pip install nvidia-nvjitlink`, or set "
                    "ANNUDF_NVJITLINK");
  return library;
}

const Library &library() {
  static const Library loaded = open(); // A throw leaves it unset: the next call tries again.
  return loaded;
}

const char *describe(nvJitLinkResult result) {
  switch (result) {
  case NVJITLINK_ERROR_INVALID_INPUT:
  case NVJITLINK_ERROR_UNRECOGNIZED_INPUT:
  case NVJITLINK_ERROR_INCORRECT_INPUT_TYPE:
    return "not a valid fragment";
  case NVJITLINK_ERROR_PTX_COMPILE:
    return "the assembler failed";
  case NVJITLINK_ERROR_NVVM_COMPILE:
    return "the LTO-IR does not compile";
  case NVJITLINK_ERROR_ARCH_MISMATCH:
    return "made for another architecture";
  case NVJITLINK_ERROR_OUTDATED_LIBRARY:
    return "nvJitLink is too old for a fragment";
  case NVJITLINK_ERROR_UNRECOGNIZED_ARCH:
  case NVJITLINK_ERROR_UNSUPPORTED_ARCH:
    return "nvJitLink does not know this architecture";
  case NVJITLINK_ERROR_FINALIZE:
    return "a symbol is missing or defined twice";
  default:
    return "internal error";
  }
}

std::vector<std::string> linkOptions(int sm) {
  return {"-arch=sm_" + std::to_string(sm), "-lto", "-O3"};
}

/// One session of the linker.
class Link {
public:
  Link(int sm, const std::string &name) : name_(name), sm_(sm) {
    const std::vector<std::string> texts = linkOptions(sm);
    std::vector<const char *> options;
    for (const std::string &text : texts)
      options.push_back(text.c_str());
    const nvJitLinkResult result =
        library().create(&handle_, static_cast<uint32_t>(options.size()), options.data());
    try {
      require(result, "starting");
    } catch (...) { // No destructor runs for a constructor that throws.
      close();
      throw;
    }
  }
  ~Link() { close(); }
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  void add(nvJitLinkInputType type, std::string_view bytes, const char *what) {
    require(library().addData(handle_, type, bytes.data(), bytes.size(), what), what);
  }
  std::string finish() {
    require(library().complete(handle_), "linking");
    size_t size = 0;
    require(library().cubinSize(handle_, &size), "reading the result");
    std::string cubin(size, '\0');
    require(library().cubin(handle_, cubin.data()), "reading the result");
    return cubin;
  }

private:
  void close() {
    if (handle_)
      (void)library().destroy(&handle_);
  }
  void require(nvJitLinkResult result, const char *step) {
    if (result == NVJITLINK_SUCCESS)
      return;
    std::string log;
    size_t size = 0;
    if (handle_ && library().logSize(handle_, &size) == NVJITLINK_SUCCESS && size > 1) {
      log.resize(size);
      (void)library().log(handle_, log.data());
      log.resize(std::strlen(log.c_str()));
    }
    std::replace(log.begin(), log.end(), '\n', ' '); // Errors are one line.
    while (!log.empty() && log.back() == ' ')
      log.pop_back();
    const bool environment = result == NVJITLINK_ERROR_UNRECOGNIZED_ARCH ||
                             result == NVJITLINK_ERROR_UNSUPPORTED_ARCH ||
                             result == NVJITLINK_ERROR_OUTDATED_LIBRARY;
    throw Error(environment ? ErrorKind::Environment : ErrorKind::Input,
                "cannot link " + name_ + " for sm_" + std::to_string(sm_) + ": " + step + ": " +
                    describe(result) + " (nvJitLink error " + std::to_string(result) + ")" +
                    (log.empty() ? "" : ": " + log));
  }

  const std::string name_; ///< "metric 'l2'".
  const int sm_;
  nvJitLinkHandle handle_ = nullptr;
};

/// Fragments are trusted input, but not blindly: nvJitLink crashes on some garbage.
nvJitLinkInputType typeOf(const Payload &payload, const std::string &name) {
  const std::string_view bytes = payload.bytes;
  if (bytes.size() > 16 && bytes.substr(0, 4) == "\xED"
                                                 "CN\x7F")
    return NVJITLINK_INPUT_LTOIR;
  if (bytes.size() > 16 && bytes.substr(0, 4) == "\x50\xED\x55\xBA")
    return NVJITLINK_INPUT_FATBIN;
  std::string first;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 4); ++i) {
    char hex[4];
    std::snprintf(hex, sizeof(hex), " %02x", static_cast<unsigned char>(bytes[i]));
    first += hex;
  }
  throw Error(ErrorKind::Input,
              name + ": the " + payload.arch() + " payload (" + std::to_string(bytes.size()) +
                  " bytes) is not LTO-IR: it begins with" + (first.empty() ? " nothing" : first) +
                  ", LTO-IR with ed 43 4e 7f");
}

void checkNotNewer(const Producer &producer, const std::string &what) {
  const LinkerVersion &at = library().version;
  if (producer.release() <= std::pair(at.major, at.minor))
    return;
  throw Error(ErrorKind::Environment, what + " is LTO-IR by " + producer.text() +
                                          ", newer than nvJitLink " + std::to_string(at.major) +
                                          "." + std::to_string(at.minor) + " (" + at.path +
                                          "), which can only read its own version or older");
}

/// LTO-IR of plain arithmetic is 1.8 to 2.6 KB; from here on it holds a function of
/// libdevice (Minkowski's powf: 4.5 KB), whose copies a link would spend its time on.
constexpr size_t kLargeBody = 3328;

/// What is linked where a metric's list of hooks lacks one, "" where no kernel that is linked then
/// calls it. No default: a new hook that is optional has its stub here.
std::string_view stubFragment(ScanHook hook, const Manifest &manifest) {
  switch (hook) {
  case ScanHook::INIT:
  case ScanHook::UPDATE:
  case ScanHook::CONTRACT:
    break;
  case ScanHook::FINALIZE:
    return finalizeFragment(manifest.accumulator);
  case ScanHook::COMBINE:
    return ""; // annudf_scan_parts alone does.
  }
  throw Error(ErrorKind::Input, "metric '" + manifest.name + "' lacks hook " +
                                    symbolOf(hook, manifest.hookWidths()) +
                                    ", which every metric has");
}

} // namespace

KernelKey linkKey(const MetricView &metric, ScanElements elements, int sm) {
  const Payload *payload = metric.artifact.findLtoIr(sm);
  KernelKey key = metricKey(metric, payload ? *payload : Payload{}, elements);
  const LinkerVersion version = linkerVersion();
  key.scan = fragmentsDigest();
  key.linker = "nvJitLink";
  key.linkerVersion = std::to_string(version.major) + "." + std::to_string(version.minor);
  key.options = linkOptions(sm);
  key.arch = "sm_" + std::to_string(sm);
  return key;
}

LinkerVersion linkerVersion() { return library().version; }

std::string linkScanKernel(const Artifact &artifact, ScanElements elements, int sm,
                           double *linkMs) {
  const Manifest &manifest = artifact.manifest;
  const std::string name = std::string(manifest.noun()) + " '" + manifest.name + "'";
  const Payload *payload = artifact.findLtoIr(sm);
  if (!payload) {
    std::string present;
    for (const Payload &candidate : artifact.payloads)
      if (candidate.kind == PayloadKind::LtoIr)
        present += (present.empty() ? "" : ", ") + candidate.arch();
    throw Error(ErrorKind::Input, name + " has no LTO-IR for sm_" + std::to_string(sm) +
                                      "; it has " + (present.empty() ? "none" : present) +
                                      ": compile it with --arch=sm_" + std::to_string(sm) +
                                      " or older");
  }
  for (annudf_element element : {elements.rows, elements.queries})
    if (!manifest.accepts(element))
      throw Error(ErrorKind::Input, name + " does not take " + toString(element) + " vectors");
  const nvJitLinkInputType type = typeOf(*payload, name);
  checkNotNewer(payload->producer, name + ", payload " + payload->arch() + ",");
  checkNotNewer({"nvcc", ANNUDF_SCAN_PRODUCER}, "annudf's scan kernel");

  const bool compact = payload->bytes.size() > kLargeBody;
  const auto start = std::chrono::steady_clock::now();
  Link link(sm, name);
  link.add(NVJITLINK_INPUT_FATBIN, scanFragment(manifest.hookWidths(), compact), "scan kernel");
  link.add(type, payload->bytes, manifest.noun());
  for (const Payload &linked : artifact.payloads) // What it calls, by names of somebody else.
    if (linked.kind == PayloadKind::LinkedLtoIr)
      link.add(typeOf(linked, name), linked.bytes, "linked code");
  if (manifest.has(ANNUDF_HOOK_COMBINE))
    link.add(NVJITLINK_INPUT_FATBIN, partsFragment(manifest.hookWidths()), "scan kernel of parts");
  if (manifest.isFilter())
    link.add(NVJITLINK_INPUT_FATBIN, filterFragment(), "the filter's place in a scan");
  else
    for (ScanHook hook : kScanHooks)
      if (!isDefinedBy(hook, manifest.hooks))
        if (const std::string_view stub = stubFragment(hook, manifest); !stub.empty())
          link.add(NVJITLINK_INPUT_FATBIN, stub, "a hook's stub");
  link.add(NVJITLINK_INPUT_FATBIN, rowElementFragment(elements.rows), "element of the rows");
  link.add(NVJITLINK_INPUT_FATBIN, queryElementFragment(elements.queries),
           "element of the queries");
  link.add(NVJITLINK_INPUT_FATBIN, computeFragment(manifest.compute), "compute type");
  std::string cubin = link.finish();
  if (linkMs)
    *linkMs =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return cubin;
}

} // namespace annudf::runtime::cuda
