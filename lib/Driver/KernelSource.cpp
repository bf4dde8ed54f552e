// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/KernelSource.h"
#include "Driver/RunApart.h"
#include "IO/File.h"
#include "tilewright/KernelLibrary.h"
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

namespace tw {

namespace {

/// A library as the author gave it: `path` is that, or what was compiled from it.
struct Library {
  std::string path, given;
};

/// Loads a library. This and all that uses it happens in a process of its own.
Result<const tw_kernel_library *> load(const Library &library) {
  auto refuse = [&](std::string what) {
    return Diagnostic{Code::KERNEL_2,
                      fmt::format("{} is no kernel library: {}", library.given, what),
                      {},
                      {},
                      "build it from kernels written with tilewright/Kernel.h (docs/kernels.md)"};
  };
  std::error_code error;
  std::string absolute = std::filesystem::absolute(library.path, error);
  void *handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return refuse(dlerror());
  auto *entry = reinterpret_cast<tw_kernel_library_entry *>(dlsym(handle, TW_KERNEL_LIBRARY_ENTRY));
  if (!entry && library.path != library.given)
    return Diagnostic{Code::KERNEL_2,
                      fmt::format("there is no kernel in {}", library.given),
                      {},
                      {},
                      "a kernel begins with TILEWRIGHT_KERNEL(name, \"what it does\")"};
  if (!entry)
    return refuse(fmt::format("it does not export {}", TW_KERNEL_LIBRARY_ENTRY));
  const tw_kernel_library *loaded = entry();
  if (!loaded || loaded->version != TW_KERNEL_LIBRARY_VERSION)
    return refuse(fmt::format("it has version {}, not {}", loaded ? loaded->version : 0,
                              TW_KERNEL_LIBRARY_VERSION));
  return loaded;
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
Result<std::string> chooseKernel(const std::vector<std::string> &names, const std::string &wanted,
                                 const std::string &path) {
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

/// The kernel `wanted`, or all of them.
Result<std::vector<KernelText>> traceHere(const Library &library, const std::string *wanted,
                                          const Size::Values &values) {
  TW_ASSIGN(const tw_kernel_library *loaded, load(library));
  TW_ASSIGN(std::vector<std::string> names, kernelNames(loaded));
  if (wanted) {
    TW_ASSIGN(std::string name, chooseKernel(names, *wanted, library.given));
    names = {name};
  }
  std::vector<KernelText> texts;
  for (const std::string &name : names) {
    TW_ASSIGN(KernelText text, trace(loaded, name, values));
    texts.push_back(std::move(text));
  }
  return texts;
}

/// The same in a process of its own: what an author's C++ does there is not our end.
Result<std::vector<KernelText>> traceApart(const Library &library, const std::string *wanted,
                                           const Size::Values &values, const KernelTime &time) {
  TW_ASSIGN(Fields fields,
            runApart(fmt::format("tracing {}", library.given), time, [&]() -> Fields {
              auto texts = traceHere(library, wanted, values);
              Fields sent;
              if (!texts) {
                const Diagnostic &error = texts.error();
                sent = {codeName(error.code), error.message, error.location, error.help};
                sent.insert(sent.end(), error.notes.begin(), error.notes.end());
                return sent;
              }
              sent.emplace_back(); // no error
              for (const KernelText &text : *texts) {
                sent.push_back(text.name);
                sent.push_back(text.text);
              }
              return sent;
            }));
  if (!fields[0].empty())
    return Diagnostic{
        *parseCode(fields[0]), fields[1], fields[2], {fields.begin() + 4, fields.end()}, fields[3]};
  std::vector<KernelText> texts;
  for (size_t i = 1; i < fields.size(); i += 2)
    texts.push_back({fields[i + 1], fields[i]});
  return texts;
}

/// The library that a file is, or that is compiled from it; none: it is text.
Result<std::optional<Library>> libraryOf(const std::string &path, const KernelTime &time) {
  std::string extension = std::filesystem::path(path).extension();
  if (extension == ".mlir")
    return std::optional<Library>();
  if (extension == ".so")
    return std::optional(Library{path, path});
  if (extension == ".cpp" || extension == ".cc" || extension == ".cxx") {
    TW_ASSIGN(std::string library, compileKernelLibrary(path, time));
    return std::optional(Library{library, path});
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
  KernelTime time;
  TW_ASSIGN(std::optional<Library> library, libraryOf(path, time));
  if (!library)
    return textOf(file, path);
  TW_ASSIGN(std::vector<KernelText> texts, traceApart(*library, &wanted, values, time));
  return std::move(texts.front());
}

Result<std::vector<KernelText>> readKernels(const std::string &path) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  KernelTime time;
  TW_ASSIGN(std::optional<Library> library, libraryOf(path, time));
  if (library)
    return traceApart(*library, nullptr, {}, time);
  return std::vector{textOf(file, path)};
}

} // namespace tw
