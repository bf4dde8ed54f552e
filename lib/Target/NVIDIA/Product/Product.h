// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are one product on the tensor cores: one `dot` of f16 or bf16, or of f32 as tf32,
// summed in f32, in a loop or without one, whose operands TMA can bring to shared memory, and an
// elementwise epilogue, which can be computed where the sums are. docs/nvidia-target.md,
// "Products".
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/NVIDIA/Architecture.h"
#include "Target/NVIDIA/Product/LaunchConditions.h"
#include "Target/NVIDIA/Product/Operand.h"
#include "Target/NVIDIA/Product/SumsStore.h"

namespace tw::target::nvidia {

struct Product {
  tile::ForOp loop; // null: there is one trip
  tile::DotOp dot;
  ProductOperand a, b;
  bool isLeftComputed = false;                  // from elements of `a`, in registers
  llvm::SmallVector<tile::ReduceOp> reductions; // of rows of what becomes of the sums, in order
  std::vector<SumsStore> stores;
  int64_t rows = 0, columns = 0; // of a program's block of the result
  int64_t tileRows = 0;          // of them, those that there are: the same, but for fewer than 64
  int64_t depth = 0;             // of one trip
  std::optional<int64_t> trips;  // nothing: known only when it runs
  bool hasUnevenTrips = false;   // programs have different numbers of them, each at least one
  std::vector<int64_t> programTrips; // of each program, row-major, where these differ and are known
  mlir::Type element;                // of the operands; f32 are rounded to tf32
  LaunchConditions conditions;

  /// What the epilogue reads.
  mlir::Value sums() const;
};

/// The product that `kernel` is, or why it is none that the tensor cores can take.
struct ProductMatch {
  std::optional<Product> product;
  std::string why;
  /// Whether there is a dot of 16-bit floats or tf32, so that `why` is worth a remark.
  bool isWanted = false;
};
ProductMatch matchProduct(tile::KernelOp kernel);

} // namespace tw::target::nvidia
