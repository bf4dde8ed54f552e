// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Searches.h"
#include "../Failure.h"
#include "IO/File.h"
#include "IO/Formats/JsonWriter.h"
#include "IO/OutputFile.h"
#include "Report.h"
#include "Support/Counted.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::cli {

Searches::Searches(TuneOptions given, std::vector<int> threads, const TemporaryFolder &folder,
                   std::function<bool()> goesOn)
    : options(std::move(given)), threads(std::move(threads)), folder(folder),
      goesOn(std::move(goesOn)) {
  options.budgetSeconds /= double(this->threads.size());
  if (options.budgetCandidates)
    options.budgetCandidates =
        std::max<size_t>(*options.budgetCandidates / this->threads.size(), 1);
}

int Searches::begin(int number) {
  if (!tuners.empty()) {
    options.addsForThreads = true;
    options.searchesDecisions = false; // they are the same for any number of threads
    options.model.tuningSpecs = {folder.path() + "/found.mlir"};
    std::string spec = specText(options.model, last().found(), last().foundDecisions());
    std::span<const std::byte> bytes = asBytes(spec);
    TW_TRY_CLI(writeFile(options.model.tuningSpecs.front(), std::span(&bytes, 1)));
  }
  options.threads = number;
  tuners.push_back(std::make_unique<Tuner>(options, folder, goesOn));
  return 0;
}

int Searches::run(std::span<const HostTensor> inputs) {
  for (int number : threads) {
    auto copies = copyOf(inputs);
    TW_TRY_CLI(copies);
    if (int status = begin(number))
      return status;
    Tuner &tuner = *tuners.back();
    if (int status = tuner.prepare(*std::move(copies)))
      return status;
    if (int status = tuner.search())
      return status;
    if (int status = tuner.choose())
      return status;
    if (!goesOn())
      return 0;
  }
  return threads.size() > 1 ? compareThreads() : 0;
}

/// What is slower than the compiler's own choice with any of the numbers is not written.
int Searches::compareThreads() {
  if (int status = tuners.back()->measureThreads(threads, calls))
    return status;
  for (const CallOfThreads &call : calls)
    if (call.ratio.isSlower()) {
      tuners.back()->keepCompilers(
          fmt::format("with {} what was found is slower than", counted(call.threads, "thread")));
      break;
    }
  return 0;
}

std::string Searches::text() const {
  if (tuners.size() == 1)
    return cli::reportText(last());
  std::string text;
  for (size_t i = 0; i < tuners.size(); ++i)
    text +=
        fmt::format("with {}:\n{}\n", counted(threads[i], "thread"), cli::reportText(*tuners[i]));
  return calls.empty() ? text : text + cli::reportText(calls);
}

std::string Searches::json() const {
  if (tuners.size() == 1)
    return reportJson(last());
  JsonWriter json;
  json.beginObject().key("searches").beginArray();
  for (const auto &tuner : tuners) {
    std::string report = reportJson(*tuner);
    json.raw(report.substr(0, report.find_last_of('}') + 1));
  }
  write(json.endArray().key("threads"), calls);
  return json.member("best_threads", int64_t(bestThreads(calls))).endObject().text() + "\n";
}

} // namespace tw::cli
