// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracing a function of Python, and what kernels are called with.
#include "Language/Trace.h"
#include "Docs.h"
#include "Errors.h"
#include "Function.h"
#include "Language/Destinations.h"
#include "Values.h"
#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace tw::kernel::detail;
using tw::kernel::Binding;
using tw::kernel::Buffer;
using tw::kernel::Phrases;
using tw::kernel::TraceResult;

namespace tw::python::kernel {

namespace {

/// How messages spell what authors write in Python.
const Phrases inPython = {
    .isSnakeCase = true,
    .branch = "branch",
    .floorDiv = "//",
    .ceilDiv = "cdiv",
    .mod = "%",
    .atomicAny = "atomic=\"any\"",
    .noGrid = "say how many programs run: m, = tk.grid(M)",
    .gridFirst = "say how many programs run first: tk.grid(M)",
    .undeclared = "use {} as a size of an argument, or annotate one with it: n: {}",
    .unbound = "use it as the size of an argument that is tk.In or tk.InOut, or annotate one with "
               "it: n: {}",
    .unstored = "store to it, or give it a value that it is filled with: "
                "tk.Out[dtype, M, N, tk.filled(0)]",
    .unknownSize = "loops of the program are `for k in tk.loop(N)`; ask size.is_constant before "
                   "range(N) or int(N), or bind its symbols",
    .noQuotient = sizeQuotientHelp,
    .noRemainder = "write a % b",
    .unrolled = "loops of Python are unrolled while the kernel is traced: does this one end? Loops "
                "of the program are `for k in tk.loop(n)`",
    .ended = "carry it: `for k, s in tk.loop(n, x=first)` has s.x after it; tk.branch gives back "
             "what its functions return",
};

/// The definition being traced; declarations are told to be there.
Here definitionPlace() { return activeTrace()->tracer->program().here; }

/// The text of a kernel. `run` declares its arguments and calls the author's function.
std::string traceKernel(Given<std::string> givenName, const nb::callable &run,
                        const std::map<std::string, int64_t> &bindings,
                        const std::map<std::string, DType> &dtypes, const std::string &file,
                        uint32_t line) {
  std::vector<Binding> bound;
  for (const auto &[key, value] : bindings)
    bound.push_back({key, value});
  Here place(lasting(file), line, 0);
  std::string name = taken(givenName, "the name of a kernel", place);
  std::exception_ptr thrown;
  auto body = [&] {
    Tracer &tracer = *Tracer::current();
    ActiveTrace trace{name, &tracer, {}, dtypes};
    Activation activation(trace);
    try {
      run();
    } catch (nb::python_error &) {
      thrown = std::current_exception();
      throw Failed();
    }
    if (tracer.depth() > 1 && !tracer.error())
      tracer.fail(tracer.deepest().here, tracer.deepest().what + " has not ended",
                  "loops of the program are `for k in tk.loop(n)`, branches `with tk.when(c):`");
  };
  TraceResult result = tw::kernel::trace(name, body, bound, place, inPython);
  if (thrown)
    std::rethrow_exception(thrown);
  if (result.error)
    raiseMistake(*result.error, name);
  return result.text;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// From now on the symbol is one of the kernel, or the number that the request binds it to.
void declareSymbol(const Symbol &symbol) {
  traced("a symbol", [&](Tracer &tracer) {
    const SymbolInfo &info = symbol.info();
    tw::Size size = tracer.declareSymbol(info.place, info.name, info.range);
    if (size.constant())
      activeTrace()->numbers[info.name] = size;
  });
}

int64_t declareParameter(const std::string &name, int64_t value, bool isSize) {
  return traced("a parameter", [&](Tracer &tracer) {
    int64_t chosen = tracer.declareParameter(definitionPlace(), name, value);
    if (isSize)
      activeTrace()->numbers[name] = tw::Size(chosen);
    return chosen;
  });
}

Buffer declareBuffer(const std::string &access, const std::string &name, nb::handle dtype,
                     nb::handle shape, nb::handle init) {
  return traced("an argument", [&](Tracer &tracer) {
    Here place = definitionPlace();
    std::string what = "argument " + name;
    DType element = dtypeOf(tracer, dtype, what.c_str(), place);
    Shape sizes = shapeOf(tracer, shape, what.c_str(), place);
    if (access == "in")
      return input(name, element, sizes, place);
    if (access == "inout")
      return inout(name, element, sizes, place);
    Scalar fill = init.is_none() ? Scalar() : scalarOf(tracer, init, what.c_str(), place);
    return output(name, element, sizes, fill, place);
  });
}

nb::object declareScalar(const std::string &name, nb::handle dtype) {
  return traced("an argument", [&](Tracer &tracer) {
    DType type = dtypeOf(tracer, dtype, ("argument " + name).c_str(), definitionPlace());
    return nb::cast(scalar(name, type, definitionPlace()));
  });
}

/// An argument that brings a symbol's value, called like it.
void declareSymbolArgument(const Symbol &symbol) {
  traced("an argument", [&](Tracer &tracer) {
    const std::string &name = symbol.info().name;
    bool isNumber = activeTrace()->numbers.contains(name);
    tracer.declareScalar(definitionPlace(), name, DType::index, isNumber ? "" : name);
  });
}

nb::tuple grid(nb::args sizes, nb::kwargs named) {
  return traced("grid", [&](Tracer &tracer) {
    if (nb::len(named))
      tracer.fail(here(), "grid got an argument by name", "it is grid(M, N): sizes, by place");
    nb::list ids;
    for (const Index &id : tw::kernel::gridOf(shapeOf(tracer, sizes, "grid", here()), here()))
      ids.append(id);
    return nb::tuple(ids);
  });
}

Index programId(Given<int64_t> dimension) {
  return traced("program_id", [&](Tracer &) {
    return tw::kernel::programId(taken(dimension, "the dimension of program_id", here()), here());
  });
}

void hint(Given<std::string> name, nb::handle values) {
  traced("hint", [&](Tracer &tracer) {
    tw::kernel::hint(taken(name, "the name of hint", here()),
                     integersOf(tracer, values, "hint", here()), here());
  });
}

} // namespace

void defineTrace(nb::module_ &module) {
  module.def("_trace", &traceKernel);
  module.def("_is_tracing", [] { return activeTrace() != nullptr; });
  module.def("_declare_symbol", &declareSymbol);
  module.def("_declare_parameter", &declareParameter);
  module.def("_declare_buffer", &declareBuffer, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg().none());
  module.def("_declare_scalar", &declareScalar);
  module.def("_declare_symbol_argument", &declareSymbolArgument);
  // A mistake in the author's line, or in a line that is given.
  module.def(
      "_fail",
      [](const nb::str &message, const nb::str &help, const std::string &file, uint32_t line) {
        failAt(file.empty() ? here() : Here(lasting(file), line, 0), escaped(message),
               escaped(help));
      },
      nb::arg("message"), nb::arg("help") = "", nb::arg("file") = "", nb::arg("line") = 0);
  module.def("grid", &grid, nb::sig("def grid(*sizes: object) -> tuple[Index, ...]"),
             docOf("grid"));
  define(module, "program_id", &programId, {{"dimension"}}, docOf("program_id"));
  define(module, "hint", &hint, {{"name"}, {"values"}}, docOf("hint"));
}

} // namespace tw::python::kernel
