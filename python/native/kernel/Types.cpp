// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, indices, scalars, tiles, buffers and dtypes as types of Python.
#include "Docs.h"
#include "Function.h"
#include "Support/SolveSymbols.h"
#include "Values.h"
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <span>

namespace nb = nanobind;
using namespace tw::kernel::detail;
using tw::kernel::Buffer;
using tw::kernel::SymbolRange;

namespace tw::python::kernel {

using KSize = tw::kernel::Size;

/// "f32[1, N]"; of a number or size, that.
template <typename Handle>
static std::string textOf(const Handle &handle) {
  if (auto *value = std::get_if<ValuePtr>(&handle.ref()))
    return typeText((*value)->type);
  if (auto *size = std::get_if<SizePtr>(&handle.ref()))
    return (*size)->str();
  if (auto *number = std::get_if<int64_t>(&handle.ref()))
    return std::to_string(*number);
  return "a number";
}

template <typename Of>
static nb::tuple tupleOfShape(const Of &of, const char *what) {
  Shape shape = traced(what, [&](Tracer &) { return of.shape(here()); });
  nb::list sizes;
  for (const KSize &size : shape)
    sizes.append(Size(size));
  return nb::tuple(sizes);
}

template <typename Of>
static void defineTypeOf(nb::class_<Of> &type) {
  type.def_prop_ro(
          "dtype",
          [](const Of &of) { return traced("dtype", [&](Tracer &) { return of.dtype(here()); }); },
          "The dtype of its elements.")
      .def_prop_ro(
          "shape", [](const Of &of) { return tupleOfShape(of, "shape"); },
          nb::for_getter(nb::sig("def shape(self) -> tuple[Size, ...]")),
          "Its extents, a Size for each dimension.");
  const char *axisType = pythonType<Given<int64_t>>;
  Parameters parameters("size", {{"axis"}});
  std::string signature = parameters.signature(&axisType, pythonType<Size>, /*isMethod=*/true);
  type.def(
      "size",
      [parameters = std::move(parameters)](const Of &of, nb::args given, nb::kwargs named) {
        Given<int64_t> axis;
        parameters.bind(given, named, &axis.object);
        return traced("size", [&](Tracer &) {
          return Size(of.size(taken(axis, "axis of size", here()), here()));
        });
      },
      nb::sig(signature.c_str()), "One extent; -1 is the last.");
}

/// What asks for a value while the kernel is traced, and so cannot have one.
[[noreturn]] static void refuseNow(nb::handle self, const char *what, const char *help) {
  traced(what, [&](Tracer &tracer) {
    tracer.fail(here(),
                fmt::format("{} is known only when the kernel runs, but {} asks for it while the "
                            "kernel is traced",
                            described(self), what),
                help);
  });
  __builtin_unreachable();
}

/// How Python asks for a value: the method, the author's words for it, and what to write instead.
struct Question {
  const char *method, *asks, *help;
};
const Question shapeQuestions[] = {
    {"__len__", "len()", "x.shape has the sizes of a tile, x.size(0) one of them"},
    {"__iter__", "`for`, or taking it apart,",
     "loops of the program are `for k in tk.loop(n)`; tk.slice takes a part of a tile"},
};
const Question numberQuestions[] = {
    {"__float__", "float(), or a function of math,",
     "tk.exp(x) is what math.exp is of numbers, and so on; tk.cast(x, tk.f32) converts"},
    {"__int__", "int()", "tk.cast(x, tk.i64) converts"},
    {"__index__", "range(), or an index of a list,",
     "loops of the program are `for k in tk.loop(n)`; range() and lists unroll"},
    {"__floor__", "math.floor()", "write tk.floor(x)"},
    {"__ceil__", "math.ceil()", "write tk.ceil(x)"},
    {"__trunc__", "math.trunc()", "write tk.trunc(x)"},
};

template <typename T>
static void refuse(nb::class_<T> &type, std::span<const Question> questions) {
  for (const Question &question : questions)
    type.def(question.method, [&question](nb::handle self) -> nb::object {
      refuseNow(self, question.asks, question.help);
    });
}

/// if, and, while; len(x), for a in x. A size may be a number; of others also int(x), range(x).
template <typename T>
static void refuseValues(nb::class_<T> &type, bool isNumber = false) {
  type.def("__bool__", [](nb::handle self) -> bool {
    refuseNow(self, "a condition",
              "tk.select chooses between values, tk.when and tk.branch between what is done; "
              "conditions are joined by & | ~");
  });
  refuse(type, shapeQuestions);
  if (!isNumber)
    refuse(type, numberQuestions);
  type.attr("__hash__") = nb::none();
}

/// x[m, 0] and x[m, 0] = t.
template <typename T>
static void refuseSubscripts(nb::class_<T> &type, const char *reads, const char *writes) {
  auto refuse = [](nb::handle self, const char *help) {
    traced("a subscript", [&](Tracer &tracer) {
      tracer.fail(here(), fmt::format("{} has no subscripts", described(self)), help);
    });
  };
  type.def(
      "__getitem__", [=](nb::handle self, nb::handle) { refuse(self, reads); },
      nb::arg("place").none());
  type.def(
      "__setitem__", [=](nb::handle self, nb::handle, nb::handle) { refuse(self, writes); },
      nb::arg("place").none(), nb::arg("value").none());
}

/// Throws what is wrong with the name or the range.
static Symbol makeSymbol(Given<std::string> givenName, Given<int64_t> min, Given<int64_t> max,
                         Given<int64_t> multiple) {
  Here place = here();
  std::string name = taken(givenName, "the name of a symbol", place);
  SymbolRange range{taken(min, "min of a symbol", place),
                    max.object.is_none() ? INT64_MAX : taken(max, "max of a symbol", place),
                    taken(multiple, "multiple of a symbol", place)};
  if (!tw::Size::isSymbolName(name))
    failAt(place, fmt::format("\"{}\" cannot be the name of a symbol", name),
           "names are letters, digits and _, do not begin with a digit, and are none of floordiv, "
           "ceildiv, mod, symbols and grid");
  if (range.min < 0 || range.max < range.min || range.multiple < 1)
    failAt(place,
           fmt::format("symbol {} cannot have min = {}, max = {}, multiple = {}", name, range.min,
                       range.max, range.multiple),
           "0 <= min <= max and multiple >= 1");
  static uint64_t made = 0; // under the GIL
  return Symbol(std::make_shared<const SymbolInfo>(SymbolInfo{name, range, place, ++made}));
}

/// f32 | bf16: the dtypes of both in a tuple, of which tk.dtype makes a variable.
static nb::object joinedDTypes(nb::handle a, nb::handle b) {
  nb::list all;
  for (nb::handle side : {a, b}) {
    if (nb::isinstance<DType>(side))
      all.append(side);
    else if (PyTuple_Check(side.ptr()))
      all.extend(side);
    else
      return nb::borrow(Py_NotImplemented);
  }
  return nb::tuple(all);
}

static void defineDTypes(nb::module_ &module) {
  nb::enum_<DType> dtype(module, "DType", "The dtype of a tile's or a buffer's elements.");
  for (DType each : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8, DType::i16,
                     DType::i32, DType::i64, DType::u8, DType::i1})
    dtype.value(tw::kernel::detail::dtypeName(each).c_str(), each);
  dtype.def("__or__", &joinedDTypes, nb::is_operator());
  dtype.def(
      "__ror__", [](nb::handle self, nb::handle other) { return joinedDTypes(other, self); },
      nb::is_operator());
  dtype.export_values();
  nb::class_<DTypeVariable>(module, "DTypeVariable", "A dtype that each call chooses.")
      .def(
          "__init__",
          [](DTypeVariable *self, Given<std::string> name, std::vector<DType> choices) {
            new (self) DTypeVariable{taken(name, "the name of a dtype variable", here()),
                                     std::move(choices)};
          },
          nb::arg("name").none(), nb::arg("choices"))
      .def_ro("name", &DTypeVariable::name)
      .def_ro("choices", &DTypeVariable::choices)
      .def("__repr__", [](const DTypeVariable &self) { return self.name; });
}

namespace {

/// Sizes in the arithmetic of Python's numbers, torch.SymInt among them.
struct PythonArithmetic {
  nb::dict values;

  nb::object constant(int64_t value) { return nb::int_(value); }
  nb::object symbol(const std::string &name) { return values[name.c_str()]; }
  nb::object add(const nb::object &a, const nb::object &b) { return a + b; }
  nb::object mul(const nb::object &a, const nb::object &b) { return a * b; }
  nb::object floorDiv(const nb::object &a, const nb::object &b) { return a.floor_div(b); }
  nb::object ceilDiv(const nb::object &a, const nb::object &b) { return -(-a).floor_div(b); }
  nb::object mod(const nb::object &a, const nb::object &b) { return a.attr("__mod__")(b); }
};

/// Support/SolveSymbols.h: of each symbol that follows the equation, the name, factor and offset.
std::vector<nb::tuple> solveSizes(const std::vector<Size> &sizes,
                                  const std::vector<std::string> &known) {
  std::vector<tw::Size> equations;
  for (const Size &size : sizes)
    equations.push_back(*size.expr());
  std::set<std::string> found(known.begin(), known.end());
  auto asSize = [](const tw::Size &value) {
    return Size(KSize(std::make_shared<const SizeExpr>(value)));
  };
  std::vector<nb::tuple> solutions;
  for (const SolvedSymbol &solved : solveSymbols(equations, found))
    solutions.push_back(nb::make_tuple(solved.equation, solved.symbol, asSize(solved.factor),
                                       asSize(solved.offset)));
  return solutions;
}

} // namespace

static nb::class_<Size> defineSizes(nb::module_ &module) {
  nb::class_<Size> size(module, "Size", "A number that is known when the kernel is called.");
  size.def("__repr__",
           [](const Size &self) { return KSize(std::get<SizePtr>(sizeRef(self))).str(); })
      .def_prop_ro(
          "is_constant",
          [](const Size &self) { return std::get<SizePtr>(sizeRef(self))->constant().has_value(); },
          "Whether it is a number while the kernel is traced: it has no symbols, or a "
          "request binds them.");
  size.def("_evaluate", [](const Size &self, nb::dict values) {
    return self.expr()->build(PythonArithmetic{values});
  });
  size.def_static("_solve", &solveSizes);
  size.def_prop_ro("_symbols", [](const Size &self) {
    nb::list symbols;
    for (const SymbolInfoPtr &info : self.symbols)
      symbols.append(Symbol(info));
    return symbols;
  });
  refuseValues(size, /*isNumber=*/true);
  auto number = [](const Size &self) {
    KSize bound(std::get<SizePtr>(sizeRef(self)));
    if (bound.isConstant())
      return bound.constant();
    return traced("a size", [&](Tracer &) { return bound.constant(here()); });
  };
  for (const char *name : {"__index__", "__int__"})
    size.def(name, number);
  size.def("__float__", [number](const Size &self) { return double(number(self)); });
  nb::class_<Symbol, Size>(module, "Symbol", "A size that calls bring.")
      .def_prop_ro(
          "name", [](const Symbol &self) { return self.info().name; },
          "The name that programs and messages have.")
      .def_prop_ro(
          "min", [](const Symbol &self) { return self.info().range.min; },
          "The least value of a call.")
      .def_prop_ro(
          "max", [](const Symbol &self) { return self.info().range.max; },
          "The greatest value of a call.")
      .def_prop_ro(
          "multiple", [](const Symbol &self) { return self.info().range.multiple; },
          "What every value is a multiple of.")
      .def_prop_ro("_number", [](const Symbol &self) { return self.info().number; });
  define(module, "symbol", &makeSymbol,
         {{"name"},
          {"min", nb::int_(0), true},
          {"max", nb::none(), true},
          {"multiple", nb::int_(1), true}},
         docOf("symbol"));
  return size;
}

void defineValues(nb::module_ &module) {
  defineDTypes(module);
  nb::class_<Size> size = defineSizes(module);
  nb::class_<Index> index(module, "Index", "An integer that is known when a program runs.");
  index.def("__repr__", &textOf<Index>);
  nb::class_<Scalar> scalar(module, "Scalar", "One number that is known when a program runs.");
  scalar.def("__repr__", &textOf<Scalar>);
  nb::class_<Tile> tile(module, "Tile", "A block of elements with a shape and a dtype.");
  tile.def("__repr__", &textOf<Tile>);
  defineTypeOf(tile);
  refuseValues(index);
  refuseValues(scalar);
  refuseValues(tile);
  defineOperators(size, index, scalar, tile);
  refuseSubscripts(tile, "tk.slice takes a part of a tile, tk.extract the element of a tile of one",
                   "tiles do not change: tk.select chooses between elements of two");
  nb::class_<Buffer> buffer(module, "Buffer", "Memory of the caller with a shape and a dtype.");
  refuseSubscripts(buffer, "tk.load(x, [m, 0], [1, N]) reads a tile",
                   "tk.store(y, [m, 0], tile) writes a tile");
  defineTypeOf(buffer);
  refuse(buffer, shapeQuestions);
  refuse(buffer, numberQuestions);
  defineRefusals(buffer);
  buffer.def("__repr__", [](const Buffer &self) {
    const auto &info = *self.impl();
    return fmt::format("{}: {}{}", info.name, dtypeName(info.dtype), shapeText(info.shape));
  });
}

} // namespace tw::python::kernel
