// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/KernelSource.h"
#include "IO/File.h"
#include "tilewright/KernelLibrary.h"
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

namespace tw {

namespace {

/// A loaded library; it stays loaded, since its traces may refer to it.
Result<const tw_kernel_library *> loadLibrary(const std::string &path) {
  auto refuse = [&](std::string what) {
    return Diagnostic{Code::KERNEL_2,
                      fmt::format("{} is no kernel library: {}", path, what),
                      {},
                      {},
                      "build it from kernels written with tilewright/Kernel.h (docs/kernels.md)"};
  };
  std::error_code error;
  std::string absolute = std::filesystem::absolute(path, error);
  void *handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return refuse(dlerror());
  auto *entry = reinterpret_cast<tw_kernel_library_entry *>(dlsym(handle, TW_KERNEL_LIBRARY_ENTRY));
  if (!entry)
    return refuse(fmt::format("it does not export {}", TW_KERNEL_LIBRARY_ENTRY));
  const tw_kernel_library *library = entry();
  if (!library || library->version != TW_KERNEL_LIBRARY_VERSION)
    return refuse(fmt::format("it has version {}, not {}", library ? library->version : 0,
                              TW_KERNEL_LIBRARY_VERSION));
  return library;
}

Diagnostic outOfMemory() { return {Code::IO_3, "there is not enough memory"}; }

Result<std::vector<std::string>> kernelNames(const tw_kernel_library *library) {
  auto release = [&](const tw_kernel_list *list) { library->free_list(list); };
  std::unique_ptr<const tw_kernel_list, decltype(release)> list(library->list(), release);
  if (!list)
    return outOfMemory();
  std::vector<std::string> names;
  for (size_t i = 0; i < list->count; ++i)
    names.emplace_back(list->kernels[i].name);
  return names;
}

/// The name of the kernel that is meant.
Result<std::string> chooseKernel(const tw_kernel_library *library, const std::string &wanted,
                                 const std::string &path) {
  TW_ASSIGN(std::vector<std::string> names, kernelNames(library));
  for (const std::string &name : names)
    if (name == wanted || (wanted.empty() && names.size() == 1))
      return name;
  return Diagnostic{
      Code::IMPORT_109,
      wanted.empty() ? fmt::format("the library has {} kernels", names.size())
                     : fmt::format("there is no kernel \"{}\"", wanted),
      path,
      {fmt::format("the kernels are: {}",
                   names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))},
      "name one with --kernel=NAME"};
}

Result<KernelText> trace(const tw_kernel_library *loaded, const std::string &name,
                         const Size::Values &values) {
  std::vector<tw_kernel_binding> bindings;
  for (const auto &[symbol, value] : values)
    bindings.push_back({symbol.c_str(), value});
  auto release = [&](const tw_kernel_trace *trace) { loaded->free_trace(trace); };
  std::unique_ptr<const tw_kernel_trace, decltype(release)> trace(
      loaded->trace(name.c_str(), bindings.data(), bindings.size()), release);
  if (!trace)
    return outOfMemory();
  if (trace->error)
    return Diagnostic{
        Code::KERNEL_3,
        trace->error,
        fmt::format("{}:{}:{}, in kernel {}", trace->file, trace->line, trace->column, name),
        {},
        trace->help ? trace->help : ""};
  return KernelText{trace->text, name};
}

/// The library that a file is, or that is compiled from it; null: it is text.
Result<const tw_kernel_library *> openLibrary(const std::string &path) {
  std::string extension = std::filesystem::path(path).extension();
  if (extension == ".mlir")
    return nullptr;
  if (extension == ".so")
    return loadLibrary(path);
  if (extension == ".cpp" || extension == ".cc" || extension == ".cxx") {
    TW_ASSIGN(std::string library, compileKernelLibrary(path));
    return loadLibrary(library);
  }
  return Diagnostic{Code::DRIVER_4,
                    fmt::format("{} is not a file of kernels", path),
                    {},
                    {},
                    "kernels are .mlir text, C++ (.cpp), or a kernel library (.so)"};
}

KernelText textOf(const MappedFile &file, const std::string &path) {
  return {std::string(file.text()), path.substr(path.rfind('/') + 1)};
}

} // namespace

Result<KernelText> readKernel(const std::string &path, const std::string &wanted,
                              const Size::Values &values) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  TW_ASSIGN(const tw_kernel_library *library, openLibrary(path));
  if (!library)
    return textOf(file, path);
  TW_ASSIGN(std::string name, chooseKernel(library, wanted, path));
  return trace(library, name, values);
}

Result<std::vector<KernelText>> readKernels(const std::string &path) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  TW_ASSIGN(const tw_kernel_library *library, openLibrary(path));
  std::vector<KernelText> texts;
  if (!library) {
    texts.push_back(textOf(file, path));
    return texts;
  }
  TW_ASSIGN(std::vector<std::string> names, kernelNames(library));
  for (const std::string &name : names) {
    TW_ASSIGN(KernelText text, trace(library, name, {}));
    texts.push_back(std::move(text));
  }
  return texts;
}

} // namespace tw
