// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python objects as values of the kernel language, and back.
#pragma once
#include "Author.h"
#include "Errors.h"
#include <memory>
#include <nanobind/stl/string.h>
#include <vector>

namespace tw::python::kernel {

using tw::kernel::Axis;
using tw::kernel::DType;
using tw::kernel::Here;
using tw::kernel::Index;
using tw::kernel::Positions;
using tw::kernel::Scalar;
using tw::kernel::Shape;
using tw::kernel::Tile;
/// What is to be written for / of sizes.
inline constexpr const char *sizeQuotientHelp =
    "write a // b or tk.cdiv(a, b), which say how they round";

using tw::kernel::detail::Ref;
using tw::kernel::detail::Refs;
using tw::kernel::detail::Tracer;

/// What an author said of a symbol; it belongs to no kernel, and many may be declared with it.
struct SymbolInfo {
  std::string name;
  tw::kernel::SymbolRange range;
  Here place;
  uint64_t number; // in the order in which they were made
};
using SymbolInfoPtr = std::shared_ptr<const SymbolInfo>;

/// A size, and the symbols that it is made of.
struct Size : tw::kernel::Size {
  Size(const tw::kernel::Size &size, std::vector<SymbolInfoPtr> symbols = {})
      : tw::kernel::Size(size), symbols(std::move(symbols)) {}
  std::vector<SymbolInfoPtr> symbols;
};
struct Symbol : Size {
  explicit Symbol(SymbolInfoPtr info);
  const SymbolInfo &info() const { return *symbols[0]; }
};
/// A size made of two objects, of which some may be sizes.
Size sizeFrom(const tw::kernel::Size &size, nanobind::handle a, nanobind::handle b);

/// A dtype that each call chooses among some.
struct DTypeVariable {
  std::string name;
  std::vector<DType> choices;
};

/// What an object is to operators; of two, the later one decides.
enum class Kind { None, Integer, Size, Index, Scalar, Tile };
Kind kindOf(nanobind::handle object);

/// Whether it is True or False, of Python or of NumPy.
bool isFlag(nanobind::handle object);
/// The size as an operand, with the numbers that symbols are in this trace.
Ref sizeRef(const tw::kernel::Size &size);
/// The object as an operand. Symbols that are numbers in this trace become those. Throws a
/// KernelError for what is no value of the language (Kind::None), and for integers beyond 64 bits.
Ref refOf(nanobind::handle object);
/// The same as what a loop or branch carries: integers are indices.
Ref carriedOf(nanobind::handle object);

// Each throws a KernelError that names `what` when the object is of another kind.
tw::kernel::Size sizeOf(Tracer &tracer, nanobind::handle object, const char *what, Here here);
Index indexOf(Tracer &tracer, nanobind::handle object, const char *what, Here here);
Scalar scalarOf(Tracer &tracer, nanobind::handle object, const char *what, Here here);
Tile tileOf(Tracer &tracer, nanobind::handle object, const char *what, Here here);
Shape shapeOf(Tracer &tracer, nanobind::handle object, const char *what, Here here);
Positions positionsOf(Tracer &tracer, nanobind::handle object, const char *what, Here here);
DType dtypeOf(Tracer &tracer, nanobind::handle object, const char *what, Here here);
std::vector<int64_t> integersOf(Tracer &tracer, nanobind::handle object, const char *what,
                                Here here);

/// An argument of a function that is a number, flag or text to the language. nanobind would refuse
/// other objects in words of its own; `taken` does it in the author's.
template <typename T>
struct Given {
  nanobind::handle object;
};
/// Throws a KernelError that names `what` (e.g. "min of symbol").
int64_t taken(Given<int64_t> given, const char *what, Here here);
bool taken(Given<bool> given, const char *what, Here here);
std::string taken(Given<std::string> given, const char *what, Here here);

/// A value as the type of handle that fits it.
nanobind::object wrap(const Ref &ref);

/// Adds the types Size, Symbol, Index, Scalar, Tile, Buffer, DType, DTypeVariable.
void defineValues(nanobind::module_ &module);
/// Adds the operators.
void defineOperators(nanobind::class_<Size> &size, nanobind::class_<Index> &index,
                     nanobind::class_<Scalar> &scalar, nanobind::class_<Tile> &tile);
/// Says for each operator that buffers have none.
void defineRefusals(nanobind::class_<tw::kernel::Buffer> &buffer);
/// abs(x), and round(x), which is to even as Python's.
nanobind::object absolute(nanobind::handle x);
nanobind::object rounded(nanobind::handle x);
/// Adds the functions on values.
void defineOperations(nanobind::module_ &module);
void defineMemoryOperations(nanobind::module_ &module);
/// Adds loops and branches.
void defineControl(nanobind::module_ &module);
/// Adds trace, and what kernels are called with.
void defineTrace(nanobind::module_ &module);

} // namespace tw::python::kernel

namespace nanobind::detail {

/// Takes every object; help() and the stubs name the one that is meant.
template <typename T>
struct type_caster<tw::python::kernel::Given<T>> {
  NB_TYPE_CASTER(tw::python::kernel::Given<T>, make_caster<T>::Name)
  bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
    value.object = source;
    return true;
  }
};

} // namespace nanobind::detail
