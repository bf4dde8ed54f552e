// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How MODEL is compiled, the same for every command that may have to.
#pragma once
#include "tilewright/Compiler.h"
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace tw::cli {

struct ModelOptions {
  std::string model; // the path given
  std::string target, entry, weights, precision, dumpTo, configurations;
  std::vector<std::string> kernels, tuningSpecs;
  std::vector<std::string> written; // what the command writes when the model is compiled
  bool verify = false;              // of an artifact
  bool values = false;     // its metadata says which values of the graph dispatches compute
  bool isUnedited = false; // without the kernels that replace some of the model's

  /// Adds MODEL, --target, --kernels, --config, --tuning-spec, --precision and --entry.
  /// The one for specs may have other names, too.
  void addTo(CLI::App &app, const char *specOption = "--tuning-spec");
  /// Adds --verify, for commands that load artifacts.
  void addVerifyTo(CLI::App &app);
  /// Adds --weights and --dump-to, for `compile`.
  void addOutputOptionsTo(CLI::App &app);
};

/// The same for the compiler's C API; refers to the strings of `options` and `output`, and to
/// `paths`, which it fills.
tilewright_compile_options compileRequest(const ModelOptions &options, const std::string &output,
                                          std::vector<const char *> &paths);

/// The same model for another target, as the compiler chooses: what was given for this one is left
/// out.
ModelOptions asTarget(ModelOptions options, const std::string &target);
/// Whether a target's name, of --target or of an artifact, is a GPU's.
bool isForGpu(std::string_view target);

/// Every file that may be read for the model: itself, kernels, configurations, an artifact's
/// weights; empty where an option is not given.
std::vector<std::string> filesRead(const ModelOptions &options);

/// Adds --device, of commands that load artifacts; empty: what the artifact was compiled for.
void addDeviceOption(CLI::App &app, std::string &device);

/// Adds --no-graphs, of commands that run artifacts.
void addNoGraphsOption(CLI::App &app, bool &noGraphs);

/// Adds --kernels.
void addKernelsOption(CLI::App &app, std::vector<std::string> &kernels);

} // namespace tw::cli
