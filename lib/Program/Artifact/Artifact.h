// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module of the dispatch level becomes an artifact on disk (docs/artifact.md).
#pragma once
#include "Support/Cancellation.h"
#include "Support/InstructionSet.h"
#include "Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <string>
#include <vector>

namespace tw {

enum class WeightsPlace { Auto, Embedded, External };

struct ArtifactOptions {
  std::string output; // path of the artifact
  int descriptor = 0; // an open, empty file to write to instead, with the weights inside; 0: none
  std::string model;  // its name in the metadata
  std::string target; // its target in the metadata
  std::string key;    // in the metadata, by which it is kept; empty: none
  bool isKernel = false;                     // the program is a call of one kernel, `model`
  WeightsPlace weights = WeightsPlace::Auto; // embedded below 1 GiB
  InstructionSet cpu;                        // that the code on CPUs may use
  std::string architecture;                  // of device code; empty: all is for the CPU
  bool favorsCompileTime = false;            // LLVM's time counts more than the code's
  const Cancellation *cancellation = nullptr;
  target::CodeCache *codeCache = nullptr; // of the target; none: all is made anew
  /// Called when a stage begins ("kernels", "host", "llvm", "link", "weights").
  std::function<void(llvm::StringRef)> stage = [](llvm::StringRef) {};
  /// Called with the program in the LLVM dialect, before it is translated.
  std::function<void(mlir::ModuleOp)> lowered = [](mlir::ModuleOp) {};
};

/// Compiles the kernels of `module`, adds the host entry, and writes the artifact; an older file of
/// that path is replaced in one step. Failures have been reported as coded diagnostics, but for a
/// cancellation, and leave no file.
mlir::LogicalResult writeArtifact(mlir::ModuleOp module, target::Target &target,
                                  const ArtifactOptions &options);

} // namespace tw
