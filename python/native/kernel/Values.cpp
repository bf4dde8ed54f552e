// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Values.h"
#include <algorithm>
#include <fmt/format.h>

namespace nb = nanobind;
using namespace tw::kernel::detail;

namespace tw::python::kernel {

using KSize = tw::kernel::Size;

Symbol::Symbol(SymbolInfoPtr info)
    : Size(KSize(std::make_shared<const SizeExpr>(tw::Size::symbol(info->name))), {info}) {}

Size sizeFrom(const KSize &size, nb::handle a, nb::handle b) {
  std::vector<SymbolInfoPtr> symbols;
  for (nb::handle each : {a, b})
    if (nb::isinstance<Size>(each))
      for (const SymbolInfoPtr &info : nb::cast<const Size &>(each).symbols)
        if (std::find(symbols.begin(), symbols.end(), info) == symbols.end())
          symbols.push_back(info);
  return {size, std::move(symbols)};
}

bool isFlag(nb::handle object) {
  std::string_view type = Py_TYPE(object.ptr())->tp_name;
  return PyBool_Check(object.ptr()) || type == "numpy.bool" || type == "numpy.bool_";
}

static bool isTrue(nb::handle flag) { return PyObject_IsTrue(flag.ptr()) == 1; }

/// Whether it is a number that floats can be of: one of NumPy's floats, a Fraction.
static bool isReal(nb::handle object) {
  static const nb::handle real = nb::object(nb::module_::import_("numbers").attr("Real")).release();
  return PyObject_IsInstance(object.ptr(), real.ptr()) == 1;
}

/// Whether it is an integer, of Python or of NumPy, or says that it can be one.
static bool isInteger(nb::handle object) {
  return PyIndex_Check(object.ptr()) && !nb::isinstance<tw::kernel::Buffer>(object);
}

Kind kindOf(nb::handle object) {
  if (nb::isinstance<Tile>(object))
    return Kind::Tile;
  if (nb::isinstance<Index>(object))
    return Kind::Index;
  if (nb::isinstance<Size>(object))
    return Kind::Size;
  if (nb::isinstance<Scalar>(object) || PyFloat_Check(object.ptr()) || isFlag(object))
    return Kind::Scalar;
  if (isInteger(object))
    return Kind::Integer;
  return isReal(object) ? Kind::Scalar : Kind::None;
}

Ref sizeRef(const KSize &size) {
  ActiveTrace *trace = activeTrace();
  if (!trace || trace->numbers.empty())
    return size.expr();
  tw::Size number = size.expr()->substitute(trace->numbers);
  return std::make_shared<const SizeExpr>(std::move(number));
}

/// The integer that an object is, in 64 bits; else calls refuse(what it is, what to do), which is
/// to give `wanted` where it is none.
template <typename Refuse>
static int64_t integerOf(nb::handle object, Refuse refuse, const char *wanted) {
  nb::object number = nb::steal(PyNumber_Index(object.ptr()));
  if (!number.is_valid()) {
    if (!PyErr_ExceptionMatches(
            PyExc_TypeError)) // the object's own, as of a size that is not known
      throw nb::python_error();
    PyErr_Clear();
    refuse(described(object), wanted);
  }
  int overflow = 0;
  int64_t value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow)
    refuse(shown(number), "integers of kernels are from -2**63 to 2**63 - 1");
  return value;
}

int64_t taken(Given<int64_t> given, const char *what, Here here) {
  auto refuse = [&](const std::string &is, const char *help) {
    failAt(here, fmt::format("{} is {}", what, is), help);
  };
  return integerOf(given.object, refuse, "give an integer");
}

bool taken(Given<bool> given, const char *what, Here here) {
  if (!isFlag(given.object))
    failAt(here, fmt::format("{} is {}", what, shown(given.object)), "give True or False");
  return isTrue(given.object);
}

std::string taken(Given<std::string> given, const char *what, Here here) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_Check(given.object.ptr())
                         ? PyUnicode_AsUTF8AndSize(given.object.ptr(), &size)
                         : nullptr;
  if (!text ||
      std::string_view(text, static_cast<size_t>(size)).find('\0') != std::string_view::npos) {
    PyErr_Clear();
    failAt(here, fmt::format("{} is {}", what, shown(given.object)), "give a text");
  }
  return std::string(text, static_cast<size_t>(size));
}

Ref refOf(nb::handle object) {
  if (nb::isinstance<Tile>(object))
    return nb::cast<const Tile &>(object).ref();
  if (nb::isinstance<Index>(object))
    return nb::cast<const Index &>(object).ref();
  if (nb::isinstance<Scalar>(object))
    return nb::cast<const Scalar &>(object).ref();
  if (nb::isinstance<Size>(object))
    return sizeRef(nb::cast<const Size &>(object));
  if (isFlag(object))
    return isTrue(object);
  if (PyFloat_Check(object.ptr()))
    return PyFloat_AsDouble(object.ptr());
  auto refuse = [](const std::string &what, const char *help) {
    failAt(here(), fmt::format("{} is no value of a kernel", what), help);
  };
  const char *values =
      "values are tiles, scalars, indices, sizes and numbers; tensors are arguments of the kernel";
  if (isInteger(object))
    return integerOf(object, refuse, values);
  if (isReal(object)) {
    double number = PyFloat_AsDouble(object.ptr());
    if (!PyErr_Occurred())
      return number;
    PyErr_Clear();
    refuse(shown(object), "numbers of kernels are those of f64 and 64-bit integers");
  }
  refuse(described(object), values);
  __builtin_unreachable();
}

Ref carriedOf(nb::handle object) {
  Ref ref = refOf(object);
  auto *number = std::get_if<int64_t>(&ref);
  return number ? Ref(KSize(*number).expr()) : ref;
}

[[noreturn]] static void refuse(Tracer &tracer, nb::handle object, const char *what,
                                const char *wanted, Here here) {
  tracer.fail(here, fmt::format("{} got {}", what, described(object)),
              fmt::format("it takes {}", wanted));
}

KSize sizeOf(Tracer &tracer, nb::handle object, const char *what, Here here) {
  Kind kind = kindOf(object);
  if (kind == Kind::Index)
    tracer.fail(
        here, fmt::format("{} got an Index, which is known only when the program runs", what),
        "sizes are integers, symbols, and what is made of these: all programs have the same");
  if (kind != Kind::Size && kind != Kind::Integer && !isFlag(object))
    refuse(tracer, object, what, "sizes: integers, symbols, and what is made of these", here);
  Ref ref = refOf(object);
  if (auto *size = std::get_if<SizePtr>(&ref))
    return KSize(*size);
  auto *number = std::get_if<int64_t>(&ref);
  return KSize(number ? *number : int64_t(std::get<bool>(ref)));
}

Index indexOf(Tracer &tracer, nb::handle object, const char *what, Here here) {
  switch (kindOf(object)) {
  case Kind::Integer:
  case Kind::Size:
  case Kind::Index:
    return Index(refOf(object));
  case Kind::Scalar:
    if (nb::isinstance<Scalar>(object))
      return Index(nb::cast<const Scalar &>(object), here);
    [[fallthrough]];
  default:
    refuse(tracer, object, what,
           nb::isinstance<nb::tuple>(object)
               ? "an integer, a size or an Index; tk.grid gives a tuple: m, = tk.grid(M)"
               : "an integer, a size or an Index; tk.extract(tile) gives the number in a tile of "
                 "one element",
           here);
  }
}

Scalar scalarOf(Tracer &tracer, nb::handle object, const char *what, Here here) {
  Kind kind = kindOf(object);
  if (kind == Kind::None || kind == Kind::Tile)
    refuse(tracer, object, what,
           kind == Kind::Tile
               ? "one number: tk.extract(tile) gives the one in a tile of one element"
               : "a number",
           here);
  return Scalar(refOf(object));
}

Tile tileOf(Tracer &tracer, nb::handle object, const char *what, Here here) {
  if (!nb::isinstance<Tile>(object))
    refuse(tracer, object, what, "a Tile; tk.full(shape, number) makes one of a number", here);
  return nb::cast<const Tile &>(object);
}

/// The elements of a list or tuple.
template <typename Element>
static auto each(Tracer &tracer, nb::handle object, const char *what, const char *wanted, Here here,
                 Element element) {
  if (!nb::isinstance<nb::list>(object) && !nb::isinstance<nb::tuple>(object))
    refuse(tracer, object, what, wanted, here);
  std::vector<decltype(element(object))> elements;
  for (nb::handle each : object)
    elements.push_back(element(each));
  return elements;
}

Shape shapeOf(Tracer &tracer, nb::handle object, const char *what, Here here) {
  return each(tracer, object, what, "a list of sizes: [1, N]", here,
              [&](nb::handle one) { return sizeOf(tracer, one, what, here); });
}

std::vector<int64_t> integersOf(Tracer &tracer, nb::handle object, const char *what, Here here) {
  return each(tracer, object, what, "a list of integers", here, [&](nb::handle one) {
    KSize size = sizeOf(tracer, one, what, here);
    return size.constant(here);
  });
}

Positions positionsOf(Tracer &tracer, nb::handle object, const char *what, Here here) {
  return each(tracer, object, what, "a list of positions, one for each dimension: [m, 0]", here,
              [&](nb::handle one) -> tw::kernel::Position {
                if (nb::isinstance<Tile>(one))
                  return nb::cast<const Tile &>(one);
                return indexOf(tracer, one, what, here);
              });
}

DType dtypeOf(Tracer &tracer, nb::handle object, const char *what, Here here) {
  if (nb::isinstance<DType>(object))
    return nb::cast<DType>(object);
  if (!nb::isinstance<DTypeVariable>(object))
    refuse(tracer, object, what, "a dtype: tk.f32", here);
  const std::string &name = nb::cast<const DTypeVariable &>(object).name;
  auto known = activeTrace()->dtypes.find(name);
  if (known == activeTrace()->dtypes.end())
    tracer.fail(
        here, fmt::format("{} got the dtype variable {}, which is not of this kernel", what, name),
        "annotate an argument with it");
  return known->second;
}

nb::object wrap(const Ref &ref) {
  if (auto *value = std::get_if<ValuePtr>(&ref)) {
    if ((*value)->type.isTile)
      return nb::cast(Tile(ref));
    if ((*value)->type.dtype == DType::index)
      return nb::cast(Index(ref));
    return nb::cast(Scalar(ref));
  }
  if (auto *size = std::get_if<SizePtr>(&ref))
    return nb::cast(Size(KSize(*size)));
  return ref.index() == 0 ? nb::none() : nb::cast(Scalar(ref));
}

} // namespace tw::python::kernel
