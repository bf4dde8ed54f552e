// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels are made of, beside operators: declarations, memory, math, reductions, shapes.
// Included by tilewright/Kernel.h.
#ifndef TILEWRIGHT_KERNEL_OPERATIONS_H
#define TILEWRIGHT_KERNEL_OPERATIONS_H

#include "tilewright/kernel/Values.h"

#include <array>
#include <utility>

namespace tw::kernel {

// ---- What a kernel is called with --------------------------------------------------------------

/// A buffer that is only read.
Buffer input(const std::string &name, DType dtype, const Shape &shape, Here here = Here::current());
/// A buffer that is written; undefined before, or filled with `init` before any program runs.
Buffer output(const std::string &name, DType dtype, const Shape &shape, const Scalar &init = {},
              Here here = Here::current());
/// A buffer that is read and written.
Buffer inout(const std::string &name, DType dtype, const Shape &shape, Here here = Here::current());
/// A number that calls give: f64, i64, i1 or index.
Scalar scalar(const std::string &name, DType dtype, Here here = Here::current());
/// An argument that brings the value of a symbol, for those that no buffer's shape has.
Index scalar(const Symbol &symbol, Here here = Here::current());
/// The same under a name of its own.
Index scalar(const std::string &name, const Symbol &symbol, Here here = Here::current());
/// A number of the kernel's configuration, such as a tile size: known while tracing. Requests may
/// bind it to another value than the default.
int64_t parameter(const std::string &name, int64_t defaultValue, Here here = Here::current());

namespace detail {
std::vector<Index> grid(const std::vector<Size> &sizes, Here here);
} // namespace detail

/// How many programs run, and the coordinates of this one: `auto [m, n] = grid(ceilDiv(M, 32), N)`.
/// Called once; programs run in any order and at the same time.
template <class... More>
std::array<Index, 1 + sizeof...(More)> grid(const Size::Operand &first, const More &...more) {
  std::vector<Index> ids = detail::grid({first.size, Size(more)...}, first.here);
  ids.resize(1 + sizeof...(More));
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::array<Index, 1 + sizeof...(More)>{ids[I]...};
  }(std::make_index_sequence<1 + sizeof...(More)>());
}

/// The coordinate of this program along a dimension of the grid, which has been given before: for
/// functions that kernels share.
Index programId(Axis dim, Here here = Here::current());

/// A wish of the author about how the kernel is run, `hint("tile.block", {4, 2})`: an attribute of
/// the kernel. It never changes what the kernel computes; targets pass over what they do not know.
/// tile.block: so many programs along each dimension of the grid follow each other on one thread.
void hint(const std::string &name, const std::vector<int64_t> &values, Here here = Here::current());

// ---- Memory ------------------------------------------------------------------------------------

/// Where an access begins in one dimension, in elements; or, a rank-1 tile of integers, all its
/// positions there.
class Position {
public:
  template <std::integral T>
  Position(T position) : ref_(detail::literal(position)) {}
  Position(const Size &position) : ref_(position.expr()) {}
  Position(const Index &position) : ref_(position.ref()) {}
  Position(const Scalar &position) : ref_(position.ref()) {}
  Position(const Tile &positions) : ref_(positions.ref()) {}
  const detail::Ref &ref() const { return ref_; }

private:
  detail::Ref ref_;
};
using Positions = std::vector<Position>;

/// How a store combines with what is there. `any`: of several values one stays (scatter only).
enum class Atomic : uint8_t { none, add, min, max, any };

struct LoadOptions {
  std::vector<int64_t> strides = {}; ///< every n-th element; one for each dimension
  Tile mask = {};                    ///< i1; where false, memory is not touched and `pad` is read
  Scalar pad = {};                   ///< what lies outside the buffer or is masked off; else 0
};
struct StoreOptions {
  std::vector<int64_t> strides = {};
  Tile mask = {};    ///< i1; where false, nothing is stored
  bool drop = false; ///< boxes may begin outside of the buffer: what is outside is dropped
  Atomic atomic = Atomic::none;
};
struct GatherOptions {
  Tile mask = {};
  Scalar pad = {};
};
struct ScatterOptions {
  Tile mask = {};
  bool drop = false;
  Atomic atomic = Atomic::none;
};

/// The box of `extents` elements that begins at `positions`. Elements outside of the buffer read as
/// `pad`; a box that begins outside needs an explicit `pad`.
Tile load(const Buffer &buffer, const Positions &positions, const Shape &extents,
          const LoadOptions &options = {}, Here here = Here::current());
/// Stores a tile in the box that begins at `positions`. Elements outside of the buffer are dropped;
/// a box that begins outside needs `drop`.
void store(const Buffer &buffer, const Positions &positions, const Tile &value,
           const StoreOptions &options = {}, Here here = Here::current());
/// Element e is buffer[p[e], q[e], ...]: one tile of integers for each dimension, broadcast to one
/// shape.
Tile gather(const Buffer &buffer, const Positions &positions, const GatherOptions &options = {},
            Here here = Here::current());
/// Stores element e of value at [p[e], q[e], ...].
void scatter(const Buffer &buffer, const Positions &positions, const Tile &value,
             const ScatterOptions &options = {}, Here here = Here::current());
/// Positions from data made safe: one outside of [0, size) becomes 0, and the call fails with the
/// message.
Tile check(const Tile &positions, const Index &size, const std::string &message,
           const Tile &mask = {}, Here here = Here::current());
Index check(const Scalar &position, const Index &size, const std::string &message,
            Here here = Here::current());
/// The same of an i32 or i64 that stays one.
Scalar checkScalar(const Scalar &position, const Index &size, const std::string &message,
                   Here here = Here::current());

// ---- New tiles ---------------------------------------------------------------------------------

/// A tile of one value. The dtype may be left out where the value has one.
Tile full(const Shape &shape, const Scalar &value, DType dtype, Here here = Here::current());
Tile full(const Shape &shape, const Scalar &value, Here here = Here::current());
Tile zeros(const Shape &shape, DType dtype, Here here = Here::current());
/// A scalar of a dtype.
Scalar constant(const Scalar &value, DType dtype, Here here = Here::current());
/// start + the coordinate along an axis; integers.
Tile iota(const Shape &shape, Axis axis = 0, DType dtype = i64, const Index &start = 0,
          Here here = Here::current());

// ---- Math, element by element, on floats -------------------------------------------------------

Tile exp(const Tile &x, Here here = Here::current());
Tile exp2(const Tile &x, Here here = Here::current());
Tile expm1(const Tile &x, Here here = Here::current());
Tile log(const Tile &x, Here here = Here::current());
Tile log2(const Tile &x, Here here = Here::current());
Tile log10(const Tile &x, Here here = Here::current());
Tile log1p(const Tile &x, Here here = Here::current());
Tile sin(const Tile &x, Here here = Here::current());
Tile cos(const Tile &x, Here here = Here::current());
Tile tan(const Tile &x, Here here = Here::current());
Tile asin(const Tile &x, Here here = Here::current());
Tile acos(const Tile &x, Here here = Here::current());
Tile atan(const Tile &x, Here here = Here::current());
Tile sinh(const Tile &x, Here here = Here::current());
Tile cosh(const Tile &x, Here here = Here::current());
Tile tanh(const Tile &x, Here here = Here::current());
Tile asinh(const Tile &x, Here here = Here::current());
Tile acosh(const Tile &x, Here here = Here::current());
Tile atanh(const Tile &x, Here here = Here::current());
Tile erf(const Tile &x, Here here = Here::current());
Tile erfc(const Tile &x, Here here = Here::current());
Tile sqrt(const Tile &x, Here here = Here::current());
Tile rsqrt(const Tile &x, Here here = Here::current());
Tile floor(const Tile &x, Here here = Here::current());
Tile ceil(const Tile &x, Here here = Here::current());
Tile trunc(const Tile &x, Here here = Here::current());
/// To nearest, halves away from zero.
Tile round(const Tile &x, Here here = Here::current());
/// To nearest, halves to even.
Tile roundEven(const Tile &x, Here here = Here::current());
/// 1 / (1 + exp(-x)).
Tile sigmoid(const Tile &x, Here here = Here::current());
/// The larger one of x and 0; on integers too.
Tile relu(const Tile &x, Here here = Here::current());
/// On integers too.
Tile abs(const Tile &x, Here here = Here::current());

/// The same of scalars.
Scalar exp(const Scalar &x, Here here = Here::current());
Scalar exp2(const Scalar &x, Here here = Here::current());
Scalar expm1(const Scalar &x, Here here = Here::current());
Scalar log(const Scalar &x, Here here = Here::current());
Scalar log2(const Scalar &x, Here here = Here::current());
Scalar log10(const Scalar &x, Here here = Here::current());
Scalar log1p(const Scalar &x, Here here = Here::current());
Scalar sin(const Scalar &x, Here here = Here::current());
Scalar cos(const Scalar &x, Here here = Here::current());
Scalar tan(const Scalar &x, Here here = Here::current());
Scalar asin(const Scalar &x, Here here = Here::current());
Scalar acos(const Scalar &x, Here here = Here::current());
Scalar atan(const Scalar &x, Here here = Here::current());
Scalar sinh(const Scalar &x, Here here = Here::current());
Scalar cosh(const Scalar &x, Here here = Here::current());
Scalar tanh(const Scalar &x, Here here = Here::current());
Scalar asinh(const Scalar &x, Here here = Here::current());
Scalar acosh(const Scalar &x, Here here = Here::current());
Scalar atanh(const Scalar &x, Here here = Here::current());
Scalar erf(const Scalar &x, Here here = Here::current());
Scalar erfc(const Scalar &x, Here here = Here::current());
Scalar sqrt(const Scalar &x, Here here = Here::current());
Scalar rsqrt(const Scalar &x, Here here = Here::current());
Scalar floor(const Scalar &x, Here here = Here::current());
Scalar ceil(const Scalar &x, Here here = Here::current());
Scalar trunc(const Scalar &x, Here here = Here::current());
Scalar round(const Scalar &x, Here here = Here::current());
Scalar roundEven(const Scalar &x, Here here = Here::current());
Scalar abs(const Scalar &x, Here here = Here::current());

/// Whether an element of a float tile is NaN.
Tile isNaN(const Tile &x, Here here = Here::current());
Scalar isNaN(const Scalar &x, Here here = Here::current());

/// Another dtype. To integers: rounded to zero, saturated, NaN gives 0; between integers: the low
/// bits, extended by the source's sign; to i1: whether it is not 0.
Tile cast(const Tile &x, DType dtype, Here here = Here::current());
Scalar cast(const Scalar &x, DType dtype, Here here = Here::current());
/// The same in one step that takes the integers on either side as signed, or as numbers without a
/// sign: i1 is 0 and -1, or 0 and 1. To i1: the lowest bit.
Tile castSigned(const Tile &x, DType dtype, Here here = Here::current());
Scalar castSigned(const Scalar &x, DType dtype, Here here = Here::current());
Tile castUnsigned(const Tile &x, DType dtype, Here here = Here::current());
Scalar castUnsigned(const Scalar &x, DType dtype, Here here = Here::current());

// ---- Reductions and scans ----------------------------------------------------------------------

/// Whether a reduction keeps the axis, with extent 1 (so that the result broadcasts).
enum class KeepDim : bool { no, yes };
/// From which end a scan runs.
enum class Direction : bool { forward, backward };

Tile sum(const Tile &x, Axis axis, KeepDim keep = KeepDim::yes, Here here = Here::current());
Tile prod(const Tile &x, Axis axis, KeepDim keep = KeepDim::yes, Here here = Here::current());
/// NaN wins in max, min, argmax and argmin.
Tile max(const Tile &x, Axis axis, KeepDim keep = KeepDim::yes, Here here = Here::current());
Tile min(const Tile &x, Axis axis, KeepDim keep = KeepDim::yes, Here here = Here::current());
/// i64, the first of equals.
Tile argmax(const Tile &x, Axis axis, KeepDim keep = KeepDim::yes, Here here = Here::current());
Tile argmin(const Tile &x, Axis axis, KeepDim keep = KeepDim::yes, Here here = Here::current());
/// On i1.
Tile any(const Tile &x, Axis axis, KeepDim keep = KeepDim::yes, Here here = Here::current());
Tile all(const Tile &x, Axis axis, KeepDim keep = KeepDim::yes, Here here = Here::current());

/// Inclusive scans along an axis.
Tile cumsum(const Tile &x, Axis axis, Direction direction = Direction::forward,
            Here here = Here::current());
Tile cumprod(const Tile &x, Axis axis, Direction direction = Direction::forward,
             Here here = Here::current());
Tile cummax(const Tile &x, Axis axis, Direction direction = Direction::forward,
            Here here = Here::current());
Tile cummin(const Tile &x, Axis axis, Direction direction = Direction::forward,
            Here here = Here::current());

/// What a sort puts first.
enum class Order : bool { ascending, descending };
struct Sorted {
  Tile values;
  Tile positions; ///< i64: where along the axis each value was
};
/// Stable. NaN is greater than every number. `first` (0: all) limits what is kept along the axis to
/// the first ones, which is faster: the k largest are sort(x, axis, Order::descending, k).
Sorted sort(const Tile &x, Axis axis, Order order = Order::ascending, const Size &first = 0,
            Here here = Here::current());

// ---- Contraction and shapes --------------------------------------------------------------------

/// Matrix product [..., M, K] x [..., K, N] -> [..., M, N]; of f16 and bf16 in f32.
Tile dot(const Tile &a, const Tile &b, Here here = Here::current());
/// acc + the product, in acc's dtype, which may be wider than the operands'.
Tile dot(const Tile &a, const Tile &b, const Tile &acc, Here here = Here::current());
/// Swaps the last two axes.
Tile transpose(const Tile &x, Here here = Here::current());
/// Axis d of the result is axis permutation[d] of x.
Tile transpose(const Tile &x, const std::vector<int> &permutation, Here here = Here::current());
/// The same elements in row-major order; the number of elements must be equal.
Tile reshape(const Tile &x, const Shape &shape, Here here = Here::current());
/// Stretches extents of 1 (and puts new axes in front) to a shape.
Tile broadcast(const Tile &x, const Shape &shape, Here here = Here::current());
/// The part of `extents` elements from `offsets` on, every strides[d]-th element.
Tile slice(const Tile &x, const std::vector<int64_t> &offsets, const Shape &extents,
           const std::vector<int64_t> &strides = {}, Here here = Here::current());
/// x itself, which the target is asked to compute once and to keep for all of its uses, before the
/// loops that they are in; an expression may otherwise be computed anew for each of them.
Tile keep(const Tile &x, Here here = Here::current());
/// The scalar in a tile of one element.
Scalar extract(const Tile &x, Here here = Here::current());

} // namespace tw::kernel

#endif // TILEWRIGHT_KERNEL_OPERATIONS_H
