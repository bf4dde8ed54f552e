// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/ColumnParts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"
#include <set>

using namespace mlir;

namespace tw::conversion {
namespace {

/// More would be as many results of a program.
constexpr int64_t mostParts = 8;

/// Follows a value through elementwise operations to where parts of it are read.
class PartReaders {
public:
  bool follow(Value value) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) { return read(use); });
  }

  int64_t count(int64_t whole) const {
    int64_t parts = length > 0 ? whole / length : 1;
    bool isEven = length > 0 && whole % length == 0 && parts <= mostParts && areReadTogether;
    return isEven && int64_t(offsets.size()) == parts ? parts : 1;
  }

private:
  static bool isElementwise(Operation *op) {
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    return linalg && linalg.getNumReductionLoops() == 0;
  }

  bool read(OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
      return readPart(slice);
    auto type = cast<RankedTensorType>(use.get().getType());
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user)) {
      auto result = cast<RankedTensorType>(user->getResult(0).getType());
      return result.getRank() > 0 && result.getShape().back() == type.getShape().back() &&
             follow(user->getResult(0));
    }
    auto linalg = dyn_cast<linalg::LinalgOp>(user);
    return linalg && isElementwise(user) && linalg.isDpsInput(&use) &&
           linalg.getMatchingIndexingMap(&use).isIdentity() && user->getNumResults() == 1 &&
           (!seen.insert(user).second || follow(user->getResult(0)));
  }

  /// All columns of a part, side by side; other dimensions whole.
  bool readPart(tensor::ExtractSliceOp slice) {
    auto type = slice.getSourceType();
    int64_t last = type.getRank() - 1;
    int64_t offset = slice.getStaticOffset(last), size = slice.getStaticSize(last);
    bool isPart = llvm::all_of(slice.getStaticStrides(), [](int64_t s) { return s == 1; }) &&
                  !ShapedType::isDynamic(offset) && !ShapedType::isDynamic(size) && size > 0 &&
                  offset % size == 0 && (length == 0 || length == size);
    for (int64_t d = 0; d < last; ++d)
      isPart &= slice.getStaticOffset(d) == 0;
    if (!isPart || !llvm::all_of(slice->getUsers(), isElementwise))
      return false;
    length = size;
    offsets.insert(offset);
    for (Operation *user : slice->getUsers()) {
      auto [reader, isNew] = readers.try_emplace(user, offset);
      areReadTogether |= !isNew && reader->second != offset;
    }
    return true;
  }

  llvm::DenseSet<Operation *> seen;
  llvm::DenseMap<Operation *, int64_t> readers;
  std::set<int64_t> offsets;
  int64_t length = 0;
  bool areReadTogether = false; // one operation reads two of them
};

} // namespace

int64_t columnPartsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1))
    return 1;
  PartReaders readers;
  return readers.follow(value) ? readers.count(type.getShape().back()) : 1;
}

} // namespace tw::conversion
