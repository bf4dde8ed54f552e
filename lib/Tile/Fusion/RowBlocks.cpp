// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Fusion/RowBlocks.h"
#include "IR/Tile/IndexForm.h"
#include "IR/Tile/Variants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::tile {

//===----------------------------------------------------------------------===//
// What goes through rows
//===----------------------------------------------------------------------===//

/// The blocks of rows that a box of a buffer is one of. Sizes are constants.
template <typename AccessOp>
static std::optional<RowBlocks> blocksOfBox(AccessOp access, RankedTensorType tile) {
  ValueRange positions = access.getPositions();
  ArrayRef<int64_t> strides = access.getStrides();
  if (positions.empty() || !isa<IndexType>(positions[0].getType()) ||
      (!strides.empty() && strides[0] != 1))
    return std::nullopt;
  auto form = indexForm(positions[0]);
  int64_t rows = tile.getDimSize(0), all = *sizesOf(access.getBuffer().getType())[0].constant();
  if (rows < 1 || all < 1)
    return std::nullopt;
  Size count(int64_t(llvm::divideCeil(all, rows)));
  auto kernel = access->template getParentOfType<KernelOp>();
  for (auto [dim, size] : llvm::enumerate(kernel.getGrid().template getAsRange<SizeAttr>()))
    if (form && size.getSize() == count &&
        *form == Size::symbol(coordinateSymbol(int64_t(dim))) * Size(rows))
      return RowBlocks{unsigned(dim), rows, all};
  return std::nullopt;
}

/// Why programs of a kernel cannot run in loops of another one; empty if they can.
static std::string whyNotInLoops(KernelOp kernel) {
  if (!kernel.getSymbols().empty())
    return "its sizes are known only at the call";
  if (kernel->hasAttr(TileDialect::beginsName))
    return "it updates a buffer in place";
  if (llvm::any_of(kernel.getOps<ForOp>(), [](ForOp loop) { return loop.canSplit(); }))
    return "it has a loop that workers share";
  for (auto argument : kernel.getArguments().getAsRange<ArgumentAttr>())
    if (argument.getAccess() == Access::InOut || argument.getInit())
      return fmt::format("\"{}\" holds something before any program runs",
                         argument.getName().str());
  return {};
}

std::optional<RowBlocks> rowBlocksOf(KernelOp kernel, std::string &why) {
  why = whyNotInLoops(kernel);
  if (!why.empty())
    return std::nullopt;
  std::optional<RowBlocks> blocks;
  for (auto [i, argument] : llvm::enumerate(kernel.getArguments().getAsRange<ArgumentAttr>())) {
    if (argument.getAccess() != Access::Out)
      continue;
    for (Operation *user : kernel.getBlockArgument(unsigned(i)).getUsers()) {
      auto store = dyn_cast<StoreOp>(user);
      auto own = store && !store.getUpdate() ? blocksOfBox(store, store.getTile().getType())
                                             : std::nullopt;
      if (!own || (blocks && *blocks != *own))
        return why = "its programs do not store blocks of rows", std::nullopt;
      blocks = own;
    }
  }
  if (!blocks)
    why = "it stores nothing";
  return blocks;
}

bool readsOwnRows(BlockArgument buffer, const RowBlocks &blocks, std::string &why) {
  for (Operation *user : buffer.getUsers()) {
    auto load = dyn_cast<LoadOp>(user);
    auto own = load ? blocksOfBox(load, load.getType()) : std::nullopt;
    if (!own || *own != blocks)
      return why = "its programs read other rows than they store", false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {

class RowFusion {
public:
  RowFusion(ArrayRef<RowStage> stages, int64_t rows)
      : stages(stages), rows(rows), b(this->stages.front().kernel.getContext()),
        maps(stages.size()) {}

  OwningOpRef<KernelOp> build() {
    KernelOp first = stages.front().kernel;
    SmallVector<Location> locations;
    for (RowStage &stage : stages)
      locations.push_back(stage.kernel.getLoc());
    Size programs = ceilDiv(Size(stages.front().blocks.all), Size(rows));
    OwningOpRef<KernelOp> made(KernelOp::create(
        b, b.getFusedLoc(locations), first.getSymName(), b.getArrayAttr({}), b.getArrayAttr({}),
        b.getArrayAttr({SizeAttr::get(b.getContext(), programs)})));
    for (NamedAttribute attribute : first->getDiscardableAttrs())
      if (attribute.getName() != TileDialect::blockName &&
          attribute.getName() != TileDialect::variantsName)
        (*made)->setDiscardableAttr(attribute.getName(), attribute.getValue());
    b.createBlock(&made->getBody());
    addArguments(*made);
    loc = made->getLoc();
    program = ProgramIdOp::create(b, loc, b.getIndexType(), 0);
    for (unsigned number = 0; number < stages.size(); ++number)
      writeStage(number);
    return made;
  }

private:
  void addArguments(KernelOp made) {
    SmallVector<Attribute> attributes;
    static const char *const words[] = {"in", "out", "inout", "n"};
    for (Access access : {Access::In, Access::Out, Access::Scalar})
      for (auto [stage, map] : llvm::zip(stages, maps))
        for (auto [i, argument] :
             llvm::enumerate(stage.kernel.getArguments().getAsRange<ArgumentAttr>())) {
          if (argument.getAccess() != access || stage.isLinked(unsigned(i)))
            continue;
          BlockArgument old = stage.kernel.getBlockArgument(unsigned(i));
          map.map(old, made.getBody().addArgument(old.getType(), old.getLoc()));
          attributes.push_back(
              argument.withName(words[size_t(access)] + std::to_string(attributes.size())));
        }
    made.setArgumentsAttr(b.getArrayAttr(attributes));
    for (auto [stage, map] : llvm::zip(stages, maps))
      for (const RowStage::Link &link : stage.links) {
        KernelOp producer = stages[link.stage].kernel;
        Value stored = maps[link.stage].lookup(producer.getBlockArgument(link.output));
        map.map(stage.kernel.getBlockArgument(link.input), stored);
      }
  }

  Value number(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  /// Runs `body` in a loop over [0, end) at the end of the present block.
  void loop(Value end, llvm::function_ref<void(Value)> body) {
    Value zero = number(0), one = number(1);
    auto made = ForOp::create(b, loc, TypeRange(), zero, end, one, ValueRange());
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&made.getBody());
    block->addArgument(b.getIndexType(), loc);
    body(block->getArgument(0));
    YieldOp::create(b, loc);
  }

  /// The programs of a stage that have the rows of this one, those along rows innermost: they read
  /// the same columns of weights.
  void writeStage(unsigned stageNumber) {
    RowStage &stage = stages[stageNumber];
    loc = stage.kernel.getLoc();
    SmallVector<Value> coordinates(stage.kernel.getGrid().size());
    writePrograms(stageNumber, 0, coordinates);
  }

  void writePrograms(unsigned stageNumber, unsigned dim, SmallVector<Value> &coordinates) {
    RowStage &stage = stages[stageNumber];
    if (dim == coordinates.size())
      return writeRows(stageNumber, coordinates);
    if (dim == stage.blocks.dim)
      return writePrograms(stageNumber, dim + 1, coordinates);
    Size count = cast<SizeAttr>(stage.kernel.getGrid()[dim]).getSize();
    loop(number(*count.constant()), [&](Value coordinate) {
      coordinates[dim] = coordinate;
      writePrograms(stageNumber, dim + 1, coordinates);
    });
  }

  void writeRows(unsigned stageNumber, SmallVector<Value> &coordinates) {
    RowStage &stage = stages[stageNumber];
    int64_t each = rows / stage.blocks.rows;
    auto count = int64_t(llvm::divideCeil(stage.blocks.all, stage.blocks.rows));
    Value begin = arith::MulIOp::create(b, loc, program, number(each));
    Value end = number(each);
    if (count % each != 0)
      end =
          arith::MinSIOp::create(b, loc, end, arith::SubIOp::create(b, loc, number(count), begin));
    loop(end, [&](Value block) {
      coordinates[stage.blocks.dim] = arith::AddIOp::create(b, loc, begin, block);
      writeProgram(stage.kernel, coordinates, maps[stageNumber]);
    });
  }

  void writeProgram(KernelOp kernel, ArrayRef<Value> coordinates, IRMapping map) {
    for (Operation &op : kernel.getBody().front()) {
      if (auto id = dyn_cast<ProgramIdOp>(op)) {
        map.map(id.getResult(), coordinates[id.getDim()]);
        continue;
      }
      b.clone(op, map)->walk([&](ProgramIdOp id) {
        id.replaceAllUsesWith(coordinates[id.getDim()]);
        id.erase();
      });
    }
  }

  std::vector<RowStage> stages;
  int64_t rows;
  OpBuilder b;
  Location loc = b.getUnknownLoc();
  std::vector<IRMapping> maps; // of arguments, by stage
  Value program;
};

} // namespace

OwningOpRef<KernelOp> fuseRows(ArrayRef<RowStage> stages, int64_t rows) {
  return RowFusion(stages, rows).build();
}

} // namespace tw::tile
