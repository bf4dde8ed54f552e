// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/Parts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <tuple>

using namespace mlir;

namespace tw {
namespace {

/// A function or a variable, with or without a definition.
struct Symbol {
  Operation *op;
  size_t operations = 0;
  llvm::SetVector<Operation *> uses = {}; // other symbols
};

/// Definitions that stay together.
struct Group {
  SmallVector<const Symbol *> symbols;
  size_t operations = 0;
  size_t number = 0; // groups of one size are in the order of the module: the same parts each time
};

bool isDefinition(Operation *op) {
  if (auto global = dyn_cast<LLVM::GlobalOp>(op))
    return global.getValueAttr() || global.getInitializerBlock();
  return !cast<LLVM::LLVMFuncOp>(op).isExternal();
}

bool isLocal(Operation *op) {
  auto linkage = isa<LLVM::GlobalOp>(op) ? cast<LLVM::GlobalOp>(op).getLinkage()
                                         : cast<LLVM::LLVMFuncOp>(op).getLinkage();
  return linkage == LLVM::Linkage::Private || linkage == LLVM::Linkage::Internal;
}

/// The definitions of the module, in its order.
std::vector<Symbol> definitionsOf(ModuleOp module) {
  SymbolTable table(module);
  std::vector<Symbol> all;
  for (Operation &op : *module.getBody()) {
    if (!isDefinition(&op))
      continue;
    Symbol &symbol = all.emplace_back(&op);
    auto use = [&](std::optional<StringRef> name) {
      if (Operation *used = name ? table.lookup(*name) : nullptr)
        symbol.uses.insert(used);
    };
    op.walk([&](Operation *nested) {
      ++symbol.operations;
      if (auto call = dyn_cast<LLVM::CallOp>(nested))
        use(call.getCallee());
      else if (auto address = dyn_cast<LLVM::AddressOfOp>(nested))
        use(address.getGlobalName());
    });
  }
  return all;
}

std::vector<Group> groupsOf(const std::vector<Symbol> &definitions) {
  llvm::EquivalenceClasses<Operation *> together;
  for (const Symbol &symbol : definitions) {
    together.insert(symbol.op);
    for (Operation *used : symbol.uses)
      if (isLocal(used))
        together.unionSets(symbol.op, used);
  }
  llvm::MapVector<Operation *, Group> groups;
  for (const Symbol &symbol : definitions) {
    Group &group = groups[together.getLeaderValue(symbol.op)];
    group.symbols.push_back(&symbol);
    group.operations += symbol.operations;
  }
  std::vector<Group> all;
  for (auto &[leader, group] : groups) {
    group.number = all.size();
    all.push_back(std::move(group));
  }
  return all;
}

void sortBySize(std::vector<Group> &groups) {
  llvm::sort(groups, [](const Group &a, const Group &b) {
    return std::tuple(b.operations, a.number) < std::tuple(a.operations, b.number);
  });
}

/// The largest ones first, each to the smallest part.
std::vector<Group> fillParts(std::vector<Group> groups, size_t most) {
  sortBySize(groups);
  std::vector<Group> parts(std::max<size_t>(1, std::min(most, groups.size())));
  for (auto [number, part] : llvm::enumerate(parts))
    part.number = number;
  for (const Group &group : groups) {
    auto smallest = std::min_element(parts.begin(), parts.end(),
                                     [](auto &a, auto &b) { return a.operations < b.operations; });
    smallest->symbols.append(group.symbols);
    smallest->operations += group.operations;
  }
  sortBySize(parts);
  return parts;
}

/// A declaration of what another part defines, or of nothing that any does.
Operation *declare(Operation *op) {
  Operation *copy = op->cloneWithoutRegions();
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(copy))
    function.setLinkage(LLVM::Linkage::External);
  if (auto global = dyn_cast<LLVM::GlobalOp>(copy)) {
    global.setLinkage(LLVM::Linkage::External);
    global.removeValueAttr();
  }
  return copy;
}

} // namespace

std::vector<OwningOpRef<ModuleOp>> splitInParts(ModuleOp module, size_t most) {
  std::vector<Symbol> definitions = definitionsOf(module);
  std::vector<OwningOpRef<ModuleOp>> result;
  for (Group &part : fillParts(groupsOf(definitions), most)) {
    ModuleOp into = *result.emplace_back(ModuleOp::create(module.getLoc()));
    llvm::sort(part.symbols); // which lie in the order of the module
    llvm::SetVector<Operation *> declared;
    for (const Symbol *symbol : part.symbols)
      declared.insert_range(symbol->uses);
    for (const Symbol *symbol : part.symbols) {
      declared.remove(symbol->op);
      symbol->op->moveBefore(into.getBody(), into.getBody()->end());
    }
    for (Operation *other : declared)
      into.push_back(declare(other));
  }
  return result;
}

} // namespace tw
