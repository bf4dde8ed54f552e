// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.dot, tile.reduce, tile.scan and tile.sort. Sums and products of floats are made in f64 and
// rounded at the end.
#include "Interpreter/Compiler.h"
#include "Support/Checked.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

using namespace mlir;

namespace tw::interpreter {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
struct DotShape {
  int64_t batch = 1, m, n, k;
};
} // namespace

/// c += a b for one matrix; `row` adds a times a row of b to a row of c.
template <typename F>
static void multiply(const DotShape &shape, const Cell *a, const Cell *b, Cell *c, F row) {
  for (int64_t i = 0; i < shape.m; ++i)
    for (int64_t k = 0; k < shape.k; ++k)
      row(a[i * shape.k + k], b + k * shape.n, c + i * shape.n);
}

static void multiply(const DotShape &shape, bool isFloat, const Cell *a, const Cell *b, Cell *c) {
  if (isFloat)
    return multiply(shape, a, b, c, [n = shape.n](Cell x, const Cell *y, Cell *z) {
      for (int64_t j = 0; j < n; ++j)
        z[j].f += x.f * y[j].f;
    });
  multiply(shape, a, b, c, [n = shape.n](Cell x, const Cell *y, Cell *z) {
    for (int64_t j = 0; j < n; ++j)
      z[j].i = int64_t(uint64_t(z[j].i) + uint64_t(x.i) * uint64_t(y[j].i));
  });
}

Step makeDot(tile::DotOp op, Compiler &compiler) {
  Shape a = compiler.shapeOf(op.getA().getType()), c = compiler.shapeOf(op.getType());
  size_t rank = c.extents.size();
  DotShape shape{1, c.extents[rank - 2], c.extents[rank - 1], a.extents[rank - 1]};
  for (size_t d = 0; d + 2 < rank && c.count > 0; ++d)
    shape.batch *= c.extents[d];
  DType dtype = dtypeOf(op.getType());
  DType precision = compiler.isUnrounded(op) ? DType::F64 : dtype;
  return [shape, dtype, precision, count = c.count, inner = double(a.extents[rank - 1]),
          x = compiler.slot(op.getA()), y = compiler.slot(op.getB()),
          acc = compiler.slot(op.getAcc()), result = compiler.slot(op)](Machine &m) {
    double work = double(count) * inner;
    if (work > 9e18 || !m.spend(int64_t(work)))
      return m.spend(INT64_MAX);
    Cell *out = m.allocate(result, count);
    if (!out)
      return false;
    std::copy_n(m.slots[acc].cells(), count, out);
    const Cell *a = m.slots[x].cells(), *b = m.slots[y].cells();
    bool isFloat = info(dtype).isFloat;
    for (int64_t i = 0; i < shape.batch && count > 0; ++i)
      multiply(shape, isFloat, a + i * shape.m * shape.k, b + i * shape.k * shape.n,
               out + i * shape.m * shape.n);
    if (isFloat)
      roundTo(m.precision(precision), {out, size_t(count)});
    for (int64_t e = 0; e < count && !isFloat; ++e)
      out[e].i = wrap(out[e].i, bitsOf(dtype));
    return true;
  };
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// Where a reduction or scan goes along: elements (outer, i, inner).
struct Rows {
  int64_t outer = 1, length = 0, inner = 1;

  Rows(const Shape &shape, int64_t axis) : length(shape.extents[axis]) {
    for (auto [d, extent] : llvm::enumerate(shape.extents)) {
      int64_t &product = int64_t(d) < axis ? outer : inner;
      if (int64_t(d) != axis) // of a tile without elements they need not fit
        product = checkedMul(product, extent).value_or(0);
    }
  }
};

/// One step of a reduction.
using Combine = Cell (*)(Cell, Cell, int bits);

struct Reduction {
  Combine floats, integers;
  Cell (*identity)(DType);
};
} // namespace

static Cell number(DType dtype, int64_t value) {
  return info(dtype).isFloat ? Cell{.f = double(value)} : Cell{.i = value};
}
static Cell larger(Cell a, Cell b, int) { return {.f = maximum(a.f, b.f)}; }
static Cell smaller(Cell a, Cell b, int) { return {.f = minimum(a.f, b.f)}; }

/// In the order of tile::ReduceKind, of which tile::ScanKind is the beginning.
static constexpr Reduction reductions[] = {
    {[](Cell a, Cell b, int) -> Cell { return {.f = a.f + b.f}; },
     [](Cell a, Cell b, int) -> Cell { return {.i = int64_t(uint64_t(a.i) + uint64_t(b.i))}; },
     [](DType dtype) { return number(dtype, 0); }},
    {[](Cell a, Cell b, int) -> Cell { return {.f = a.f * b.f}; },
     [](Cell a, Cell b, int) -> Cell { return {.i = int64_t(uint64_t(a.i) * uint64_t(b.i))}; },
     [](DType dtype) { return number(dtype, 1); }},
    {larger, [](Cell a, Cell b, int) { return a.i > b.i ? a : b; }, leastOf},
    {smaller, [](Cell a, Cell b, int) { return a.i < b.i ? a : b; }, greatestOf},
    {nullptr,
     [](Cell a, Cell b, int bits) { return asUnsigned(a.i, bits) > asUnsigned(b.i, bits) ? a : b; },
     [](DType) -> Cell { return {.i = 0}; }},
    {nullptr,
     [](Cell a, Cell b, int bits) { return asUnsigned(a.i, bits) < asUnsigned(b.i, bits) ? a : b; },
     [](DType) -> Cell { return {.i = -1}; }},
    {nullptr, [](Cell a, Cell b, int) -> Cell { return {.i = a.i & b.i}; },
     [](DType) -> Cell { return {.i = -1}; }},
    {nullptr, [](Cell a, Cell b, int) -> Cell { return {.i = a.i | b.i}; },
     [](DType) -> Cell { return {.i = 0}; }},
};

static Combine combineOf(const Reduction &reduction, DType dtype) {
  return info(dtype).isFloat ? reduction.floats : reduction.integers;
}

/// Rounds a float, wraps an integer.
static Cell finished(Cell cell, DType dtype, DType precision) {
  if (info(dtype).isFloat)
    return {.f = roundTo(precision, cell.f)};
  return {.i = wrap(cell.i, bitsOf(dtype))};
}

/// The index of the first of the greatest (least) values; the first NaN if there is one.
static int64_t findBest(const Cell *cells, int64_t length, int64_t stride, bool isFloat,
                        bool isLeast) {
  int64_t best = 0;
  for (int64_t i = 1; i < length; ++i) {
    Cell a = cells[best * stride], b = cells[i * stride];
    bool isBetter = isFloat
                        ? !std::isnan(a.f) && (std::isnan(b.f) || (isLeast ? b.f < a.f : b.f > a.f))
                        : (isLeast ? b.i < a.i : b.i > a.i);
    best = isBetter ? i : best;
  }
  return best;
}

Step makeReduce(tile::ReduceOp op, Compiler &compiler) {
  Shape shape = compiler.shapeOf(op.getOperand().getType());
  int64_t count = compiler.shapeOf(op.getType()).count;
  tile::ReduceKind kind = op.getKind();
  bool isLeast = kind == tile::ReduceKind::ArgMin;
  bool isPosition = isLeast || kind == tile::ReduceKind::ArgMax;
  return [rows = Rows(shape, op.getAxis()), work = shape.count, count, isLeast, isPosition,
          reduction = isPosition ? nullptr : &reductions[uint32_t(kind)],
          dtype = dtypeOf(op.getOperand().getType()), from = compiler.slot(op.getOperand()),
          to = compiler.slot(op)](Machine &m) {
    Cell *out = m.spend(work) ? m.allocate(to, count) : nullptr;
    if (!out)
      return false;
    const Cell *cells = m.slots[from].cells();
    for (int64_t o = 0; o < rows.outer; ++o)
      for (int64_t i = 0; i < rows.inner; ++i) {
        const Cell *row = cells + o * rows.length * rows.inner + i;
        if (isPosition) {
          (out++)->i = findBest(row, rows.length, rows.inner, info(dtype).isFloat, isLeast);
          continue;
        }
        Combine combine = combineOf(*reduction, dtype);
        Cell result = reduction->identity(dtype);
        for (int64_t k = 0; k < rows.length; ++k)
          result = combine(result, row[k * rows.inner], bitsOf(dtype));
        *out++ = finished(result, dtype, m.precision(dtype));
      }
    return true;
  };
}

Step makeScan(tile::ScanOp op, Compiler &compiler) {
  Shape shape = compiler.shapeOf(op.getType());
  return [rows = Rows(shape, op.getAxis()), count = shape.count, isReverse = op.getReverse(),
          reduction = &reductions[uint32_t(op.getKind())], dtype = dtypeOf(op.getType()),
          from = compiler.slot(op.getOperand()), to = compiler.slot(op)](Machine &m) {
    Cell *out = m.allocate(to, count);
    if (!out)
      return false;
    const Cell *cells = m.slots[from].cells();
    Combine combine = combineOf(*reduction, dtype);
    for (int64_t o = 0; o < rows.outer && count > 0; ++o)
      for (int64_t i = 0; i < rows.inner; ++i) {
        Cell sum = reduction->identity(dtype);
        for (int64_t k = 0; k < rows.length; ++k) {
          int64_t along = isReverse ? rows.length - 1 - k : k;
          int64_t at = (o * rows.length + along) * rows.inner + i;
          sum = combine(sum, cells[at], bitsOf(dtype));
          out[at] = finished(sum, dtype, m.precision(dtype));
        }
      }
    return true;
  };
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// Whether `a` stands before `b` in ascending order: NaN is greater than every number.
static bool isLess(Cell a, Cell b, DType dtype, bool isUnsigned) {
  if (info(dtype).isFloat)
    return std::isnan(b.f) ? !std::isnan(a.f) : a.f < b.f;
  int bits = bitsOf(dtype);
  return isUnsigned ? asUnsigned(a.i, bits) < asUnsigned(b.i, bits) : a.i < b.i;
}

Step makeSort(tile::SortOp op, Compiler &compiler) {
  Shape all = compiler.shapeOf(op.getOperand().getType());
  Shape kept = compiler.shapeOf(op.getValues().getType());
  if (kept.extents[op.getAxis()] > all.extents[op.getAxis()])
    compiler.fail(Code::INTERPRETER_2,
                  fmt::format("a sort gives the first {} of {}", kept.extents[op.getAxis()],
                              all.extents[op.getAxis()]));
  return [rows = Rows(all, op.getAxis()), first = Rows(kept, op.getAxis()).length, work = all.count,
          count = kept.count, isDescending = op.getDescending(), isUnsigned = op.getIsUnsigned(),
          dtype = dtypeOf(op.getOperand().getType()), from = compiler.slot(op.getOperand()),
          values = compiler.slot(op.getValues()),
          positions = compiler.slot(op.getPositions())](Machine &m) {
    Cell *sorted = m.spend(work) ? m.allocate(values, count) : nullptr;
    Cell *where = sorted ? m.allocate(positions, count) : nullptr;
    if (!where)
      return false;
    const Cell *cells = m.slots[from].cells();
    std::vector<int64_t> order(size_t(rows.length));
    for (int64_t o = 0; o < rows.outer && count > 0; ++o)
      for (int64_t i = 0; i < rows.inner; ++i) {
        const Cell *row = cells + o * rows.length * rows.inner + i;
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
          Cell a = row[x * rows.inner], b = row[y * rows.inner];
          if (isDescending)
            std::swap(a, b);
          return isLess(a, b, dtype, isUnsigned) || (!isLess(b, a, dtype, isUnsigned) && x < y);
        });
        for (int64_t k = 0; k < first; ++k) {
          int64_t at = (o * first + k) * rows.inner + i;
          sorted[at] = row[order[size_t(k)] * rows.inner];
          where[at].i = order[size_t(k)];
        }
      }
    return true;
  };
}

} // namespace tw::interpreter
