// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Emission/SharedFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Elements of one block are at such distances from each other: each would be an argument.
bool addsConstant(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, LLVM::GEPOp>(op) &&
         llvm::count_if(op->getOperands(),
                        [](Value one) { return !matchPattern(one, m_Constant()); }) <= 1;
}

/// Text that is the same for functions that do the same: operations with their attributes and
/// types, and operands by number.
class Content {
public:
  explicit Content(LLVM::LLVMFuncOp function) {
    for (Attribute attribute :
         {Attribute(function.getPassthroughAttr()), Attribute(function.getArgAttrsAttr())})
      if (attribute)
        add(named(attribute.getAsOpaquePointer(), attribute));
    add(function.getBody().front());
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

LLVM::LLVMFuncOp enclosingFunction(Block *block) {
  auto function = dyn_cast<LLVM::LLVMFuncOp>(block->getParentOp());
  return function ? function : block->getParentOp()->getParentOfType<LLVM::LLVMFuncOp>();
}

/// What an address is computed from.
Value baseOf(Value pointer) {
  while (auto address = pointer.getDefiningOp<LLVM::GEPOp>())
    pointer = address.getBase();
  return pointer;
}

/// The function whose argument a value is; null: it is something else.
LLVM::LLVMFuncOp takingFunction(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? dyn_cast<LLVM::LLVMFuncOp>(argument.getOwner()->getParentOp())
                  : LLVM::LLVMFuncOp();
}

/// Scratch memory, or a buffer: no address that is computed from anything else points there.
bool isApart(Value base) {
  if (base.getDefiningOp<LLVM::AllocaOp>())
    return true;
  LLVM::LLVMFuncOp function = takingFunction(base);
  return function && function.getArgAttr(cast<BlockArgument>(base).getArgNumber(), "llvm.noalias");
}

/// Buffers and scratch are as far apart in the function as in its caller, whose copies may not be
/// calls of the C library either.
void keepAttributes(LLVM::LLVMFuncOp function, ArrayRef<Value> arguments, LLVM::LLVMFuncOp caller) {
  if (auto passed = caller.getPassthroughAttr())
    function.setPassthroughAttr(passed);
  llvm::DenseMap<Value, unsigned> uses;
  for (Value argument : arguments)
    if (isa<LLVM::LLVMPointerType>(argument.getType()))
      ++uses[baseOf(argument)];
  bool areKnown =
      llvm::all_of(uses, [](auto &one) { return isApart(one.first) || takingFunction(one.first); });
  for (auto [number, argument] : llvm::enumerate(arguments))
    if (areKnown && uses.lookup(baseOf(argument)) == 1 && isApart(baseOf(argument)))
      function.setArgAttr(unsigned(number), "llvm.noalias", UnitAttr::get(function.getContext()));
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
    return (isConstant(op) || (isScalar && isPure(op) && !addsConstant(op))) &&
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

/// Whether tiles that are placed now are found by what is computed inside.
bool SharedFunction::placesTiles(ArrayRef<Operation *> operations) const {
  Inside inside(operations);
  auto isInside = [&](Value value) { return value && inside.contains(value); };
  auto isFoundInside = [&](const Memory &memory) {
    return isInside(memory.base) || llvm::any_of(memory.strides, [&](const Ix &stride) {
             return isInside(stride.dynamic());
           });
  };
  return llvm::any_of(e.memory, [&](auto &one) { return isFoundInside(one.second); }) ||
         llvm::any_of(e.registers,
                      [&](auto &one) { return llvm::any_of(one.second.parts, isInside); });
}

void SharedFunction::finish(StringRef purpose) {
  hoist();
  Operations operations = emitted();
  if (operations.empty() || placesTiles(operations))
    return;
  SmallVector<Value> arguments, constants;
  for (Value value : capturedBy(operations, Inside(operations))) {
    Operation *op = value.getDefiningOp();
    (op && isConstant(op) ? constants : arguments).push_back(value);
  }
  constexpr size_t mostArguments = 16;
  if (arguments.size() > mostArguments ||
      llvm::any_of(arguments, [](Value one) { return isa<VectorType>(one.getType()); }))
    return; // a call would take longer
  LLVM::LLVMFuncOp caller = enclosingFunction(block);
  auto module = caller->getParentOfType<ModuleOp>();
  OwningOpRef<LLVM::LLVMFuncOp> function = moveToFunction(e.loc, operations, arguments, constants);
  keepAttributes(*function, arguments, caller);
  std::string name = fmt::format("tw.{}.{}", purpose.str(), Content(*function).hash());
  function->setSymName(name);
  if (module.lookupSymbol(name))
    e.leftOver.push_back(function.release());
  else
    module.push_back(function.release());
  LLVM::CallOp::create(e.b, e.loc, TypeRange{}, name, arguments);
}

} // namespace tw::target::cpu
