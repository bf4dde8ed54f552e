// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright kernel print|run|check|compile K.mlir|K.cpp|K.so: a hand-written kernel as text, in
// the interpreter, and compiled.
#include "Commands.h"
#include "IO/File.h"
#include "IO/Formats/Npy.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/Expected.h"
#include "tools/tilewright/Program/OpenKernel.h"
#include "tools/tilewright/Program/Values.h"
#include "tools/tilewright/Statistics.h"
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace tw::cli {

namespace {

/// Of an output, --json gives the values up to this many.
constexpr int64_t jsonValues = 1000;

struct KernelOptions {
  std::string path, kernel, target, configurations, output, report, level = "tile",
                                                                    outputAs = "own";
  std::vector<std::string> settings;
  CallArguments call;
  ToleranceOptions tolerances;
  int64_t operations = 0, repeat = 0;
  int threads = 0;
  bool f64 = false, json = false, check = false;
};

int open(OpenKernel &kernel, const KernelOptions &options, std::span<const Call> calls = {}) {
  tilewright_kernel_options request = {};
  std::vector<std::string> files = filesWritten(calls);
  if (!options.output.empty())
    files.push_back(options.output);
  std::vector<const char *> written;
  for (const std::string &file : files)
    written.push_back(file.c_str());
  request.written = written.data();
  request.written_count = written.size();
  request.path = options.path.c_str();
  request.kernel = options.kernel.empty() ? nullptr : options.kernel.c_str();
  std::vector<const char *> settings;
  for (const std::string &setting : options.settings)
    settings.push_back(setting.c_str());
  request.settings = settings.data();
  request.setting_count = settings.size();
  request.configurations =
      options.configurations.empty() ? nullptr : options.configurations.c_str();
  return kernel.open(request);
}

tilewright_kernel_run_options runRequest(const KernelOptions &options) {
  tilewright_kernel_run_options request = {};
  request.target = options.target.c_str();
  request.f64 = options.f64;
  request.check = options.check;
  request.json = options.json;
  request.operations = options.operations;
  request.rtol = options.tolerances.rtol.value_or(-1);
  request.atol = options.tolerances.atol.value_or(-1);
  request.threads = options.threads;
  request.repeat = options.repeat;
  return request;
}

Status writeFiles(const Interface &callee, const Call &call, std::span<const HostTensor> outputs,
                  NpyBFloat16 bfloat16) {
  std::vector<std::string> names;
  for (const Call::Output &output : call.outputs)
    names.push_back(output.name);
  TW_ASSIGN(std::vector<int> indices, findOutputs(callee, names));
  for (size_t i = 0; i < indices.size(); ++i)
    TW_TRY(writeNpy(call.outputs[i].path, outputs[indices[i]], bfloat16));
  return {};
}

/// Outputs that go nowhere else; a check shows the values of small ones alone.
std::string resultText(const Interface &callee, const Call &call, bool isCheck,
                       std::span<const HostTensor> outputs,
                       std::span<const OutputComparison> comparisons) {
  std::string text;
  for (size_t i = 0; i < outputs.size() && call.outputs.empty() && call.expected.empty(); ++i) {
    text += fmt::format("{}: {}", callee.outputs[i], outputs[i].typeText());
    constexpr int64_t mostShown = 64; // of a check
    bool isShown = !isCheck || outputs[i].count() <= mostShown;
    text += isShown ? fmt::format(" =\n{}\n", valuesText(outputs[i])) : "\n";
  }
  for (const OutputComparison &comparison : comparisons)
    if (comparison.found.same())
      text += fmt::format("{}: {}\n", comparison.name, comparison.found.text());
  return text;
}

std::string timeText(const std::vector<double> &times) {
  if (times.empty())
    return "";
  Statistics time = statistics(times);
  return fmt::format("time: median {:.1f} us, p10 {:.1f}, p90 {:.1f}, min {:.1f} ({} calls)\n",
                     time.median, time.p10, time.p90, time.min, time.count);
}

void writeTime(JsonWriter &json, const std::vector<double> &times) {
  if (times.empty())
    return;
  Statistics time = statistics(times);
  json.key("time").beginObject().member("median_us", time.median).member("p10_us", time.p10);
  json.member("p90_us", time.p90).member("min_us", time.min).member("calls", time.count);
  json.endObject();
}

/// {"outputs", "comparisons"?, "time"?, "reports"}.
std::string resultJson(const Interface &callee, std::span<const HostTensor> outputs,
                       std::span<const OutputComparison> comparisons,
                       const std::vector<double> &times, const std::string &reports) {
  JsonWriter json;
  json.beginObject().key("outputs").beginArray();
  for (size_t i = 0; i < outputs.size(); ++i)
    writeJson(json, callee.outputs[i], outputs[i], jsonValues);
  json.endArray();
  if (!comparisons.empty())
    writeJson(json.key("comparisons"), comparisons);
  writeTime(json, times);
  json.key("reports").raw(reports);
  return json.endObject().text() + "\n";
}

/// In the child process of runIsolated.
int runHere(const KernelOptions &options, const Call &call) {
  OpenKernel kernel;
  if (int status = open(kernel, options, {&call, 1}))
    return status;
  Interface callee = kernel.interface();
  auto inputs = readInputs(callee, call.inputs);
  TW_TRY_CLI(inputs);
  TW_TRY_CLI(checkOutputNames(callee, {&call, 1}));
  int status = kernel.run(*inputs, runRequest(options));
  if (status != TILEWRIGHT_FINE && status != TILEWRIGHT_RESULTS_DIFFER)
    return status;
  auto outputs = kernel.outputs();
  TW_TRY_CLI(outputs);
  TW_TRY_CLI(writeFiles(callee, call, *outputs,
                        options.outputAs == "f32" ? NpyBFloat16::AsF32 : NpyBFloat16::AsU16));
  auto comparisons = compareOutputs(callee, *outputs, call.expected, options.tolerances);
  TW_TRY_CLI(comparisons);
  if (!reportDifferences(*comparisons, ""))
    status = TILEWRIGHT_RESULTS_DIFFER;
  std::vector<double> times = kernel.times();
  TW_TRY_CLI(writeResults(options.json
                              ? resultJson(callee, *outputs, *comparisons, times, kernel.said())
                              : resultText(callee, call, options.check, *outputs, *comparisons) +
                                    timeText(times)));
  return status;
}

int printHere(const KernelOptions &options) {
  OpenKernel kernel;
  if (int status = open(kernel, options))
    return status;
  if (int status = kernel.print(options.level, options.target))
    return status;
  TW_TRY_CLI(writeResults(kernel.said()));
  return 0;
}

int compileHere(const KernelOptions &options) {
  OpenKernel kernel;
  if (int status = open(kernel, options))
    return status;
  int report = options.report.empty() ? 0 : options.report == "json" ? 2 : 1;
  if (int status = kernel.compile(options.target, options.output, report))
    return status;
  TW_TRY_CLI(writeResults(kernel.said()));
  std::error_code ignored;
  auto bytes = static_cast<int64_t>(std::filesystem::file_size(options.output, ignored));
  std::fputs(fmt::format("wrote {}: {}\n", options.output, bytesText(bytes)).c_str(), stderr);
  return 0;
}

int perform(const std::function<int()> &action, const KernelOptions &options) {
  // The plainest mistake, told without loading a compiler.
  TW_TRY_CLI(MappedFile::open(options.path));
  auto outcome = runIsolated("working on " + options.path, action);
  TW_TRY_CLI(outcome);
  return *outcome;
}

int run(const KernelOptions &options) {
  bool isCompiled = options.target.starts_with("cpu") && !options.check;
  if ((isCompiled && options.f64) || (!isCompiled && options.repeat))
    return fail({Code::CLI_1,
                 isCompiled ? "--f64 is for the interpreter, not for --target=cpu"
                            : "--repeat is for compiled kernels",
                 {},
                 {},
                 isCompiled ? "leave one of them out" : "add --target=cpu"});
  auto call = parseCall(options.call);
  TW_TRY_CLI(call);
  std::string sources[] = {options.path, options.configurations};
  TW_TRY_CLI(checkFiles({&*call, 1}, sources));
  return perform([&] { return runHere(options, *call); }, options);
}

std::string checkPositive(const std::string &text) {
  int64_t value = 0;
  bool fine = CLI::detail::lexical_cast(text, value) && value > 0;
  return fine ? "" : fmt::format("{} is not a positive number", text);
}

void addKernelTo(CLI::App &command, KernelOptions &options) {
  command
      .add_option("KERNEL", options.path, "kernels as text (.mlir), C++ (.cpp) or library (.so)")
      ->required();
  command.add_option("--kernel", options.kernel, "name of the kernel in a file that holds several");
  command
      .add_option("--set", options.settings,
                  "NAME=VALUE: a symbol that becomes a number, or a parameter of a kernel in C++")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option(
          "--config", options.configurations,
          "parameters of kernels, as `compile --report=json` prints them; --set takes precedence")
      ->type_name("FILE");
}

void addRunTo(CLI::App &kernel, const char *name, const char *what, bool check,
              Invocation &invocation) {
  auto options = std::make_shared<KernelOptions>();
  options->check = check;
  options->target = check ? "cpu" : "interpreter";
  CLI::App *command = kernel.add_subcommand(name, what);
  addKernelTo(*command, *options);
  options->call.addInputsTo(*command);
  options->call.addOutputsTo(*command);
  options->call.addExpectedTo(*command);
  options->tolerances.addTo(*command);
  command->add_option("--output-as", options->outputAs, "f32: write bf16 widened; own: as u16 bits")
      ->check(CLI::IsMember({"own", "f32"}));
  command->add_option(
      "--target", options->target,
      check ? "cpu (default): compare with the compiled kernel, too; interpreter: only "
              "interpret"
            : "interpreter (default), or cpu: compiled for this machine (cpu:NAME: for "
              "another CPU)");
  command
      ->add_option("--threads", options->threads,
                   "threads of the compiled kernel; 0 (default): all cores")
      ->check(CLI::Range(0, 1024));
  if (!check)
    command->add_option("--repeat", options->repeat, "time this many more calls")
        ->check(CLI::Range(1, 1'000'000'000));
  command->add_flag("--f64", options->f64, "interpret without rounding; float outputs are f64");
  command
      ->add_option("--operations", options->operations,
                   "give up after this many operations on elements (default: 200 billion)")
      ->check(CLI::Validator(checkPositive, ""));
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run(*options); }; });
}

void addCompileTo(CLI::App &kernel, Invocation &invocation) {
  auto options = std::make_shared<KernelOptions>();
  CLI::App *command = kernel.add_subcommand(
      "compile", "compile a kernel to an artifact, which machines without the compiler run");
  addKernelTo(*command, *options);
  options->target = "cpu";
  command->add_option("-o,--output", options->output, "the artifact to write")->required();
  command->add_option("--target", options->target,
                      "cpu (default); cpu:NAME for another CPU, such as x86-64-v3; nvidia:sm_90a");
  command
      ->add_flag("--report{text}", options->report,
                 "print what became of it, and why; --report=json: as JSON")
      ->check(CLI::IsMember({"text", "json"}));
  command->callback([options, &invocation] {
    invocation.action = [options] {
      return perform([options] { return compileHere(*options); }, *options);
    };
  });
}

} // namespace

void addKernel(CLI::App &app, Invocation &invocation) {
  CLI::App *kernel =
      app.add_subcommand("kernel", "print, check, run and compile hand-written kernels");
  kernel->require_subcommand(1);
  auto options = std::make_shared<KernelOptions>();
  CLI::App *print =
      kernel->add_subcommand("print", "print a kernel as text, verified and simplified");
  addKernelTo(*print, *options);
  options->target = "cpu";
  print
      ->add_option(
          "--as", options->level,
          "tile (default); source: C++ in the kernel language; or the code of the cpu target: "
          "plan (what it decides), loops, llvm, assembly")
      ->check(CLI::IsMember({"tile", "source", "plan", "loops", "llvm", "assembly"}));
  print->add_option("--target", options->target, "cpu (default), or cpu:NAME for another CPU");
  print->callback([options, &invocation] {
    invocation.action = [options] {
      return perform([options] { return printHere(*options); }, *options);
    };
  });
  addCompileTo(*kernel, invocation);
  addRunTo(*kernel, "run", "run a kernel", false, invocation);
  addRunTo(*kernel, "check",
           "interpret a kernel, report its errors (accesses out of bounds, races, elements never "
           "written, ...), and compare its results with the compiled kernel's",
           true, invocation);
}

} // namespace tw::cli
