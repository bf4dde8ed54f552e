// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of a product's kernel: a warp that fills a ring of stages by TMA, warp groups that
// multiply what is there, and the epilogue on the sums in their registers.
#pragma once
#include "Target/NVIDIA/Product/Emission/Epilogue.h"
#include "Target/NVIDIA/Product/Emission/StageRing.h"
#include "Target/NVIDIA/Product/Product.h"

namespace tw::target::nvidia {

class ProductEmitter : public WarpGroupsEmitter {
public:
  /// `shared`: the block's shared memory, whose address is a multiple of 1024; `maps`: arguments.
  ProductEmitter(Emitter &e, const Product &product, const ProductPlan &plan,
                 const ProductMaps &plannedMaps, mlir::Value shared, mlir::ValueRange maps,
                 BlockPrograms programs);

private:
  void initBarriers() override { ring.initBarriers(plan.usersOfStage()); }
  int64_t loadingWarps() const override { return 1; }
  void load(int64_t warp) override;
  StageRing::Slot loadTrip(const StageRing::Slot &slot);
  Ix trips();
  mlir::Value tripsAsI32();
  StageRing::Slot takeOwnPrograms();
  void endTurns(const BlockPrograms &all);
  mlir::LogicalResult multiplyAll() override;
  void multiply(mlir::Value stage, llvm::SmallVectorImpl<mlir::Value> &sums, bool addsToSums);
  llvm::SmallVector<mlir::Value> sumUp(StageRing::Slot &slot);
  /// Trip `number` (i32), whose stage is `current`; `before` is the stage of the one before.
  using Trip =
      llvm::function_ref<void(mlir::Value number, const StageRing::Slot &current,
                              mlir::Value before, llvm::SmallVectorImpl<mlir::Value> &sums)>;
  void laterTrips(StageRing::Slot &slot, mlir::Value &last,
                  llvm::SmallVectorImpl<mlir::Value> &sums, Trip trip);
  void setElements(mlir::ValueRange sums);
  mlir::LogicalResult reduce(tile::ReduceOp op);

  // ComputedLeft.cpp
  void setTrip(const Ix &number);
  void readPair(mlir::Value stage, mlir::Value row, mlir::Value column, const Point points[2]);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> leftOf(mlir::Value stage, int64_t block);
  /// A trip whose left operand has been computed, and whose products have not begun.
  struct ComputedTrip {
    llvm::SmallVector<mlir::Value> sums, left; // of each 64 rows of the warp group, in order
    mlir::Value addsToSums;                    // i32
    llvm::SmallVector<mlir::Value> values() const;
  };
  ComputedTrip tripOf(llvm::ArrayRef<mlir::Value> values) const;
  llvm::SmallVector<mlir::Value> computeLeft(const StageRing::Slot &slot);
  void multiplyComputed(mlir::Value stage, ComputedTrip &trip);
  llvm::SmallVector<mlir::Value> sumUpComputed(StageRing::Slot &slot);

  const Product &product;
  const ProductPlan &plan;
  const ProductMaps &plannedMaps;
  StageRing ring;
  SumsFragment fragment;
  bool hasFailed = false;
};

} // namespace tw::target::nvidia
