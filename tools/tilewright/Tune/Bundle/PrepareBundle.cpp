// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PrepareBundle.h"
#include "Bundle.h"
#include "BundleKernels.h"
#include "IO/File.h"
#include "IO/Formats/Npy.h"
#include "Support/Counted.h"
#include "runtime/Artifact/Artifact.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/Program.h"
#include "tools/tilewright/Tune/CandidateLimits.h"
#include "tools/tilewright/Tune/KernelKeys.h"
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace tw::cli {
using tune::KernelSearch;

namespace {

/// The folders may be on different disks. Leaves no part of a file.
Status copyFile(const std::string &from, const std::string &to) {
  std::error_code error, ignored;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
  if (!error)
    return {};
  std::filesystem::remove(to, ignored);
  return Diagnostic{Code::IO_2,
                    fmt::format("cannot write {}: {}", to, error.message()),
                    {},
                    {},
                    "make room there, or give a folder on another disk"};
}

/// Whether a bundle is of a model with these kernels: one of its programs changes one of them, or
/// decides otherwise than a model of all of them.
bool isOf(const Bundle &bundle, const BundleKernels &kernels) {
  std::set<std::string> known, starts;
  for (const BundleKernel &kernel : kernels.kernels)
    known.insert(kernel.measured.signature);
  for (const BundledAlternative &alternative : kernels.alternatives)
    starts.insert(alternative.kernel.measured.start);
  auto isKnown = [&](const BundledKernel &kernel) {
    return kernel.name.empty() ? starts.contains(kernel.measured.start)
                               : known.contains(kernel.measured.signature);
  };
  return bundle.programs.empty() ||
         std::ranges::any_of(bundle.programs, [&](const BundledProgram &program) {
           return std::ranges::any_of(program.kernels, isKnown);
         });
}

Diagnostic ofAnotherModel(const std::string &folder, const Bundle &bundle,
                          const TuneOptions &options, std::string help) {
  return {Code::TUNE_6,
          fmt::format("the bundle {} is of {}, and {} has none of its kernels", folder,
                      bundle.model, options.model.model),
          {},
          {},
          std::move(help)};
}

/// As --target has it; without it programs are for a machine like this.
std::string targetOf(const TuneOptions &options) {
  return options.model.target.empty() ? "cpu" : options.model.target;
}

/// What was measured of programs for one target says nothing of configurations for another.
Status checkTarget(const std::string &folder, const Bundle &bundle, const TuneOptions &options) {
  if (bundle.target == targetOf(options))
    return {};
  return Diagnostic{Code::TUNE_6,
                    fmt::format("the bundle {} was prepared for --target={}, and is to be finished "
                                "for {}",
                                folder, bundle.target, targetOf(options)),
                    {},
                    {},
                    fmt::format("give --target={}", bundle.target)};
}

/// Programs of another compiler run other code, and what they take says nothing of this one's.
Status checkCompiler(const std::string &folder, const Bundle &bundle, const rt::Metadata &start) {
  TW_ASSIGN(ProgramDescription own, describeProgram(start));
  for (const BundledProgram &program : bundle.programs)
    for (const BundledKernel &kernel : program.kernels)
      if (kernel.measured.compiler != own.compiler)
        return Diagnostic{
            Code::TUNE_6,
            fmt::format("the programs of the bundle {} were compiled by another compiler, whose "
                        "times say nothing of this one's",
                        folder),
            {},
            {fmt::format("theirs is {}", kernel.measured.compiler),
             fmt::format("this one is {}", own.compiler)},
            "finish it with the compiler that prepared it, or prepare and measure it again"};
  return {};
}

/// Of so many programs one has other decisions.
constexpr int64_t programsOfAlternative = 5;

/// Compiles candidates into the folder of a bundle.
class BundleWriter {
public:
  /// `seconds`: after which compiling one is given up.
  BundleWriter(const TuneOptions &options, BundleKernels &kernels, const TemporaryFolder &folder,
               int seconds, const std::function<bool()> &goesOn)
      : options(options), kernels(kernels), folder(folder), seconds(seconds), goesOn(goesOn) {}

  /// A share of all programs, which is one at least where the compiler has one; `mayGoOn` is asked
  /// before each.
  Status addAlternatives(int64_t programs, const std::function<bool(size_t)> &mayGoOn) {
    auto most = size_t(std::max(programs / programsOfAlternative, int64_t(1)));
    for (const BundledAlternative &alternative : kernels.alternatives) {
      if (bundle.programs.size() >= most || !mayGoOn(bundle.programs.size()))
        break;
      TW_TRY(add(alternative));
    }
    return {};
  }

  /// Until there are so many programs, or no search has another point.
  Status addCandidates(int64_t programs, const std::function<bool(size_t)> &mayGoOn) {
    for (auto made = bundle.programs.size(); made < size_t(programs) && mayGoOn(made); ++made) {
      Choice choice; // of `kernels.kernels`
      for (size_t kernel = 0; kernel < kernels.kernels.size(); ++kernel)
        if (auto point = kernels.kernels[kernel].search.next())
          choice.emplace(kernel, *std::move(point));
      if (choice.empty())
        break;
      TW_TRY(add(choice));
    }
    return {};
  }

  Bundle bundle;

private:
  /// Those that the compiler refuses are found by halves, and left out.
  Status add(const Choice &choice) {
    Choice ofAll;
    for (const auto &[kernel, point] : choice)
      ofAll.emplace(kernels.kernels[kernel].number, point);
    TW_ASSIGN(CandidateProgram made,
              compileCandidate(options.model, configurationText(kernels.all, ofAll, {}), folder,
                               "candidate", seconds));
    if (made.refusal.empty())
      return keep(choice, made.artifact);
    if (!goesOn()) // which may be why it was refused
      return {};
    if (choice.size() == 1) {
      kernels.kernels[choice.begin()->first].search.reject(choice.begin()->second);
      return {};
    }
    auto middle = std::next(choice.begin(), ptrdiff_t(choice.size() / 2));
    TW_TRY(add(Choice(choice.begin(), middle)));
    return add(Choice(middle, choice.end()));
  }

  /// What the compiler refuses is left out.
  Status add(const BundledAlternative &alternative) {
    TW_ASSIGN(CandidateProgram made,
              compileCandidate(options.model, configurationText({}, {}, alternative.decisions),
                               folder, "candidate", seconds));
    return made.refusal.empty() ? keep({alternative.kernel}, made.artifact) : Status();
  }

  Status keep(const Choice &choice, const std::string &artifact) {
    std::vector<BundledKernel> members;
    for (const auto &[number, point] : choice) {
      const BundleKernel &kernel = kernels.kernels[number];
      members.push_back({kernels.all[kernel.number].name, kernel.measured, point});
    }
    return keep(std::move(members), artifact);
  }

  Status keep(std::vector<BundledKernel> members, const std::string &artifact) {
    BundledProgram &program = bundle.programs.emplace_back();
    program.artifact = bundledProgramName(bundle.programs.size());
    program.kernels = std::move(members);
    return copyFile(artifact, kernels.pathOf(program.artifact));
  }

  const TuneOptions &options;
  BundleKernels &kernels;
  const TemporaryFolder &folder;
  int seconds;
  const std::function<bool()> &goesOn;
};

/// Random ones are drawn again where they are used, the same from the same seed.
Status writeInputs(Bundle &bundle, const std::string &folder, const BundleInputs &inputs) {
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    if (const auto *random = std::get_if<InputSpec::Random>(&inputs.specs[i].source)) {
      bundle.inputs.push_back(
          fmt::format("{}=random:{}", inputs.tensors[i].typeText(), random->seed));
      continue;
    }
    bundle.inputs.push_back(fmt::format("input{}.npy", i));
    TW_TRY(writeNpy(folder + "/" + bundle.inputs.back(), inputs.tensors[i]));
  }
  return {};
}

} // namespace

int prepareBundle(const TuneOptions &options, const std::string &bundle, int64_t programs,
                  const BundleInputs &inputs, const TemporaryFolder &folder,
                  const std::function<bool()> &goesOn) {
  std::error_code error;
  std::filesystem::create_directories(bundle, error);
  if (error)
    return fail(
        {Code::IO_2, fmt::format("cannot make the folder {}: {}", bundle, error.message())});
  auto machine = measuringMachine(bundle);
  TW_TRY_CLI(machine);
  BundleKernels kernels(options, bundle, folder);
  auto begin = std::chrono::steady_clock::now();
  std::string startArtifact = folder.path() + "/" + bundledStart;
  if (int status = compileTo(options.model, startArtifact, folder))
    return status;
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  auto start = rt::openArtifact(startArtifact);
  TW_TRY_CLI(start);
  // With all threads of a machine that is not here, their number is not known.
  auto call = tunedCall(start->metadata, inputs.tensors, options.threads);
  TW_TRY_CLI(call);
  if (int status = kernels.read(start->metadata, *call, *machine))
    return status;
  if (auto earlier = readBundle(bundle); earlier && !isOf(*earlier, kernels))
    return fail(ofAnotherModel(bundle, *earlier, options, "give a folder of its own"));
  TW_TRY_CLI(takeApartBundle(bundle));
  TW_TRY_CLI(copyFile(startArtifact, kernels.pathOf(bundledStart)));
  if (int status = compileTo(asTarget(options.model, options.reference),
                             kernels.pathOf(bundledReference), folder))
    return status;
  BundleWriter writer(options, kernels, folder, secondsForCandidate(options.timeout, took.count()),
                      goesOn);
  writer.bundle.sizes = call->sizes;
  writer.bundle.model = options.model.model;
  writer.bundle.reference = options.reference;
  writer.bundle.target = targetOf(options);
  writer.bundle.threads = options.threads;
  writer.bundle.pairs = options.pairs;
  TW_TRY_CLI(writeInputs(writer.bundle, bundle, inputs));
  TW_TRY_CLI(kernels.forgetMeasuredAlternatives(*machine));
  Progress progress;
  auto mayGoOn = [&](size_t made) {
    progress.at(fmt::format("program {} of {}", made + 1, programs),
                double(made) / double(programs));
    return goesOn();
  };
  TW_TRY_CLI(writer.addAlternatives(programs, mayGoOn));
  size_t others = writer.bundle.programs.size();
  TW_TRY_CLI(writer.addCandidates(programs, mayGoOn));
  progress.clear();
  TW_TRY_CLI(writeBundle(bundle, writer.bundle));
  TW_TRY_CLI(
      writeResults(fmt::format("{}: {} with candidates for {}, {} with other decisions\n", bundle,
                               counted(writer.bundle.programs.size() - others, "program"),
                               counted(kernels.kernels.size(), "kernel"), others)));
  return 0;
}

int finishBundle(const TuneOptions &options, const std::string &bundle,
                 const TemporaryFolder &folder, std::vector<FoundKernel> &found,
                 std::vector<Decision> &decisions, std::string &report) {
  auto made = readBundle(bundle);
  TW_TRY_CLI(made);
  TW_TRY_CLI(checkTarget(bundle, *made, options));
  auto machine = measuringMachine(bundle);
  TW_TRY_CLI(machine);
  if (machine->empty())
    return fail({Code::TUNE_6,
                 fmt::format("the bundle {} has not been measured", bundle),
                 {},
                 {},
                 "run tilewright tune --measure on it, on the machine that it is for"});
  BundleKernels kernels(options, bundle, folder);
  auto start = rt::openArtifact(kernels.pathOf(bundledStart));
  TW_TRY_CLI(start);
  TW_TRY_CLI(checkCompiler(bundle, *made, start->metadata));
  if (int status = kernels.read(start->metadata, {made->threads, false, made->sizes}, *machine))
    return status;
  if (!isOf(*made, kernels))
    return fail(ofAnotherModel(bundle, *made, options, "give the model that it was prepared for"));
  for (const TunableKernel &kernel : kernels.all)
    found.push_back({kernel, kernel.start.point, {}});
  report = fmt::format("{:>10} {:>6} {:>6}  {}\n", "us", "ratio", "tried", "kernel");
  size_t known = 0;
  for (const BundleKernel &kernel : kernels.kernels) {
    FoundKernel &each = found[kernel.number];
    const KernelSearch::Measured *best = kernel.search.best();
    known += kernel.search.measuredCount();
    if (best && best->ratio.isFaster()) {
      each.point = best->point;
      each.measured = {kernel.measured.machine, kernel.measured.compiler, kernel.startUs,
                       best->ratio};
    }
    report += fmt::format("{:>10.1f} {:>6} {:>6}  {} {}\n", kernel.startUs,
                          each.measured ? fmt::format("{:.3f}", best->ratio.median) : "-",
                          kernel.search.measuredCount() + kernel.search.rejectedCount(),
                          each.kernel.name, each.kernel.ops);
  }
  auto database = tune::Database::open(kernels.pathOf(bundledDatabase));
  TW_TRY_CLI(database);
  tune::TimeRatio ratio;
  Status status;
  const BundledAlternative *best = bestAlternative(kernels.alternatives, *database, ratio, status);
  TW_TRY_CLI(status);
  if (best)
    report += fmt::format("{:>10} {:>6.3f} {:>6}  {}\n", "", ratio.median, "",
                          best->kernel.measured.signature);
  auto isOfKernels = [](const BundledProgram &program) {
    return std::ranges::any_of(program.kernels, [](auto &kernel) { return !kernel.name.empty(); });
  };
  bool isEmpty = known == 0 && std::ranges::any_of(made->programs, isOfKernels);
  report +=
      fmt::format("{}, on {}{}\n", counted(known, "measurement"), *machine,
                  isEmpty ? ": its programs were all left out, or measuring was interrupted" : "");
  if (!best && options.model.tuningSpecs.empty())
    return 0;
  return readFoundDecisions(options.model, found, best ? best->decisions : Alternative(), folder,
                            decisions);
}

} // namespace tw::cli
