// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Work.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

using namespace mlir;

namespace tw::tile {

namespace {

using Known = std::optional<Size>;

/// How often something is done: elements / block.
struct Count {
  Size elements;
  int64_t block = 1;
};

/// A dimension of the grid, or a loop: what its number goes through.
struct Range {
  Size begin, end;
  int64_t step;

  Size trips() const { return tripCount(begin, end, step); }
};

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                     : std::nullopt;
}

Size elementsOf(Type type) {
  Size product(1);
  for (const Size &extent : extentsOf(cast<RankedTensorType>(type)))
    product = product * extent;
  return product;
}

int64_t bytesOf(Type element) { return int64_t(element.getIntOrFloatBitWidth() + 7) / 8; }

class WorkCounter {
public:
  explicit WorkCounter(KernelOp kernel) : kernel(kernel) {}

  KernelWork count() {
    kernel.getBody().walk([&](Operation *op) {
      if (isa<LoadOp>(op))
        noteBox(cast<LoadOp>(op).getBuffer(), cast<LoadOp>(op).getPositions(),
                cast<LoadOp>(op).getType());
      else if (isa<StoreOp>(op))
        noteBox(cast<StoreOp>(op).getBuffer(), cast<StoreOp>(op).getPositions(),
                cast<RankedTensorType>(cast<StoreOp>(op).getTile().getType()));
    });
    kernel.getBody().walk([&](Operation *op) {
      if (!isInCombine(op))
        add(op);
    });
    work.flops = sumOf(flops);
    for (auto &[key, accessed] : traffic)
      work.traffic.push_back(
          {key.first, key.second, accessed, wholeOf(key.first), dataDependent.contains(key)});
    work.arithmetic = mostUsed(products.empty() ? others : products);
    return std::move(work);
  }

private:
  //===--- what numbers go through ---------------------------------------===//

  /// The variable behind a value: a loop's number, or a program's coordinate.
  static bool isVariable(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<ForOp>(argument.getOwner()->getParentOp());
      return loop && argument == loop.getInductionVar();
    }
    return isa<ProgramIdOp>(value.getDefiningOp());
  }

  std::optional<Range> rangeOf(Value variable) {
    if (auto program = variable.getDefiningOp<ProgramIdOp>())
      return Range{Size(0), cast<SizeAttr>(kernel.getGrid()[program.getDim()]).getSize(), 1};
    return rangeOf(cast<ForOp>(cast<BlockArgument>(variable).getOwner()->getParentOp()));
  }

  std::optional<Range> rangeOf(ForOp loop) {
    Known begin = valueOf(loop.getBegin()), end = valueOf(loop.getEnd());
    std::optional<int64_t> step = constantOf(loop.getStep());
    if (!begin || !end || !step || *step < 1)
      return std::nullopt;
    if ((*end - *begin).constant().value_or(0) < 0)
      end = begin;
    return Range{*begin, *end, *step};
  }

  /// A scalar of index type, in the middle of what its variables go through.
  Known valueOf(Value value) {
    if (auto number = constantOf(value))
      return Size(*number);
    if (isVariable(value)) {
      if (auto found = fixed.find(keyOf(value)); found != fixed.end())
        return Size(found->second);
      std::optional<Range> range = rangeOf(value);
      if (!range)
        return std::nullopt;
      return range->begin + floorDiv(range->trips() - Size(1), Size(2)) * Size(range->step);
    }
    Operation *op = value.getDefiningOp();
    if (auto size = dyn_cast_or_null<SizeOp>(op))
      return size.getSize().getSize();
    if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
      return valueOfSelect(select);
    return op && op->getNumOperands() == 2 ? valueOfBinary(op) : std::nullopt;
  }

  Known valueOfSelect(arith::SelectOp op) {
    auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare)
      return std::nullopt;
    Known x = valueOf(compare.getLhs()), y = valueOf(compare.getRhs());
    if (!x || !y || !x->constant() || !y->constant())
      return std::nullopt;
    bool holds = arith::applyCmpPredicate(compare.getPredicate(), APInt(64, *x->constant(), true),
                                          APInt(64, *y->constant(), true));
    return valueOf(holds ? op.getTrueValue() : op.getFalseValue());
  }

  Known valueOfBinary(Operation *op) {
    Known x = valueOf(op->getOperand(0)), y = valueOf(op->getOperand(1));
    if (!x || !y)
      return std::nullopt;
    auto lesser = [&](bool isFirst) -> Known { // where it is known which one that is
      std::optional<int64_t> difference = (*x - *y).constant();
      return difference ? ((*difference < 0) == isFirst ? x : y) : std::nullopt;
    };
    return llvm::TypeSwitch<Operation *, Known>(op)
        .Case([&](arith::AddIOp) { return *x + *y; })
        .Case([&](arith::SubIOp) { return *x - *y; })
        .Case([&](arith::MulIOp) { return *x * *y; })
        .Case([&](arith::DivSIOp) { return floorDiv(*x, *y); })
        .Case([&](arith::RemSIOp) { return mod(*x, *y); })
        .Case([&](arith::MinSIOp) { return lesser(true); })
        .Case([&](arith::MaxSIOp) { return lesser(false); })
        .Default([](Operation *) { return Known(); });
  }

  //===--- blocks at the ends of buffers -----------------------------------===//

  /// What identifies a variable: of programs, the dimension.
  static const void *keyOf(Value variable) {
    if (auto program = variable.getDefiningOp<ProgramIdOp>())
      return reinterpret_cast<const void *>(uintptr_t(program.getDim()) + 1);
    return variable.getAsOpaquePointer();
  }

  /// Remembers of variables that count blocks along a buffer where the buffer ends.
  void noteBox(Value buffer, OperandRange positions, RankedTensorType tile) {
    std::vector<Size> sizes = sizesOf(cast<BufferType>(buffer.getType()));
    for (auto [position, size, extent] : llvm::zip(positions, sizes, extentsOf(tile))) {
      Value variable = position;
      int64_t factor = 1;
      if (auto product = position.getDefiningOp<arith::MulIOp>()) {
        variable = product.getLhs();
        factor = constantOf(product.getRhs()).value_or(0);
      }
      if (variable.getType().isIndex() && isVariable(variable))
        noteBlocks(variable, factor, extent.constant().value_or(0), size);
    }
  }

  void noteBlocks(Value variable, int64_t factor, int64_t extent, const Size &size) {
    std::optional<Range> range = rangeOf(variable);
    if (!range || extent < 1 || range->step * factor != extent)
      return;
    Size begin = range->begin * Size(factor), over = begin + range->trips() * Size(extent) - size;
    bool isCovered = over.constant() ? *over.constant() > 0
                                     : range->trips() == ceilDiv(size - begin, Size(extent)) ||
                                           range->end == ceilDiv(size, Size(factor));
    if (isCovered)
      blocks.try_emplace(keyOf(variable), Count{size - begin, extent});
  }

  /// The programs' coordinates that bounds of a loop follow from.
  static void collectPrograms(Value value, llvm::SmallSetVector<Value, 4> &programs) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return;
    if (isa<ProgramIdOp>(op))
      programs.insert(value);
    for (Value operand : op->getOperands())
      collectPrograms(operand, programs);
  }

  /// How many trips a loop makes in the mean, where they depend on one coordinate of few values,
  /// such as which taps of a window the places of a program see.
  std::optional<Count> meanTrips(Value variable) {
    constexpr int64_t fewValues = 8;
    auto loop = dyn_cast<ForOp>(variable.getParentBlock()->getParentOp());
    llvm::SmallSetVector<Value, 4> programs;
    if (loop && variable == loop.getInductionVar())
      for (Value bound : {loop.getBegin(), loop.getEnd()})
        collectPrograms(bound, programs);
    if (programs.size() != 1)
      return std::nullopt;
    auto values = rangeOf(programs[0])->trips().constant();
    if (!values || *values < 1 || *values > fewValues)
      return std::nullopt;
    Size sum(0);
    for (int64_t number = 0; number < *values; ++number) {
      fixed[keyOf(programs[0])] = number;
      std::optional<Range> range = rangeOf(loop);
      fixed.clear();
      if (!range)
        return std::nullopt;
      sum = sum + range->trips();
    }
    return Count{sum, *values};
  }

  /// How often a variable has another value.
  std::optional<Count> countOf(Value variable) {
    if (auto found = blocks.find(keyOf(variable)); found != blocks.end())
      return found->second;
    if (std::optional<Count> mean = meanTrips(variable))
      return mean;
    std::optional<Range> range = rangeOf(variable);
    return range ? std::optional(Count{range->trips(), 1}) : std::nullopt;
  }

  //===--- sums ------------------------------------------------------------===//

  /// The programs and loops around an operation, each once.
  SmallVector<Value> variablesAround(Operation *op) {
    SmallVector<Value> all;
    for (Operation *at = op->getParentOp(); at != kernel; at = at->getParentOp())
      if (auto loop = dyn_cast<ForOp>(at))
        all.push_back(loop.getInductionVar());
    std::set<int64_t> dims;
    kernel.walk([&](ProgramIdOp program) {
      if (dims.insert(int64_t(program.getDim())).second)
        all.push_back(program);
    });
    return all;
  }

  /// The number of programs along dimensions that nothing asks for: they do the same.
  Size repeated(const SmallVector<Value> &variables) {
    Size product(1);
    for (auto [dim, size] : llvm::enumerate(kernel.getGrid().getAsRange<SizeAttr>()))
      if (llvm::none_of(variables, [&, d = dim](Value v) {
            auto program = v.getDefiningOp<ProgramIdOp>();
            return program && size_t(program.getDim()) == d;
          }))
        product = product * size.getSize();
    return product;
  }

  /// `each` for all values of the variables.
  Known times(Size each, ArrayRef<Value> variables) {
    int64_t rest = 1; // what it is to be divided by at the end
    for (Value variable : variables) {
      std::optional<Count> count = countOf(variable);
      if (!count)
        return std::nullopt;
      bool isExact = mod(each, Size(count->block)) == Size(0);
      each = (isExact ? floorDiv(each, Size(count->block)) : each) * count->elements;
      rest *= isExact ? 1 : count->block;
    }
    Size product = floorDiv(each, Size(rest));
    return product.valid() ? Known(product) : std::nullopt;
  }

  /// Of counts by where they are made; unknown where one is.
  Known sumOf(const llvm::MapVector<Block *, Size> &counts) {
    Size sum(0);
    for (auto &[block, each] : counts) {
      SmallVector<Value> variables = variablesAround(&block->front());
      Known all = times(each * repeated(variables), variables);
      if (!all)
        return std::nullopt;
      sum = sum + *all;
    }
    return sum.valid() ? Known(sum) : std::nullopt;
  }

  //===--- operations --------------------------------------------------------===//

  /// How pieces of a loop are put together: done once, if at all.
  static bool isInCombine(Operation *op) {
    for (; op; op = op->getParentOp())
      if (auto loop = dyn_cast_or_null<ForOp>(op->getParentOp()))
        if (loop.canSplit() && op->getParentRegion() == &loop.getCombine())
          return true;
    return false;
  }

  static bool isFloatingPoint(Operation *op) {
    if (op->getNumResults() != 1 || !isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
      return false;
    return isa<math::MathDialect>(op->getDialect()) ||
           isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp,
               arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
               arith::MinNumFOp>(op);
  }

  /// How much is done on elements of each type, in the order of the kernel.
  using ByType = llvm::MapVector<Type, double>;

  void addFlops(Operation *op, const Size &count, Value operand, ByType &by) {
    auto [found, isNew] = flops.insert({op->getBlock(), count});
    if (!isNew)
      found->second = found->second + count;
    by[getElementTypeOrSelf(operand)] += double(count.constant().value_or(1));
  }

  void add(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](DotOp dot) {
          Size depth = extentsOf(cast<RankedTensorType>(dot.getA().getType())).back();
          addFlops(op, Size(2) * elementsOf(dot.getType()) * depth, dot.getA(), products);
        })
        .Case<ReduceOp, ScanOp>([&](Operation *op) {
          if (isa<FloatType>(getElementTypeOrSelf(op->getOperand(0))))
            addFlops(op, elementsOf(op->getOperand(0).getType()), op->getOperand(0), others);
        })
        .Case([&](LoadOp load) {
          addBox(load, load.getBuffer(), load.getPositions(), load.getType(), false);
        })
        .Case([&](StoreOp store) {
          addBox(store, store.getBuffer(), store.getPositions(),
                 cast<RankedTensorType>(store.getTile().getType()), true);
        })
        .Case([&](GatherOp gather) {
          addTraffic(gather.getBuffer(), times(elementsOf(gather.getType()), variablesAround(op)),
                     false, /*dependsOnData=*/true);
        })
        .Case([&](ScatterOp scatter) {
          addTraffic(scatter.getBuffer(),
                     times(elementsOf(scatter.getTile().getType()), variablesAround(op)), true,
                     /*dependsOnData=*/true);
        })
        .Default([&](Operation *op) {
          if (isFloatingPoint(op) && isa<RankedTensorType>(op->getResult(0).getType()))
            addFlops(op, elementsOf(op->getResult(0).getType()), op->getResult(0), others);
        });
  }

  void addTraffic(Value buffer, const Known &elements, bool isWritten, bool dependsOnData) {
    unsigned argument = cast<BlockArgument>(buffer).getArgNumber();
    int64_t bytes = bytesOf(cast<BufferType>(buffer.getType()).getTileElementType());
    auto [found, isNew] = traffic.insert({{argument, isWritten}, Size(0)});
    if (dependsOnData)
      dataDependent.insert({argument, isWritten});
    Known &sum = found->second;
    sum = sum && elements ? Known(*sum + *elements * Size(bytes)) : std::nullopt;
  }

  Size wholeOf(unsigned argument) {
    auto buffer = cast<BufferType>(kernel.getBody().getArgument(argument).getType());
    Size product(bytesOf(buffer.getTileElementType()));
    for (const Size &size : sizesOf(buffer))
      product = product * size;
    return product;
  }

  /// Gives whether it also depends on what is in memory.
  bool findVariables(Value value, SmallVector<Value> &found) {
    if (isVariable(value)) {
      if (llvm::none_of(found, [&](Value other) { return keyOf(other) == keyOf(value); }))
        found.push_back(value);
      return false;
    }
    Operation *op = value.getDefiningOp();
    bool dependsOnData = !op || isa<LoadOp, GatherOp>(op);
    if (op)
      for (Value operand : op->getOperands())
        if (!isa<BufferType>(operand.getType()))
          dependsOnData |= findVariables(operand, found);
    return dependsOnData;
  }

  /// A box is at as many places as the variables that its positions follow have values; several
  /// accesses of the same boxes count once.
  void addBox(Operation *op, Value buffer, OperandRange positions, RankedTensorType tile,
              bool isWritten) {
    SmallVector<Value> variables;
    Size elements(1);
    bool dependsOnData = false;
    std::vector<const void *> box{buffer.getAsOpaquePointer(), tile.getAsOpaquePointer(),
                                  isWritten ? this : nullptr};
    std::vector<Size> sizes = sizesOf(cast<BufferType>(buffer.getType()));
    for (auto [position, extent, size] : llvm::zip(positions, extentsOf(tile), sizes)) {
      box.push_back(position.getAsOpaquePointer());
      size_t before = variables.size();
      dependsOnData |= findVariables(position, variables);
      bool isBeyond = (extent - size).constant().value_or(-1) > 0;
      elements = elements * (isBeyond && variables.size() == before ? size : extent);
    }
    if (boxes.insert(box).second)
      addTraffic(buffer, times(elements, variables), isWritten, dependsOnData);
  }

  static Type mostUsed(const ByType &by) {
    auto most = llvm::max_element(by, [](auto &a, auto &b) { return a.second < b.second; });
    return most == by.end() ? Type() : most->first;
  }

  KernelOp kernel;
  KernelWork work;
  std::map<const void *, Count> blocks; // of variables that count blocks up to a buffer's end
  std::map<const void *, int64_t>
      fixed;                            // of variables that are looked at one value after the other
  llvm::MapVector<Block *, Size> flops; // of one pass through each block
  std::map<std::pair<unsigned, bool>, Known> traffic; // by argument, and whether it is written
  std::set<std::pair<unsigned, bool>> dataDependent;
  std::set<std::vector<const void *>> boxes;
  ByType products, others; // operations by their operands' type
};

} // namespace

KernelWork workOf(KernelOp kernel) { return WorkCounter(kernel).count(); }

} // namespace tw::tile
