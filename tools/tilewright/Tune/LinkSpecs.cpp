// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright link-specs SPEC ... -o FILE: one tuning spec of several.
#include "../Failure.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "tools/tilewright/Commands/Commands.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include "tools/tilewright/Compiler/CompilerSink.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include <CLI/CLI.hpp>
#include <memory>

namespace tw::cli {

namespace {

struct LinkOptions {
  std::vector<std::string> specs;
  std::string output;
};

/// In the child process of runIsolated.
int linkHere(const LinkOptions &options) {
  auto library = CompilerLibrary::load();
  TW_TRY_CLI(library);
  FileUses files;
  std::vector<const char *> paths;
  for (const std::string &spec : options.specs) {
    files.reads(spec);
    paths.push_back(spec.c_str());
  }
  TW_TRY_CLI(files.writes(options.output));
  CompilerSink listener;
  tilewright_sink sink = listener.sink();
  tilewright_link_options request = {};
  request.struct_size = sizeof request;
  request.tuning_specs = paths.data();
  request.tuning_spec_count = paths.size();
  tilewright_outcome outcome = library->linkTuningSpecs(&request, &sink, &listener);
  listener.progress.clear();
  if (outcome != TILEWRIGHT_FINE)
    return outcome;
  auto file = OutputFile::create(options.output);
  TW_TRY_CLI(file);
  TW_TRY_CLI(file->write(asBytes(listener.report)));
  TW_TRY_CLI(file->commit());
  return 0;
}

} // namespace

void addLinkSpecs(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<LinkOptions>();
  CLI::App *command = app.add_subcommand("link-specs", "make one tuning spec of several");
  command
      ->add_option("SPEC", options->specs,
                   "tuning specs; where two match a kernel, the one that stands first decides")
      ->required();
  command->add_option("-o,--output", options->output, "file to write the spec to")->required();
  command->callback([options, &invocation] {
    invocation.action = [options] {
      auto outcome = runIsolated("linking tuning specs", [&] { return linkHere(*options); });
      TW_TRY_CLI(outcome);
      return *outcome;
    };
  });
}

} // namespace tw::cli
