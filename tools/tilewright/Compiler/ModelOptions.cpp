// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ModelOptions.h"
#include "IO/OutputFile.h"
#include <CLI/CLI.hpp>

namespace tw::cli {

void ModelOptions::addTo(CLI::App &app, const char *specOption) {
  app.add_option("MODEL", model, "a .pt2 or .mlir model, or an artifact (OUT.so)")->required();
  app.add_option(
      "--target", target,
      "cpu (default) or reference, for this machine; cpu:NAME for another CPU, such as x86-64-v3; "
      "nvidia:sm_90a for a GPU");
  addKernelsOption(app, kernels);
  app.add_option("--config", configurations,
                 "configurations of kernels, as `compile --report=json` prints them")
      ->type_name("FILE");
  app.add_option(specOption, tuningSpecs,
                 "configurations by rules, as `tune` finds them; may be given several times: the "
                 "first that matches a kernel decides")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--precision", precision,
                 "of products of f32: f32 (default); bf16, to which operands are rounded; or tf32 "
                 "(nvidia:sm_90a), a mantissa of 10 bits");
  app.add_option("--entry", entry, "name of the model in an archive that holds several");
}

void ModelOptions::addVerifyTo(CLI::App &app) {
  app.add_flag("--verify", verify, "first check an artifact's weights against their hashes");
}

void ModelOptions::addOutputOptionsTo(CLI::App &app) {
  app.add_option("--weights", weights,
                 "embedded in the artifact, external (a file next to it), or auto (default: "
                 "embedded below 1 GiB)")
      ->check(CLI::IsMember({"auto", "embedded", "external"}));
  app.add_option(
      "--dump-to", dumpTo,
      "folder to write the program to after each stage, and its kernels as source and assembly");
}

static const char *orNull(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

ModelOptions asTarget(ModelOptions options, const std::string &target) {
  options.target = target;
  options.tuningSpecs.clear();
  options.configurations.clear();
  options.precision.clear();
  options.isUnedited = true;
  return options;
}

bool isForGpu(std::string_view target) { return target.starts_with("nvidia"); }

void addDeviceOption(CLI::App &app, std::string &device) {
  app.add_option("--device", device,
                 "cpu, cuda (the first GPU) or cuda:N; default: what it was compiled for");
}

void addNoGraphsOption(CLI::App &app, bool &noGraphs) {
  app.add_flag("--no-graphs", noGraphs,
               "on a GPU: launch all work piece by piece, never a call as one CUDA graph");
}

void addKernelsOption(CLI::App &app, std::vector<std::string> &kernels) {
  app.add_option("--kernels", kernels,
                 "kernels that the model calls: .cpp, .so or .mlir; may be given several times")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

std::vector<std::string> filesRead(const ModelOptions &options) {
  std::vector<std::string> files = options.kernels;
  files.insert(files.end(), options.tuningSpecs.begin(), options.tuningSpecs.end());
  files.push_back(options.model);
  files.push_back(options.configurations);
  // Where the runtime looks for an artifact's weights.
  files.push_back(options.model + ".weights");
  files.push_back(followLinks(options.model) + ".weights");
  return files;
}

tilewright_compile_options compileRequest(const ModelOptions &options, const std::string &output,
                                          std::vector<const char *> &paths) {
  tilewright_compile_options request = {};
  request.struct_size = sizeof request;
  request.model = options.model.c_str();
  request.output = output.c_str();
  request.target = orNull(options.target);
  request.entry = orNull(options.entry);
  request.weights = orNull(options.weights);
  request.precision = orNull(options.precision);
  request.dump_to = orNull(options.dumpTo);
  request.configurations = orNull(options.configurations);
  for (const auto *each : {&options.kernels, &options.written, &options.tuningSpecs})
    for (const std::string &path : *each)
      paths.push_back(path.c_str());
  request.kernels = paths.data();
  request.kernel_count = options.kernels.size();
  request.written = paths.data() + options.kernels.size();
  request.written_count = options.written.size();
  request.tuning_specs = request.written + options.written.size();
  request.tuning_spec_count = options.tuningSpecs.size();
  request.values = options.values;
  request.unedited = options.isUnedited;
  return request;
}

} // namespace tw::cli
