// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright doctor: what this machine and this installation can do.
#include "Commands.h"
#include "IO/Formats/JsonWriter.h"
#include "Support/CacheFolder.h"
#include "Support/GpuCode.h"
#include "Support/Programs.h"
#include "runtime/Device/CudaDriver.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Machine.h"
#include "tools/tilewright/Program/Values.h"
#include "tools/tilewright/Topology.h"
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>

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

/// What compiles kernels in C++: $CXX, or c++.
Finding findCppCompiler() {
  const char *given = std::getenv("CXX");
  std::string name = given && *given ? given : "c++";
  name = name.substr(0, name.find(' '));
  if (name.find('/') != name.npos)
    return {access(name.c_str(), X_OK) == 0, name};
  if (std::string path = findInPath(name); !path.empty())
    return {true, path};
  return {false, fmt::format("{} is not in the PATH; set CXX", name)};
}

/// What a GPU takes to run artifacts: NVIDIA's driver, and what that finds.
struct Gpus {
  Finding driver;
  std::vector<rt::DeviceFacts> devices;
  std::string whyNoGraphs = {};
};

Gpus findGpus() {
  auto driver = rt::CudaDriver::get("cuda");
  if (!driver) {
    const std::string &why = driver.error().message; // "device ... is not available: ..."
    size_t colon = why.find(": ");
    return {{false, colon == why.npos ? why : why.substr(colon + 2)}, {}};
  }
  Gpus gpus{
      {true, fmt::format("NVIDIA's driver for CUDA {}", rt::cudaVersionText((*driver)->version))},
      {},
      (*driver)->whyNoGraphs()};
  if (!gpus.whyNoGraphs.empty())
    gpus.driver.text += fmt::format("; without CUDA graphs: {}", gpus.whyNoGraphs);
  for (int i = 0; i < (*driver)->deviceCount; ++i)
    if (auto facts = (*driver)->describe(i)) {
      gpus.devices.push_back(*facts);
      gpus.driver.text += fmt::format("; {} {} ({}, {})", facts->name, facts->model,
                                      facts->architecture, bytesText(facts->bytes));
      if (!targetForGpu(facts->architecture))
        gpus.driver.text +=
            fmt::format(", which runs no artifacts: these are for {}", fmt::join(gpuCode, ", "));
    }
  return gpus;
}

/// What makes code for GPUs of what the compiler writes.
Finding findPtxas() {
  PtxasChoice ptxas = choosePtxas();
  if (ptxas.isGiven && ptxas.path.empty())
    return {false, "TILEWRIGHT_PTXAS is empty"};
  if (ptxas.path.empty())
    return {false, "ptxas is not in the PATH; set TILEWRIGHT_PTXAS"};
  if (!ptxas.isGiven)
    return {true, ptxas.path};
  if (canBeRun(ptxas.path))
    return {true, fmt::format("{}, by TILEWRIGHT_PTXAS", ptxas.path)};
  return {false, fmt::format("{}, which TILEWRIGHT_PTXAS names, cannot be run", ptxas.path)};
}

/// Where what was compiled is kept, and how much it takes.
Finding findCache() {
  namespace fs = std::filesystem;
  auto folder = cachePath();
  if (!folder)
    return {false, folder.error().message};
  std::error_code error;
  int64_t bytes = 0, count = 0;
  for (fs::directory_iterator at(*folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".so") {
      std::error_code ignored;
      bytes += static_cast<int64_t>(at->file_size(ignored));
      ++count;
    }
  return {true, fmt::format("{}, {} programs and libraries of kernels, {}", *folder, count,
                            bytesText(bytes))};
}

/// The limits of this process that are set, as ulimit names them.
std::string limitsText() {
  struct Limit {
    const char *name;
    decltype(RLIMIT_AS) resource;
    uint64_t unit;
    const char *unitName;
  };
  static const Limit limits[] = {
      {"memory (-v)", RLIMIT_AS, 1024, " KiB"},       {"stack (-s)", RLIMIT_STACK, 1024, " KiB"},
      {"open files (-n)", RLIMIT_NOFILE, 1, ""},      {"processes (-u)", RLIMIT_NPROC, 1, ""},
      {"file size (-f)", RLIMIT_FSIZE, 1024, " KiB"}, {"CPU time (-t)", RLIMIT_CPU, 1, " s"}};
  std::string text;
  for (const Limit &limit : limits) {
    rlimit value;
    if (getrlimit(limit.resource, &value) == 0 && value.rlim_cur != RLIM_INFINITY)
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", limit.name,
                          value.rlim_cur / limit.unit, limit.unitName);
  }
  return text.empty() ? "none" : text;
}

struct Facts {
  std::string cpu = cpuModel();
  std::vector<std::string> features = cpuFeatures();
  int threads = usableThreads();
  Topology cores = topology();
  int64_t memory = totalMemory(), available = availableMemory();
  Finding compiler = findCompiler(), cpp = findCppCompiler(), cache = findCache();
  Gpus gpus = findGpus();
  Finding ptxas = findPtxas();
  std::string limits = limitsText();
};

std::string resultText(const Facts &facts) {
  auto finding = [](const Finding &f) { return (f.found ? "" : "not found: ") + f.text; };
  return fmt::format("tilewright  " TW_VERSION "\n"
                     "CPU         {}\n"
                     "features    {}\n"
                     "threads     {}\n"
                     "topology    {}\n"
                     "memory      {} in all, {} available\n"
                     "compiler    {}\n"
                     "C++         {}, for kernels\n"
                     "kernels     {}\n"
                     "GPU         {}\n"
                     "ptxas       {}\n"
                     "limits      {}\n",
                     facts.cpu, fmt::join(facts.features, " "), facts.threads, textOf(facts.cores),
                     bytesText(facts.memory), bytesText(facts.available), finding(facts.compiler),
                     finding(facts.cpp), finding(facts.cache), finding(facts.gpus.driver),
                     finding(facts.ptxas), facts.limits);
}

std::string resultJson(const Facts &facts) {
  JsonWriter json;
  json.beginObject().member("tilewright", TW_VERSION).member("cpu", facts.cpu);
  json.key("cpu_features").beginArray();
  for (const std::string &feature : facts.features)
    json.value(feature);
  json.endArray().member("threads", facts.threads).member("cores", facts.cores.cores);
  json.key("numa_nodes").beginArray();
  for (const std::string &cpus : facts.cores.numaNodes)
    json.value(cpus);
  json.endArray().member("efficiency_cores", facts.cores.efficiencyCores);
  json.member("memory_bytes", facts.memory).member("memory_available_bytes", facts.available);
  auto finding = [&](std::string_view name, const Finding &f) {
    json.key(name).beginObject().member("found", f.found).member("text", f.text).endObject();
  };
  finding("compiler", facts.compiler);
  finding("cpp_compiler", facts.cpp);
  finding("kernel_cache", facts.cache);
  finding("gpu_driver", facts.gpus.driver);
  json.key("gpus").beginArray();
  for (const rt::DeviceFacts &gpu : facts.gpus.devices)
    json.beginObject()
        .member("name", gpu.name)
        .member("model", gpu.model)
        .member("architecture", gpu.architecture)
        .member("memory_bytes", gpu.bytes)
        .member("runs_artifacts", targetForGpu(gpu.architecture).has_value())
        .endObject();
  json.endArray();
  finding("ptxas", facts.ptxas);
  json.member("limits", facts.limits);
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
