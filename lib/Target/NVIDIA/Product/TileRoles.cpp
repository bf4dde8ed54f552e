// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/TileRoles.h"
#include "IR/Tile/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"

using namespace mlir;

namespace tw::target::nvidia {

bool isOfSingleElements(Operation *op) {
  return Emitter::isScalar(op) || tile::isElementwise(op) ||
         op->hasTrait<OpTrait::IsTerminator>() ||
         isa<tile::LoadOp, tile::GatherOp, tile::FullOp, tile::IotaOp, tile::BroadcastOp,
             tile::ReshapeOp, tile::TransposeOp, tile::SliceOp>(op);
}

const Roles *TileRoles::of(Value tile) const {
  auto found = known.find(tile);
  return found == known.end() ? nullptr : &found->second;
}

bool TileRoles::runsAlong(Value tile, Along what) const {
  const Roles *roles = of(tile);
  return roles && llvm::is_contained(*roles, what);
}

/// Dimensions of extent 1 come and go; all others stay, in order.
static std::optional<Roles> reshaped(tile::ReshapeOp op, const Roles &from) {
  auto wide = [](Value tile) {
    SmallVector<std::pair<size_t, int64_t>> all;
    for (auto [d, extent] : llvm::enumerate(cast<RankedTensorType>(tile.getType()).getShape()))
      if (extent != 1)
        all.push_back({d, extent});
    return all;
  };
  auto source = wide(op.getOperand()), result = wide(op.getResult());
  if (source.size() != result.size())
    return std::nullopt;
  Roles to(size_t(op.getType().getRank()), Along::Nothing);
  for (auto [x, y] : llvm::zip(source, result)) {
    if (x.second != y.second || ShapedType::isDynamic(x.second))
      return std::nullopt;
    to[y.first] = from[x.first];
  }
  return to;
}

bool TileRoles::followElementwise(Operation *op, Roles &result) const {
  for (Value operand : op->getOperands()) {
    const Roles *roles = of(operand);
    if (!roles)
      continue;
    if (result.empty())
      result.assign(roles->size(), Along::Nothing);
    for (auto [own, other] : llvm::zip(result, *roles)) {
      if (own != Along::Nothing && other != Along::Nothing && own != other)
        return false;
      if (own == Along::Nothing)
        own = other;
    }
  }
  return true;
}

bool TileRoles::follow(Operation *op, std::string &why) {
  if (llvm::none_of(op->getOperands(), [&](Value operand) { return of(operand) != nullptr; }) ||
      op->getNumResults() == 0)
    return true;
  Value result = op->getResult(0);
  std::optional<Roles> roles;
  if (tile::isElementwise(op)) {
    Roles found;
    if (followElementwise(op, found))
      roles = found;
  } else if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    roles = reshaped(reshape, *of(reshape.getOperand()));
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    roles.emplace();
    for (int64_t from : transpose.getPermutation())
      roles->push_back((*of(transpose.getOperand()))[size_t(from)]);
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    roles = *of(broadcast.getOperand());
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    Roles from = *of(reduce.getOperand());
    auto axis = size_t(reduce.getAxis());
    if (llvm::is_contained({Along::Terms, Along::Columns}, from[axis]) &&
        llvm::is_contained(from, Along::Rows)) {
      from.erase(from.begin() + int64_t(axis));
      roles = from;
    }
  }
  if (!roles) {
    why = ("its sums get to " + op->getName().getStringRef()).str();
    return false;
  }
  known[result] = *roles;
  return true;
}

/// A dimension of one element, which may be the only row.
static std::optional<unsigned> findOneRow(RankedTensorType type, std::optional<unsigned> besides) {
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (type.getDimSize(d) == 1 && d != besides)
      return d;
  return std::nullopt;
}

bool TileRoles::findStores(tile::KernelOp kernel, std::vector<SumsStore> &stores, std::string &why,
                           bool hasOneRow) const {
  for (auto store : kernel.getBody().front().getOps<tile::StoreOp>()) {
    const Roles *roles = of(store.getTile());
    if (!roles) {
      why = "it stores what does not depend on its sums";
      return false;
    }
    if (llvm::any_of(store->getOperands().drop_front(), [&](Value one) { return of(one); })) {
      why = "where it stores depends on its sums";
      return false;
    }
    SumsStore found{store};
    auto type = cast<RankedTensorType>(store.getTile().getType());
    int64_t rows = 0;
    for (auto [d, role] : llvm::enumerate(*roles)) {
      if (role == Along::Rows)
        found.rowDim = unsigned(d), ++rows;
      else if (role == Along::Columns && !found.columnDim)
        found.columnDim = unsigned(d);
      else if (role != Along::Nothing || type.getDimSize(int64_t(d)) != 1)
        rows = -1;
    }
    if (auto row = findOneRow(type, found.columnDim); hasOneRow && rows == 0 && row)
      found.rowDim = *row, rows = 1;
    if (rows != 1) {
      why = "it stores no matrix";
      return false;
    }
    stores.push_back(found);
  }
  if (stores.empty())
    why = "it stores nothing";
  return !stores.empty();
}

} // namespace tw::target::nvidia
