// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/Evaluator.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "IR/Coded.h"
#include "Program/Artifact/Payload.h"
#include "Program/Host/Storage.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tilewright/tilewright.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace tw {

ArtifactEvaluator::ArtifactEvaluator(Session &session, bool inMemory)
    : session(session), target(hostTarget()), inMemory(inMemory) {}

ArtifactEvaluator::~ArtifactEvaluator() {
  for (const auto &[path, descriptor] : memory)
    close(descriptor);
}

namespace {

/// A new file of a given size, mapped for writing.
class ConstantsFile {
public:
  ConstantsFile(const std::string &path, int64_t bytes) : bytes(bytes) {
    int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
      return;
    // Room on the disk first: without it, a write to the mapping would end this process.
    int error = bytes > 0 ? posix_fallocate(fd, 0, bytes) : 0;
    if (error == 0 && bytes > 0)
      data = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (error)
      errno = error;
  }
  ConstantsFile(const ConstantsFile &) = delete;
  ~ConstantsFile() {
    if (ok())
      munmap(data, static_cast<size_t>(bytes));
  }
  bool ok() const { return data != MAP_FAILED; }
  char *at(int64_t offset) const { return static_cast<char *>(data) + offset; }

private:
  void *data = MAP_FAILED;
  int64_t bytes;
};

/// A program and its instance, freed together.
struct Loaded {
  tw_program *program = nullptr;
  tw_instance *instance = nullptr;
  ~Loaded() {
    tw_instance_free(instance);
    tw_program_free(program);
  }
};

} // namespace

/// Loads the artifact, and runs it once; nothing compiles meanwhile.
static tw_status *loadAndRun(const std::string &artifact, ArrayRef<tw_tensor> outputs,
                             const Cancellation &cancellation) {
  auto isRequested = [](void *user) -> int32_t {
    return static_cast<const Cancellation *>(user)->isRequested();
  };
  Resting resting;
  Loaded loaded;
  tw_status *status = tw_program_load(artifact.c_str(), nullptr, &loaded.program);
  if (!status)
    status = tw_instance_create(loaded.program, nullptr, &loaded.instance);
  if (!status)
    status = tw_instance_set_cancel(loaded.instance, isRequested,
                                    const_cast<Cancellation *>(&cancellation));
  if (!status)
    status = tw_instance_run(loaded.instance, nullptr, 0, outputs.data(),
                             static_cast<int32_t>(outputs.size()));
  return status;
}

/// Runs the artifact once, with its outputs in the given memory; to its end, unless it is
/// cancelled.
static LogicalResult runOnce(Location loc, const std::string &artifact, ArrayRef<tw_tensor> outputs,
                             const Cancellation &cancellation) {
  tw_status *status = loadAndRun(artifact, outputs, cancellation);
  if (!status)
    return success();
  if (cancellation.isRequested()) {
    tw_status_free(status);
    return failure();
  }
  // A check of the model that fails for its own constants is an error in the model.
  bool isModels = parseCode(tw_status_code(status)) == Code::RUNTIME_13;
  auto problem = emitCoded(loc, isModels ? Code::RUNTIME_13 : Code::PROGRAM_8)
                 << "an expression over weights cannot be evaluated";
  problem.attachNote() << tw_status_message(status);
  tw_status_free(status);
  return problem;
}

LogicalResult ArtifactEvaluator::compile(ModuleOp module, const std::string &artifact) {
  Pipeline pipeline(session, *module.getContext(), "");
  ArtifactOptions options;
  options.output = artifact;
  options.model = "constants";
  options.target = target.name;
  options.cpu = target.cpu;
  options.favorsCompileTime = true;
  options.weights = WeightsPlace::External;
  if (auto file = memory.find(artifact); file != memory.end())
    options.descriptor = file->second;
  if (failed(pipeline.toKernels(module, target)))
    return failure();
  return pipeline.toArtifact(module, *target.code, options);
}

static LogicalResult report(Location loc, const Diagnostic &error, int64_t bytes) {
  auto problem = emitCoded(loc, error.code) << error.message;
  problem.attachNote() << "constants of the model take " << std::to_string(bytes) << " bytes";
  for (const std::string &note : error.notes)
    problem.attachNote() << note;
  problem.attachNote() << "help: set TMPDIR to a folder with more room";
  return problem;
}

/// Runs the artifact once, with its outputs at these offsets in a new file.
static LogicalResult runInto(const std::string &path, int64_t bytes, const std::string &artifact,
                             TypeRange types, ArrayRef<int64_t> offsets, Location loc,
                             const Cancellation &cancellation) {
  ConstantsFile file(path, bytes);
  if (!file.ok())
    return report(loc, cannotWrite(path, errno), bytes);
  SmallVector<tw_tensor> outputs;
  for (auto [offset, type] : llvm::zip(offsets, types))
    outputs.push_back(
        {file.at(offset), *bytesOf(cast<RankedTensorType>(type)), TW_F32, 0, nullptr});
  return runOnce(loc, artifact, outputs, cancellation);
}

/// Writes the payload to a file, which may be a new one, behind its first `at` bytes.
static LogicalResult write(const Payload &payload, const std::string &path, int64_t at,
                           Location loc, const Cancellation &cancellation) {
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    return report(loc, cannotWrite(path, errno), payload.bytes());
  auto written = payload.write(fd, at, path, /*isTemporary=*/true, &cancellation);
  close(fd);
  if (cancellation.isRequested())
    return failure();
  return written ? success() : report(loc, written.error(), payload.bytes());
}

/// The weights that one file holds, at these offsets.
static SmallVector<graph::WeightAttr> weightsIn(const std::string &path, TypeRange types,
                                                ArrayRef<int64_t> offsets, MLIRContext *context) {
  SmallVector<graph::WeightAttr> weights;
  Builder b(context);
  for (auto [number, type] : llvm::enumerate(types)) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> strides(tensor.getRank(), 1);
    for (int64_t d = tensor.getRank() - 1; d > 0; --d)
      strides[d - 1] = strides[d] * tensor.getDimSize(d);
    weights.push_back(graph::WeightAttr::get(
        context, b.getStringAttr("constant_" + std::to_string(number)), b.getStringAttr(path),
        offsets[number], *bytesOf(tensor), 0, strides));
  }
  return weights;
}

static LogicalResult report(Location loc, const Diagnostic &error) {
  auto problem = emitCoded(UnknownLoc::get(loc.getContext()), error.code) << error.message;
  problem.attachNote() << "help: " << error.help;
  return failure();
}

FailureOr<std::string> ArtifactEvaluator::createFile(Location loc) {
  if (inMemory) {
    int descriptor = memfd_create("tilewright-constants", MFD_CLOEXEC);
    if (descriptor < 0)
      return report(loc, {Code::IO_2,
                          fmt::format("there is no memory for constants: {}", std::strerror(errno)),
                          {},
                          {},
                          "close files that this process holds open"});
    std::string path = fmt::format("/proc/self/fd/{}", descriptor);
    memory[path] = descriptor;
    return path;
  }
  if (!folder) {
    auto made = TemporaryFolder::create();
    if (!made)
      return report(loc, made.error());
    folder.emplace(*std::move(made));
  }
  return fmt::format("{}/constants{}.so", folder->path(), ++count);
}

void ArtifactEvaluator::dropFile(const std::string &path) {
  if (auto file = memory.find(path); file != memory.end()) {
    close(file->second);
    memory.erase(file);
    return;
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  std::filesystem::remove(path + ".weights", ignored);
}

/// The weights that a tensor is made of, one after the other; nothing for what is computed.
static SmallVector<std::pair<graph::WeightAttr, RankedTensorType>> joinedWeights(Value tensor) {
  auto concat = tensor.getDefiningOp<tensor::ConcatOp>();
  SmallVector<std::pair<graph::WeightAttr, RankedTensorType>> parts;
  if (!concat || concat.getDim() != 0)
    return parts;
  for (Value input : concat.getInputs())
    if (auto weight = input.getDefiningOp<graph::WeightOp>())
      parts.emplace_back(weight.getSource(), cast<RankedTensorType>(weight.getType()));
    else
      return {};
  return parts;
}

LogicalResult ArtifactEvaluator::run(ModuleOp module, func::FuncOp function,
                                     const std::string &path, int64_t bytes,
                                     ArrayRef<int64_t> offsets) {
  Location loc = module.getLoc();
  FailureOr<std::string> artifact = createFile(loc);
  if (failed(artifact))
    return failure();
  TypeRange types = function.getFunctionType().getResults();
  bool ok = succeeded(compile(module, *artifact)) &&
            (bytes == 0 || succeeded(runInto(path, bytes, *artifact, types, offsets, loc,
                                             session.cancellation())));
  dropFile(*artifact);
  return success(ok);
}

FailureOr<SmallVector<graph::WeightAttr>>
ArtifactEvaluator::evaluate(OwningOpRef<ModuleOp> module) {
  Location loc = module->getLoc();
  auto function = module->lookupSymbol<func::FuncOp>("constants");
  function.setName("main");
  SmallVector<Type> types(function.getFunctionType().getResults());
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  // What is only copied needs no program; it comes last in the file.
  Payload joined;
  llvm::BitVector isJoined(types.size());
  SmallVector<int64_t> offsets, computed;
  int64_t bytes = 0;
  for (auto [value, type] : llvm::zip(end.getOperands(), types)) {
    auto parts = joinedWeights(value);
    isJoined[offsets.size()] = !parts.empty();
    offsets.push_back(parts.empty() ? bytes : joined.addJoined(parts));
    if (parts.empty()) {
      computed.push_back(bytes);
      bytes += (*bytesOf(cast<RankedTensorType>(type)) + 63) / 64 * 64;
    }
  }
  for (unsigned number : isJoined.set_bits())
    offsets[number] += bytes;
  end->eraseOperands(isJoined);
  (void)function.eraseResults(isJoined);
  FailureOr<std::string> path = createFile(loc);
  if (failed(path))
    return failure();
  session.beginStage("constants");
  bool ok = computed.empty() || succeeded(run(*module, function, *path, bytes, computed));
  if (ok && joined.bytes())
    ok = succeeded(write(joined, *path, bytes, loc, session.cancellation()));
  session.endStage();
  if (!ok)
    return failure();
  return weightsIn(*path, types, offsets, loc.getContext());
}

std::vector<std::byte> ArtifactEvaluator::elementsOf(graph::WeightAttr weight) {
  auto file = MappedFile::open(weight.getFile().str());
  auto begin = size_t(weight.getOffset()), bytes = size_t(weight.getBytes());
  if (!file || file->bytes().size() < begin + bytes)
    return {};
  auto elements = file->bytes().subspan(begin, bytes);
  return {elements.begin(), elements.end()};
}

} // namespace tw
