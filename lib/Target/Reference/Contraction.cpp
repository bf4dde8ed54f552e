// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Reference/Contraction.h"
#include "IR/Graph/Graph.h"
#include "Target/Reference/Nest.h"
#include "Target/Reference/Panel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::reference {

//===--- finding ------------------------------------------------------------===//

/// The block argument that `value` is, through one conversion (then in `cast`).
static std::optional<unsigned> argumentBehind(Value value, Block &block, Operation *&cast) {
  if (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncFOp, arith::TruncIOp,
             arith::SIToFPOp, arith::UIToFPOp>(op))
      return std::nullopt;
    cast = op;
    value = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &block)
    return std::nullopt;
  return argument.getArgNumber();
}

/// The product whose sum the body yields: result + x * y.
static Operation *summedProduct(Block &block) {
  if (block.getNumArguments() != 3)
    return nullptr;
  Operation *sum = block.getTerminator()->getOperand(0).getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum))
    return nullptr;
  Value old = block.getArgument(2);
  if (!old.hasOneUse() || !llvm::is_contained(sum->getOperands(), old))
    return nullptr;
  Operation *product = sum->getOperand(sum->getOperand(0) == old ? 1 : 0).getDefiningOp();
  return product && isa<arith::MulFOp, arith::MulIOp>(product) ? product : nullptr;
}

static bool isLinear(AffineExpr expr) {
  bool linear = true;
  expr.walk([&](AffineExpr inner) {
    auto kind = inner.getKind();
    linear &= kind == AffineExprKind::Add || kind == AffineExprKind::DimId ||
              kind == AffineExprKind::Constant ||
              (kind == AffineExprKind::Mul &&
               isa<AffineConstantExpr>(cast<AffineBinaryOpExpr>(inner).getRHS()));
  });
  return linear;
}

static void assignRoles(linalg::LinalgOp op, Contraction &found) {
  auto maps = op.getIndexingMapsArray();
  auto uses = [&](unsigned operand, unsigned d) { return maps[operand].isFunctionOfDim(d); };
  auto iterators = op.getIteratorTypesArray();
  for (unsigned d = 0; d < iterators.size(); ++d) {
    if (iterators[d] != utils::IteratorType::parallel)
      found.reduction.push_back(d);
    else if (uses(found.a, d) != uses(found.b, d))
      (uses(found.a, d) ? found.rows : found.columns).push_back(d);
    else
      found.batch.push_back(d);
  }
}

std::optional<Contraction> findContraction(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 ||
      !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
    return std::nullopt;
  auto maps = op.getIndexingMapsArray();
  Block &block = op->getRegion(0).front();
  Operation *product = summedProduct(block);
  if (!product || !maps[2].isProjectedPermutation() || maps[2].getNumResults() == 0 ||
      !llvm::all_of(maps, [](AffineMap m) { return llvm::all_of(m.getResults(), isLinear); }))
    return std::nullopt;
  Operation *casts[2] = {};
  auto x = argumentBehind(product->getOperand(0), block, casts[0]);
  auto y = argumentBehind(product->getOperand(1), block, casts[1]);
  if (!x || !y || *x + *y != 1)
    return std::nullopt;
  unsigned last = cast<AffineDimExpr>(maps[2].getResults().back()).getPosition();
  Contraction found;
  if (maps[0].isFunctionOfDim(last))
    std::swap(found.a, found.b);
  found.castA = casts[found.a == *x ? 0 : 1];
  found.castB = casts[found.b == *x ? 0 : 1];
  assignRoles(op, found);
  if (!llvm::is_contained(found.columns, last))
    return std::nullopt;
  int64_t width = cast<RankedTensorType>(op->getResult(0).getType()).getShape().back();
  if (!ShapedType::isDynamic(width) && width < 4)
    return std::nullopt;
  return found;
}

void preferredBox(Operation *op, std::vector<int64_t> &box) {
  auto raise = [&](size_t d, int64_t size) { box[d] = std::max(box[d], size); };
  auto conv = dyn_cast<graph::ConvOp>(op);
  if (conv && !conv.isResultLast() && box.size() >= 2) {
    int64_t channels = cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(1);
    raise(1, ShapedType::isDynamic(channels) ? 64 : std::clamp<int64_t>(channels / 4, 32, 128));
  }
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  auto found = linalg ? findContraction(linalg) : std::nullopt;
  if (!found)
    return;
  AffineMap out = linalg.getIndexingMapsArray()[2];
  bool coversColumns = box.size() == out.getNumResults();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool fewRows = llvm::all_of(llvm::enumerate(out.getResults()), [&](auto result) {
    return !llvm::is_contained(found->rows, out.getDimPosition(result.index())) ||
           (!type.isDynamicDim(result.index()) && type.getDimSize(result.index()) <= 4);
  });
  for (size_t d = 0; d < std::min<size_t>(box.size(), out.getNumResults()); ++d) {
    unsigned loop = out.getDimPosition(d);
    if (!found->rows.empty() && loop == found->rows.back())
      raise(d, coversColumns ? 128 : 32);
    else if (loop == found->columns.back())
      raise(d, fewRows ? 512 : 128);
  }
}

//===--- emitting -----------------------------------------------------------===//

namespace {

class ContractionEmitter {
public:
  ContractionEmitter(Nest &nest, const Contraction &c, Emitter &e)
      : nest(nest), c(c), e(e), a(nest.accesses[c.a]), b(nest.accesses[c.b]), out(nest.accesses[2]),
        shape(panelShape(out.buffer.element, e.cpu)) {
    at.assign(nest.ranges.size(), Ix(0));
  }

  void emit() {
    column = pick(c.columns);
    row = pick(c.rows);
    SmallVector<unsigned> outer;
    for (unsigned d = 0; d < nest.ranges.size(); ++d)
      if (nest.parallel[d] && int(d) != column && int(d) != row)
        outer.push_back(d);
    reduction = c.reduction;
    inner = innermostTerm();
    llvm::erase(reduction, inner);
    over(outer, [&] { product(); });
  }

private:
  /// The longest loop of a role; of equally long ones the last. -1: none.
  int pick(ArrayRef<unsigned> dims) const {
    int best = -1;
    int64_t longest = 0;
    for (unsigned d : dims)
      if (int64_t length = nest.ranges[d].len.estimate(1024);
          length >= longest || out.strides[d].is(1)) {
        best = d;
        longest = out.strides[d].is(1) ? int64_t(1) << 60 : length;
      }
    return best;
  }

  /// The reduction loop that runs inside: the longest.
  unsigned innermostTerm() const {
    unsigned best = c.reduction.back();
    for (unsigned d : c.reduction)
      if (nest.ranges[d].len.estimate(1024) > nest.ranges[best].len.estimate(1024))
        best = d;
    return best;
  }

  void over(ArrayRef<unsigned> loops, llvm::function_ref<void()> inside) {
    if (loops.empty())
      return inside();
    const Range &range = nest.ranges[loops[0]];
    e.loop(range.lo, e.ix().add(range.lo, range.len), 1, [&](Ix i) {
      at[loops[0]] = i;
      over(loops.drop_front(), inside);
    });
  }

  Ix rowCount() const { return row < 0 ? Ix(1) : nest.ranges[row].len; }
  Ix rowStart() const { return row < 0 ? Ix(0) : nest.ranges[row].lo; }
  Ix columnEnd() { return e.ix().add(nest.ranges[column].lo, nest.ranges[column].len); }

  Value converted(Value value, Operation *cast) {
    if (cast)
      value = (*e.scalarOp(cast, {value}, {}))[0];
    return e.convert(value, shape.sum);
  }

  bool fewRows() const { return rowCount().isConstant() && *rowCount().constant() <= 4; }
  bool plain(const Access &access, Operation *cast) const {
    return !cast && access.buffer.element == shape.sum;
  }

  void product() {
    if (fewRows() && plain(a, c.castA) && plain(b, c.castB) && isa<FloatType>(shape.sum) &&
        a.strides[inner].is(1) && b.strides[inner].is(1) && !b.strides[column].is(1))
      return dots();
    direct = fewRows() && plain(b, c.castB) && b.strides[column].is(1);
    if (direct) // Few rows: long runs of b instead.
      shape.vectors = e.cpu.vectorRegisters / (2 * std::max<int64_t>(1, *rowCount().constant()));
    else
      panel = e.onStack(shape.sum, panelDepth * shape.width());
    const Range &columns = nest.ranges[column];
    Ix whole = columns.len;
    if (direct) // A panel in place must not be read beyond its end.
      whole = e.ix().mul(e.ix().div(columns.len, shape.width()), shape.width());
    Ix split = e.ix().add(columns.lo, whole);
    columnBlocks(columns.lo, split);
    if (!direct || split.same(columnEnd()))
      return;
    direct = false;
    panel = e.onStack(shape.sum, panelDepth * shape.width());
    columnBlocks(split, columnEnd());
  }

  void columnBlocks(const Ix &lo, const Ix &hi) {
    bool whole = direct || (lo.isConstant() && hi.isConstant()
                                ? (*hi.constant() - *lo.constant()) % shape.width() == 0
                                : nest.ranges[column].len.isConstant() &&
                                      *nest.ranges[column].len.constant() % shape.width() == 0);
    e.loop(lo, hi, shape.width(), [&](Ix j) {
      at[column] = j;
      Ix valid = whole ? Ix(shape.width()) : e.ix().min(shape.width(), e.ix().sub(hi, j));
      over(reduction, [&] { depthBlocks(valid); });
    });
  }

  void depthBlocks(const Ix &valid) {
    const Range &range = nest.ranges[inner];
    Ix end = e.ix().add(range.lo, range.len);
    e.loop(range.lo, end, panelDepth, [&](Ix k) {
      at[inner] = k;
      bool whole = range.len.isConstant() && *range.len.constant() % panelDepth == 0;
      Ix depth = whole ? Ix(panelDepth) : e.ix().min(panelDepth, e.ix().sub(end, k));
      if (!direct)
        pack(depth, valid);
      multiply(depth, valid);
    });
  }

  /// Copies the columns' terms to the stack, converted; columns that do not exist become zeros.
  void pack(const Ix &depth, const Ix &valid) {
    Ix start = b.element(e, at);
    auto move = [&](Ix k, Ix j) {
      Ix from = e.ix().add(
          start, e.ix().add(e.ix().mul(k, b.strides[inner]), e.ix().mul(j, b.strides[column])));
      Value value = converted(e.load(b.buffer, from), c.castB);
      e.store(value, panel, e.ix().add(e.ix().mul(k, shape.width()), j));
    };
    if (b.strides[column].is(1) || !b.strides[inner].is(1))
      e.nest({{0, depth}, {0, valid}}, [&](ArrayRef<Ix> i) { move(i[0], i[1]); }, true);
    else
      e.nest({{0, valid}, {0, depth}}, [&](ArrayRef<Ix> i) { move(i[1], i[0]); }, true);
    if (valid.is(shape.width()))
      return;
    Value zero = zeroOf(e, shape.sum);
    e.nest({{0, depth}, {valid, e.ix().sub(shape.width(), valid)}}, [&](ArrayRef<Ix> i) {
      e.store(zero, panel, e.ix().add(e.ix().mul(i[0], shape.width()), i[1]));
    });
  }

  void multiply(const Ix &depth, const Ix &valid) {
    auto elementOfRow = [&](const Access &access, Ix m) {
      Indices here = at;
      if (row >= 0)
        here[row] = m;
      return access.element(e, here);
    };
    auto rowElement = [&](Ix m) { return elementOfRow(a, m); };
    auto resultElement = [&](Ix m) { return elementOfRow(out, m); };
    auto convertA = [&](Value value) { return converted(value, c.castA); };
    Buffer source = panel;
    if (direct) {
      source = b.buffer;
      source.offset = b.element(e, at);
    }
    PanelProduct product{shape,
                         source,
                         direct ? b.strides[inner] : Ix(shape.width()),
                         depth,
                         a.buffer,
                         a.strides[inner],
                         rowElement,
                         convertA,
                         out.buffer,
                         out.strides[column],
                         resultElement,
                         valid};
    emitPanelProduct(e, product, rowStart(), rowCount());
  }

  //===--- dot form: few rows, terms consecutive in both operands ----------===//

  void dots() {
    constexpr int64_t together = 4;
    const Range &columns = nest.ranges[column];
    Ix whole = e.ix().mul(e.ix().div(columns.len, together), together);
    Ix split = e.ix().add(columns.lo, whole);
    auto block = [&](Ix j, int64_t count) {
      at[column] = j;
      over(reduction, [&] {
        for (int64_t m = 0; m < *rowCount().constant(); ++m)
          dot(m, j, count);
      });
    };
    e.loop(columns.lo, split, together, [&](Ix j) { block(j, together); });
    e.loop(split, columnEnd(), 1, [&](Ix j) { block(j, 1); });
  }

  /// One row with `count` columns, in chunks in which no lane adds more than 256 terms.
  void dot(int64_t m, const Ix &j, int64_t count) {
    if (row >= 0)
      at[row] = e.ix().add(nest.ranges[row].lo, m);
    const Range &range = nest.ranges[inner];
    at[inner] = range.lo;
    Ix startA = a.element(e, at);
    Indices startB, startOut;
    for (int64_t i = 0; i < count; ++i) {
      at[column] = e.ix().add(j, i);
      startB.push_back(b.element(e, at));
      startOut.push_back(out.element(e, at));
    }
    int64_t lanes = shape.lanes, chunk = panelDepth * lanes;
    Ix whole = e.ix().mul(e.ix().div(range.len, lanes), lanes);
    e.loop(0, whole, chunk, [&](Ix begin) {
      Ix end = e.ix().min(e.ix().add(begin, chunk), whole);
      Type vector = VectorType::get(lanes, shape.sum);
      SmallVector<Value> zeros(count, zeroOf(e, vector));
      auto sums = e.loop(begin, end, lanes, zeros, [&](Ix k, ArrayRef<Value> sums) {
        Value x = e.loadVector(a.buffer, e.ix().add(startA, k), lanes);
        SmallVector<Value> next;
        for (auto [start, sum] : llvm::zip(startB, sums))
          next.push_back(
              multiplyAdd(e, x, e.loadVector(b.buffer, e.ix().add(start, k), lanes), sum));
        return next;
      });
      for (auto [sum, element] : llvm::zip(sums, startOut))
        addTo(element, LLVM::vector_reduce_fadd::create(e.b, e.loc, shape.sum, zeroOf(e, shape.sum),
                                                        sum, LLVM::FastmathFlags::reassoc));
    });
    SmallVector<Value> zeros(count, zeroOf(e, shape.sum));
    if (whole.same(range.len))
      return;
    auto rest = e.loop(whole, range.len, 1, zeros, [&](Ix k, ArrayRef<Value> sums) {
      Value x = e.load(a.buffer, e.ix().add(startA, k));
      SmallVector<Value> next;
      for (auto [start, sum] : llvm::zip(startB, sums))
        next.push_back(multiplyAdd(e, x, e.load(b.buffer, e.ix().add(start, k)), sum));
      return next;
    });
    for (auto [sum, element] : llvm::zip(rest, startOut))
      addTo(element, sum);
  }

  void addTo(const Ix &element, Value term) {
    Value old = e.convert(e.load(out.buffer, element), shape.sum);
    Value sum = arith::AddFOp::create(e.b, e.loc, old, term);
    e.store(e.convert(sum, out.buffer.element), out.buffer, element);
  }

  Nest &nest;
  const Contraction &c;
  Emitter &e;
  const Access &a, &b, &out;
  PanelShape shape;
  Buffer panel;
  Indices at;
  int column = -1, row = -1;
  unsigned inner = 0;
  SmallVector<unsigned> reduction;
  bool direct = false;
};

} // namespace

LogicalResult emitContraction(linalg::LinalgOp op, const Contraction &contraction, Emitter &e) {
  FailureOr<Nest> nest = makeNest(op, e);
  if (failed(nest))
    return failure();
  ContractionEmitter(*nest, contraction, e).emit();
  return success();
}

} // namespace tw::target::reference
