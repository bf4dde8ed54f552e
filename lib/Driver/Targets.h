// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets by the names that users give them: models, kernels by themselves and tests take them
// from here.
#pragma once
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "Support/Diagnostic.h"
#include "Support/InstructionSet.h"
#include "Target/Target.h"
#include <memory>
#include <string>

namespace tw {

struct NamedTarget {
  /// What an artifact says that it is made for: "cpu", "nvidia:sm_90a" or "reference".
  std::string name;
  /// Whose configurations and tuning specs its kernels have: "cpu" or "nvidia".
  std::string family;
  /// What code on CPUs may use, and what a machine must have to run it.
  InstructionSet cpu;
  /// What code for another device than the CPU is for ("sm_90a"); empty: there is none.
  std::string architecture = {};
  /// Makes code of tile programs, and of the functions that no tile program covers.
  std::shared_ptr<target::Target> code = nullptr;
  /// Gives dispatches configurations; null: there are none, and operations are plain loops.
  std::shared_ptr<const conversion::ConfigurationChooser> chooser = nullptr;
  /// Whether products of f32 may round their operands to tf32.
  bool allowsTF32 = false;
  /// Whether operands of products of f32 are rounded to bf16.
  bool roundsProducts = false;
  /// What blocks of kernels for CPUs are chosen for.
  CpuCaches caches = {};

  /// Whether a model is compiled without configurations, each operation by itself.
  bool isPlain() const { return !chooser; }
};

/// The target that --target= names: "cpu" or "cpu:host", "cpu:NAME" for a NAME of
/// Target/CPU/CpuFeatures.h, perhaps with further features and caches ("cpu:aarch64+bf16+l2=2M"),
/// "nvidia:NAME" for one of Target/NVIDIA/Architecture.h, or "reference". `precision` of products
/// of f32: "f32" (also empty), "bf16", or "tf32" for GPUs that have it. Errors: DRIVER_2 with what
/// there is; DRIVER_3 for a precision that the target does not have.
Result<NamedTarget> findTarget(const std::string &name, const std::string &precision = {});

/// The target for this machine, for what runs at compile time.
NamedTarget hostTarget();

} // namespace tw
