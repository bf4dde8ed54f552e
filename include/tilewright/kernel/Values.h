// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values that a kernel computes with while it is traced: sizes, indices, scalars and tiles, and
// their operators. Included by tilewright/Kernel.h; docs/kernels.md explains the language.
//
// All of them are small handles, copied freely. Mistakes (shapes that do not fit, a value of
// another kernel) end the trace and are reported with the author's file and line; outside of a
// kernel, functions do nothing and return empty handles.
#ifndef TILEWRIGHT_KERNEL_VALUES_H
#define TILEWRIGHT_KERNEL_VALUES_H

#include "tilewright/kernel/Base.h"

namespace tw::kernel {

/// A number that is known when the kernel is called: an expression over its symbols, as in
/// `2 * M + 1` or `ceilDiv(M, 32)`. Sizes are kept in a normal form, so that equal ones compare
/// equal: `M + N - M` is `N`.
class Size {
public:
  Size() : Size(0) {}
  template <std::integral T>
  Size(T value) : Size(detail::literal(value)) {}
  explicit Size(detail::SizePtr expr) : expr_(expr ? std::move(expr) : Size().expr_) {}

  /// Whether it has no symbols (symbols that the request binds are constants).
  bool isConstant() const;
  /// Its value; an error unless isConstant().
  int64_t constant(Here here = Here::current()) const;
  /// As messages and traces print it: "M ceildiv 32".
  std::string str() const;
  const detail::SizePtr &expr() const { return expr_; }
  struct Operand;

private:
  explicit Size(const detail::Ref &constant);
  detail::SizePtr expr_;

  friend Size operator+(const Operand &a, const Operand &b);
  friend Size operator-(const Operand &a, const Operand &b);
  friend Size operator*(const Operand &a, const Operand &b);
  /// Quotients rounded down and up, and the remainder of floorDiv (of the divisor's sign).
  friend Size floorDiv(const Operand &a, const Operand &b);
  friend Size ceilDiv(const Operand &a, const Operand &b);
  friend Size mod(const Operand &a, const Operand &b);
  /// Mistakes, which are told: `/` does not say how it rounds, nor `%` whose sign it has.
  friend Size operator/(const Operand &a, const Operand &b);
  friend Size operator%(const Operand &a, const Operand &b);
  /// Known when the kernel runs, as those of Index are.
  friend Index minimum(const Operand &a, const Operand &b);
  friend Index maximum(const Operand &a, const Operand &b);
  friend Scalar operator==(const Operand &a, const Operand &b);
  friend Scalar operator!=(const Operand &a, const Operand &b);
  friend Scalar operator<(const Operand &a, const Operand &b);
  friend Scalar operator<=(const Operand &a, const Operand &b);
  friend Scalar operator>(const Operand &a, const Operand &b);
  friend Scalar operator>=(const Operand &a, const Operand &b);
};

/// The same for C++ integers.
int64_t floorDiv(int64_t a, int64_t b, Here here = Here::current());
int64_t ceilDiv(int64_t a, int64_t b, Here here = Here::current());
int64_t mod(int64_t a, int64_t b, Here here = Here::current());

/// Extents of a buffer or a tile, outermost first.
using Shape = std::vector<Size>;

/// What callers promise about a symbol, and calls are checked for.
struct SymbolRange {
  int64_t min = 0;
  int64_t max = INT64_MAX;
  int64_t multiple = 1;
};

/// A non-negative number that a call brings, through the sizes of its buffers:
/// `Symbol N("N", {.min = 1, .multiple = 8})`.
class Symbol : public Size {
public:
  Symbol(const std::string &name, SymbolRange range = {}, Here here = Here::current());
  const std::string &name() const { return name_; }

private:
  std::string name_;
};

/// An integer known when the program runs: program ids, loop variables, and what is made of them.
class Index : public detail::Handle {
public:
  Index() = default;
  template <std::integral T>
  Index(T value) : Handle(detail::literal(value)) {}
  Index(const Size &size) : Handle(size.expr()) {}
  /// An integer scalar: `Index row = extract(rows)`.
  Index(const Scalar &scalar, Here here = Here::current());
  explicit Index(detail::Ref ref) : Handle(std::move(ref)) {}

  struct Operand;

private:
  friend Index operator+(const Operand &a, const Operand &b);
  friend Index operator-(const Operand &a, const Operand &b);
  friend Index operator*(const Operand &a, const Operand &b);
  friend Index operator-(const Operand &a);
  friend Index &operator+=(Index &a, const Operand &b);
  friend Index &operator-=(Index &a, const Operand &b);
  friend Index &operator*=(Index &a, const Operand &b);
  friend Index floorDiv(const Operand &a, const Operand &b);
  friend Index ceilDiv(const Operand &a, const Operand &b);
  friend Index mod(const Operand &a, const Operand &b);
  /// Mistakes, as those of Size are.
  friend Index operator/(const Operand &a, const Operand &b);
  friend Index operator%(const Operand &a, const Operand &b);
  friend Index &operator/=(Index &a, const Operand &b);
  friend Index &operator%=(Index &a, const Operand &b);
  friend Index minimum(const Operand &a, const Operand &b);
  friend Index maximum(const Operand &a, const Operand &b);
  friend Scalar operator==(const Operand &a, const Operand &b);
  friend Scalar operator!=(const Operand &a, const Operand &b);
  friend Scalar operator<(const Operand &a, const Operand &b);
  friend Scalar operator<=(const Operand &a, const Operand &b);
  friend Scalar operator>(const Operand &a, const Operand &b);
  friend Scalar operator>=(const Operand &a, const Operand &b);
};

/// Comparisons that have no operator. Of floats `u` is "or an operand is NaN", and the others are
/// false with NaN: `ueq` is equal or NaN, `one` not equal, `ord` that neither is NaN, `uno` that
/// one is. Of integers `ult`, `ule`, `ugt` and `uge` read bits as numbers without a sign.
enum class Comparison : uint8_t { ueq, one, ord, uno, ult, ule, ugt, uge };

/// One number of any dtype, known when the program runs: scalar arguments, conditions, elements.
/// A C++ number takes the dtype of what it is used with.
class Scalar : public detail::Handle {
public:
  Scalar() = default;
  template <detail::Number T>
  Scalar(T value) : Handle(detail::literal(value)) {}
  Scalar(const Index &index) : Handle(index.ref()) {}
  Scalar(const Size &size) : Handle(size.expr()) {}
  explicit Scalar(detail::Ref ref) : Handle(std::move(ref)) {}

  struct Operand;

private:
  friend Scalar operator+(const Operand &a, const Operand &b);
  friend Scalar operator-(const Operand &a, const Operand &b);
  friend Scalar operator*(const Operand &a, const Operand &b);
  friend Scalar operator/(const Operand &a, const Operand &b);
  friend Scalar operator%(const Operand &a, const Operand &b);
  friend Scalar operator-(const Operand &a);
  friend Scalar minimum(const Operand &a, const Operand &b);
  friend Scalar maximum(const Operand &a, const Operand &b);
  friend Scalar operator==(const Operand &a, const Operand &b);
  friend Scalar operator!=(const Operand &a, const Operand &b);
  friend Scalar operator<(const Operand &a, const Operand &b);
  friend Scalar operator<=(const Operand &a, const Operand &b);
  friend Scalar operator>(const Operand &a, const Operand &b);
  friend Scalar operator>=(const Operand &a, const Operand &b);
  friend Scalar operator&&(const Operand &a, const Operand &b);
  friend Scalar operator||(const Operand &a, const Operand &b);
  friend Scalar operator!(const Operand &a);
  friend Scalar select(const Operand &condition, const Operand &a, const Operand &b);
  /// As those of Tile are.
  friend Scalar operator&(const Operand &a, const Operand &b);
  friend Scalar operator|(const Operand &a, const Operand &b);
  friend Scalar operator^(const Operand &a, const Operand &b);
  friend Scalar operator~(const Operand &a);
  friend Scalar operator<<(const Operand &a, const Operand &b);
  friend Scalar operator>>(const Operand &a, const Operand &b);
  friend Scalar pow(const Operand &a, const Operand &b);
  friend Scalar atan2(const Operand &y, const Operand &x);
  friend Scalar copysign(const Operand &magnitude, const Operand &sign);
  friend Scalar fma(const Operand &a, const Operand &b, const Operand &c);
  friend Scalar compare(Comparison comparison, const Operand &a, const Operand &b);
  friend Scalar minimumNumber(const Operand &a, const Operand &b);
  friend Scalar maximumNumber(const Operand &a, const Operand &b);
  friend Scalar divUnsigned(const Operand &a, const Operand &b);
  friend Scalar remUnsigned(const Operand &a, const Operand &b);
  friend Scalar minimumUnsigned(const Operand &a, const Operand &b);
  friend Scalar maximumUnsigned(const Operand &a, const Operand &b);
  friend Scalar shiftRightUnsigned(const Operand &a, const Operand &b);
};

/// A block of elements: what programs compute with. It has a shape and a dtype, and no address.
/// Operators work element by element; shapes are broadcast as in NumPy, dtypes must be equal (cast
/// one), and numbers and scalars take the tile's dtype.
class Tile : public detail::Handle {
public:
  Tile() = default;
  explicit Tile(detail::Ref ref) : Handle(std::move(ref)) {}

  DType dtype(Here here = Here::current()) const;
  Shape shape(Here here = Here::current()) const;
  /// One extent; -1 is the last.
  Size size(Axis axis, Here here = Here::current()) const;

  struct Operand;

private:
  friend Tile operator+(const Operand &a, const Operand &b);
  friend Tile operator-(const Operand &a, const Operand &b);
  friend Tile operator*(const Operand &a, const Operand &b);
  /// On integers as in C++, rounded to zero; x / 0 is 0.
  friend Tile operator/(const Operand &a, const Operand &b);
  /// What `/` leaves, of the dividend's sign; on floats C's fmod.
  friend Tile operator%(const Operand &a, const Operand &b);
  friend Tile operator-(const Operand &a);
  /// Gives the variable a new value, as `a = a + b` does. What a loop carries is not assigned but
  /// returned by its body: an assignment there to a variable from outside is an error.
  friend Tile &operator+=(Tile &a, const Operand &b);
  friend Tile &operator-=(Tile &a, const Operand &b);
  friend Tile &operator*=(Tile &a, const Operand &b);
  friend Tile &operator/=(Tile &a, const Operand &b);
  /// On integers and i1.
  friend Tile operator&(const Operand &a, const Operand &b);
  friend Tile operator|(const Operand &a, const Operand &b);
  friend Tile operator^(const Operand &a, const Operand &b);
  friend Tile operator~(const Operand &a);
  /// On integers; >> keeps the sign, except of u8. Shifts by the width or more give 0 or the sign.
  friend Tile operator<<(const Operand &a, const Operand &b);
  friend Tile operator>>(const Operand &a, const Operand &b);
  /// Comparisons give i1; with NaN all but != are false.
  friend Tile operator==(const Operand &a, const Operand &b);
  friend Tile operator!=(const Operand &a, const Operand &b);
  friend Tile operator<(const Operand &a, const Operand &b);
  friend Tile operator<=(const Operand &a, const Operand &b);
  friend Tile operator>(const Operand &a, const Operand &b);
  friend Tile operator>=(const Operand &a, const Operand &b);
  /// On i1.
  friend Tile operator&&(const Operand &a, const Operand &b);
  friend Tile operator||(const Operand &a, const Operand &b);
  friend Tile operator!(const Operand &a);
  /// Element by element; NaN wins. (max and min along an axis are `max(tile, axis)`.)
  friend Tile minimum(const Operand &a, const Operand &b);
  friend Tile maximum(const Operand &a, const Operand &b);
  /// a where condition holds, else b; the condition may be a scalar.
  friend Tile select(const Operand &condition, const Operand &a, const Operand &b);
  friend Tile pow(const Operand &a, const Operand &b);
  friend Tile atan2(const Operand &y, const Operand &x);
  friend Tile copysign(const Operand &magnitude, const Operand &sign);
  /// a * b + c, rounded once.
  friend Tile fma(const Operand &a, const Operand &b, const Operand &c);
  /// Comparisons that have no operator.
  friend Tile compare(Comparison comparison, const Operand &a, const Operand &b);
  /// Of floats, where a number wins over NaN.
  friend Tile minimumNumber(const Operand &a, const Operand &b);
  friend Tile maximumNumber(const Operand &a, const Operand &b);
  /// Of integers whose bits are read as a number without a sign; those of u8 always are.
  friend Tile divUnsigned(const Operand &a, const Operand &b);
  friend Tile remUnsigned(const Operand &a, const Operand &b);
  friend Tile minimumUnsigned(const Operand &a, const Operand &b);
  friend Tile maximumUnsigned(const Operand &a, const Operand &b);
  friend Tile shiftRightUnsigned(const Operand &a, const Operand &b);
};

/// Memory of the caller: contiguous, row-major. Made by input, output and inout.
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(std::shared_ptr<const detail::BufferInfo> impl) : impl_(std::move(impl)) {}

  DType dtype(Here here = Here::current()) const;
  Shape shape(Here here = Here::current()) const;
  /// One extent; -1 is the last.
  Size size(Axis axis, Here here = Here::current()) const;
  const std::shared_ptr<const detail::BufferInfo> &impl() const { return impl_; }

private:
  std::shared_ptr<const detail::BufferInfo> impl_;
};

// What operators take: a handle and the place where it stands. Implicit conversions make them.

struct Size::Operand {
  Operand(const Size &size, Here here = Here::current()) : size(size), here(here) {}
  template <std::integral T>
  Operand(T value, Here here = Here::current()) : size(value), here(here) {}
  Size size;
  Here here;
};

struct Index::Operand {
  Operand(const Index &index, Here here = Here::current()) : ref(index.ref()), here(here) {}
  Operand(const Size &size, Here here = Here::current()) : ref(size.expr()), here(here) {}
  template <std::integral T>
  Operand(T value, Here here = Here::current()) : ref(detail::literal(value)), here(here) {}
  detail::Ref ref;
  Here here;
};

struct Scalar::Operand {
  Operand(const Scalar &scalar, Here here = Here::current()) : ref(scalar.ref()), here(here) {}
  Operand(const Index &index, Here here = Here::current()) : ref(index.ref()), here(here) {}
  Operand(const Size &size, Here here = Here::current()) : ref(size.expr()), here(here) {}
  template <detail::Number T>
  Operand(T value, Here here = Here::current()) : ref(detail::literal(value)), here(here) {}
  detail::Ref ref;
  Here here;
};

struct Tile::Operand {
  Operand(const Tile &tile, Here here = Here::current()) : ref(tile.ref()), here(here) {}
  Operand(const Scalar &scalar, Here here = Here::current()) : ref(scalar.ref()), here(here) {}
  Operand(const Index &index, Here here = Here::current()) : ref(index.ref()), here(here) {}
  Operand(const Size &size, Here here = Here::current()) : ref(size.expr()), here(here) {}
  template <detail::Number T>
  Operand(T value, Here here = Here::current()) : ref(detail::literal(value)), here(here) {}
  detail::Ref ref;
  Here here;
};

} // namespace tw::kernel

#endif // TILEWRIGHT_KERNEL_VALUES_H
