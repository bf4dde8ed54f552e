// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright._native: what the Python package is made of. It links the runtime and the
// tracer of kernels, and neither LLVM nor any library of tensors.
#include "kernel/Module.h"
#include "Compiler.h"
#include "Errors.h"
#include "Graph.h"
#include "GraphFunction.h"
#include "Program.h"
#include "Results.h"
#include "Support/CacheFolder.h"
#include "Support/Counted.h"
#include <nanobind/stl/string.h>

namespace nb = nanobind;

NB_MODULE(_native, module) {
  using namespace tw::python;
  defineErrors(module);
  defineMemory(module);
  defineProgram(module);
  defineGraph(module);
  defineGraphFunction(module);
  defineCompiler(module);
  defineKernelLanguage(module);
  module.attr("version") = TW_VERSION;
  // For the package's own refusals: raises the error of a code of docs/errors.md.
  module.def(
      "refuse",
      [](const std::string &code, const nb::str &message, const nb::str &help) {
        auto known = tw::parseCode(code);
        raise(tw::Diagnostic{
            known.value_or(tw::Code::PYTHON_1), escaped(message), {}, {}, escaped(help)});
      },
      nb::arg("code"), nb::arg("message"), nb::arg("help") = "");
  module.def(
      "cache_folder",
      [] {
        auto folder = tw::cacheFolder();
        if (!folder)
          raise(folder.error());
        return nb::steal<nb::str>(
            PyUnicode_DecodeFSDefaultAndSize(folder->data(), Py_ssize_t(folder->size())));
      },
      "The folder of the cache on disk, made where it is missing. Errors: TW-IO-0002 where it "
      "cannot be made, or others may write to it or to a folder above it.");
  module.def(
      "keep", [](nb::handle object) { object.inc_ref(); }, nb::arg("object"),
      "Lets an object live to the end of the process.");
  module.def(
      "escaped", [](const nb::str &text) { return escaped(text); }, nb::arg("text"),
      "The text with lone surrogates and zeros as Python writes them: \\ud800, \\x00.");
  module.def("described", &described, nb::arg("object").none(),
             "\"a str\", \"an int\": for messages.");
  module.def(
      "counted", [](int64_t number, const std::string &one) { return tw::counted(number, one); },
      nb::arg("number"), nb::arg("one"), "\"1 argument\", \"2 arguments\": for messages.");
  module.def("shown", &shown, nb::arg("object").none(),
             "repr(object) for messages: never an error, and not too long.");
}
