// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Dot/OuterProducts.h"
#include "Target/CPU/Dot/UnpackBf16.h"
#include "Target/CPU/Emission/SharedFunction.h"
#include "Target/CPU/Plan/Analysis/DotOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::target::cpu {

/// Products in a step along K that keep the processor busy without unrolling.
constexpr unsigned leastWork = 8, fewRegisters = 16;
/// Of a cache line.
constexpr int64_t lineBytes = 64;

OuterProducts::OuterProducts(Emitter &e, tile::DotOp op, const DotStep &plan)
    : e(e), b(e.b), loc(e.loc), op(op), plan(plan), rank(int(op.getType().getRank())),
      element(op.getType().getElementType()), sumElement(sumType(op)),
      depth(e.extents(op.getA())[rank - 1]), rowCount(e.extents(op.getA())[rank - 2]),
      streams(plan.streams) {}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

LogicalResult OuterProducts::prepare(bool byCalls) {
  auto prepareIt = [&](Value tile, const DotOperand &operand, bool isB) -> LogicalResult {
    if (!byCalls)
      return prepareOperand(tile, operand, isB);
    // What follows does not reuse what is computed in the function.
    llvm::SaveAndRestore known(e.known);
    SharedFunction function(e);
    if (failed(prepareOperand(tile, operand, isB)))
      return failure();
    function.finish("operand");
    return success();
  };
  if (failed(prepareIt(op.getA(), plan.a, /*isB=*/false)) ||
      failed(prepareIt(op.getB(), plan.b, /*isB=*/true)))
    return failure();
  limitToBuffers();
  if (plan.next)
    prefetch.emplace(e, op, *plan.next);
  return success();
}

bool OuterProducts::copiesByFirstRows() const {
  return plan.b.form == DotOperand::Form::CopiedByFirstRows;
}

void OuterProducts::finish() {
  for (const Access &access : plan.insideMeanwhile)
    e.inside.erase(access);
}

LogicalResult OuterProducts::prepareOperand(Value tile, const DotOperand &operand, bool isB) {
  using Form = DotOperand::Form;
  if (failed(e.place(operand.before)))
    return failure();
  if (operand.form == Form::Panels)
    panels = panelsOf(e.cpu, tile);
  if (operand.form == Form::CopiedByFirstRows)
    copies[tile] = spaced(cast<RankedTensorType>(tile.getType()), sumElement);
  if (operand.form == Form::Converted)
    return convert(tile, *operand.fill, isB);
  return operand.form == Form::TransposedView ? viewTransposed(operand) : success();
}

static Memory transposed(const Memory &source, tile::TransposeOp op) {
  Memory view{source.base, {}, source.element};
  for (int64_t axis : op.getPermutation())
    view.strides.push_back(source.strides[axis]);
  return view;
}

/// Single elements are as near in what is transposed.
LogicalResult OuterProducts::viewTransposed(const DotOperand &operand) {
  auto transpose = op.getA().getDefiningOp<tile::TransposeOp>();
  Value source = transpose.getOperand();
  if (operand.fill) {
    auto type = cast<RankedTensorType>(source.getType());
    Memory room = spaced(type, type.getElementType());
    if (failed(e.fill(room, source, *operand.fill)))
      return failure();
    e.memory[source] = room;
  }
  e.memory[transpose.getResult()] = transposed(e.memory.find(source)->second, transpose);
  return success();
}

/// Room for a tile whose columns are read, too: rows that lie a power of two apart would meet in
/// few sets of the cache, so they get a line more.
Memory OuterProducts::spaced(RankedTensorType tile, Type type) {
  std::vector<Size> extents = tile::extentsOf(tile);
  int64_t bytes = Emitter::bytesOf(type);
  if (auto row = extents.back().constant(); row && *row * bytes % (4 * lineBytes) == 0)
    extents.back() = Size(*row + lineBytes / bytes);
  return e.allocate(extents, type);
}

/// In scratch, converted once and not at each use.
LogicalResult OuterProducts::convert(Value tile, const Fill &fill, bool isB) {
  auto transpose = tile == op.getA() ? computedTranspose(op) : tile::TransposeOp();
  Value source = transpose ? Value(transpose.getOperand()) : tile;
  Type type = isB && isUnpacked(e.cpu, op) ? Type(b.getBF16Type()) : sumElement;
  Memory room = spaced(cast<RankedTensorType>(source.getType()), type);
  copies[tile] = transpose ? transposed(room, transpose) : room;
  return e.fill(room, source, fill);
}

/// Beyond a buffer along K both operands are 0: these steps add nothing. Nor do rows beyond a's.
void OuterProducts::limitToBuffers() {
  if (plan.areRowsLimited) {
    auto [a, dim] = traceToLoad(op.getA(), rank - 2);
    rowCount = inBuffer(a, dim, rowCount);
  }
  if (plan.isDepthLimited) {
    auto [a, dimA] = traceToLoad(op.getA(), rank - 1);
    auto [x, dimB] = traceToLoad(op.getB(), rank - 2);
    depth = e.ix().min(inBuffer(a, dimA, depth), inBuffer(x, dimB, depth));
  }
  e.inside.insert(plan.insideMeanwhile.begin(), plan.insideMeanwhile.end());
}

Ix OuterProducts::inBuffer(tile::LoadOp load, int dim, const Ix &extent) {
  IndexBuilder ix = e.ix();
  if (!endsAtBuffer({load, unsigned(dim)}) || e.inside.contains({load, unsigned(dim)}))
    return extent;
  Ix size = e.buffers.find(load.getBuffer())->second.sizes[dim];
  Ix room = ix.max(0, ix.sub(size, e.index(load.getPositions()[dim])));
  return ix.min(extent, room);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult OuterProducts::addTo(SmallVectorImpl<Value> &sums, const ResultBlock &block) {
  llvm::SaveAndRestore lanes(e.lanes, block.width);
  llvm::SaveAndRestore whole(e.mask, Value());
  bool inPairs = isUnpacked(e.cpu, op) && block.vectors % 2 == 0 && !block.mask;
  bool isLong = block.rows * block.vectors >= leastWork;
  int64_t unrolled = unrolledSteps(block);
  auto some = [&](const Ix &k, SmallVectorImpl<Value> &partial) -> LogicalResult {
    if (prefetch && ((block.vectors > 1 && isLong) || plan.next->streamAhead))
      prefetch->request({block.row, block.column, block.rows, block.vectors * block.width}, k,
                        unrolled);
    for (int64_t i = 0; i < unrolled; ++i) {
      if (i > 0)
        keepApart();
      if (failed(step(block, inPairs, e.ix().add(k, i), partial)))
        return failure();
    }
    return success();
  };
  auto steps = [&](const Ix &k, SmallVectorImpl<Value> &partial) -> LogicalResult {
    for (int64_t stream = 0; stream < streams; ++stream) {
      if (stream > 0)
        keepApart();
      if (failed(some(e.ix().add(k, e.ix().mul(e.ix().div(depth, streams), stream)), partial)))
        return failure();
    }
    return success();
  };
  auto sumUp = [&](const Ix &from, const Ix &to, SmallVectorImpl<Value> &partial) {
    LogicalResult done =
        e.loop(from, to, unrolled, partial, [&](const Ix &k) { return steps(k, partial); });
    if (succeeded(done) && isLong)
      keepRolled(partial.front());
    return done;
  };
  if (inPairs)
    reorder(e, sums, false);
  LogicalResult done = inChains(sums, sumUp);
  if (inPairs)
    reorder(e, sums, true);
  // Steps that are written out, as those of a window's taps are: with 16 registers elements that
  // taps share would stay in some that sums need.
  if (isLong && e.cpu.vectorRegisters <= fewRegisters)
    keepApart();
  return done;
}

/// Two share what counting and branching takes of the ports that multiply, unless several streams
/// do.
int64_t OuterProducts::unrolledSteps(const ResultBlock &block) const {
  if (streams > 1)
    return 1;
  auto steps = depth.constant();
  return steps && *steps % 2 == 0 && block.vectors > 1 && block.rows * block.vectors >= leastWork
             ? 2
             : 1;
}

/// Loads of the next step stay behind this: two steps in one basic block would be interleaved by
/// the scheduler, which then has too few registers and spills.
void OuterProducts::keepApart() {
  LLVM::InlineAsmOp::create(b, loc, TypeRange(), ValueRange(), /*asm_string=*/"",
                            /*constraints=*/"~{memory}", /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
}

LogicalResult OuterProducts::step(const ResultBlock &block, bool inPairs, const Ix &k,
                                  SmallVectorImpl<Value> &sums) {
  SmallVector<Value> right;
  for (unsigned j = 0; j < block.vectors; j += inPairs ? 2 : 1) {
    Ix at = e.ix().add(block.column, int64_t(j) * block.width);
    llvm::SaveAndRestore masked(e.mask, block.maskOf(j));
    if (failed(inPairs ? halves(block.batch, k, at, right) : whole(block, k, at, right)))
      return failure();
  }
  for (unsigned i = 0; i < block.rows; ++i) {
    Point point{block.batch, -1, 1};
    point.at.append({e.ix().add(block.row, int64_t(i)), k});
    FailureOr<Value> value = factor(op.getA(), point);
    if (failed(value))
      return failure();
    Value left = e.asVector(*value);
    for (unsigned j = 0; j < block.vectors; ++j) {
      Value &sum = sums[i * block.vectors + j];
      sum = multiplyAdd(left, right[j], sum);
    }
  }
  return success();
}

LogicalResult OuterProducts::inChains(SmallVectorImpl<Value> &sums, SumUp sumUp) {
  bool isShort = depth.constant() && *depth.constant() <= longestChain;
  Ix end = e.ix().div(depth, streams);
  if (isShort || !sumElement.isF32())
    return sumUp(0, end, sums);
  int64_t chain = longestChain / streams;
  return e.loop(0, end, chain, sums, [&](const Ix &from) -> LogicalResult {
    SmallVector<Value> partial;
    for (Value sum : sums)
      partial.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(sum.getType())));
    Ix to = e.ix().min(e.ix().add(from, chain), end);
    if (failed(sumUp(from, to, partial)))
      return failure();
    for (auto [sum, part] : llvm::zip(sums, partial))
      sum = arith::AddFOp::create(b, loc, sum, part);
    return success();
  });
}

LogicalResult OuterProducts::whole(const ResultBlock &block, const Ix &k, const Ix &at,
                                   SmallVectorImpl<Value> &right) {
  Point point{block.batch, e.lanes > 1 ? rank - 1 : -1, 1};
  point.at.append({k, at});
  bool copies = block.isFirst && copiesByFirstRows();
  FailureOr<Value> value = copies ? e.evaluate(op.getB(), point) : factor(op.getB(), point);
  if (failed(value))
    return failure();
  right.push_back(e.asVector(*value));
  if (copies)
    e.write(this->copies.find(op.getB())->second, point, right.back());
  return success();
}

/// The columns of two vectors of b in another order, in which sums are meanwhile.
LogicalResult OuterProducts::halves(const Indices &batch, const Ix &k, const Ix &at,
                                    SmallVectorImpl<Value> &right) {
  llvm::SaveAndRestore lanes(e.lanes, 2 * e.lanes);
  Point point{batch, rank - 1, 1};
  point.at.append({k, at});
  FailureOr<Value> value = elementOf(op.getB(), point);
  if (failed(value))
    return failure();
  auto [lower, upper] = unpack(e, e.asVector(*value));
  right.append({lower, upper});
  return success();
}

/// In the type of the result or of the sums.
FailureOr<Value> OuterProducts::factor(Value tile, const Point &point) {
  FailureOr<Value> value = elementOf(tile, point);
  if (failed(value) || getElementTypeOrSelf(value->getType()) == element)
    return value;
  return e.convertFloat(*value, sumElement);
}

FailureOr<Value> OuterProducts::elementOf(Value tile, const Point &point) {
  if (panels && tile == op.getB()) {
    Ix width = panels.getType().getDimSize(2);
    return e.evaluate(
        panels, {{e.ix().div(point.at[1], width), point.at[0], e.ix().rem(point.at[1], width)},
                 point.lane < 0 ? -1 : 2});
  }
  auto found = copies.find(tile);
  return found != copies.end() ? e.read(found->second, point) : e.evaluate(tile, point);
}

Value OuterProducts::multiplyAdd(Value x, Value y, Value sum) {
  if (isa<FloatType>(element)) {
    Type type = getElementTypeOrSelf(sum.getType());
    x = e.convertFloat(x, type);
    y = e.convertFloat(y, type);
    return math::FmaOp::create(b, loc, x, y, sum);
  }
  return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, x, y));
}

void keepRolled(Value sum) {
  auto loop = sum.getDefiningOp<scf::ForOp>();
  if (!loop)
    return;
  MLIRContext *context = sum.getContext();
  auto unroll =
      LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {},
                                                  {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation", annotation);
}

} // namespace tw::target::cpu
