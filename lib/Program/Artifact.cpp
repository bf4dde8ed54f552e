// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact.h"
#include "IO/File.h"
#include "IO/ScratchFolder.h"
#include "IR/Coded.h"
#include "Program/Describe.h"
#include "Program/Link.h"
#include "Program/Machine.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/PayloadHash.h"
#include "runtime/ProgramABI.h"
#include "llvm/Object/ObjectFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;

namespace tw {

static constexpr int64_t pageBytes = 4096, mostInside = int64_t(1) << 30;

static LogicalResult report(Location loc, const Diagnostic &problem) {
  auto diagnostic = emitCoded(loc, problem.code);
  diagnostic << problem.message;
  for (const std::string &note : problem.notes)
    diagnostic.attachNote() << note;
  if (!problem.help.empty())
    diagnostic.attachNote() << "help: " << problem.help;
  return diagnostic;
}

static Diagnostic unwritable(const std::string &path) {
  return {Code::PROGRAM_5,
          fmt::format("cannot write {}: {}", path, std::strerror(errno)),
          {},
          {},
          "give another place with -o"};
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {

/// A file beside its final place; it takes that place only when everything has been written.
class PendingFile {
public:
  explicit PendingFile(std::string path)
      : target(std::move(path)), name(fmt::format("{}.{}.tmp", target, getpid())) {}
  PendingFile(const PendingFile &) = delete;
  ~PendingFile() {
    if (fd >= 0)
      ::close(fd);
    ::unlink(name.c_str());
  }
  Status open() {
    // Renaming over a device or a folder would replace what is not ours to replace.
    struct stat there;
    if (::stat(target.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
      errno = S_ISDIR(there.st_mode) ? EISDIR : EEXIST;
      return unwritable(target);
    }
    fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0777);
    return fd >= 0 ? Status() : Status(unwritable(target));
  }
  Status commit() {
    return ::rename(name.c_str(), target.c_str()) == 0 ? Status() : Status(unwritable(target));
  }
  int64_t size() const {
    struct stat facts;
    return fstat(fd, &facts) == 0 ? facts.st_size : 0;
  }
  const std::string &path() const { return name; }
  const std::string &finalPath() const { return target; }
  int descriptor() const { return fd; }

private:
  std::string target, name;
  int fd = -1;
};

} // namespace

/// The hash of PayloadHash.h over the bytes of `fd` from `at` on.
static std::string hashPayload(int fd, int64_t at, int64_t bytes) {
  constexpr int64_t part = int64_t(1) << 20;
  int64_t first = std::min(bytes, part), last = std::min(bytes - first, part);
  std::vector<uint8_t> ends(static_cast<size_t>(first + last));
  bool read = pread(fd, ends.data(), static_cast<size_t>(first), at) == first &&
              pread(fd, ends.data() + first, static_cast<size_t>(last), at + bytes - last) == last;
  return read ? rt::payloadHash(ends) : std::string(16, '0');
}

/// Where the metadata section lies in the library `path`.
static std::optional<std::pair<int64_t, int64_t>> findMetadata(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  auto file = llvm::object::ObjectFile::createObjectFile((*buffer)->getMemBufferRef());
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  for (const llvm::object::SectionRef &section : (*file)->sections()) {
    auto name = section.getName();
    auto contents = section.getContents();
    if (name && contents && *name == TW_METADATA_SECTION)
      return std::pair(contents->data() - (*buffer)->getBufferStart(),
                       static_cast<int64_t>(contents->size()));
    llvm::consumeError(name.takeError());
    llvm::consumeError(contents.takeError());
  }
  return std::nullopt;
}

namespace {

/// The linked library while it is being finished: `path` opens it, `name` is for messages.
struct LinkedFile {
  std::string path, name;
  int descriptor;
};

} // namespace

/// Tells the metadata where the payload is and what its hash is.
static Status patchMetadata(const LinkedFile &library, int64_t offset, const std::string &hash) {
  auto place = findMetadata(library.path);
  std::vector<char> bytes(place ? static_cast<size_t>(place->second) : 0);
  auto size = static_cast<ssize_t>(bytes.size());
  if (!place || pread(library.descriptor, bytes.data(), bytes.size(), place->first) != size ||
      !patchPayload(bytes, offset, hash))
    return Diagnostic{Code::PROGRAM_7, "the linked program has no metadata"};
  if (pwrite(library.descriptor, bytes.data(), bytes.size(), place->first) != size)
    return unwritable(library.name);
  return {};
}

static int64_t pageAfter(int64_t bytes) { return (bytes + pageBytes - 1) / pageBytes * pageBytes; }

/// Puts the payload behind or beside the library and tells its metadata.
static Status addPayload(const Payload &payload, const LinkedFile &library, int holder, int64_t at,
                         const std::string &holderName) {
  TW_TRY(payload.write(holder, at, holderName));
  return patchMetadata(library, at, hashPayload(holder, at, payload.bytes()));
}

/// Links the library, which has no weights in it, on disk, and then writes all of it to the
/// caller's file.
static Status writeDescriptor(const std::vector<ObjectFile> &objects, const Payload &payload,
                              const ArtifactOptions &options) {
  TW_ASSIGN(ScratchFolder folder, ScratchFolder::create());
  std::string linked = folder.path() + "/program.so";
  options.stage("link");
  TW_TRY(linkLibrary(objects, linked));
  TW_ASSIGN(MappedFile image, MappedFile::open(linked));
  options.stage("weights");
  LinkedFile library{fmt::format("/proc/self/fd/{}", options.descriptor), "the given descriptor",
                     options.descriptor};
  auto bytes = static_cast<int64_t>(image.bytes().size());
  if (!writeAll(options.descriptor, reinterpret_cast<const char *>(image.bytes().data()), bytes, 0))
    return unwritable(library.name);
  return addPayload(payload, library, options.descriptor, pageAfter(bytes), library.name);
}

/// Links the library and puts the payload behind it or beside it.
static Status writeFiles(const std::vector<ObjectFile> &objects, const Payload &payload,
                         bool beside, const ArtifactOptions &options) {
  PendingFile library(options.output), weights(options.output + ".weights");
  TW_TRY(library.open());
  options.stage("link");
  TW_TRY(linkLibrary(objects, library.path()));
  TW_TRY(library.open()); // lld makes a new file of that name
  options.stage("weights");
  PendingFile &holder = beside ? weights : library;
  if (beside)
    TW_TRY(weights.open());
  int64_t at = beside ? 0 : pageAfter(library.size());
  TW_TRY(addPayload(payload, {library.path(), library.finalPath(), library.descriptor()},
                    holder.descriptor(), at, holder.finalPath()));
  if (beside)
    TW_TRY(weights.commit());
  return library.commit();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Lowers every kernel that is called into `into`.
static LogicalResult lowerKernels(ModuleOp module, ModuleOp into, target::Target &target,
                                  KernelTable &kernels, llvm::StringMap<KernelText> &texts) {
  SymbolTable symbols(module);
  LogicalResult result = success();
  module.walk([&](graph::DispatchOp op) {
    if (failed(result) || kernels.contains(op.getKernel()))
      return;
    Operation *kernel = symbols.lookup(op.getKernel());
    texts[op.getKernel()] = describeKernel(kernel);
    FailureOr<target::KernelInfo> info = target.lower(kernel, into);
    if (failed(info))
      result = emitCoded(kernel->getLoc(), Code::TARGET_1)
               << "@" << op.getKernel() << " could not be lowered";
    else
      kernels[op.getKernel()] = std::move(*info);
  });
  return result;
}

/// The scalar arithmetic of the host entry still is `arith` and `math`.
static LogicalResult finishHost(ModuleOp into) {
  PassManager passes(into.getContext());
  passes.addPass(arith::createArithExpandOpsPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(into);
}

/// Payload places of all weights of `main`.
static DenseMap<Operation *, int64_t> placeWeights(func::FuncOp main, Payload &payload) {
  DenseMap<Operation *, int64_t> offsets;
  main.walk([&](graph::WeightOp op) {
    offsets[op] = payload.add(op.getSource(), cast<RankedTensorType>(op.getType()));
  });
  return offsets;
}

LogicalResult writeArtifact(ModuleOp module, target::Target &target,
                            const ArtifactOptions &options) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return emitCoded(module.getLoc(), Code::PROGRAM_2) << "the module has no function @main";
  OwningOpRef<ModuleOp> into = ModuleOp::create(main.getLoc());
  KernelTable kernels;
  llvm::StringMap<KernelText> texts;
  options.stage("kernels");
  if (failed(lowerKernels(module, *into, target, kernels, texts)))
    return failure();

  options.stage("host");
  Payload payload;
  DenseMap<Operation *, int64_t> weights = placeWeights(main, payload);
  FailureOr<HostProgram> program = emitHostEntry(main, *into, kernels, weights);
  if (failed(program) || failed(finishHost(*into)))
    return failure();
  options.lowered(*into);

  ArtifactFacts facts{options.model, options.target, options.features, false};
  // State adds its initial values to the payload.
  std::string metadata = describeProgram(main, *program, texts, payload, facts);
  bool isFile = options.descriptor == 0;
  if (isFile && (options.weights == WeightsPlace::Beside ||
                 (options.weights == WeightsPlace::Auto && payload.bytes() >= mostInside))) {
    facts.weightsBeside = true;
    metadata = describeProgram(main, *program, texts, payload, facts);
  }
  options.stage("llvm");
  FailureOr<std::vector<ObjectFile>> objects = makeObjects(*into, options.features, metadata);
  if (failed(objects))
    return failure();
  Status status = isFile ? writeFiles(*objects, payload, facts.weightsBeside, options)
                         : writeDescriptor(*objects, payload, options);
  return status ? success() : report(module.getLoc(), status.error());
}

} // namespace tw
