// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of random kernels: each computes a tile from others.
#include "RandomTiles.h"
#include <cmath>

namespace tw::kernel {

static bool hasAxes(const Node &node) { return !node.sizes.empty(); }
static bool isExact(const Node &node) { return node.error == 0; }
static bool isFloatNode(const Node &node) { return isFloat(node.tile.dtype()); }

static bool isStatic(const Node &node) {
  for (const Size &extent : node.tile.shape())
    if (!extent.isConstant())
      return false;
  return true;
}

void Generator::step() {
  static constexpr void (Generator::*steps[])() = {
      &Generator::unary,    &Generator::unary,    &Generator::binary,  &Generator::binary,
      &Generator::integers, &Generator::compare,  &Generator::choice,  &Generator::convert,
      &Generator::reduce,   &Generator::reduce,   &Generator::scan,    &Generator::product,
      &Generator::sorts,    &Generator::reshapes, &Generator::moves,   &Generator::moves,
      &Generator::numbers,  &Generator::load,     &Generator::gathers, &Generator::rowsByNumber,
      &Generator::loop,     &Generator::loop,     &Generator::branch,  &Generator::combined};
  (this->*steps[below(std::size(steps))])();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {

/// A function of floats: what is done to its argument before, the bound of what it gives, and of
/// its derivative.
struct Function {
  Tile (*apply)(const Tile &);
  double most, slope;
};

Tile clamp(const Tile &x, double most) { return minimum(maximum(x, -most), most); }

const Function functions[] = {
    {[](const Tile &x) { return exp(minimum(x, 2)); }, 7.4, 7.4},
    {[](const Tile &x) { return exp2(minimum(x, 3)); }, 8, 5.6},
    {[](const Tile &x) { return expm1(minimum(x, 2)); }, 6.4, 7.4},
    {[](const Tile &x) { return log(abs(x) + 0.5); }, 8, 2},
    {[](const Tile &x) { return log2(abs(x) + 0.5); }, 11, 3},
    {[](const Tile &x) { return log1p(abs(x)); }, 8, 1},
    {[](const Tile &x) { return sin(x); }, 1, 1},
    {[](const Tile &x) { return cos(x); }, 1, 1},
    {[](const Tile &x) { return tan(clamp(x, 1)); }, 1.6, 3.5},
    {[](const Tile &x) { return asin(clamp(x, 0.5)); }, 0.6, 1.2},
    {[](const Tile &x) { return acos(clamp(x, 0.5)); }, 2.1, 1.2},
    {[](const Tile &x) { return atan(x); }, 1.6, 1},
    {[](const Tile &x) { return sinh(clamp(x, 2)); }, 3.7, 3.8},
    {[](const Tile &x) { return cosh(clamp(x, 2)); }, 3.8, 3.7},
    {[](const Tile &x) { return tanh(x); }, 1, 1},
    {[](const Tile &x) { return asinh(x); }, 8, 1},
    {[](const Tile &x) { return acosh(abs(x) + 1.5); }, 8, 1},
    {[](const Tile &x) { return atanh(clamp(x, 0.5)); }, 0.6, 1.4},
    {[](const Tile &x) { return erf(x); }, 1, 1.2},
    {[](const Tile &x) { return sqrt(abs(x) + 0.25); }, 32, 1},
    {[](const Tile &x) { return rsqrt(abs(x) + 0.25); }, 2, 4},
    {[](const Tile &x) { return sigmoid(x); }, 1, 1},
    {[](const Tile &x) { return keep(clamp(x, 2)); }, 2, 1},
};

} // namespace

void Generator::unary() {
  const Node *x = pick(isFloatNode);
  if (!x)
    return;
  if (isExact(*x) && flip(4)) {
    Tile rounded[] = {floor(x->tile), ceil(x->tile), trunc(x->tile), round(x->tile),
                      roundEven(x->tile)};
    return add(rounded[below(5)], x->sizes, x->most + 1);
  }
  if (flip(4))
    return add(flip() ? -x->tile : abs(x->tile), x->sizes, x->most, x->error);
  const Function &f = functions[below(std::size(functions))];
  // What is done before rounds too, and some add something to the argument.
  double before = x->error + 2 * roundingOf(x->tile.dtype()) * (x->most + 2);
  addRounded(f.apply(x->tile), x->sizes, std::min(f.most, f.most + x->most), f.slope * before, 4);
}

void Generator::binary() {
  const Node *x = pick(isFloatNode);
  const Node *y = x ? like(*x) : nullptr;
  if (!y)
    return;
  Tile a = x->tile, b = y->tile;
  double most = x->most + y->most, error = x->error + y->error;
  double product = x->most * y->most, spread = x->most * y->error + y->most * x->error;
  switch (below(9)) {
  case 0:
    return addRounded(a + b, x->sizes, most, error, isExact(*x) && isExact(*y) ? 0 : 1);
  case 1:
    return addRounded(a - b, x->sizes, most, error, isExact(*x) && isExact(*y) ? 0 : 1);
  case 2: // may be fused with an addition
    return addRounded(a * b, x->sizes, product, spread);
  case 3:
    return addRounded(a / (abs(b) + 1), x->sizes, x->most, x->error + x->most * y->error, 3);
  case 4:
    return add(flip() ? maximum(a, b) : minimum(a, b), x->sizes, std::max(x->most, y->most),
               std::max(x->error, y->error));
  case 5:
    return addRounded(fma(a, b, b), x->sizes, product + y->most, spread + y->error, 3);
  case 6:
    return addRounded(pow(abs(a) + 0.5, clamp(b, 2)), x->sizes,
                      (x->most + 0.5) * (x->most + 0.5) + 4,
                      (2 * x->most + 20) * (x->error + y->error) * 8, 40);
  case 7:
    return addRounded(atan2(a, abs(b) + 0.5), x->sizes, 1.6, 2 * x->error + 4 * y->error, 4);
  default:
    if (isExact(*x) && isExact(*y))
      add(flip() ? copysign(a, b) : a % b, x->sizes, 1000); // NaN where b is 0
  }
}

void Generator::integers() {
  const Node *x = pick([](const Node &node) { return !isFloatNode(node); });
  const Node *y = x ? like(*x) : nullptr;
  if (!y)
    return;
  Tile a = x->tile, b = y->tile;
  using Operation = Tile (*)(const Tile &, const Tile &);
  static constexpr Operation logical[] = {
      [](const Tile &a, const Tile &b) { return a && b; },
      [](const Tile &a, const Tile &b) { return a || b; },
      [](const Tile &a, const Tile &) { return !a; },
      [](const Tile &a, const Tile &b) { return a ^ b; },
  };
  static constexpr Operation arithmetic[] = {
      [](const Tile &a, const Tile &b) { return a + b; },
      [](const Tile &a, const Tile &b) { return a - b; },
      [](const Tile &a, const Tile &b) { return a * b; },
      [](const Tile &a, const Tile &b) { return a / b; },
      [](const Tile &a, const Tile &b) { return a % b; },
      [](const Tile &a, const Tile &b) { return a & b; },
      [](const Tile &a, const Tile &b) { return a | b; },
      [](const Tile &a, const Tile &b) { return a ^ b; },
      [](const Tile &a, const Tile &) { return ~a; },
      [](const Tile &a, const Tile &b) { return a << (b & 15); },
      [](const Tile &a, const Tile &b) { return a >> b; },
      [](const Tile &a, const Tile &b) { return minimum(a, b); },
      [](const Tile &a, const Tile &b) { return maximum(a, b); },
      [](const Tile &a, const Tile &) { return -a; },
      [](const Tile &a, const Tile &) { return abs(a); },
      [](const Tile &a, const Tile &) { return a * 3 + 7; },
  };
  bool isLogical = a.dtype() == i1;
  size_t count = isLogical ? std::size(logical) : std::size(arithmetic);
  add((isLogical ? logical : arithmetic)[below(int64_t(count))](a, b), x->sizes);
}

void Generator::compare() {
  const Node *x = pick(isExact);
  const Node *y = x ? like(*x, isExact) : nullptr;
  if (!y)
    return;
  Tile a = x->tile, b = y->tile;
  if (a.dtype() == i1)
    return add(flip() ? a == b : a != b, x->sizes);
  switch (below(7)) {
  case 0:
    return add(a < b, x->sizes);
  case 1:
    return add(a <= b, x->sizes);
  case 2:
    return add(a > b, x->sizes);
  case 3:
    return add(a >= b, x->sizes);
  case 4:
    return add(a == b, x->sizes);
  case 5:
    return add(a != b, x->sizes);
  default:
    return add(a > 1, x->sizes);
  }
}

void Generator::choice() {
  const Node *condition = pick([](const Node &node) { return node.tile.dtype() == i1; });
  const Node *x = condition ? pick([&](const Node &node) {
    return textOf(node.tile.shape()) == textOf(condition->tile.shape());
  })
                            : nullptr;
  const Node *y = x ? like(*x) : nullptr;
  if (!y)
    return;
  double most = std::max(x->most, y->most), error = std::max(x->error, y->error);
  if (flip(4))
    return add(select(mod(ids[0], 2) == 0, x->tile, y->tile), x->sizes, most, error);
  add(select(condition->tile, x->tile, y->tile), x->sizes, most, error);
}

void Generator::convert() {
  const Node *x = pick([](const Node &) { return true; });
  DType to = shared.choose.of(dtypes), from = x->tile.dtype();
  if (isFloat(from) && !isFloat(to) && !isExact(*x))
    return;
  if (!isFloat(to))
    return add(cast(x->tile, to), x->sizes);
  if (isFloat(from))
    return addRounded(cast(x->tile, to), x->sizes, x->most, x->error, isExact(*x) ? 0 : 1);
  if (from == i1)
    return add(cast(x->tile, to), x->sizes, 1);
  add(cast(from == i8 || from == u8 ? x->tile : x->tile % 50, to), x->sizes, 256);
}

void Generator::numbers() {
  Shape shape = flip() ? block : Shape{1 + below(4), 1 + below(20)};
  std::vector<int64_t> sizes = blockSizes;
  if (textOf(shape) != textOf(block))
    sizes = {shape[0].constant(), shape[1].constant()};
  if (flip(3))
    return add(full(shape, below(9) - 4, flip() ? f32 : i32), sizes, 4);
  int64_t axis = below(int64_t(shape.size()));
  add(iota(shape, axis, flip() ? i32 : i64, flip() ? ids[0] * 3 : Index(-2)), sizes);
}

//===----------------------------------------------------------------------===//
// Reductions, scans, products
//===----------------------------------------------------------------------===//

void Generator::reduce() {
  const Node *x = pick(hasAxes);
  if (!x)
    return;
  int64_t axis = below(int64_t(x->sizes.size()));
  KeepDim keep = flip(3) ? KeepDim::no : KeepDim::yes;
  double count = double(x->sizes[size_t(axis)]);
  std::vector<int64_t> sizes = x->sizes;
  if (keep == KeepDim::yes)
    sizes[size_t(axis)] = 1;
  else
    sizes.erase(sizes.begin() + axis);
  DType dtype = x->tile.dtype();
  if (count == 0 && isFloat(dtype))
    return; // infinities
  if (dtype == i1)
    return add(flip() ? any(x->tile, axis, keep) : all(x->tile, axis, keep), sizes);
  switch (below(5)) {
  case 0:
    return add(max(x->tile, axis, keep), sizes, x->most, x->error);
  case 1:
    return add(min(x->tile, axis, keep), sizes, x->most, x->error);
  case 2:
    if (isExact(*x))
      add(flip() ? argmax(x->tile, axis, keep) : argmin(x->tile, axis, keep), sizes);
    return;
  case 3:
    if (isFloat(dtype))
      return addRounded(prod(clamp(x->tile, 1), axis, keep), sizes, 1, count * x->error, 1 + count);
    return add(prod(x->tile, axis, keep), sizes);
  default:
    // Halves are summed in f32.
    double rounding = std::min(roundingOf(dtype), roundingOf(f32)) * count * count * x->most;
    addRounded(sum(x->tile, axis, keep), sizes, count * x->most, count * x->error + rounding);
  }
}

void Generator::scan() {
  const Node *x =
      pick([](const Node &node) { return hasAxes(node) && isNumber(node.tile.dtype()); });
  if (!x)
    return;
  int64_t axis = below(int64_t(x->sizes.size()));
  double count = double(x->sizes[size_t(axis)]);
  Direction way = flip() ? Direction::forward : Direction::backward;
  DType dtype = x->tile.dtype();
  switch (below(4)) {
  case 0:
    return addRounded(cumsum(x->tile, axis, way), x->sizes, count * x->most,
                      count * x->error + count * count * roundingOf(dtype) * x->most);
  case 1:
    if (isFloat(dtype))
      return addRounded(cumprod(clamp(x->tile, 1), axis, way), x->sizes, 1, count * x->error,
                        1 + count);
    return add(cumprod(x->tile, axis, way), x->sizes);
  default:
    if (dtype != u8)
      add(flip() ? cummax(x->tile, axis, way) : cummin(x->tile, axis, way), x->sizes, x->most,
          x->error);
  }
}

void Generator::sorts() {
  const Node *x = pick([](const Node &node) { return hasAxes(node) && isExact(node); });
  if (!x)
    return;
  int64_t axis = below(int64_t(x->sizes.size()));
  int64_t size = x->sizes[size_t(axis)];
  Size extent = x->tile.shape()[size_t(axis)];
  std::vector<int64_t> sizes = x->sizes;
  int64_t first = 0; // all
  if (extent.isConstant() && size > 1 && flip())
    first = sizes[size_t(axis)] = 1 + below(size - 1);
  Sorted sorted = sort(x->tile, axis, flip() ? Order::ascending : Order::descending, first);
  if (flip())
    add(sorted.positions, sizes);
  add(sorted.values, sizes, x->most);
}

/// a b^T or a^T b, of tiles of one shape, or of one and itself.
void Generator::product() {
  const Node *x = pick([](const Node &node) {
    return node.sizes.size() >= 2 && isNumber(node.tile.dtype()) && node.tile.dtype() != u8;
  });
  const Node *y = x ? like(*x) : nullptr;
  if (!y)
    return;
  size_t rank = x->sizes.size();
  bool isOuter = flip();
  std::vector<int64_t> sizes = x->sizes;
  double count = double(sizes[isOuter ? rank - 1 : rank - 2]);
  sizes[isOuter ? rank - 1 : rank - 2] = sizes[isOuter ? rank - 2 : rank - 1];
  if (countOf(sizes) > 2000)
    return;
  Tile a = isOuter ? x->tile : transpose(x->tile), b = isOuter ? transpose(y->tile) : y->tile;
  double most = count * x->most * y->most;
  double error = count * (x->most * y->error + y->most * x->error);
  Tile result = dot(a, b);
  if (flip(3))
    result = dot(a, b, result);
  double rounding = roundingOf(result.dtype()) * (count + 4) * most;
  addRounded(result, sizes, 2 * most, 2 * (error + rounding));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void Generator::reshapes() {
  const Node *x = pick([](const Node &) { return true; });
  Shape shape = x->tile.shape();
  std::vector<int64_t> sizes = x->sizes;
  if (flip(3) && isStatic(*x)) { // flat
    int64_t count = countOf(sizes);
    return add(reshape(x->tile, {count}), {count}, x->most, x->error);
  }
  if (sizes.size() >= 2 && flip()) { // the first two become one
    shape[1] = shape[0] * shape[1];
    sizes[1] *= sizes[0];
    shape.erase(shape.begin());
    sizes.erase(sizes.begin());
  } else if (sizes.size() < 4) {
    int64_t at = below(int64_t(sizes.size()) + 1);
    shape.insert(shape.begin() + at, 1);
    sizes.insert(sizes.begin() + at, 1);
  }
  add(reshape(x->tile, shape), sizes, x->most, x->error);
}

void Generator::moves() {
  const Node *x = pick(hasAxes);
  if (!x)
    return;
  Shape shape = x->tile.shape();
  std::vector<int64_t> sizes = x->sizes;
  int64_t rank = int64_t(sizes.size());
  switch (below(3)) {
  case 0: { // axes change places
    std::vector<int> order(sizes.size());
    for (int d = 0; d < int(rank); ++d)
      order[size_t(d)] = d;
    for (int64_t d = rank - 1; d > 0; --d)
      std::swap(order[size_t(d)], order[size_t(below(d + 1))]);
    for (size_t d = 0; d < sizes.size(); ++d)
      sizes[d] = x->sizes[size_t(order[d])];
    return add(transpose(x->tile, order), sizes, x->most, x->error);
  }
  case 1: // extents of 1 are stretched, an axis comes in front
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] != 1 || !shape[d].isConstant() || flip())
        continue;
      bool isWide = flip();
      sizes[d] = isWide ? n : 1 + below(9);
      shape[d] = isWide ? whole.back() : Size(sizes[d]);
    }
    if (flip() && rank < 3) {
      shape.insert(shape.begin(), 2);
      sizes.insert(sizes.begin(), 2);
    }
    return add(broadcast(x->tile, shape), sizes, x->most, x->error);
  default: { // a part of the axes that are static
    std::vector<int64_t> offsets, strides;
    for (size_t d = 0; d < sizes.size(); ++d) {
      bool isWhole = !shape[d].isConstant() || sizes[d] == 0 || flip();
      int64_t first = isWhole ? 0 : below(sizes[d]), stride = isWhole ? 1 : below(4) - 1;
      stride = stride == 0 ? 1 : stride;
      int64_t room = stride > 0 ? (sizes[d] - first + stride - 1) / stride : first + 1;
      if (!isWhole)
        shape[d] = sizes[d] = 1 + below(room);
      offsets.push_back(first);
      strides.push_back(stride);
    }
    add(slice(x->tile, offsets, shape, strides), sizes, x->most, x->error);
  }
  }
}

} // namespace tw::kernel
