// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as text, given to the compiler: printed, run by the interpreter, checked.
#include "Arguments.h"
#include "Compiler.h"
#include "Module.h"
#include "Results.h"
#include "Support/Counted.h"
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace tw::python {

namespace {

/// A kernel that the compiler has read.
class OpenKernel {
public:
  explicit OpenKernel(const std::string &text) {
    tilewright_kernel_options options = {};
    options.struct_size = sizeof options;
    options.text = text.c_str();
    // As `ask` does, but the last argument stands behind the sink.
    const cli::CompilerLibrary &compiler = compilerLibrary();
    Said said;
    tilewright_sink sink = said.sink();
    tilewright_outcome outcome;
    tilewright_kernel *opened = nullptr;
    {
      Unlocked unlocked;
      outcome = compiler.openKernel(&options, &sink, &said, &opened);
    }
    kernel.reset(opened);
    said.check(outcome);
    for (size_t i = 0; const auto *argument = compiler.kernelArgument(opened, i); ++i)
      (argument->is_input ? inputs : outputs).push_back(*argument);
  }

  std::string print() { return ask(&cli::CompilerLibrary::printKernel, kernel.get()).report; }

  std::string printCode(const std::string &level, const std::string &target) {
    return ask(&cli::CompilerLibrary::printKernelCode, kernel.get(), level.c_str(), target.c_str())
        .report;
  }

  /// Runs the kernel, which messages call `name`, on these objects, of which some are `scalars`.
  /// (results, diagnostics, JSON of what was found)
  nb::tuple run(const std::string &name, const nb::list &given, const std::vector<bool> &scalars,
                const std::string &target, bool f64, bool check, double rtol, double atol) {
    Callee callee{name.c_str()};
    if (nb::len(given) != inputs.size() || scalars.size() != inputs.size())
      raise(
          Diagnostic{Code::PYTHON_3, fmt::format("{}it takes {}, but {} {} given", callee.prefix(),
                                                 counted(inputs.size(), "argument"), nb::len(given),
                                                 oneOrMany(nb::len(given), "is", "are"))});
    Arguments arguments(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      tw_value_info info = valueInfo(inputs[i], scalars[i]);
      Slot slot(info, inputRole, callee);
      slot.wanted = scalars[i] ? nullptr : inputs[i].type;
      arguments.add(slot, given[i]);
      checkMemory(slot, arguments.tensors().back());
    }
    tilewright_kernel_run_options options = {};
    options.struct_size = sizeof options;
    options.inputs = arguments.tensors().data();
    options.input_count = arguments.tensors().size();
    options.target = target.c_str();
    options.f64 = f64;
    options.check = check;
    options.json = 1;
    options.rtol = rtol;
    options.atol = atol;
    Said said = askAllowing(TILEWRIGHT_RESULTS_DIFFER, &cli::CompilerLibrary::runKernel,
                            kernel.get(), &options);
    return nb::make_tuple(results(arguments), said.diagnostics, said.report);
  }

private:
  /// Sizes are checked by the kernel's own rules.
  static tw_value_info valueInfo(const tilewright_kernel_argument &argument, bool isScalar) {
    tw_value_info info = {};
    info.name = argument.name;
    info.dtype = argument.dtype;
    info.rank = isScalar ? 0 : -1;
    info.kind = !isScalar                   ? TW_KIND_TENSOR
                : argument.dtype == TW_F64  ? TW_KIND_FLOAT
                : argument.dtype == TW_BOOL ? TW_KIND_BOOL
                                            : TW_KIND_INT;
    return info;
  }

  /// A tensor may have lost its memory, or be a functional one of torch, which has none.
  static void checkMemory(const Slot &slot, const tw_tensor &tensor) {
    if (!tensor.data && tensor.bytes)
      raise(Diagnostic{Code::RUNTIME_14,
                       fmt::format("{}input \"{}\" has no data, but its sizes need {}",
                                   slot.callee.prefix(), slot.value.name,
                                   counted(tensor.bytes, "byte"))});
  }

  nb::list results(const Arguments &arguments) {
    Library library = arguments.library() == Library::None ? Library::NumPy : arguments.library();
    Results made(library == Library::Torch ? importedTorchApi() : nullptr);
    const cli::CompilerLibrary &compiler = compilerLibrary();
    nb::list list;
    for (size_t i = 0; const tw_tensor *tensor = compiler.kernelOutput(kernel.get(), i); ++i) {
      void *memory = Results::allocate(&made, static_cast<int32_t>(i), tensor);
      made.checkAllocations();
      if (tensor->bytes)
        std::memcpy(memory, tensor->data, static_cast<size_t>(tensor->bytes));
      list.append(made.tensor(i, library, arguments.other()));
    }
    return list;
  }

  struct Close {
    void operator()(tilewright_kernel *kernel) const { compilerLibrary().closeKernel(kernel); }
  };
  std::unique_ptr<tilewright_kernel, Close> kernel;
  std::vector<tilewright_kernel_argument> inputs, outputs;
};

} // namespace

void defineOpenKernel(nb::module_ &module) {
  nb::class_<OpenKernel>(module, "_OpenKernel")
      .def(nb::init<const std::string &>())
      .def("print", &OpenKernel::print)
      .def("print_code", &OpenKernel::printCode)
      .def("run", &OpenKernel::run);
}

} // namespace tw::python
