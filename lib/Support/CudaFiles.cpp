//===- CudaFiles.cpp - CUDA's libraries, found and opened -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/CudaFiles.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace fs = std::filesystem;

namespace {

std::string variableOf(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::string join(const fs::path &base, const std::string &tail) {
  return (base / tail).lexically_normal().string();
}

std::vector<std::string> toolkits() {
  std::vector<std::string> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string root = variableOf(variable); !root.empty())
      roots.push_back(std::move(root));
  roots.push_back("/usr/local/cuda");
  return roots;
}

/// Where libannudf, or the program that holds this code, lies.
fs::path ownFolder() {
  Dl_info info = {};
  if (!dladdr(reinterpret_cast<const void *>(&ownFolder), &info) || !info.dli_fname)
    return {};
  return fs::path(info.dli_fname).parent_path();
}

/// Folders in which pip may have put NVIDIA's packages.
std::vector<std::string> pythonPackages() {
  std::vector<std::string> folders;
  for (const char *variable : {"ANNUDF_CUDA_WHEELS", "PYTHONPATH"}) {
    const std::string list = variableOf(variable);
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find(':', begin), list.size());
      if (end > begin)
        folders.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  std::vector<fs::path> prefixes;
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = variableOf(variable); !prefix.empty())
      prefixes.emplace_back(prefix);
  if (const std::string home = variableOf("HOME"); !home.empty())
    prefixes.push_back(fs::path(home) / ".local");
  prefixes.emplace_back("/usr/local");
  for (const fs::path &prefix : prefixes) {
    std::vector<fs::path> versions;
    std::error_code error;
    for (fs::directory_iterator entry(prefix / "lib", error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().filename().string().starts_with("python3"))
        versions.push_back(entry->path());
    std::sort(versions.begin(), versions.end());
    for (const fs::path &version : versions)
      for (const char *kind : {"site-packages", "dist-packages"})
        if (fs::is_directory(version / kind, error))
          folders.push_back((version / kind).string());
  }
  return folders;
}

/// In a wheel libannudf lies in site-packages/annudf, and what pip installed with it beside that
/// folder.
std::vector<std::string> neighbours(const std::string &tail) {
  std::error_code error;
  std::string file = join(ownFolder(), "../nvidia/cu13/" + tail);
  if (fs::exists(file, error))
    return {std::move(file)};
  return {};
}

} // namespace

std::vector<std::string> annudf::cudaLibraryCandidates(const std::string &name,
                                                       const char *variable,
                                                       const std::vector<std::string> &folders) {
  if (const std::string named = variableOf(variable); !named.empty()) {
    std::error_code error;
    return {fs::is_directory(named, error) ? join(named, name) : named};
  }
  std::vector<std::string> files = neighbours("lib/" + name);
  for (const std::string &root : toolkits())
    for (const std::string &folder : folders)
      files.push_back(join(root, folder + "/" + name));
  for (const std::string &folder : pythonPackages())
    files.push_back(join(folder, "nvidia/cu13/lib/" + name));
  files.push_back(name);
  return files;
}

annudf::CudaLibrary annudf::openCudaLibrary(
    const std::vector<std::string> &candidates,
    const std::function<std::string(void *handle, const std::string &path)> &refuse) {
  CudaLibrary library;
  for (const std::string &file : candidates) {
    library.searched += (library.searched.empty() ? "" : ", ") + file;
    std::error_code error;
    // Most candidates are not there, which needs no words of the dynamic linker's.
    if (file.find('/') != std::string::npos && !fs::exists(file, error))
      continue;
    std::string why;
    if (void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      why = refuse(handle, file);
      if (why.empty()) {
        library.handle = handle;
        library.path = file;
        return library;
      }
    } else {
      const char *reason = dlerror();
      why = reason ? reason : "cannot be loaded";
    }
    library.searched += " (" + why + ")";
  }
  return library;
}

std::vector<std::string> annudf::libDeviceCandidates(const std::string &libNvvmPath) {
  if (std::string named = variableOf("ANNUDF_LIBDEVICE"); !named.empty())
    return {std::move(named)};
  const std::string tail = "nvvm/libdevice/libdevice.10.bc";
  std::vector<std::string> files;
  std::error_code error;
  if (const fs::path real = fs::canonical(libNvvmPath, error); !error) {
    files.push_back(join(real.parent_path(), "../libdevice/libdevice.10.bc"));
    files.push_back(join(real.parent_path(), "../" + tail));
  }
  for (std::string &file : neighbours(tail))
    files.push_back(std::move(file));
  for (const std::string &root : toolkits())
    files.push_back(join(root, tail));
  for (const std::string &folder : pythonPackages())
    files.push_back(join(folder, "nvidia/cu13/" + tail));
  return files;
}
