// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/DistinctKernels.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tw {

static constexpr auto flags = OperationEquivalence::IgnoreLocations;

static DictionaryAttr attributesWithoutName(Operation *kernel) {
  NamedAttrList attributes(kernel->getAttrDictionary());
  attributes.erase(SymbolTable::getSymbolAttrName());
  return attributes.getDictionary(kernel->getContext());
}

/// Of what each operation is, in their order; which values they take is left to the comparison.
static size_t hashOf(Operation *kernel, DictionaryAttr attributes) {
  llvm::hash_code hash = llvm::hash_combine(kernel->getName(), attributes);
  for (Region &body : kernel->getRegions())
    body.walk<WalkOrder::PreOrder>([&](Operation *op) {
      hash = llvm::hash_combine(
          hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                  OperationEquivalence::ignoreHashValue, flags));
    });
  return hash;
}

static bool haveSameBodies(Operation *a, Operation *b) {
  return llvm::all_of_zip(a->getRegions(), b->getRegions(), [](Region &one, Region &other) {
    return OperationEquivalence::isRegionEquivalentTo(&one, &other, flags);
  });
}

Operation *DistinctKernels::insert(Operation *kernel) {
  DictionaryAttr attributes = attributesWithoutName(kernel);
  size_t hash = hashOf(kernel, attributes);
  auto [first, last] = kernels.equal_range(hash);
  for (auto known = first; known != last; ++known)
    if (known->second.op->getName() == kernel->getName() &&
        known->second.attributes == attributes && haveSameBodies(known->second.op, kernel))
      return known->second.op;
  kernels.emplace(hash, Kernel{attributes, kernel});
  return kernel;
}

} // namespace tw
