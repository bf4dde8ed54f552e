// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's operators on values of the kernel language. Those of sizes and indices round as Python's
// do; what C++ and Python understand differently (/ and % of tiles of integers) is refused, and
// tk.div and tk.rem say which is meant.
#include "Values.h"
#include <algorithm>
#include <cstring>
#include <nanobind/stl/string.h>
#include <span>

namespace nb = nanobind;
using namespace tw::kernel::detail;

namespace tw::python::kernel {

using KSize = tw::kernel::Size;
using tw::kernel::Buffer;

namespace {

constexpr const char *torchName = "__torch_function__";

/// What the C++ operators take, with the place of the operator.
template <typename Handle>
typename Handle::Operand operand(nb::handle object, Here place) {
  if constexpr (std::is_same_v<Handle, KSize>) {
    Ref ref = refOf(object);
    auto *size = std::get_if<SizePtr>(&ref);
    return {size ? KSize(*size) : KSize(std::get<int64_t>(ref)), place};
  } else {
    return {Handle(refOf(object)), place};
  }
}

/// A result whose type depends on the operands', to type checkers.
struct AnyValue : nb::object {
  static constexpr auto Name = nb::detail::const_name("typing.Any");
  AnyValue(nb::object value) : nb::object(std::move(value)) {}
};

nb::object notImplemented() { return nb::borrow(Py_NotImplemented); }

/// An operator that sizes and indices have not.
[[noreturn]] void refuseOperator(const char *symbol) {
  failAt(here(), std::string("sizes and indices have no ") + symbol,
         std::string_view(symbol) == "**" ? "write n * n"
                                          : "tk.cast(n, tk.i64) is a scalar, which has it");
}

/// Applies an operator to two operands of one kind; sizes work outside of kernels too.
template <typename Handle, typename Operator>
nb::object applyAs(nb::handle a, nb::handle b, Operator op, const char *symbol) {
  using Operand = typename Handle::Operand;
  if constexpr (!std::is_invocable_v<Operator, Operand &, Operand &>) {
    refuseOperator(symbol);
  } else {
    Here place = here();
    Operand x = operand<Handle>(a, place), y = operand<Handle>(b, place);
    constexpr bool isSize = std::is_same_v<decltype(op(x, y)), KSize>;
    if constexpr (isSize) {
      auto made = [&] { return nb::cast(sizeFrom(op(x, y), a, b)); };
      return activeTrace() ? traced(symbol, [&](Tracer &) { return made(); }) : made();
    } else {
      return traced(symbol, [&](Tracer &) { return nb::cast(op(x, y)); });
    }
  }
}

/// Applies an operator to operands of any kind: the more dynamic one decides.
template <typename Operator>
nb::object apply(nb::handle a, nb::handle b, Operator op, const char *symbol) {
  Kind x = kindOf(a), y = kindOf(b);
  if (x == Kind::None || y == Kind::None)
    return notImplemented();
  switch (std::max(x, y)) {
  case Kind::Tile:
    return applyAs<Tile>(a, b, op, symbol);
  case Kind::Scalar:
    return applyAs<Scalar>(a, b, op, symbol);
  case Kind::Index:
    return applyAs<Index>(a, b, op, symbol);
  default:
    return applyAs<KSize>(a, b, op, symbol);
  }
}

template <typename Operand>
constexpr bool counts =
    std::is_same_v<Operand, KSize::Operand> || std::is_same_v<Operand, Index::Operand>;

constexpr const char *quotientHelp =
    "tk.div(a, b) rounds integers to 0, and tk.floor(a / b) floats down";
constexpr const char *remainderHelp =
    "tk.rem(a, b) has the sign of a, as C's; a - b * tk.floor(a / b) that of b";

/// What of tiles and scalars Python and C++ understand differently.
template <typename Operand>
[[noreturn]] void refuseRounding(const Operand &a, const char *symbol, const char *advice) {
  activeTrace()->tracer->fail(
      a.here, std::string(symbol) + " of tiles and scalars does not say how it rounds", advice);
}

/// Of sizes and indices.
template <typename Operand>
auto floorQuotient(Operand &a, Operand &b) {
  if constexpr (counts<Operand>)
    return floorDiv(a, b);
  else
    return refuseRounding(a, "//", quotientHelp), Tile();
}
template <typename Operand>
auto remainder(Operand &a, Operand &b) {
  if constexpr (counts<Operand>)
    return mod(a, b);
  else
    return refuseRounding(a, "%", remainderHelp), Tile();
}

/// & and | of tiles; of scalars, which are conditions, && and ||.
template <typename Operand>
  requires(!counts<Operand>)
auto both(Operand &a, Operand &b) {
  if constexpr (std::is_same_v<Operand, Tile::Operand>)
    return a & b;
  else
    return a && b;
}
template <typename Operand>
  requires(!counts<Operand>)
auto either(Operand &a, Operand &b) {
  if constexpr (std::is_same_v<Operand, Tile::Operand>)
    return a | b;
  else
    return a || b;
}

/// Of tiles of floats and of scalars that are floats; sizes and indices refuse it themselves.
template <typename Operand>
auto quotient(Operand &a, Operand &b) {
  if constexpr (!counts<Operand>) {
    for (const Operand *each : {&a, &b})
      if (auto *value = std::get_if<ValuePtr>(&each->ref);
          value && !isFloat((*value)->type.dtype) && (*value)->type.dtype != DType::index)
        activeTrace()->tracer->fail(
            a.here, "/ of " + typeText((*value)->type) + " does not say how it rounds",
            "tk.div(a, b) rounds to 0; tk.cast(a, tk.f32) / b is a fraction");
  }
  if (!activeTrace()) // of sizes, which are declared outside of kernels
    raiseMistake(
        {"sizes have no /", sizeQuotientHelp, a.here.file(), a.here.line(), a.here.column()}, "");
  return a / b;
}

#define BINARY(name, ufunc, symbol, expression)                                                    \
  {"__" name "__", "__r" name "__", ufunc, symbol, [](nb::handle left, nb::handle right) {         \
     return apply(                                                                                 \
         left, right, [](auto &a, auto &b) -> decltype(expression) { return expression; },         \
         symbol);                                                                                  \
   }}

struct BinaryRow {
  const char *name, *reflected, *ufunc, *symbol; // ufunc: what NumPy's numbers call for it
  nb::object (*function)(nb::handle left, nb::handle right);
};

const BinaryRow binaryRows[] = {
    BINARY("add", "add", "+", a + b),
    BINARY("sub", "subtract", "-", a - b),
    BINARY("mul", "multiply", "*", a *b),
    BINARY("truediv", "divide", "/", quotient(a, b)),
    BINARY("floordiv", "floor_divide", "//", floorQuotient(a, b)),
    BINARY("mod", "remainder", "%", remainder(a, b)),
    BINARY("pow", "power", "**", pow(a, b)),
    BINARY("and", "bitwise_and", "&", both(a, b)),
    BINARY("or", "bitwise_or", "|", either(a, b)),
    BINARY("xor", "bitwise_xor", "^", a ^ b),
    BINARY("lshift", "left_shift", "<<", a << b),
    BINARY("rshift", "right_shift", ">>", a >> b),
};

const BinaryRow comparisonRows[] = {
    BINARY("eq", "equal", "==", a == b), BINARY("ne", "not_equal", "!=", a != b),
    BINARY("lt", "less", "<", a < b),    BINARY("le", "less_equal", "<=", a <= b),
    BINARY("gt", "greater", ">", a > b), BINARY("ge", "greater_equal", ">=", a >= b),
};

//===----------------------------------------------------------------------===//
// Functions of NumPy and PyTorch
//===----------------------------------------------------------------------===//

/// Which of the arguments is a value of the language, as messages call it.
std::string describedValue(nb::handle arguments) {
  for (nb::handle each : arguments)
    if (nb::isinstance<Tile>(each) || nb::isinstance<Scalar>(each) || nb::isinstance<Index>(each) ||
        nb::isinstance<Size>(each) || nb::isinstance<Buffer>(each))
      return described(each);
  return "a value of a kernel";
}

/// Where functions of this language have other names than NumPy's and PyTorch's.
constexpr std::pair<std::string_view, const char *> otherNames[] = {
    {"absolute", "abs"},  {"arccos", "acos"},     {"arccosh", "acosh"}, {"arcsin", "asin"},
    {"arcsinh", "asinh"}, {"arctan", "atan"},     {"arctanh", "atanh"}, {"arctan2", "atan2"},
    {"isnan", "is_nan"},  {"rint", "round_even"}, {"where", "select"},  {"matmul", "dot"}};

/// A function of another library that is given values of the language.
[[noreturn]] void refuseFunction(const char *library, nb::handle function, nb::handle arguments) {
  std::string name = nb::hasattr(function, "__name__") ? nb::str(function.attr("__name__")).c_str()
                                                       : shown(function);
  std::string ours = name;
  for (const auto &[theirs, known] : otherNames)
    if (name == theirs)
      ours = known;
  bool isOurs = nb::hasattr(nb::module_::import_("tilewright.kernel"), ours.c_str());
  failAt(here(), library + ("." + name) + " got " + describedValue(arguments),
         isOurs ? "write tk." + ours + ", which computes when the kernel runs"
                : "functions of tilewright.kernel compute when the kernel runs; arrays and tensors "
                  "are arguments of the kernel");
}

/// Operators between NumPy's numbers and values of the language come as functions of NumPy.
AnyValue numpyFunction(nb::handle function, const std::string &method, nb::handle inputs,
                       nb::handle named) {
  std::string name = nb::str(function.attr("__name__")).c_str();
  bool isPlain = method == "__call__" && nb::len(inputs) == 2 && nb::len(named) == 0;
  for (std::span<const BinaryRow> rows :
       {std::span<const BinaryRow>(binaryRows), std::span<const BinaryRow>(comparisonRows)})
    for (const BinaryRow &row : rows)
      if (isPlain && name == row.ufunc)
        if (nb::object made = row.function(inputs[0], inputs[1]);
            !made.is(nb::handle(Py_NotImplemented)))
          return made;
  refuseFunction("numpy", function, inputs);
}

AnyValue matrixProduct(nb::handle a, nb::handle b) {
  if (kindOf(a) != Kind::Tile || kindOf(b) != Kind::Tile)
    return notImplemented();
  return traced("@", [&](Tracer &) {
    return nb::cast(dot(nb::cast<const Tile &>(a), nb::cast<const Tile &>(b), here()));
  });
}

AnyValue negated(nb::handle self) {
  Here place = here();
  if (kindOf(self) == Kind::Size)
    return applyAs<KSize>(nb::int_(0), self, [](auto &a, auto &b) { return a - b; }, "-");
  return traced("-", [&](Tracer &) -> nb::object {
    switch (kindOf(self)) {
    case Kind::Tile:
      return nb::cast(-operand<Tile>(self, place));
    case Kind::Scalar:
      return nb::cast(-operand<Scalar>(self, place));
    default:
      return nb::cast(-operand<Index>(self, place));
    }
  });
}

AnyValue inverted(nb::handle self) {
  Here place = here();
  return traced("~", [&](Tracer &) -> nb::object {
    if (kindOf(self) == Kind::Tile)
      return nb::cast(~operand<Tile>(self, place));
    return nb::cast(!operand<Scalar>(self, place));
  });
}

/// What NumPy and PyTorch ask of objects that are none of theirs.
template <typename T>
void defineProtocols(nb::class_<T> &type) {
  type.def("__array_ufunc__",
           [](nb::handle, nb::handle function, const std::string &method, nb::args inputs,
              nb::kwargs named) { return numpyFunction(function, method, inputs, named); });
  type.def("__array_function__",
           [](nb::handle, nb::handle function, nb::handle, nb::handle given,
              nb::handle) -> AnyValue { refuseFunction("numpy", function, given); });
  type.def_static(
      torchName,
      [](nb::handle function, nb::handle, nb::handle given, nb::handle) -> AnyValue {
        refuseFunction("torch", function, given);
      },
      nb::arg("function"), nb::arg("types"), nb::arg("args") = nb::tuple(),
      nb::arg("kwargs").none() = nb::none());
}

template <typename T>
void defineOn(nb::class_<T> &type) {
  for (const BinaryRow &row : binaryRows) {
    type.def(
        row.name, [&row](nb::handle a, nb::handle b) -> AnyValue { return row.function(a, b); },
        nb::is_operator());
    type.def(
        row.reflected,
        [&row](nb::handle a, nb::handle b) -> AnyValue { return row.function(b, a); },
        nb::is_operator());
  }
  for (const BinaryRow &row : comparisonRows)
    type.def(
        row.name, [&row](nb::handle a, nb::handle b) -> AnyValue { return row.function(a, b); },
        nb::is_operator());
  type.def("__neg__", &negated);
  type.def("__pos__", [](nb::handle self) -> AnyValue { return nb::borrow(self); });
  type.attr("__hash__") = nb::none();
  defineProtocols(type);
}

} // namespace

void defineOperators(nb::class_<Size> &size, nb::class_<Index> &index, nb::class_<Scalar> &scalar,
                     nb::class_<Tile> &tile) {
  defineOn(size);
  defineOn(index);
  defineOn(scalar);
  defineOn(tile);
  for (const char *name : {"__abs__", "__round__", "__divmod__"}) {
    auto refuse = [name](nb::handle self, nb::args) {
      std::string function(name + 2, std::strlen(name) - 4);
      failAt(here(), "sizes and indices have no " + function + "()",
             function == "abs"      ? "write tk.maximum(n, 0 - n)"
             : function == "divmod" ? "write a // b and a % b"
                                    : "they are integers");
    };
    size.def(name, refuse);
    index.def(name, refuse);
  }
  scalar.def("__invert__", &inverted);
  scalar.def("__abs__", [](nb::handle self) -> AnyValue { return absolute(self); });
  scalar.def("__round__", [](nb::handle self) -> AnyValue { return rounded(self); });
  tile.def("__invert__", &inverted);
  tile.def("__abs__", [](nb::handle self) -> AnyValue { return absolute(self); });
  tile.def("__round__", [](nb::handle self) -> AnyValue { return rounded(self); });
  tile.def("__matmul__", &matrixProduct, nb::is_operator());
}

void defineRefusals(nb::class_<Buffer> &buffer) {
  auto refuse = [&](const char *name, const char *what) {
    buffer.def(name, [what](nb::handle self, nb::args) {
      failAt(here(), described(self) + " has no " + what,
             "tk.load(x, [m, 0], [1, N]) reads a tile of it, which has");
    });
  };
  for (const BinaryRow &row : binaryRows) {
    refuse(row.name, row.symbol);
    refuse(row.reflected, row.symbol);
  }
  for (const BinaryRow &row : comparisonRows)
    if (std::string_view(row.symbol) != "==" && std::string_view(row.symbol) != "!=")
      refuse(row.name, row.symbol);
  for (auto [name, what] : {std::pair("__matmul__", "@"),
                            {"__rmatmul__", "@"},
                            {"__neg__", "-"},
                            {"__invert__", "~"},
                            {"__abs__", "abs()"}})
    refuse(name, what);
  defineProtocols(buffer);
}

} // namespace tw::python::kernel
