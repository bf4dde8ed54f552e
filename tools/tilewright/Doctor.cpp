// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright doctor: what this machine and this installation can do.
#include "Commands.h"
#include "CompilerLibrary.h"
#include "Failure.h"
#include "IO/JsonWriter.h"
#include "Machine.h"
#include "Values.h"
#include <CLI/CLI.hpp>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

namespace tw::cli {

namespace {

/// Something that may be there: what it says of itself, or why it cannot be used.
struct Finding {
  bool found = false;
  std::string text;
};

/// LLVM and the linker lld are inside the compiler library: they are there when it is.
Finding findCompiler() {
  auto library = CompilerLibrary::load();
  if (library)
    return {true, fmt::format("{}, with LLVM and lld ({})", library->version(), library->path)};
  return {false,
          library.error().notes.empty() ? library.error().message : library.error().notes[0]};
}

Finding findCudaDriver() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver)
    return {false, dlerror()};
  auto versionOf = reinterpret_cast<int (*)(int *)>(dlsym(driver, "cuDriverGetVersion"));
  auto start = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto countOf = reinterpret_cast<int (*)(int *)>(dlsym(driver, "cuDeviceGetCount"));
  int version = 0, devices = 0;
  if (!versionOf || !start || !countOf || versionOf(&version) != 0)
    return {false, "libcuda.so.1 does not say its version"};
  std::string text = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  if (int error = start(0))
    return {false, fmt::format("{}, but it does not start (error {})", text, error)};
  if (countOf(&devices) != 0 || devices == 0)
    return {false, text + ", but there is no device"};
  return {true, fmt::format("{}, {} device{}", text, devices, devices == 1 ? "" : "s")};
}

struct Facts {
  std::string cpu = cpuModel();
  std::vector<std::string> features = cpuFeatures();
  int threads = usableThreads();
  int64_t memory = totalMemory(), available = availableMemory();
  Finding compiler = findCompiler(), cuda = findCudaDriver();
};

std::string resultText(const Facts &facts) {
  auto finding = [](const Finding &f) { return (f.found ? "" : "not found: ") + f.text; };
  return fmt::format("tilewright  " TW_VERSION "\n"
                     "CPU         {}\n"
                     "features    {}\n"
                     "threads     {}\n"
                     "memory      {} in all, {} available\n"
                     "compiler    {}\n"
                     "CUDA driver {}\n",
                     facts.cpu, fmt::join(facts.features, " "), facts.threads,
                     bytesText(facts.memory), bytesText(facts.available), finding(facts.compiler),
                     finding(facts.cuda));
}

std::string resultJson(const Facts &facts) {
  JsonWriter json;
  json.beginObject().member("tilewright", TW_VERSION).member("cpu", facts.cpu);
  json.key("cpu_features").beginArray();
  for (const std::string &feature : facts.features)
    json.value(feature);
  json.endArray().member("threads", facts.threads);
  json.member("memory_bytes", facts.memory).member("memory_available_bytes", facts.available);
  auto finding = [&](std::string_view name, const Finding &f) {
    json.key(name).beginObject().member("found", f.found).member("text", f.text).endObject();
  };
  finding("compiler", facts.compiler);
  finding("cuda_driver", facts.cuda);
  return json.endObject().text() + "\n";
}

/// In a child process: libraries of others are loaded and started here.
int doctorHere(bool asJson) {
  Facts facts;
  TW_TRY_CLI(writeResults(asJson ? resultJson(facts) : resultText(facts)));
  return 0;
}

} // namespace

void addDoctor(CLI::App &app, Invocation &invocation) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("doctor", "what this machine and installation can do");
  command->add_flag("--json", *json, "print one JSON object");
  command->callback([json, &invocation] {
    invocation.action = [json] {
      auto status = runIsolated("looking at this machine", [&] { return doctorHere(*json); });
      TW_TRY_CLI(status);
      return *status;
    };
  });
}

} // namespace tw::cli
