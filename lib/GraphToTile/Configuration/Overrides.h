// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations that are given, not chosen: those of a file, by the signatures of dispatches.
#pragma once
#include "IR/Tile/Tile.h"
#include "Kernels/Configuration.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::conversion {

/// Fields of a configuration; those that are not given are chosen.
struct FieldsOverride {
  kernels::Configuration configuration;
  std::string place; // where it says so: "tuned.json: configurations[2].kernels[0]"
};

/// A kernel's variants, all of them.
struct VariantOverrides {
  /// By what the size is at most that they are for, and by how many workers they are for at least.
  std::map<int64_t, FieldsOverride> forSizes, forWorkers;
};

/// Of one kernel.
struct KernelOverride : FieldsOverride {
  std::optional<VariantOverrides> variants; // missing: chosen
};

struct DispatchOverride {
  std::vector<tile::Cut> cuts;         // empty: chosen
  std::vector<KernelOverride> kernels; // empty: chosen
  std::string place;
};

using ConfigurationOverrides = std::map<std::string, DispatchOverride, std::less<>>;

/// What a dispatch computes, as a key: a hash of its function's text, which has the operations,
/// dtypes and sizes, and no names. It stays the same until the compiler or the model changes.
std::string dispatchSignature(mlir::func::FuncOp function);

/// What kernel `number` of `count` kernels of a dispatch's function is called.
std::string kernelName(const std::string &function, size_t count, size_t number);

} // namespace tw::conversion
