// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that make and rearrange values, and those that work element by element.
#include "Interpreter/Compiler.h"
#include "Interpreter/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::interpreter {

/// A step that gives `slot` a scalar known now.
static Step constant(int slot, Cell cell) {
  return [slot, cell](Machine &m) {
    m.slots[slot] = {nullptr, cell};
    return true;
  };
}

Cell cellOf(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat exact = number.getValue();
    bool ignored;
    exact.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
    return {.f = exact.convertToDouble()};
  }
  auto integer = cast<IntegerAttr>(value);
  return {.i = wrap(integer.getValue().getSExtValue(), bitsOf(dtypeOf(integer.getType())))};
}

Step makeConstant(Operation *op, Compiler &compiler) {
  return constant(compiler.slot(op->getResult(0)), cellOf(cast<arith::ConstantOp>(op).getValue()));
}

Step makeSize(tile::SizeOp op, Compiler &compiler) {
  return constant(compiler.slot(op), {.i = compiler.valueOf(op.getSize())});
}

Step makeProgramId(tile::ProgramIdOp op, Compiler &compiler) {
  return [slot = compiler.slot(op), d = op.getDim()](Machine &m) {
    m.slots[slot] = {nullptr, {.i = m.program[d]}};
    return true;
  };
}

Step makeElementwise(Operation *op, Compiler &compiler) {
  ElementwiseCall call;
  Type type = op->getResult(0).getType();
  call.count = compiler.shapeOf(type).count;
  call.from = bitsOf(dtypeOf(op->getOperand(0).getType()));
  call.to = bitsOf(dtypeOf(type));
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    call.predicate = int64_t(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    call.predicate = int64_t(compare.getPredicate());
  bool isTile = isa<RankedTensorType>(type);
  call.conditionStride = isa<RankedTensorType>(op->getOperand(0).getType());
  DType dtype = compiler.isUnrounded(op->getResult(0)) ? DType::F64 : dtypeOf(type);
  StringRef name = op->getName().getStringRef();
  return [call, isTile, dtype, function = findElementwise({name.data(), name.size()}),
          operands = compiler.slotsOf(op->getOperands()),
          result = compiler.slot(op->getResult(0))](Machine &m) {
    ElementwiseCall now = call;
    for (size_t i = 0; i < operands.size(); ++i)
      now.operands[i] = m.slots[operands[i]].cells();
    Cell scalar;
    now.result = isTile ? m.allocate(result, now.count) : &scalar;
    if (!now.result)
      return false;
    function(now);
    if (info(dtype).isFloat)
      roundTo(m.precision(dtype), {now.result, size_t(now.count)});
    if (!isTile)
      m.slots[result] = {nullptr, scalar};
    return true;
  };
}

Step makeFull(tile::FullOp op, Compiler &compiler) {
  return [value = compiler.slot(op.getValue()), result = compiler.slot(op),
          count = compiler.shapeOf(op.getType()).count](Machine &m) {
    Cell *cells = m.allocate(result, count);
    if (cells)
      std::fill_n(cells, count, m.slots[value].scalar);
    return cells != nullptr;
  };
}

//===----------------------------------------------------------------------===//
// Rearranging
//===----------------------------------------------------------------------===//

/// Of tiles without elements, products need not fit.
static int64_t times(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

/// Row-major distances between neighbours along each dimension.
static SmallVector<int64_t> stridesOf(const Shape &shape) {
  SmallVector<int64_t> strides(shape.extents.size(), 1);
  for (size_t d = strides.size(); d-- > 1;)
    strides[d - 1] = times(strides[d], shape.extents[d]);
  return strides;
}

/// Calls visit(e, position) for each element e of `shape`, where position moves by `strides`.
template <typename F>
static void walk(const Shape &shape, ArrayRef<int64_t> strides, int64_t position, F visit) {
  size_t rank = shape.extents.size();
  if (shape.count == 0)
    return;
  int64_t inner = rank ? shape.extents.back() : 1, step = rank ? strides.back() : 0;
  SmallVector<int64_t> at(rank, 0);
  for (int64_t e = 0;;) {
    for (int64_t i = 0; i < inner; ++i, ++e)
      visit(e, position + i * step);
    size_t d = rank ? rank - 1 : 0;
    for (; d-- > 0;) {
      position += strides[d];
      if (++at[d] < shape.extents[d])
        break;
      position -= at[d] * strides[d];
      at[d] = 0;
    }
    if (e == shape.count)
      return;
  }
}

/// Element e of the result is that of the operand at `begin` plus e's coordinates times `strides`.
static Step rearrange(Value operand, Value result, int64_t begin, ArrayRef<int64_t> strides,
                      Compiler &compiler) {
  return
      [from = compiler.slot(operand), to = compiler.slot(result), begin,
       strides = llvm::to_vector(strides), shape = compiler.shapeOf(result.getType())](Machine &m) {
        Cell *cells = m.allocate(to, shape.count);
        if (!cells)
          return false;
        const Cell *source = m.slots[from].cells();
        walk(shape, strides, begin, [&](int64_t e, int64_t at) { cells[e] = source[at]; });
        return true;
      };
}

Step makeBroadcast(tile::BroadcastOp op, Compiler &compiler) {
  Shape from = compiler.shapeOf(op.getOperand().getType()), to = compiler.shapeOf(op.getType());
  SmallVector<int64_t> strides = stridesOf(from);
  for (size_t d = 0; d < strides.size(); ++d)
    if (from.extents[d] != to.extents[d])
      strides[d] = 0;
  return rearrange(op.getOperand(), op, 0, strides, compiler);
}

Step makeTranspose(tile::TransposeOp op, Compiler &compiler) {
  SmallVector<int64_t> from = stridesOf(compiler.shapeOf(op.getOperand().getType())), strides;
  for (int64_t d : op.getPermutation())
    strides.push_back(from[d]);
  return rearrange(op.getOperand(), op, 0, strides, compiler);
}

Step makeSlice(tile::SliceOp op, Compiler &compiler) {
  SmallVector<int64_t> strides = stridesOf(compiler.shapeOf(op.getOperand().getType()));
  int64_t begin = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    begin += times(op.getOffsets()[d], strides[d]);
    strides[d] = times(strides[d], op.getStrides()[d]);
  }
  return rearrange(op.getOperand(), op, begin, strides, compiler);
}

Step makeReshape(tile::ReshapeOp op, Compiler &compiler) {
  compiler.shapeOf(op.getType());
  return [from = compiler.slot(op.getOperand()), to = compiler.slot(op)](Machine &m) {
    m.slots[to] = m.slots[from];
    return true;
  };
}

Step makeExtract(tile::ExtractOp op, Compiler &compiler) {
  return [from = compiler.slot(op.getOperand()), to = compiler.slot(op)](Machine &m) {
    m.slots[to] = {nullptr, *m.slots[from].cells()};
    return true;
  };
}

Step makeIota(tile::IotaOp op, Compiler &compiler) {
  Shape shape = compiler.shapeOf(op.getType());
  SmallVector<int64_t> strides(shape.extents.size(), 0);
  strides[op.getDim()] = 1;
  return [start = compiler.slot(op.getStart()), to = compiler.slot(op), strides, shape,
          bits = bitsOf(dtypeOf(op.getType()))](Machine &m) {
    Cell *cells = m.allocate(to, shape.count);
    uint64_t first = m.slots[start].scalar.i;
    if (cells)
      walk(shape, strides, 0, [&](int64_t e, int64_t coordinate) {
        cells[e].i = wrap(int64_t(first + uint64_t(coordinate)), bits);
      });
    return cells != nullptr;
  };
}

} // namespace tw::interpreter
