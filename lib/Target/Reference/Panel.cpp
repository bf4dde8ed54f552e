// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Reference/Panel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::reference {

using Values = SmallVector<Value>;

PanelShape panelShape(Type element, const CpuFeatures &cpu) {
  PanelShape shape;
  bool half = element.isF16() || element.isBF16();
  shape.sum = half ? Type(Float32Type::get(element.getContext())) : Emitter::scalarType(element);
  shape.lanes = std::max<int64_t>(1, cpu.vectorBytes / Emitter::bytesOf(shape.sum));
  // Sums, two panel vectors and a broadcast must fit the registers.
  shape.rows = cpu.vectorRegisters >= 32 ? 8 : 4;
  return shape;
}

Value zeroOf(Emitter &e, Type type) {
  return arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
}

Value multiplyAdd(Emitter &e, Value x, Value y, Value sum) {
  if (isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return LLVM::FMulAddOp::create(e.b, e.loc, x, y, sum);
  Value product = arith::MulIOp::create(e.b, e.loc, x, y);
  return arith::AddIOp::create(e.b, e.loc, sum, product);
}

/// A vector with `scalar` in every lane.
static Value splat(Emitter &e, Value scalar, unsigned lanes) {
  auto type = VectorType::get(lanes, scalar.getType());
  Value poison = LLVM::PoisonOp::create(e.b, e.loc, type);
  Value zero = e.constant(e.b.getI64Type(), 0);
  Value first = LLVM::InsertElementOp::create(e.b, e.loc, poison, scalar, zero);
  return LLVM::ShuffleVectorOp::create(e.b, e.loc, first, poison, SmallVector<int32_t>(lanes, 0));
}

static Value sumOf(Emitter &e, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::AddFOp::create(e.b, e.loc, x, y);
  return arith::AddIOp::create(e.b, e.loc, x, y);
}

namespace {

/// `rows` rows at once, from row `lo`.
class Block {
public:
  Block(Emitter &e, const PanelProduct &p, unsigned rows, Ix lo) : e(e), p(p), rows(rows), lo(lo) {}

  void emit() {
    Values sums = accumulate();
    bool plain = p.columnStride.is(1) && p.result.element == p.shape.sum;
    if (!plain)
      return addByElements(sums);
    if (p.valid.is(p.shape.width()))
      return addByVectors(sums);
    if (p.valid.isConstant())
      return addByElements(sums);
    Value whole = e.ix().equal(p.valid, p.shape.width());
    e.ifThen(whole, [&] { addByVectors(sums); }, [&] { addByElements(sums); });
  }

private:
  Values accumulate() {
    Type vector = VectorType::get(p.shape.lanes, p.shape.sum);
    Values zeros(rows * p.shape.vectors, zeroOf(e, vector));
    Indices starts;
    for (unsigned m = 0; m < rows; ++m)
      starts.push_back(p.rowElement(e.ix().add(lo, int64_t(m))));
    return e.loop(0, p.depth, 1, zeros, [&](Ix k, ArrayRef<Value> sums) {
      Values columns, next;
      Ix at = e.ix().add(p.panel.offset, e.ix().mul(k, p.panelStride));
      for (unsigned v = 0; v < p.shape.vectors; ++v)
        columns.push_back(
            e.loadVector(p.panel, e.ix().add(at, int64_t(v * p.shape.lanes)), p.shape.lanes));
      Ix along = e.ix().mul(k, p.aStride);
      for (unsigned m = 0; m < rows; ++m) {
        Value factor =
            splat(e, p.convertA(e.load(p.a, e.ix().add(starts[m], along))), p.shape.lanes);
        for (unsigned v = 0; v < p.shape.vectors; ++v)
          next.push_back(multiplyAdd(e, factor, columns[v], sums[m * p.shape.vectors + v]));
      }
      return next;
    });
  }

  void addByVectors(ArrayRef<Value> sums) {
    for (unsigned m = 0; m < rows; ++m)
      for (unsigned v = 0; v < p.shape.vectors; ++v) {
        Ix at = e.ix().add(p.resultElement(e.ix().add(lo, int64_t(m))), int64_t(v * p.shape.lanes));
        Value old = e.loadVector(p.result, at, p.shape.lanes);
        e.storeVector(sumOf(e, old, sums[m * p.shape.vectors + v]), p.result, at);
      }
  }

  /// Through a tile on the stack: for the last columns, other types and strides.
  void addByElements(ArrayRef<Value> sums) {
    Buffer tile = e.onStack(p.shape.sum, rows * p.shape.width());
    for (auto [i, sum] : llvm::enumerate(sums))
      e.storeVector(sum, tile, int64_t(i * p.shape.lanes));
    e.loop(0, int64_t(rows), 1, [&](Ix m) {
      Ix start = p.resultElement(e.ix().add(lo, m));
      e.loop(0, p.valid, 1, [&](Ix j) {
        Ix at = e.ix().add(start, e.ix().mul(j, p.columnStride));
        Value sum = e.load(tile, e.ix().add(e.ix().mul(m, p.shape.width()), j));
        Value old = e.convert(e.load(p.result, at), p.shape.sum);
        e.store(e.convert(sumOf(e, old, sum), p.result.element), p.result, at);
      });
    });
  }

  Emitter &e;
  const PanelProduct &p;
  unsigned rows;
  Ix lo;
};

} // namespace

void emitPanelProduct(Emitter &e, const PanelProduct &p, const Ix &lo, const Ix &count) {
  int64_t rows = p.shape.rows;
  if (count.isConstant() && *count.constant() < rows) {
    if (*count.constant() > 0)
      Block(e, p, *count.constant(), lo).emit();
    return;
  }
  Ix whole = e.ix().mul(e.ix().div(count, rows), rows);
  e.loop(0, whole, rows, [&](Ix m) { Block(e, p, rows, e.ix().add(lo, m)).emit(); });
  if (whole.isConstant() && count.isConstant()) {
    if (int64_t rest = *count.constant() - *whole.constant())
      Block(e, p, rest, e.ix().add(lo, whole)).emit();
    return;
  }
  e.loop(whole, count, 1, [&](Ix m) { Block(e, p, 1, e.ix().add(lo, m)).emit(); });
}

} // namespace tw::target::reference
