// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations as JSON: what `compile --report=json` prints under "configurations", and
// `--config=FILE` reads (docs/configurations.md).
#pragma once
#include "Driver/KernelTool/KernelSource.h"
#include "Driver/Model/GraphDecisions.h"
#include "GraphToTile/Configuration/Overrides.h"
#include "Support/Diagnostic.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw {

class JsonWriter;

struct ConfigurationFile {
  conversion::ConfigurationOverrides dispatches; // "configurations"
  KernelParameters kernels;                      // "kernels": of hand-written ones
  std::vector<GivenDecision> decisions;          // "decisions"
};

/// Reads a file for `target`, "cpu" or "nvidia"; empty where its dispatches do not matter. Errors:
/// IO_1 and those of JsonDocument; CONFIG_1 where a dispatch or a kernel is not written as one;
/// CONFIG_5 for two configurations of one signature, or of one kernel; CONFIG_7 for a later
/// version. Whether they fit a model shows when it is configured.
Result<ConfigurationFile> readConfigurations(const std::string &path,
                                             const std::string &target = {});

/// How one dispatch is made.
struct ConfiguredDispatch {
  std::string kernel, signature, ops, source;
  std::vector<std::string> operators; // that it computes in any of its calls
  tile::DispatchConfigurationAttr configuration;
};

/// Those of a module between tw-configure and tw-tile-programs.
std::vector<ConfiguredDispatch> configuredDispatches(mlir::ModuleOp module);

/// Arrays of objects.
void write(JsonWriter &json, const std::vector<ConfiguredDispatch> &dispatches);
void write(JsonWriter &json, const KernelParameters &kernels);

} // namespace tw
