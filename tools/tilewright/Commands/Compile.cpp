// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright compile MODEL -o OUT.so
#include "Commands.h"
#include "IO/File.h"
#include "IO/Formats/JsonWriter.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include "tools/tilewright/Compiler/CompilerSink.h"
#include "tools/tilewright/Compiler/ModelOptions.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include "tools/tilewright/Compiler/TimeReport.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/Values.h"
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace tw::cli {

namespace {

struct CompileOptions {
  ModelOptions model;
  std::string output, report; // empty, "text" or "json"
  bool timeReport = false, json = false, cache = false, noCache = false;

  /// Wanted, or there is a folder for it.
  bool usesCache() const {
    const char *folder = std::getenv("TILEWRIGHT_CACHE");
    return !noCache && (cache || (folder && *folder));
  }
};

/// What became of an artifact (tilewright/Compiler.h), in JSON and for people.
struct CacheOutcome {
  const char *name, *text;
};
constexpr CacheOutcome cacheOutcomes[] = {{"unused", ""},
                                          {"kept", ", kept in the cache"},
                                          {"found", ", from the cache"},
                                          {"left", ", not kept in the cache"}};

int64_t fileSize(const std::string &path) {
  std::error_code error;
  auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

/// The file of weights, which is next to what a symbolic link leads to.
int64_t weightsSize(const std::string &output) {
  std::error_code error;
  auto real = std::filesystem::canonical(output, error);
  return fileSize((error ? output : real.string()) + ".weights");
}

/// {"output", "bytes", "external_weights_bytes", "seconds", "cache", "report"?, "time"?}; the
/// library's JSON as it is.
std::string resultJson(const CompileOptions &options, const CompilerSink &said, double seconds,
                       const CacheOutcome &cache) {
  JsonWriter json;
  json.beginObject().member("output", options.output).member("bytes", fileSize(options.output));
  json.member("external_weights_bytes", weightsSize(options.output));
  json.member("seconds", seconds);
  json.member("cache", cache.name);
  if (!said.report.empty())
    json.key("report").raw(said.report);
  if (!said.timeReport.empty())
    json.key("time").raw(said.timeReport);
  return json.endObject().text() + "\n";
}

/// The reports as people read them.
std::string resultText(const CompilerSink &said) {
  std::string text = said.report;
  if (!said.timeReport.empty())
    text += timeReportText(said.timeReport);
  return text;
}

/// In the child process of runIsolated.
int compileHere(const CompileOptions &options) {
  auto library = CompilerLibrary::load();
  TW_TRY_CLI(library);
  CompilerSink listener;
  tilewright_sink sink = listener.sink();
  std::vector<const char *> kernels;
  tilewright_compile_options request = compileRequest(options.model, options.output, kernels);
  bool reportsJson = options.json || options.report == "json";
  request.report = options.report.empty() ? 0 : reportsJson ? 2 : 1;
  request.time_report = options.timeReport;
  int cache = TILEWRIGHT_CACHE_UNUSED;
  request.cache = options.usesCache() ? &cache : nullptr;
  auto start = std::chrono::steady_clock::now();
  tilewright_outcome outcome = library->compile(&request, &sink, &listener);
  listener.progress.clear();
  if (outcome != TILEWRIGHT_FINE)
    return outcome;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const CacheOutcome &made = cacheOutcomes[cache];
  TW_TRY_CLI(writeResults(options.json ? resultJson(options, listener, took.count(), made)
                                       : resultText(listener)));
  std::fputs(fmt::format("wrote {}: {}, {:.2f} s{}\n", options.output,
                         bytesText(fileSize(options.output)), took.count(), made.text)
                 .c_str(),
             stderr);
  return 0;
}

int compile(const CompileOptions &options) {
  // The plainest mistake, told without loading a compiler.
  TW_TRY_CLI(MappedFile::open(options.model.model));
  auto outcome =
      runIsolated("compiling " + options.model.model, [&] { return compileHere(options); });
  TW_TRY_CLI(outcome);
  return *outcome;
}

} // namespace

void addCompile(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App *command = app.add_subcommand("compile", "compile a model to an artifact");
  options->model.addTo(*command);
  command->get_option("MODEL")->description("a .pt2 or .mlir model");
  options->model.addOutputOptionsTo(*command);
  command->add_option("-o,--output", options->output, "the artifact to write")->required();
  command
      ->add_flag("--report{text}", options->report,
                 "print what was fused, and why; --report=json: as JSON, which --config takes")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_flag("--time-report", options->timeReport, "print the time of each stage");
  command->add_flag("--json", options->json, "print one JSON object");
  command->add_flag(
      "--cache", options->cache,
      "copy the artifact from the cache on disk if it was compiled before, else keep it there "
      "(default where TILEWRIGHT_CACHE names its folder)");
  command->add_flag("--no-cache", options->noCache, "compile in any case, and keep nothing")
      ->excludes("--cache");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return compile(*options); }; });
}

} // namespace tw::cli
