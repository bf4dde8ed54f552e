// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"
#include "IO/File.h"
#include "Support/ChildProcess.h"
#include "runtime/Artifact/Artifact.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include "tools/tilewright/Compiler/CompilerSink.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include "tools/tilewright/Failure.h"
#include <filesystem>
#include <fmt/format.h>

namespace tw::cli {

Result<bool> isArtifact(const std::string &path) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  return file.text().starts_with("\x7f"
                                 "ELF") ||
         path.ends_with(".so");
}

int compileHere(const ModelOptions &options, const std::string &output) {
  auto library = CompilerLibrary::load();
  TW_TRY_CLI(library);
  CompilerSink listener;
  tilewright_sink sink = listener.sink();
  std::vector<const char *> kernels;
  tilewright_compile_options request = compileRequest(options, output, kernels);
  return library->compile(&request, &sink, &listener);
}

int compileTo(const ModelOptions &options, const std::string &output,
              const TemporaryFolder &folder) {
  auto outcome = runIsolated(
      "compiling " + options.model, [&] { return compileHere(options, output); }, &folder);
  TW_TRY_CLI(outcome);
  return *outcome;
}

Status loadArtifact(const std::string &path, const std::string &device, bool verify,
                    ProgramPtr &program) {
  tw_load_options options = {};
  options.struct_size = sizeof options;
  options.device = device.empty() ? nullptr : device.c_str();
  options.verify = verify;
  tw_program *loaded = nullptr;
  TW_TRY(fromRuntime(tw_program_load(path.c_str(), &options, &loaded)));
  program.reset(loaded);
  return {};
}

int openProgram(const ModelOptions &options, const std::string &device, ProgramPtr &program,
                rt::Metadata *metadata) {
  auto artifact = isArtifact(options.model);
  TW_TRY_CLI(artifact);
  if (*artifact) {
    if (!options.target.empty())
      return fail({Code::CLI_1,
                   fmt::format("{} is an artifact, which was compiled for its target already, but "
                               "--target={} is given",
                               options.model, options.target),
                   {},
                   {},
                   "leave --target out, or compile the model again with it"});
    std::string spec = options.tuningSpecs.empty() ? "" : options.tuningSpecs.front();
    for (const auto &[option, given] :
         {std::pair("--config", options.configurations), std::pair("--tuning-spec", spec),
          std::pair("--precision", options.precision)})
      if (!given.empty())
        return fail({Code::CLI_1,
                     fmt::format("{} is an artifact, whose kernels are compiled already, but "
                                 "{}={} is given",
                                 options.model, option, given),
                     {},
                     {},
                     fmt::format("leave {} out, or compile the model again with it", option)});
    TW_TRY_CLI(loadArtifact(options.model, device, options.verify, program));
    return 0;
  }
  DelayedSignals delayed; // until the folder is gone
  auto folder = TemporaryFolder::create();
  TW_TRY_CLI(folder);
  std::string stem = std::filesystem::path(options.model).stem();
  std::string output = folder->path() + "/" + stem + ".so";
  if (int status = compileTo(options, output, *folder))
    return status;
  TW_TRY_CLI(loadArtifact(output, device, /*verify=*/false, program));
  if (metadata) {
    auto artifact = rt::openArtifact(output, {});
    TW_TRY_CLI(artifact);
    *metadata = std::move(artifact->metadata);
  }
  return 0; // the folder goes; what is mapped stays readable
}

Result<InstancePtr> createInstance(const tw_program *program, int threads, bool graphs) {
  tw_instance_options options = {};
  options.struct_size = sizeof options;
  options.threads = threads;
  options.graphs = graphs ? TW_GRAPHS_AUTO : TW_GRAPHS_OFF;
  tw_instance *instance = nullptr;
  TW_TRY(fromRuntime(tw_instance_create(program, &options, &instance)));
  return InstancePtr(instance);
}

} // namespace tw::cli
