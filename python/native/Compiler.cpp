// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Compiler.h"
#include "Errors.h"
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <sys/mman.h>
#include <unistd.h>

namespace nb = nanobind;

namespace tw::python {

namespace {

/// libtilewright-compiler.so lies in the folder lib beside this module.
std::string libraryPath() {
  Dl_info info;
  static const char here = 0;
  std::string path = dladdr(&here, &info) && info.dli_fname ? info.dli_fname : "";
  return path.substr(0, path.rfind('/') + 1) + "lib/libtilewright-compiler.so";
}

/// Name, address, bytes; the address 0 with bytes: only calls give it.
using Weights = std::vector<std::tuple<std::string, uintptr_t, int64_t>>;
using Texts = std::vector<std::pair<std::string, std::string>>; // name, text

/// A model and kernels in the form of the C API; points into what it is made of.
struct Source {
  Source(const std::string &model, const std::optional<nb::bytes> &json, const Weights &weightList,
         const std::vector<std::string> &paths, const Texts &textList)
      : isMemory(json.has_value()) {
    for (const auto &[name, address, bytes] : weightList)
      weights.push_back({name.c_str(), reinterpret_cast<const void *>(address), bytes,
                         address == 0 && bytes > 0});
    for (const std::string &path : paths)
      kernels.push_back(path.c_str());
    for (const auto &[name, text] : textList)
      texts.push_back({name.c_str(), text.c_str()});
    if (json)
      memory = {model.c_str(), json->c_str(), json->size(), weights.data(), weights.size()};
  }

  template <typename Options>
  void set(Options &options, const std::string &model) const {
    options.struct_size = sizeof options;
    if (isMemory)
      options.memory = &memory;
    else if (!model.empty())
      options.model = model.c_str();
    options.kernels = kernels.data();
    options.kernel_count = kernels.size();
    options.kernel_texts = texts.data();
    options.kernel_text_count = texts.size();
  }

  bool isMemory;
  tilewright_memory_model memory = {};
  std::vector<tilewright_weight> weights;
  std::vector<const char *> kernels;
  std::vector<tilewright_kernel_text> texts;
};

/// A file in memory, closed unless it is handed on. The C API has 0 for no descriptor, which is
/// free where a process has closed its standard input.
struct MemoryFile {
  static int open() {
    int made = memfd_create("tilewright-program", MFD_CLOEXEC);
    if (made != 0)
      return made;
    int other = fcntl(made, F_DUPFD_CLOEXEC, 1);
    close(made);
    return other;
  }

  int descriptor = open();
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  int release() { return std::exchange(descriptor, -1); }
};

/// An artifact goes to this path, or to memory.
static void setOutput(const std::optional<std::string> &path, MemoryFile &file, const char *&output,
                      int &descriptor) {
  if (path)
    output = path->c_str();
  else if (file.descriptor > 0)
    descriptor = file.descriptor;
  else
    raise(Diagnostic{Code::IO_2,
                     fmt::format("there is no memory for the program: {}", std::strerror(errno)),
                     {},
                     {},
                     "close files that this process holds open"});
}

/// The artifact's descriptor, or -1 where it goes to `output`; the report as JSON; and, with
/// `isPrepared`, the preparation's descriptor, or -1 where it goes to `preparation`.
nb::tuple
compile(const std::string &model, const std::optional<nb::bytes> &json, const Weights &weights,
        const std::vector<std::string> &kernels, const Texts &texts, const std::string &target,
        const std::optional<std::string> &output, const std::optional<std::string> &dumpTo,
        const std::optional<std::string> &kernel, const std::optional<std::string> &preparation,
        bool isPrepared, const std::string &precision, const std::optional<std::string> &key) {
  Source source(model, json, weights, kernels, texts);
  tilewright_compile_options options = {};
  if (kernel)
    options.kernel = kernel->c_str();
  const std::string none;
  source.set(options, kernel ? none : model);
  options.target = target.c_str();
  options.precision = precision.c_str();
  options.report = 2;
  options.key = key ? key->c_str() : nullptr;
  options.dump_to = dumpTo ? dumpTo->c_str() : nullptr;
  MemoryFile file, preparationFile;
  setOutput(output, file, options.output, options.output_descriptor);
  if (isPrepared)
    setOutput(preparation, preparationFile, options.preparation, options.preparation_descriptor);
  Said said = ask(&cli::CompilerLibrary::compile, &options);
  return nb::make_tuple(output ? -1 : file.release(), said.report,
                        isPrepared && !preparation ? preparationFile.release() : -1);
}

/// The description of a model as JSON.
std::string inspect(const std::string &model, const std::optional<nb::bytes> &json,
                    const std::vector<std::string> &kernels, const Texts &texts,
                    bool onlyUnsupported) {
  Source source(model, json, {}, kernels, texts);
  tilewright_inspect_options options = {};
  source.set(options, model);
  options.json = 1;
  options.unsupported_only = onlyUnsupported;
  return ask(&cli::CompilerLibrary::inspectModel, &options).report;
}

} // namespace

const cli::CompilerLibrary &compilerLibrary() {
  static std::optional<cli::CompilerLibrary> loaded; // under the GIL
  if (!loaded)
    loaded = take(cli::CompilerLibrary::load(libraryPath()));
  return *loaded;
}

tilewright_sink Said::sink() {
  tilewright_sink sink = {};
  sink.struct_size = sizeof sink;
  sink.diagnostic = [](void *user, const char *text, tilewright_outcome) {
    static_cast<Said *>(user)->diagnostics += text;
  };
  sink.report = [](void *user, const char *text) { static_cast<Said *>(user)->report += text; };
  sink.is_cancelled = [](void *user) -> int {
    if (gettid() != getpid()) // handlers run in the main thread alone
      return false;
    nb::gil_scoped_acquire acquire;
    auto &said = *static_cast<Said *>(user);
    said.isInterrupted = said.isInterrupted || PyErr_CheckSignals() != 0;
    return said.isInterrupted;
  };
  return sink;
}

void Said::check(tilewright_outcome outcome, tilewright_outcome allowed) const {
  if (isInterrupted)
    throw nb::python_error();
  if (outcome != TILEWRIGHT_FINE && outcome != allowed)
    raise(diagnostics, outcome);
  // Where nothing has failed, what is said are warnings, and notes of what was checked.
  if (outcome == TILEWRIGHT_FINE && diagnostics.find("warning[") != std::string::npos &&
      PyErr_WarnEx(PyExc_RuntimeWarning, diagnostics.c_str(), 1) < 0)
    throw nb::python_error();
}

void defineCompiler(nb::module_ &module) {
  module.def("compile", &compile, nb::arg("model"), nb::arg("json").none(), nb::arg("weights"),
             nb::arg("kernels"), nb::arg("kernel_texts"), nb::arg("target"),
             nb::arg("output").none(), nb::arg("dump_to").none(),
             nb::arg("kernel").none() = nb::none(), nb::arg("preparation").none() = nb::none(),
             nb::arg("is_prepared") = false, nb::arg("precision") = "f32",
             nb::arg("key").none() = nb::none());
  module.def("inspect", &inspect, nb::arg("model"), nb::arg("json").none(), nb::arg("kernels"),
             nb::arg("kernel_texts"), nb::arg("only_unsupported"));
  module.def("compiler_version", [] { return compilerLibrary().version(); });
}

} // namespace tw::python
