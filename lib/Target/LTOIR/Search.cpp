//===- Search.cpp - Where CUDA's compiler files may be --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <algorithm>

using namespace llvm;

namespace {

std::string join(StringRef base, StringRef tail) {
  SmallString<256> path(base);
  sys::path::append(path, tail);
  sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return path.str().str();
}

std::vector<std::string> toolkits() {
  std::vector<std::string> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto root = sys::Process::GetEnv(variable); root && !root->empty())
      roots.push_back(*root);
  roots.push_back("/usr/local/cuda");
  return roots;
}

/// Folders in which pip may have put the PyPI package nvidia-nvvm.
std::vector<std::string> pythonPackages() {
  std::vector<std::string> folders;
  if (auto path = sys::Process::GetEnv("PYTHONPATH")) {
    SmallVector<StringRef> parts;
    StringRef(*path).split(parts, ':', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      folders.push_back(part.str());
  }
  std::vector<std::string> prefixes;
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (auto prefix = sys::Process::GetEnv(variable); prefix && !prefix->empty())
      prefixes.push_back(*prefix);
  if (auto home = sys::Process::GetEnv("HOME"); home && !home->empty())
    prefixes.push_back(join(*home, ".local"));
  prefixes.push_back("/usr/local");
  for (const std::string &prefix : prefixes) {
    std::error_code error;
    std::vector<std::string> versions;
    for (sys::fs::directory_iterator entry(join(prefix, "lib"), error), end; !error && entry != end;
         entry.increment(error))
      if (sys::path::filename(entry->path()).starts_with("python3"))
        versions.push_back(entry->path());
    std::sort(versions.begin(), versions.end());
    for (const std::string &version : versions)
      for (const char *kind : {"site-packages", "dist-packages"})
        if (std::string folder = join(version, kind); sys::fs::is_directory(folder))
          folders.push_back(folder);
  }
  return folders;
}

} // namespace

std::vector<std::string> annudf::ltoir::libNvvmCandidates() {
  if (auto named = sys::Process::GetEnv("ANNUDF_LIBNVVM"); named && !named->empty())
    return {*named};
  std::vector<std::string> files;
  for (const std::string &root : toolkits())
    for (const char *tail : {"nvvm/lib64/libnvvm.so.4", "lib64/libnvvm.so.4"})
      files.push_back(join(root, tail));
  for (const std::string &folder : pythonPackages())
    files.push_back(join(folder, "nvidia/cu13/lib/libnvvm.so.4"));
  files.push_back("libnvvm.so.4"); // The dynamic linker's own places.
  return files;
}

std::vector<std::string> annudf::ltoir::nvrtcCandidates() {
  if (auto named = sys::Process::GetEnv("ANNUDF_LIBNVRTC"); named && !named->empty())
    return {*named};
  std::vector<std::string> files;
  for (const std::string &root : toolkits())
    files.push_back(join(root, "lib64/libnvrtc.so.13"));
  for (const std::string &folder : pythonPackages())
    files.push_back(join(folder, "nvidia/cu13/lib/libnvrtc.so.13"));
  files.push_back("libnvrtc.so.13"); // The dynamic linker's own places.
  return files;
}

std::vector<std::string> annudf::ltoir::libDeviceCandidates(StringRef libNvvmPath) {
  if (auto named = sys::Process::GetEnv("ANNUDF_LIBDEVICE"); named && !named->empty())
    return {*named};
  std::vector<std::string> files;
  SmallString<256> real;
  if (!sys::fs::real_path(libNvvmPath, real)) {
    StringRef folder = sys::path::parent_path(real);
    files.push_back(join(folder, "../libdevice/libdevice.10.bc"));
    files.push_back(join(folder, "../nvvm/libdevice/libdevice.10.bc"));
  }
  for (const std::string &root : toolkits())
    files.push_back(join(root, "nvvm/libdevice/libdevice.10.bc"));
  for (const std::string &folder : pythonPackages())
    files.push_back(join(folder, "nvidia/cu13/nvvm/libdevice/libdevice.10.bc"));
  return files;
}
