// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Emission/SharedFunction.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/xxhash.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Operations and all inside of them.
class Inside {
public:
  explicit Inside(ArrayRef<Operation *> operations) {
    for (Operation *op : operations)
      op->walk([&](Operation *each) { all.insert(each); });
  }
  bool contains(Operation *op) const { return all.contains(op); }
  bool contains(Value value) const {
    if (Operation *op = value.getDefiningOp())
      return contains(op);
    return contains(cast<BlockArgument>(value).getOwner()->getParentOp());
  }
  void erase(Operation *op) { all.erase(op); }

private:
  llvm::DenseSet<Operation *> all;
};

bool isConstant(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

/// Text that is the same for functions that do the same: operations with their attributes and
/// types, and operands by number.
class Content {
public:
  explicit Content(LLVM::LLVMFuncOp function) {
    Block &body = function.getBody().front();
    add(body);
  }
  std::string hash() const {
    llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

private:
  void add(Block &block) {
    for (BlockArgument argument : block.getArguments())
      define(argument);
    for (Operation &op : block)
      add(op);
    text += '}';
  }

  void add(Operation &op) {
    text += op.getName().getStringRef();
    for (Value operand : op.getOperands())
      add(numbers.lookup(operand));
    add(named(op.getAttrDictionary().getAsOpaquePointer(), op.getAttrDictionary()));
    for (Value result : op.getResults())
      define(result);
    for (Region &region : op.getRegions())
      for (Block &block : region)
        add(block);
    text += ';';
  }

  void define(Value value) {
    numbers[value] = unsigned(numbers.size());
    add(named(value.getType().getAsOpaquePointer(), value.getType()));
  }

  void add(uint64_t number) { text.append(reinterpret_cast<const char *>(&number), sizeof number); }

  /// Printing takes long, and there are few of them.
  template <typename T>
  uint64_t named(const void *key, T printed) {
    auto [found, isNew] = names.try_emplace(key, 0);
    if (isNew) {
      std::string name;
      llvm::raw_string_ostream(name) << printed;
      found->second = llvm::xxh3_64bits(name);
    }
    return found->second;
  }

  std::string text;
  llvm::DenseMap<Value, unsigned> numbers;
  llvm::DenseMap<const void *, uint64_t> names;
};

/// Operations by what they compute.
class DistinctOperations {
public:
  /// One that computes the same; null where `op` is the first.
  Operation *findOrAdd(Operation *op) {
    auto hash = OperationEquivalence::computeHash(op, OperationEquivalence::directHashValue,
                                                  OperationEquivalence::ignoreHashValue,
                                                  OperationEquivalence::IgnoreLocations);
    auto &others = known[size_t(hash)];
    for (Operation *other : others)
      if (OperationEquivalence::isEquivalentTo(other, op, OperationEquivalence::IgnoreLocations))
        return other;
    others.push_back(op);
    return nullptr;
  }

private:
  llvm::DenseMap<size_t, SmallVector<Operation *, 1>> known;
};

/// What is used inside, and computed outside.
llvm::SetVector<Value> capturedBy(ArrayRef<Operation *> operations, const Inside &inside) {
  llvm::SetVector<Value> captured;
  for (Operation *op : operations)
    op->walk<WalkOrder::PreOrder>([&](Operation *each) {
      for (Value operand : each->getOperands())
        if (!inside.contains(operand))
          captured.insert(operand);
    });
  return captured;
}

/// A function of the operations, not in a module yet, whose arguments they use instead of values
/// from outside; constants are copied.
OwningOpRef<LLVM::LLVMFuncOp> moveToFunction(Location loc, ArrayRef<Operation *> operations,
                                             ArrayRef<Value> arguments, ArrayRef<Value> constants) {
  OpBuilder b(loc.getContext());
  SmallVector<Type> types = llvm::map_to_vector(arguments, [](Value one) { return one.getType(); });
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  OwningOpRef<LLVM::LLVMFuncOp> function =
      LLVM::LLVMFuncOp::create(b, loc, "shared", type, LLVM::Linkage::WeakODR);
  function->setVisibility_(LLVM::Visibility::Hidden);
  function->setNoInline(true);
  Block *body = function->addEntryBlock(b);
  for (Operation *op : operations)
    op->moveBefore(body, body->end());
  auto replace = [&](Value outer, Value inner) {
    outer.replaceUsesWithIf(
        inner, [&](OpOperand &use) { return function.get()->isProperAncestor(use.getOwner()); });
  };
  for (auto [outer, inner] : llvm::zip(arguments, body->getArguments()))
    replace(outer, inner);
  b.setInsertionPointToStart(body);
  for (Value constant : constants)
    replace(constant, b.clone(*constant.getDefiningOp())->getResult(0));
  b.setInsertionPointToEnd(body);
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return function;
}

} // namespace

SharedFunction::SharedFunction(Emitter &e)
    : e(e), block(e.b.getInsertionBlock()),
      before(e.b.getInsertionPoint() == block->begin() ? nullptr
                                                       : &*std::prev(e.b.getInsertionPoint())) {}

SharedFunction::Operations SharedFunction::emitted() const {
  auto first = before ? std::next(Block::iterator(before)) : block->begin();
  return llvm::map_to_vector(llvm::make_range(first, e.b.getInsertionPoint()),
                             [](Operation &op) { return &op; });
}

void SharedFunction::hoist() {
  Operations operations = emitted();
  Inside inside(operations);
  DistinctOperations hoisted;
  auto isHoisted = [&](Operation *op) {
    bool isScalar = op->getNumRegions() == 0 && op->getNumResults() == 1 &&
                    !isa<VectorType>(op->getResult(0).getType());
    return (isConstant(op) || (isScalar && isPure(op))) &&
           llvm::none_of(op->getOperands(), [&](Value one) { return inside.contains(one); });
  };
  for (Operation *op : operations)
    op->walk<WalkOrder::PreOrder>([&](Operation *each) {
      if (!isHoisted(each))
        return;
      inside.erase(each);
      if (Operation *same = hoisted.findOrAdd(each)) {
        each->replaceAllUsesWith(same);
        each->moveBefore(&e.leftOver, e.leftOver.end());
        return;
      }
      each->moveBefore(block, before ? std::next(Block::iterator(before)) : block->begin());
      before = each;
    });
}

void SharedFunction::finish(StringRef purpose) {
  hoist();
  Operations operations = emitted();
  if (operations.empty())
    return;
  SmallVector<Value> arguments, constants;
  for (Value value : capturedBy(operations, Inside(operations))) {
    Operation *op = value.getDefiningOp();
    (op && isConstant(op) ? constants : arguments).push_back(value);
  }
  auto module = block->getParentOp()->getParentOfType<ModuleOp>();
  OwningOpRef<LLVM::LLVMFuncOp> function = moveToFunction(e.loc, operations, arguments, constants);
  std::string name = fmt::format("tw.{}.{}", purpose.str(), Content(*function).hash());
  function->setSymName(name);
  if (module.lookupSymbol(name))
    e.leftOver.push_back(function.release());
  else
    module.push_back(function.release());
  LLVM::CallOp::create(e.b, e.loc, TypeRange{}, name, arguments);
}

} // namespace tw::target::cpu
