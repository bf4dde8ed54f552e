// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright inspect MODEL|OUT.so: what it takes, gives, keeps and consists of. Reads no weights,
// and runs no code of an artifact.
#include "Commands.h"
#include "IO/File.h"
#include "runtime/Artifact/Artifact.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include "tools/tilewright/Compiler/CompilerSink.h"
#include "tools/tilewright/Compiler/ModelOptions.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/ArtifactText.h"
#include "tools/tilewright/Program/Program.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace tw::cli {

namespace {

struct InspectOptions {
  std::string model, entry;
  std::vector<std::string> kernels;
  bool unsupported = false, json = false, verify = false;
};

/// In the child process of runIsolated.
int inspectModelHere(const InspectOptions &options) {
  auto library = CompilerLibrary::load();
  TW_TRY_CLI(library);
  CompilerSink listener;
  tilewright_sink sink = listener.sink();
  tilewright_inspect_options request = {};
  request.struct_size = sizeof request;
  request.model = options.model.c_str();
  request.entry = options.entry.empty() ? nullptr : options.entry.c_str();
  request.unsupported_only = options.unsupported;
  request.json = options.json;
  std::vector<const char *> kernels;
  for (const std::string &path : options.kernels)
    kernels.push_back(path.c_str());
  request.kernels = kernels.data();
  request.kernel_count = kernels.size();
  tilewright_outcome outcome = library->inspectModel(&request, &sink, &listener);
  listener.progress.clear();
  if (outcome != TILEWRIGHT_FINE)
    return outcome;
  if (!listener.report.ends_with('\n'))
    listener.report += '\n';
  TW_TRY_CLI(writeResults(listener.report));
  return 0;
}

int inspectArtifact(const InspectOptions &options) {
  if (options.unsupported)
    return fail({Code::CLI_1,
                 fmt::format("{} is an artifact: everything in it is supported", options.model),
                 {},
                 {},
                 "--unsupported is for models that are not compiled yet"});
  auto file = MappedFile::open(options.model);
  TW_TRY_CLI(file);
  auto bytes = file->bytes();
  auto metadata = rt::parseArtifact({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()},
                                    bytes.size());
  if (!metadata) {
    Diagnostic error = std::move(metadata).error();
    error.location = options.model;
    return fail(error);
  }
  if (options.verify)
    TW_TRY_CLI(rt::openArtifact(options.model, {.verify = true}));
  int64_t size = static_cast<int64_t>(bytes.size());
  TW_TRY_CLI(writeResults(options.json ? artifactJson(options.model, size, *metadata)
                                       : artifactText(options.model, size, *metadata)));
  return 0;
}

int inspect(const InspectOptions &options) {
  auto artifact = isArtifact(options.model);
  TW_TRY_CLI(artifact);
  if (*artifact)
    return inspectArtifact(options);
  if (options.verify)
    return fail({Code::CLI_1,
                 fmt::format("{} is a model, which has no hashes", options.model),
                 {},
                 {},
                 "--verify is for artifacts"});
  auto outcome =
      runIsolated("inspecting " + options.model, [&] { return inspectModelHere(options); });
  TW_TRY_CLI(outcome);
  return *outcome;
}

} // namespace

void addInspect(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = app.add_subcommand("inspect", "describe a model or an artifact");
  command->add_option("MODEL", options->model, "a .pt2 or .mlir model, or an artifact (OUT.so)")
      ->required();
  command->add_option("--entry", options->entry,
                      "name of the model in an archive that holds several");
  addKernelsOption(*command, options->kernels);
  command->add_flag("--unsupported", options->unsupported,
                    "only the operators that cannot be compiled");
  command->add_flag("--verify", options->verify,
                    "of an artifact: check the weights against their hashes");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return inspect(*options); }; });
}

} // namespace tw::cli
