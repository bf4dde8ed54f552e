// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls that a command line describes: inputs, where outputs go, what they should be. `--next`
// separates consecutive calls on one loaded instance.
#pragma once
#include "IO/HostTensor.h"
#include "IO/InputSpec.h"
#include "tilewright/tilewright.h"
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tw::cli {

/// One call as written on the command line.
struct CallArguments {
  std::vector<std::string> inputs, outputs, expected;
  bool resetsState = false;

  /// Adds --input; the others where the command has them.
  void addInputsTo(CLI::App &app);
  void addOutputsTo(CLI::App &app);
  void addExpectedTo(CLI::App &app);
  void addResetTo(CLI::App &app);
};

/// The same with the SPECs parsed. Nothing has been read.
struct Call {
  /// Where an output is written: [NAME=]@FILE.npy.
  struct Output {
    std::string name, path;
  };
  std::vector<InputSpec> inputs;
  std::vector<Output> outputs;
  std::vector<InputSpec> expected;
  bool resetsState = false; // to its initial values, before the call
};

/// Errors: IO_8 of a SPEC, CLI_1 of an output that is not [NAME=]@FILE.
Result<Call> parseCall(const CallArguments &arguments);

/// The files that the outputs go to.
std::vector<std::string> filesWritten(std::span<const Call> calls);

/// No output may be a file that is read, nor two outputs one file: `sources` are read besides what
/// the calls name, `others` what is written besides (empty: none). To be asked before anything is
/// done. Errors: IO_18.
Status checkFiles(std::span<const Call> calls, std::span<const std::string> sources,
                  std::span<const std::string> others = {});

/// What is called, as far as calls see it.
struct Interface {
  struct Input {
    std::string name, type; // "f32[2, s0]"
    DType dtype;
  };
  std::string_view what; // "model"
  std::vector<Input> inputs;
  std::vector<std::string> outputs;
};
Interface interfaceOf(const tw_program *program);

/// Gives each input of the program its SPEC, by name or else in order. Errors: CLI_5 (missing,
/// unknown or given twice).
Result<std::vector<InputSpec>> specsInOrder(const Interface &callee,
                                            std::span<const InputSpec> specs);

/// The same, and reads them. Errors: CLI_5
/// (missing, unknown or given twice), and those of readInput.
Result<std::vector<HostTensor>> readInputs(const Interface &callee,
                                           std::span<const InputSpec> specs);

/// The index of the output that each name means, or its position where it is empty. Errors: CLI_6.
Result<std::vector<int>> findOutputs(const Interface &callee, std::span<const std::string> names);

/// Do the outputs exist that the calls name? To be asked before they are executed. Errors: CLI_6.
Status checkOutputNames(const Interface &callee, std::span<const Call> calls);

} // namespace tw::cli
