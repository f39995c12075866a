//===- Linker.cpp - Metric + scan kernel = cubin --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linker.h"

#include "Embedded.h"
#include "Template.h"

#include "annudf/ABI/Hooks.h"
#include "annudf/Support/CudaFiles.h"
#include "annudf/Support/FieldDigest.h"
#include "annudf/runtime/support/Clock.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <link.h>
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
  decltype(&::nvJitLinkGetLinkedPtxSize) ptxSize = nullptr;
  decltype(&::nvJitLinkGetLinkedPtx) ptx = nullptr;
  decltype(&::nvJitLinkGetErrorLogSize) logSize = nullptr;
  decltype(&::nvJitLinkGetErrorLog) log = nullptr;
};

/// The GNU build id among the notes of a loaded file, in hexadecimal; "" if it has none.
std::string buildIdIn(const dl_phdr_info &info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE)
      continue;
    const char *at = reinterpret_cast<const char *>(info.dlpi_addr + header.p_vaddr);
    const auto padded = [](size_t size) { return (size + 3) / 4 * 4; };
    for (size_t left = header.p_memsz; left >= sizeof(ElfW(Nhdr));) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const size_t size = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
      if (size > left)
        break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          std::memcmp(at + sizeof note, "GNU", 4) == 0) {
        std::string text;
        const char *id = at + sizeof note + padded(note.n_namesz);
        for (size_t b = 0; b < note.n_descsz; ++b) {
          char hex[3];
          std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(id[b]));
          text += hex;
        }
        return text;
      }
      at += size, left -= size;
    }
  }
  return "";
}

/// The build id of the loaded file that holds `address`.
std::string buildIdOf(const void *address) {
  struct Search {
    uintptr_t address;
    std::string found;
  } search = {reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &search = *static_cast<Search *>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) &header = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          if (header.p_type != PT_LOAD || search.address < begin ||
              search.address >= begin + header.p_memsz)
            continue;
          search.found = buildIdIn(*info);
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

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
    load(library.ptxSize, "nvJitLinkGetLinkedPtxSize");
    load(library.ptx, "nvJitLinkGetLinkedPtx");
    load(library.logSize, "nvJitLinkGetErrorLogSize");
    load(library.log, "nvJitLinkGetErrorLog");
    if (const std::string lacks = load.complaint(); !lacks.empty())
      return lacks;
    if (version(&library.version.major, &library.version.minor) != NVJITLINK_SUCCESS)
      return "does not tell its version";
    library.version.path = path;
    library.version.build = buildIdOf(reinterpret_cast<const void *>(library.create));
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

/// Our compiler has decided what of a metric is fused (FuseProducts.cpp), and the linker, which
/// sees every kernel by itself, would decide for each. Of CUDA C++ nobody else does.
void appendFusion(std::vector<std::string> &options, const Artifact &artifact,
                  const ScanTarget &target) {
  if (isFusedAhead(artifact, target.sm))
    options.push_back("-fma=0");
}

/// From a file with several kernels, one a family, only the search's is optimised and compiled;
/// the others would take as long each. An option a kernel: where PTX or machine code is linked too,
/// nvJitLink 13.0 takes a list for one name, which no kernel has, and drops them all.
std::vector<std::string> linkOptions(const Artifact &artifact, const ScanTarget &target) {
  std::vector<std::string> options = {"-arch=sm_" + std::to_string(target.sm), "-lto", "-O3",
                                      std::string("-kernels-used=") + target.entry.kernel,
                                      "-kernels-used=annudf_read_contract"};
  appendFusion(options, artifact, target);
  return options;
}

/// Options of the links that replace it where there is a template: hooks to PTX, and PTX to machine
/// code.
std::vector<std::string> hookTextOptions(const Artifact &artifact, const ScanTarget &target) {
  std::vector<std::string> options = {"-arch=sm_" + std::to_string(target.sm), "-lto", "-O3",
                                      "-ptx"};
  appendFusion(options, artifact, target);
  return options;
}
std::vector<std::string> assemblerOptions(const ScanTarget &target) {
  return {"-arch=sm_" + std::to_string(target.sm), "-O3"};
}

/// One session of the linker.
class Link {
public:
  Link(const std::vector<std::string> &texts, const ScanTarget &target, const std::string &name)
      : name_(name), sm_(target.sm) {
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
  std::string finish() { return finish(library().cubinSize, library().cubin); }
  /// With the option -ptx.
  std::string finishPtx() {
    std::string ptx = finish(library().ptxSize, library().ptx);
    ptx.resize(std::strlen(ptx.c_str()));
    return ptx;
  }

private:
  template <class Size, class Get> std::string finish(Size sizeOf, Get get) {
    require(library().complete(handle_), "linking");
    size_t size = 0;
    require(sizeOf(handle_, &size), "reading the result");
    std::string result(size, '\0');
    require(get(handle_, result.data()), "reading the result");
    return result;
  }
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
nvJitLinkInputType typeOfLtoIr(const Payload &payload, const std::string &name) {
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

/// Code of any kind, linked code too, which was checked when the artifact was made.
nvJitLinkInputType typeOf(const Payload &payload, const std::string &name) {
  const std::string_view bytes = payload.bytes;
  const auto refuse = [&](const char *what) {
    throw Error(ErrorKind::Input, name + ": the " + toString(payload.kind) + " payload for " +
                                      payload.arch() + " (" + std::to_string(bytes.size()) +
                                      " bytes) is not " + what);
  };
  switch (payload.kind) {
  case PayloadKind::LinkedPtx:
  case PayloadKind::Ptx:
    if (bytes.find(".version") == std::string_view::npos)
      refuse("PTX: it has no .version");
    return NVJITLINK_INPUT_PTX;
  case PayloadKind::LinkedCubin:
    if (bytes.size() <= 64 || bytes.substr(0, 4) != "\x7F"
                                                    "ELF")
      refuse("a cubin: it is no ELF file");
    return NVJITLINK_INPUT_CUBIN;
  case PayloadKind::LinkedLtoIr:
  case PayloadKind::LtoIr:
  case PayloadKind::HostBitcode:
  case PayloadKind::MlirBytecode:
    break;
  }
  return typeOfLtoIr(payload, name);
}

void checkNotNewer(const Producer &producer, const std::string &what) {
  const LinkerVersion &at = library().version;
  if (producer.release() <= std::pair(at.major, at.minor))
    return;
  throw Error(ErrorKind::Environment,
              what + " is LTO-IR by " + producer.text() + ", newer than nvJitLink " +
                  std::to_string(at.major) + "." + std::to_string(at.minor) + " (" + at.path +
                  "), which reads its own version and older ones; update nvJitLink");
}

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
  if (manifest.isPairwise())
    throw Error(ErrorKind::Input, "metric '" + manifest.name +
                                      "' is no single pass over the coordinates, so CPUs alone "
                                      "compute it; search on a CPU");
  throw Error(ErrorKind::Input, "metric '" + manifest.name + "' lacks hook " +
                                    symbolOf(hook, manifest.hookWidths()) +
                                    ", which every metric has");
}

/// What is linked beside the metric's code.
struct Part {
  std::string_view bytes;
  const char *what;
};

/// The same for the key as for the link, so that neither has what the other lacks.
std::vector<Part> partsOf(const Manifest &manifest, size_t bodyBytes, const ScanTarget &target) {
  const bool compact = bodyBytes > kLargeBodyBytes;
  std::vector<Part> parts = {{scanFragment(target.entry.source, manifest, compact), "scan kernel"},
                             {contractFragment(), "reading the contract"},
                             {overlapFragment(target.sm), "waiting for the kernel before"}};
  if (manifest.isFilter())
    parts.push_back({filterFragment(), "the filter's place in a scan"});
  else
    for (ScanHook hook : kScanHooks)
      if (!isDefinedBy(hook, manifest.hooks))
        if (const std::string_view stub = stubFragment(hook, manifest); !stub.empty())
          parts.push_back({stub, "a hook's stub"});
  parts.push_back({rowElementFragment(target.elements.rows), "element of the rows"});
  parts.push_back({queryElementFragment(target.elements.queries), "element of the queries"});
  parts.push_back({computeFragment(manifest.compute), "compute type"});
  if (target.entry.source == ScanSource::Packed && manifest.packed) {
    parts.push_back({packedTermFragment(manifest.packed->term), "packed term"});
    parts.push_back({bitProductsFragment(target.sm), "products of bits"});
  }
  return parts;
}

/// What is linked with a metric for its hooks' text; nothing where there is no template for the
/// target, or where the metric is better linked as a whole: a large body, inlined wherever it is
/// called, or code of somebody else, or counts bits otherwise than templates do. Before sm_90 a
/// kernel that nvJitLink assembles from PTX calls functions of the assembler for what its shuffles
/// and votes are in a link.
std::vector<Part> textPartsOf(const Artifact &artifact, const ScanTarget &target) {
  const Manifest &manifest = artifact.manifest;
  const size_t bodyBytes = bodyBytesOf(artifact, target.sm);
  if (!artifact.findLtoIr(target.sm) || target.sm < 90 || manifest.isFilter() || bodyBytes == 0 ||
      bodyBytes > kLargeBodyBytes ||
      std::any_of(artifact.payloads.begin(), artifact.payloads.end(),
                  [](const Payload &payload) { return payload.isLinked(); }) ||
      (target.entry.source == ScanSource::Packed && !hasBitProducts(target.sm)) ||
      scanTemplate(target.entry, manifest, target.elements).empty())
    return {};
  std::vector<Part> parts = {{hookTextFragment(), "the hooks' text"},
                             {contractFragment(), "reading the contract"}};
  for (ScanHook hook : kScanHooks)
    if (!isDefinedBy(hook, manifest.hooks))
      if (const std::string_view stub = stubFragment(hook, manifest); !stub.empty())
        parts.push_back({stub, "a hook's stub"});
  return parts;
}

} // namespace

KernelKey linkKey(const MetricView &metric, const ScanTarget &target) {
  const Payload *payload = metric.artifact.findHooksOfGpu(target.sm);
  KernelKey key = metricKey(metric, payload ? *payload : Payload{}, target.elements);
  const LinkerVersion version = linkerVersion();
  key.options = linkOptions(metric.artifact, target);
  FieldDigest scan;
  for (const Part &part :
       partsOf(metric.artifact.manifest, bodyBytesOf(metric.artifact, target.sm), target))
    scan.text(part.bytes);
  if (const std::vector<Part> parts = textPartsOf(metric.artifact, target); !parts.empty()) {
    scan.text(scanTemplate(target.entry, metric.artifact.manifest, target.elements));
    for (const Part &part : parts)
      scan.text(part.bytes);
    for (const std::vector<std::string> &options :
         {hookTextOptions(metric.artifact, target), assemblerOptions(target)})
      key.options.insert(key.options.end(), options.begin(), options.end());
    key.options.push_back("fill=" + std::to_string(kFillEdition));
  }
  key.scan = scan.finish();
  key.linker = "nvJitLink";
  key.linkerVersion = std::to_string(version.major) + "." + std::to_string(version.minor) +
                      (version.build.empty() ? "" : "+" + version.build);
  key.arch = "sm_" + std::to_string(target.sm);
  return key;
}

LinkerVersion linkerVersion() { return library().version; }

std::optional<std::string> hookText(const Artifact &artifact, const ScanTarget &target) try {
  const Manifest &manifest = artifact.manifest;
  const std::vector<Part> parts = textPartsOf(artifact, target);
  const Payload *payload = artifact.findHooksOfGpu(target.sm);
  if (parts.empty() || !payload)
    return std::nullopt;
  const std::string name = "metric '" + manifest.name + "'";
  Link link(hookTextOptions(artifact, target), target, name);
  link.add(typeOf(*payload, name), payload->bytes, manifest.noun());
  for (const Part &part : parts)
    link.add(NVJITLINK_INPUT_FATBIN, part.bytes, part.what);
  return link.finishPtx();
} catch (const Error &) { // Said by the link of the whole, which then follows.
  return std::nullopt;
}

std::optional<std::string> scanText(const Artifact &artifact, const ScanTarget &target) {
  const std::optional<std::string> hooks = hookText(artifact, target);
  if (!hooks)
    return std::nullopt;
  return fillTemplate(scanTemplate(target.entry, artifact.manifest, target.elements),
                      target.entry.kernel, *hooks, target.sm >= kOverlapSm);
}

std::string linkScanKernel(const Artifact &artifact, const ScanTarget &target, double *linkMs) {
  const Manifest &manifest = artifact.manifest;
  const int sm = target.sm;
  const std::string name = std::string(manifest.noun()) + " '" + manifest.name + "'";
  const Payload *payload = artifact.findHooksOfGpu(sm);
  if (!payload) {
    std::string present;
    for (const Payload &candidate : artifact.payloads)
      if (candidate.isHooksOfGpu())
        present += (present.empty() ? "" : ", ") + candidate.arch();
    throw Error(ErrorKind::Input, name + " has no GPU code for sm_" + std::to_string(sm) +
                                      "; it has " + (present.empty() ? "none" : present) +
                                      ": compile it with --arch=sm_" + std::to_string(sm) +
                                      " or older");
  }
  for (annudf_element element : {target.elements.rows, target.elements.queries})
    if (!manifest.accepts(element))
      throw Error(ErrorKind::Input, name + " does not take " + toString(element) + " vectors");
  const nvJitLinkInputType type = typeOf(*payload, name);
  if (payload->kind == PayloadKind::LtoIr)
    checkNotNewer(payload->producer, name + ", payload " + payload->arch() + ",");
  checkNotNewer({"nvcc", ANNUDF_SCAN_PRODUCER}, "annudf's scan kernel");

  const auto start = std::chrono::steady_clock::now();
  const auto took = [&](std::string cubin) {
    if (linkMs)
      *linkMs = msSince(start);
    return cubin;
  };
  if (const std::optional<std::string> ptx = scanText(artifact, target))
    try {
      Link assembler(assemblerOptions(target), target, name);
      assembler.add(NVJITLINK_INPUT_PTX, *ptx, "scan kernel");
      return took(assembler.finish());
    } catch (const Error &) { // As a whole it may; else that link says why not.
    }
  Link link(linkOptions(artifact, target), target, name);
  link.add(type, payload->bytes, manifest.noun());
  for (const Payload &linked : artifact.payloads) // What it calls, by names of somebody else.
    if (linked.isLinked())
      link.add(typeOf(linked, name), linked.bytes, "linked code");
  for (const Part &part : partsOf(manifest, payload->bytes.size(), target))
    link.add(NVJITLINK_INPUT_FATBIN, part.bytes, part.what);
  return took(link.finish());
}

} // namespace annudf::runtime::cuda
