// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all of the kernel language stands on: places in the author's source, dtypes, and what
// handles have in common. Included by tilewright/Kernel.h.
#ifndef TILEWRIGHT_KERNEL_BASE_H
#define TILEWRIGHT_KERNEL_BASE_H

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace tw::kernel {

/// Where the author wrote something; the last parameter of every function, which C++ authors never
/// give. Other front ends do: `file` must live as long as the trace.
class Here {
public:
  constexpr Here() : Here("", 0, 0) {}
  constexpr Here(const char *file, uint32_t line, uint32_t column)
      : file_(file), line_(line), column_(column) {}
  static constexpr Here current(std::source_location here = std::source_location::current()) {
    return {here.file_name(), here.line(), here.column()};
  }
  const char *file() const { return file_; }
  uint32_t line() const { return line_; }
  uint32_t column() const { return column_; }

private:
  const char *file_;
  uint32_t line_, column_;
};

/// Element types. `index` is the type of Index and of nothing else.
enum class DType : uint8_t { f16, bf16, f32, f64, i8, i16, i32, i64, u8, i1, index };
inline constexpr DType f16 = DType::f16, bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64,
                       i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64,
                       u8 = DType::u8, i1 = DType::i1;

/// Infinity, for `pad`, `full` and comparisons; `-inf` is neutral for maxima.
inline constexpr double inf = std::numeric_limits<double>::infinity();

class Size;
class Index;
class Scalar;
class Tile;

/// An axis: 0 is the outermost, -1 the last.
class Axis {
public:
  template <std::integral T>
  Axis(T axis) : axis(axis) {}
  int64_t axis;
};

namespace detail {

struct SizeExpr;
struct Value;
struct BufferInfo;

using SizePtr = std::shared_ptr<const SizeExpr>;

template <class T>
concept Number = std::is_arithmetic_v<T>;

/// What a handle stands for: nothing, a C++ number, a size, or a value of the kernel being traced.
using Ref =
    std::variant<std::monostate, bool, int64_t, double, SizePtr, std::shared_ptr<const Value>>;

template <Number T>
Ref literal(T number) {
  if constexpr (std::is_same_v<T, bool>)
    return number;
  else if constexpr (std::is_floating_point_v<T>)
    return double(number);
  else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8)
    return number > uint64_t(INT64_MAX) ? Ref(double(number)) : Ref(int64_t(number));
  else
    return int64_t(number);
}

/// The part that Index, Scalar and Tile share. A handle remembers the region (loop body, branch) in
/// which it was made: assigning to it in a deeper one would be lost, and is an error.
class Handle {
public:
  Handle();
  explicit Handle(Ref ref);
  Handle(const Handle &other);
  Handle &operator=(const Handle &other);
  const Ref &ref() const { return ref_; }

private:
  Ref ref_;
  uint64_t home; // the region's number; 0 outside of kernels
};

} // namespace detail

} // namespace tw::kernel

#endif // TILEWRIGHT_KERNEL_BASE_H
