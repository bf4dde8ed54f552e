// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/KernelTool/KernelSource.h"
#include "Driver/CApi/RunApart.h"
#include "Driver/NearestNames.h"
#include "IO/File.h"
#include "Support/Counted.h"
#include "tilewright/KernelLibrary.h"
#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <span>

namespace tw {

namespace {

/// A library as the author gave it: `path` is that, or what was compiled from it.
struct Library {
  std::string path, given;
  std::vector<std::string> included = {};
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

/// A kernel of a library and the defaults of its parameters.
struct ListedKernel {
  std::string name;
  Size::Values defaults;
};

Result<std::vector<ListedKernel>> listKernels(const tw_kernel_library *library) {
  auto release = [&](const tw_kernel_list *list) { library->free_list(list); };
  std::unique_ptr<const tw_kernel_list, decltype(release)> list(library->list(), release);
  if (!list)
    return outOfMemory();
  std::vector<ListedKernel> kernels;
  for (const tw_kernel_description &each : std::span(list->kernels, list->count)) {
    kernels.push_back({each.name, {}});
    for (const tw_kernel_parameter &parameter : std::span(each.parameters, each.parameter_count))
      kernels.back().defaults[parameter.name] = parameter.default_value;
  }
  return kernels;
}

/// The kernel that is meant.
Result<ListedKernel> chooseKernel(const std::vector<ListedKernel> &kernels,
                                  const std::string &wanted, const std::string &path) {
  std::vector<std::string> names;
  for (const ListedKernel &kernel : kernels) {
    if (kernel.name == wanted || (wanted.empty() && kernels.size() == 1))
      return kernel;
    names.push_back(kernel.name);
  }
  return Diagnostic{
      Code::IMPORT_109,
      wanted.empty() ? fmt::format("the library has {}", counted(names.size(), "kernel"))
                     : fmt::format("there is no kernel \"{}\"", wanted),
      path,
      {fmt::format("the kernels are: {}",
                   names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))},
      "name one with --kernel=NAME"};
}

Result<KernelText> trace(const tw_kernel_library *loaded, const ListedKernel &kernel,
                         const Size::Values &values) {
  const std::string &name = kernel.name;
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
  KernelText text{trace->text, name, kernel.defaults};
  for (auto &[parameter, value] : text.parameters)
    if (auto given = values.find(parameter); given != values.end())
      value = given->second;
  return text;
}

/// The kernel `wanted`, or all of them.
Result<std::vector<KernelText>> traceHere(const Library &library, const std::string *wanted,
                                          const Size::Values &values,
                                          const KernelParameters &configured) {
  TW_ASSIGN(const tw_kernel_library *loaded, load(library));
  TW_ASSIGN(std::vector<ListedKernel> kernels, listKernels(loaded));
  std::vector<std::string> configurable;
  for (const ListedKernel &kernel : kernels)
    if (!kernel.defaults.empty())
      configurable.push_back(kernel.name);
  if (wanted) {
    TW_ASSIGN(ListedKernel kernel, chooseKernel(kernels, *wanted, library.given));
    kernels = {kernel};
  }
  std::vector<KernelText> texts;
  for (const ListedKernel &kernel : kernels) {
    Size::Values own = values;
    if (auto given = configured.find(kernel.name); given != configured.end())
      own.insert(given->second.begin(), given->second.end());
    TW_ASSIGN(KernelText text, trace(loaded, kernel, own));
    text.configurable = configurable;
    texts.push_back(std::move(text));
  }
  return texts;
}

/// Texts of kernels for the other process and back: each its name, text, parameters, and
/// the kernels that have some.
void send(const std::vector<KernelText> &texts, Fields &sent) {
  for (const KernelText &text : texts) {
    sent.insert(sent.end(), {text.name, text.text, std::to_string(text.parameters.size())});
    for (const auto &[name, value] : text.parameters)
      sent.insert(sent.end(), {name, std::to_string(value)});
    sent.push_back(std::to_string(text.configurable.size()));
    sent.insert(sent.end(), text.configurable.begin(), text.configurable.end());
  }
}

std::vector<KernelText> receive(std::span<const std::string> sent) {
  std::vector<KernelText> texts;
  for (size_t i = 0; i < sent.size();) {
    KernelText &text = texts.emplace_back(KernelText{sent[i + 1], sent[i]});
    size_t count = std::stoul(sent[i + 2]);
    i += 3;
    for (; count > 0; --count, i += 2)
      text.parameters[sent[i]] = std::stoll(sent[i + 1]);
    for (count = std::stoul(sent[i++]); count > 0; --count)
      text.configurable.push_back(sent[i++]);
  }
  return texts;
}

/// The same in a process of its own: what an author's C++ does there is not our end.
Result<std::vector<KernelText>> traceApart(const Library &library, const std::string *wanted,
                                           const Size::Values &values,
                                           const KernelParameters &configured,
                                           const KernelTime &time) {
  TW_ASSIGN(Fields fields,
            runApart(fmt::format("tracing {}", library.given), time, [&]() -> Fields {
              auto texts = traceHere(library, wanted, values, configured);
              Fields sent;
              if (!texts) {
                const Diagnostic &error = texts.error();
                sent = {codeName(error.code), error.message, error.location, error.help};
                sent.insert(sent.end(), error.notes.begin(), error.notes.end());
                return sent;
              }
              sent.emplace_back(); // no error
              send(*texts, sent);
              return sent;
            }));
  if (!fields[0].empty())
    return Diagnostic{
        *parseCode(fields[0]), fields[1], fields[2], {fields.begin() + 4, fields.end()}, fields[3]};
  std::vector<KernelText> texts = receive(std::span(fields).subspan(1));
  for (KernelText &text : texts)
    text.included = library.included;
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
    TW_ASSIGN(CompiledLibrary made, compileKernelLibrary(path, time));
    return std::optional(Library{made.path, path, std::move(made.included)});
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

Status checkKernelNames(const KernelParameters &configured, const std::string &path,
                        const std::vector<std::string> &configurable) {
  for (const auto &[kernel, parameters] : configured)
    if (std::find(configurable.begin(), configurable.end(), kernel) == configurable.end())
      return Diagnostic{
          Code::KERNEL_5,
          fmt::format("\"kernels\" has parameters for \"{}\", but no kernel with parameters is "
                      "called so",
                      kernel),
          path,
          {configurable.empty() ? "no kernel with parameters is given"
                                : nearestNames(kernel, configurable)},
          configurable.empty() ? "give the kernel's C++ file (to compile: with --kernels=FILE), or "
                                 "leave the entry out"
                               : "correct the name, or leave the entry out"};
  return {};
}

Result<KernelText> readKernel(const std::string &path, const std::string &wanted,
                              const Size::Values &values, const KernelParameters &configured) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  KernelTime time;
  TW_ASSIGN(std::optional<Library> library, libraryOf(path, time));
  if (!library)
    return textOf(file, path);
  TW_ASSIGN(std::vector<KernelText> texts, traceApart(*library, &wanted, values, configured, time));
  return std::move(texts.front());
}

Result<std::vector<KernelText>> readKernels(const std::string &path,
                                            const KernelParameters &configured) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  KernelTime time;
  TW_ASSIGN(std::optional<Library> library, libraryOf(path, time));
  if (library)
    return traceApart(*library, nullptr, {}, configured, time);
  return std::vector{textOf(file, path)};
}

} // namespace tw
