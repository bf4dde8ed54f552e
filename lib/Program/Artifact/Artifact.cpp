// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact/Artifact.h"
#include "IO/OutputFile.h"
#include "IR/Coded.h"
#include "Program/Artifact/Describe.h"
#include "Program/Artifact/LowerKernels.h"
#include "Program/Link/Link.h"
#include "Program/ObjectCode/Machine.h"
#include "Support/ChildProcess.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/Artifact/Seal.h"
#include "runtime/ProgramABI.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Object/ObjectFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

using namespace mlir;
namespace fs = std::filesystem;

namespace tw {

static constexpr int64_t pageBytes = 4096, mostEmbedded = int64_t(1) << 30;

static LogicalResult report(Location loc, const Diagnostic &problem) {
  auto diagnostic = emitCoded(loc, problem.code);
  diagnostic << problem.message;
  for (const std::string &note : problem.notes)
    diagnostic.attachNote() << note;
  if (!problem.help.empty())
    diagnostic.attachNote() << "help: " << problem.help;
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// An error of writing the files of an artifact, which has `bytes` of weights.
static Diagnostic unwritable(Diagnostic problem, int64_t bytes) {
  if (problem.code == Code::SYSTEM_3)
    problem.notes.push_back(fmt::format("the weights take {} bytes", bytes));
  if (problem.code != Code::IO_2)
    return problem;
  problem.code = Code::PROGRAM_5;
  problem.help = "give another place with -o, in Python another path";
  return problem;
}

static Result<OutputFile> createFile(const std::string &path, mode_t mode) {
  Diagnostic notRegular{
      Code::IO_2,
      fmt::format("cannot write {}: an artifact is loaded from a regular file, not from "
                  "a device or a pipe",
                  path)};
  std::error_code ignored;
  if (fs::is_other(fs::status(path, ignored))) // to open a pipe waits for a reader
    return notRegular;
  TW_ASSIGN(OutputFile file, OutputFile::create(path, mode));
  if (!file.isRegular())
    return notRegular;
  return std::move(file);
}

static std::span<const uint8_t> asBytes(ArrayRef<char> bytes) {
  return {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
}

namespace {

/// A file that is written to; `name` is for messages.
struct Destination {
  int descriptor;
  std::string name;
};

} // namespace

/// Writes all of `bytes` at `at`.
static Status writeAt(const Destination &file, std::span<const uint8_t> bytes, int64_t at) {
  while (!bytes.empty()) {
    ssize_t count = pwrite(file.descriptor, bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return cannotWrite(file.name, errno);
    bytes = bytes.subspan(size_t(count));
    at += count;
  }
  return {};
}

/// Where the metadata section lies in the library.
static std::optional<std::pair<size_t, size_t>> findMetadata(ArrayRef<char> library) {
  llvm::MemoryBufferRef buffer(StringRef(library.data(), library.size()), "library");
  auto file = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  for (const llvm::object::SectionRef &section : (*file)->sections()) {
    auto name = section.getName();
    auto contents = section.getContents();
    if (name && contents && *name == TW_METADATA_SECTION)
      return std::pair(size_t(contents->data() - library.data()), contents->size());
    llvm::consumeError(name.takeError());
    llvm::consumeError(contents.takeError());
  }
  return std::nullopt;
}

/// Tells the metadata of a library where the payload is and what its hashes are, and seals all of
/// it. The seal; empty when there is no metadata.
static std::optional<uint64_t> seal(MutableArrayRef<char> library, int64_t payloadAt,
                                    ArrayRef<uint64_t> blocks) {
  auto place = findMetadata(library);
  rt::MetadataPrefix prefix;
  if (!place || place->second < sizeof prefix ||
      !patchPayload(library.slice(place->first, place->second), payloadAt, blocks))
    return std::nullopt;
  char *start = library.data() + place->first;
  std::memcpy(&prefix, start, sizeof prefix);
  prefix.sealedBytes = library.size();
  prefix.seal = 0;
  std::memcpy(start, &prefix, sizeof prefix);
  prefix.seal = rt::sealOf(asBytes(library), place->first);
  std::memcpy(start, &prefix, sizeof prefix);
  return prefix.seal;
}

/// Puts both files in their places. No other compiler's come between, for it waits for the hidden
/// names that both have since prepare(); a process that is killed in the middle leaves no artifact
/// rather than one with weights of another.
static Status replaceBoth(OutputFile &weights, OutputFile &library) {
  DelayedSignals delayed;
  ::unlink(library.place().c_str());
  TW_TRY(weights.replace());
  return library.replace();
}

namespace {

struct Sealed {
  uint64_t seal;
  std::vector<uint64_t> blocks; // hashes of the payload's
};

} // namespace

static Destination destination(const OutputFile &file) { return {file.descriptor(), file.path()}; }

/// Writes the payload to `holder` from `at` on, and then the library, which it seals.
static Result<Sealed> writeSealed(ObjectFile &linked, const Payload &payload,
                                  const Destination &library, const Destination &holder, int64_t at,
                                  const Cancellation *cancellation) {
  TW_ASSIGN(std::vector<uint64_t> blocks, payload.write(holder.descriptor, at, holder.name,
                                                        /*isTemporary=*/false, cancellation));
  std::optional<uint64_t> sealed = seal(linked, at, blocks);
  if (!sealed)
    return Diagnostic{Code::PROGRAM_7, "the linked program has no metadata"};
  TW_TRY(writeAt(library, asBytes(linked), 0));
  return Sealed{*sealed, std::move(blocks)};
}

/// The payload begins at a page behind the library.
static void padForPayload(ObjectFile &linked, const Payload &payload) {
  if (payload.bytes() > 0)
    linked.resize((linked.size() + pageBytes - 1) / pageBytes * pageBytes);
}

/// Writes the linked library, with the payload behind it, to the caller's open file.
static Status writeDescriptor(ObjectFile linked, const Payload &payload,
                              const ArtifactOptions &options) {
  Destination file{options.descriptor, "the given descriptor"};
  padForPayload(linked, payload);
  auto at = static_cast<int64_t>(linked.size());
  TW_TRY(writeSealed(linked, payload, file, file, at, options.cancellation));
  return {};
}

/// Writes the linked library with the payload behind it or next to it.
static Status writeFiles(ObjectFile linked, const Payload &payload, bool isExternal,
                         const ArtifactOptions &options) {
  TW_ASSIGN(OutputFile library, createFile(options.output, 0777));
  if (!isExternal) {
    padForPayload(linked, payload);
    auto at = static_cast<int64_t>(linked.size());
    TW_TRY(writeSealed(linked, payload, destination(library), destination(library), at,
                       options.cancellation));
    return library.commit();
  }
  TW_ASSIGN(OutputFile weights, createFile(library.place() + ".weights", 0666));
  TW_ASSIGN(Sealed sealed, writeSealed(linked, payload, destination(library), destination(weights),
                                       rt::weightsHeaderBytes, options.cancellation));
  TW_TRY(writeAt(
      destination(weights),
      rt::weightsHeader(uint64_t(payload.bytes()), rt::contentHash(sealed.blocks), sealed.seal),
      0));
  TW_TRY(weights.prepare());
  TW_TRY(library.prepare());
  return replaceBoth(weights, library);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// The device code of all kernels, each image aligned.
static DeviceImages gatherImages(const KernelTable &kernels) {
  DeviceImages all;
  std::vector<StringRef> names;
  for (const auto &kernel : kernels)
    if (kernel.second.device)
      names.push_back(kernel.first());
  llvm::sort(names); // the same artifact each time
  auto add = [&](const std::shared_ptr<const target::DeviceCode> &code) {
    all.bytes.resize((all.bytes.size() + TW_ALIGNMENT - 1) / TW_ALIGNMENT * TW_ALIGNMENT);
    all.images.push_back({int64_t(all.bytes.size()), int64_t(code->image.size()), code});
    all.bytes += code->image;
  };
  for (StringRef name : names) {
    const auto &code = kernels.find(name)->second.device;
    if (code->variants.empty())
      add(code);
    llvm::for_each(code->variants, add);
  }
  return all;
}

/// The scalar arithmetic of the host entry still is `arith` and `math`. `kernels`, the operations
/// before it, need not be looked at again.
static LogicalResult finishHost(ModuleOp into, const llvm::SmallPtrSetImpl<Operation *> &kernels) {
  PassManager passes(into.getContext(), LLVM::LLVMFuncOp::getOperationName());
  passes.addPass(arith::createArithExpandOpsPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  for (auto function : into.getOps<LLVM::LLVMFuncOp>())
    if (!kernels.contains(function) && failed(passes.run(function)))
      return failure();
  return success();
}

/// Payload places of all weights of `main`, in the order of their first uses: what a kernel
/// prefetches behind the last block of its weight is the first one of the next launch's.
static DenseMap<Operation *, int64_t> placeWeights(func::FuncOp main, Payload &payload) {
  DenseMap<Operation *, int64_t> offsets;
  auto place = [&](graph::WeightOp op) {
    if (op && !offsets.contains(op))
      offsets[op] = payload.add(op.getSource(), cast<RankedTensorType>(op.getType()));
  };
  main.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands())
      place(operand.getDefiningOp<graph::WeightOp>());
  });
  main.walk(place);
  return offsets;
}

LogicalResult writeArtifact(ModuleOp module, target::Target &target,
                            const ArtifactOptions &options) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return emitCoded(module.getLoc(), Code::PROGRAM_2) << "the module has no function @main";
  OwningOpRef<ModuleOp> into = ModuleOp::create(main.getLoc());
  options.stage("kernels");
  FailureOr<LoweredKernels> lowered = lowerKernels(module, *into, target, options.cancellation);
  if (failed(lowered) || failed(target.finish(options.cancellation, options.codeCache)))
    return failure();

  options.stage("host");
  Payload payload;
  DenseMap<Operation *, int64_t> weights = placeWeights(main, payload);
  llvm::SmallPtrSet<Operation *, 16> finished;
  for (Operation &op : *into->getBody())
    finished.insert(&op);
  FailureOr<HostProgram> program =
      emitHostEntry(main, *into, lowered->kernels, weights, !options.architecture.empty());
  if (failed(program) || failed(finishHost(*into, finished)))
    return failure();
  options.lowered(*into);

  ArtifactFacts facts{options.model, options.target,       options.cpu.features,
                      false,         options.architecture, gatherImages(lowered->kernels),
                      options.key,   options.isKernel};
  // State adds its initial values to the payload.
  std::string metadata = describeProgram(main, *program, lowered->texts, payload, facts);
  bool isFile = options.descriptor == 0;
  if (isFile && (options.weights == WeightsPlace::External ||
                 (options.weights == WeightsPlace::Auto && payload.bytes() >= mostEmbedded))) {
    facts.hasExternalWeights = true;
    metadata = describeProgram(main, *program, lowered->texts, payload, facts);
  }
  options.stage("llvm");
  FailureOr<std::vector<ObjectFile>> objects =
      makeObjects(*into, options.cpu, metadata, options.favorsCompileTime, options.cancellation,
                  facts.images.bytes);
  if (failed(objects))
    return failure();
  options.stage("link");
  Result<ObjectFile> linked = linkLibrary(*objects, {TW_PROGRAM_SYMBOL}, options.cpu.architecture);
  if (!linked)
    return report(module.getLoc(), linked.error());
  if (isCancelled(options.cancellation))
    return failure();
  options.stage("weights");
  bool isExternal = facts.hasExternalWeights && payload.bytes() > 0;
  Status status = isFile ? writeFiles(*std::move(linked), payload, isExternal, options)
                         : writeDescriptor(*std::move(linked), payload, options);
  if (isCancelled(options.cancellation))
    return failure();
  return status ? success() : report(module.getLoc(), unwritable(status.error(), payload.bytes()));
}

} // namespace tw
