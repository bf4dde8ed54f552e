// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/Parts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <tuple>

namespace tw {
namespace {

using Values = llvm::SmallVector<const llvm::GlobalValue *>;

/// Definitions that stay together.
struct Group {
  Values values;
  size_t instructions = 0;
  size_t number = 0; // groups of one size are in the order of the module: the same parts each time
};

/// Calls `take` for the functions and variables that use `value`, also within constants.
void forEachUser(const llvm::Value &value,
                 llvm::function_ref<void(const llvm::GlobalValue &)> take) {
  for (const llvm::User *user : value.users())
    if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
      take(*instruction->getFunction());
    else if (auto *global = llvm::dyn_cast<llvm::GlobalValue>(user))
      take(*global);
    else
      forEachUser(*user, take);
}

std::vector<Group> groupsOf(const llvm::Module &module) {
  llvm::EquivalenceClasses<const llvm::GlobalValue *> together;
  for (const llvm::GlobalValue &value : module.global_values()) {
    if (value.isDeclaration())
      continue;
    together.insert(&value);
    if (value.hasLocalLinkage())
      forEachUser(value, [&](const llvm::GlobalValue &user) { together.unionSets(&value, &user); });
  }
  llvm::MapVector<const llvm::GlobalValue *, Group> groups;
  for (const llvm::GlobalValue &value : module.global_values())
    if (!value.isDeclaration()) {
      Group &group = groups[together.getLeaderValue(&value)];
      group.values.push_back(&value);
      if (auto *function = llvm::dyn_cast<llvm::Function>(&value))
        group.instructions += function->getInstructionCount();
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
    return std::tuple(b.instructions, a.number) < std::tuple(a.instructions, b.number);
  });
}

} // namespace

std::vector<llvm::SmallString<0>> splitInParts(const llvm::Module &module, size_t most) {
  std::vector<Group> groups = groupsOf(module);
  sortBySize(groups);
  // The largest ones first, each to the smallest part.
  std::vector<Group> parts(std::max<size_t>(1, std::min(most, groups.size())));
  for (auto [number, part] : llvm::enumerate(parts))
    part.number = number;
  for (const Group &group : groups) {
    auto smallest = std::min_element(parts.begin(), parts.end(), [](auto &a, auto &b) {
      return a.instructions < b.instructions;
    });
    smallest->values.append(group.values);
    smallest->instructions += group.instructions;
  }
  sortBySize(parts);
  std::vector<llvm::SmallString<0>> result;
  for (const Group &part : parts) {
    llvm::DenseSet<const llvm::GlobalValue *> own(part.values.begin(), part.values.end());
    llvm::ValueToValueMapTy map;
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(
        module, map, [&](const llvm::GlobalValue *value) { return own.contains(value); });
    llvm::raw_svector_ostream stream(result.emplace_back());
    llvm::WriteBitcodeToFile(*copy, stream);
  }
  return result;
}

} // namespace tw
