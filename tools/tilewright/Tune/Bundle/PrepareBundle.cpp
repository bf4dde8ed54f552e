// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PrepareBundle.h"
#include "Bundle.h"
#include "IO/File.h"
#include "IO/Formats/Npy.h"
#include "runtime/Artifact/Artifact.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/Program.h"
#include "tools/tilewright/Tune/KernelKeys.h"
#include <filesystem>
#include <fmt/format.h>

namespace tw::cli {
using tune::KernelSearch;
using tune::MeasuredKernel;
using tune::Measurement;

namespace {

/// A kernel that is searched, and what is known of it.
struct BundleKernel {
  size_t number; // among the model's
  MeasuredKernel measured;
  KernelSearch search;
  double startUs = 0; // 0: it was not measured
};

/// The kernels of a model whose first program lies in a bundle's folder.
class BundleKernels {
public:
  BundleKernels(const TuneOptions &options, std::string bundle, const TemporaryFolder &folder)
      : options(options), bundle(std::move(bundle)), folder(folder) {}

  /// With what `machine` has measured; an empty one has nothing. An exit status.
  int read(const rt::Metadata &start, TunedCall call, const std::string &machine) {
    std::string text;
    SpaceQuery query = SpaceQuery::ofSearch(options.filter.knobs, std::move(call), options.seed);
    if (int status = describeSpaces(options.model, query, folder, text))
      return status;
    auto spaces = readSpaces(text);
    TW_TRY_CLI(spaces);
    all = *std::move(spaces);
    TW_TRY_CLI(options.filter.check(all));
    auto program = describeProgram(start);
    TW_TRY_CLI(program);
    for (size_t number = 0; number < all.size(); ++number)
      if (const TunableKernel &kernel = all[number]; options.filter.takes(kernel) &&
                                                     program->configured.contains(kernel.name) &&
                                                     !kernel.points.empty())
        kernels.push_back(
            {number, keyOf(kernel, *program, machine),
             KernelSearch(kernel.space, kernel.start, kernel.points, options.seed + number)});
    TW_TRY_CLI(machine.empty() ? Status() : readMeasurements());
    return 0;
  }

  std::string pathOf(const std::string &file) const { return bundle + "/" + file; }

  std::vector<TunableKernel> all;
  std::vector<BundleKernel> kernels;

private:
  Status readMeasurements() {
    TW_ASSIGN(tune::Database database, tune::Database::open(pathOf(bundledDatabase)));
    for (BundleKernel &kernel : kernels) {
      TW_TRY(database.describe(kernel.measured, descriptionOf(all[kernel.number])));
      TW_ASSIGN(std::vector<Measurement> known, database.find(kernel.measured));
      for (const Measurement &each : known)
        if (each.rejection.empty()) {
          kernel.search.record(each.point, each.ratio);
          kernel.startUs = each.startUs;
        } else {
          kernel.search.reject(each.point);
        }
    }
    return {};
  }

  const TuneOptions &options;
  std::string bundle;
  const TemporaryFolder &folder;
};

/// Which machine has measured; empty if none has.
Result<std::string> measuringMachine(const std::string &bundle) {
  std::string path = bundle + "/" + bundledMachine;
  if (!std::filesystem::exists(path))
    return std::string();
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  return std::string(file.text());
}

/// Compiles candidates into the folder of a bundle.
class BundleWriter {
public:
  BundleWriter(const TuneOptions &options, BundleKernels &kernels, const TemporaryFolder &folder)
      : options(options), kernels(kernels), folder(folder) {}

  /// Those that the compiler refuses are found by halves, and left out.
  Status add(const Choice &choice) {
    Choice ofAll;
    for (const auto &[kernel, point] : choice)
      ofAll.emplace(kernels.kernels[kernel].number, point);
    TW_ASSIGN(CandidateProgram made,
              compileCandidate(options.model, configurationText(kernels.all, ofAll, {}), folder,
                               "candidate"));
    if (made.refusal.empty())
      return keep(choice, made.artifact);
    if (choice.size() == 1) {
      kernels.kernels[choice.begin()->first].search.reject(choice.begin()->second);
      return {};
    }
    auto middle = std::next(choice.begin(), ptrdiff_t(choice.size() / 2));
    TW_TRY(add(Choice(choice.begin(), middle)));
    return add(Choice(middle, choice.end()));
  }

  Bundle bundle;

private:
  Status keep(const Choice &choice, const std::string &artifact) {
    BundledProgram &program = bundle.programs.emplace_back();
    program.artifact = fmt::format("program{}.so", bundle.programs.size());
    for (const auto &[number, point] : choice) {
      const BundleKernel &kernel = kernels.kernels[number];
      program.kernels.push_back({kernels.all[kernel.number].name, kernel.measured, point});
    }
    std::string path = kernels.pathOf(program.artifact);
    std::error_code error; // of another disk than the temporary folder's
    std::filesystem::copy_file(artifact, path, std::filesystem::copy_options::overwrite_existing,
                               error);
    if (error)
      return Diagnostic{Code::IO_2, fmt::format("cannot write {}: {}", path, error.message())};
    return {};
  }

  const TuneOptions &options;
  BundleKernels &kernels;
  const TemporaryFolder &folder;
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
  if (int status = compileTo(options.model, kernels.pathOf(bundledStart), folder))
    return status;
  if (int status = compileTo(asTarget(options.model, options.reference),
                             kernels.pathOf(bundledReference), folder))
    return status;
  auto start = rt::openArtifact(kernels.pathOf(bundledStart));
  TW_TRY_CLI(start);
  // With all threads of a machine that is not here, their number is not known.
  auto call = tunedCall(start->metadata, inputs.tensors, options.threads);
  TW_TRY_CLI(call);
  if (int status = kernels.read(start->metadata, *call, *machine))
    return status;
  BundleWriter writer(options, kernels, folder);
  writer.bundle.sizes = call->sizes;
  writer.bundle.model = options.model.model;
  writer.bundle.reference = options.reference;
  writer.bundle.threads = options.threads;
  writer.bundle.pairs = options.pairs;
  TW_TRY_CLI(writeInputs(writer.bundle, bundle, inputs));
  Progress progress;
  for (int64_t made = 0; made < programs && goesOn(); ++made) {
    progress.at(fmt::format("program {} of {}", made + 1, programs),
                double(made) / double(programs));
    Choice choice; // of `kernels.kernels`
    for (size_t kernel = 0; kernel < kernels.kernels.size(); ++kernel)
      if (auto point = kernels.kernels[kernel].search.next())
        choice.emplace(kernel, *std::move(point));
    if (choice.empty())
      break;
    TW_TRY_CLI(writer.add(choice));
  }
  progress.clear();
  TW_TRY_CLI(writeBundle(bundle, writer.bundle));
  TW_TRY_CLI(writeResults(fmt::format("{}: {} programs with candidates for {} kernels\n", bundle,
                                      writer.bundle.programs.size(), kernels.kernels.size())));
  return 0;
}

int finishBundle(const TuneOptions &options, const std::string &bundle,
                 const TemporaryFolder &folder, std::vector<FoundKernel> &found,
                 std::string &report) {
  auto made = readBundle(bundle);
  TW_TRY_CLI(made);
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
  if (int status = kernels.read(start->metadata, {made->threads, false, made->sizes}, *machine))
    return status;
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
  report += fmt::format("{} measurements, on {}\n", known, *machine);
  return 0;
}

} // namespace tw::cli
