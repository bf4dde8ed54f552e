// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an artifact says about itself (docs/artifact.md), typed and checked. Shared by the loader
// and by `tilewright inspect`.
#pragma once
#include "Support/DType.h"
#include "Support/Diagnostic.h"
#include "runtime/Artifact/SizeExpression.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::rt {

/// One size of a tensor: a number, an expression over symbols, or known only after the program's
/// SIZES phase.
struct Size {
  std::optional<int64_t> fixed;
  std::optional<SizeExpression> expression;
  /// Nothing where it is not known before the call runs.
  std::optional<int64_t> in(std::span<const std::optional<int64_t>> symbols) const;
  /// "2", "s0*2", "?".
  std::string text() const;
};

enum class ValueKind { Tensor, Int, Float, Bool };

/// An input or an output. Scalars have no sizes; their dtype is i64, f64 or bool.
struct ValueInfo {
  std::string name;
  ValueKind kind = ValueKind::Tensor;
  DType dtype = DType::F32;
  std::vector<Size> sizes;
  /// Of a tensor none of whose sizes is dynamic: the sizes once more, side by side, and the bytes.
  std::vector<int64_t> fixedSizes;
  std::optional<int64_t> fixedBytes;
  std::optional<int> symbol; // an int input that is a symbol
  bool hidden = false;       // an output that only a mutation writes
};

/// How symbols follow from the sizes of inputs that are neither one nor a size as they stand, in
/// the order in which they are found.
std::vector<SymbolSolution> solveInputs(std::span<const ValueInfo> inputs);

struct StateInfo {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> sizes;
  int64_t bytes = 0;  // of the tensor
  int64_t offset = 0; // of the initial value in the payload, or -1 for zeros
  bool trainable = false;
  bool updated = true; // a run may change it
};

/// After a run, this output is copied to that input's memory.
struct MutatedInput {
  int input = 0, output = 0;
  bool isInPlace = false; // the program writes the output where it reads the input
};

/// What every call hands out beside its outputs.
struct FixedOutput {
  std::string name;
  int64_t position = 0;            // among all that is handed out, these included
  std::optional<std::string> text; // none: None
};

struct SymbolInfo {
  std::string name;
  int64_t min = 0, max = INT64_MAX; // both included
};

/// A temporary; size and offset are empty in dynamic programs.
struct BufferInfo {
  int64_t begin = 0, end = 0; // dispatch steps, both included
  std::optional<int64_t> bytes, offset;
};

/// Of each `whole` consecutive elements `count`, from `begin` on.
struct PartOfTensor {
  int64_t begin = 0, count = 1, whole = 1;
};

/// A value of the model's graph that a tensor, or a part of it, holds, with its dimensions in
/// `order` (none: as they are).
struct SourceValue {
  int64_t number = 0;
  std::vector<Size> sizes; // of the value
  std::vector<int> order;
  PartOfTensor part = {}; // all of the tensor
};

/// A tensor that a dispatch's kernel is called with.
struct CallBuffer {
  DType dtype = DType::F32;
  std::vector<Size> sizes;
  std::vector<int> slots; // for each dimension which of the scalars is its size; -1: none
  bool isResult = false;
  std::vector<SourceValue> values;
};

/// How much one call of a dispatch computes and moves; unknown where nothing is said.
struct DispatchWork {
  Size flops, weightBytes, readBytes, writtenBytes;
  std::string arithmetic; // of most operations: "f32"
};

/// Code that a kernel has for some calls (docs/configurations.md).
struct VariantInfo {
  int64_t workersAtLeast = 0; // else the size has to be in between:
  int64_t sizeAtLeast = 0, sizeAtMost = INT64_MAX;
  std::string configuration; // for people
};

struct DispatchInfo {
  std::string name, kernel;
  std::vector<std::string> configured; // what its kernel was configured as; empty: as `kernel`
  std::string source, ops;
  std::string configuration; // of the kernel, for people
  Size variantSize; // what variants for small sizes are told apart by, if there may be some
  std::vector<VariantInfo> variants; // a call takes the first that it fits, or none
  int64_t step = -1;                 // as lifetimes of buffers count; -1: unknown
  DispatchWork work;
  std::vector<CallBuffer> buffers; // only of programs that were made to be checked

  /// The kernel whose configuration it has.
  const std::string &configuredAs() const { return configured.empty() ? kernel : configured[0]; }
};

/// A tile program as text.
struct ProgramText {
  std::string kernel, text;
};

struct WeightsInfo {
  bool isExternal = false;
  int64_t offset = 0; // in the file that holds the payload
  int64_t bytes = 0;
  std::string hash;             // contentHash of Seal.h, in hexadecimal
  std::vector<uint64_t> blocks; // hashes of its blocks
};

/// A kernel of the device code, and what the compiler says that it takes: of each thread, and of
/// each block.
struct DeviceKernelInfo {
  std::string name;
  size_t image = 0;
  int64_t sharedBytes = 0; // dynamic, at most
  int64_t registers = 0, staticSharedBytes = 0, spillBytes = 0;
};

/// Code for a device other than the CPU.
struct DeviceInfo {
  struct Image {
    int64_t offset = 0, bytes = 0; // in the section TW_DEVICE_SECTION
  };
  std::string architecture; // "sm_90a"
  std::vector<Image> images;
  std::vector<DeviceKernelInfo> kernels;
  std::vector<std::vector<std::string>> failures; // the messages of each record
  bool usesHost = false;                          // has dispatches that run on the host
  int64_t hostReads = 0;                          // places at which the host waits for a value
};

struct Metadata {
  int64_t format = 0, abi = 0;
  std::string compiler, model, target;
  bool isKernel = false; // a call of one kernel, which is called `model`
  std::string key;       // by which whoever had it compiled keeps it; or empty
  std::vector<std::string> cpuFeatures;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<FixedOutput> fixedOutputs; // by their positions
  std::vector<StateInfo> state;
  std::vector<MutatedInput> mutatedInputs;
  std::vector<SymbolInfo> symbols;
  std::vector<SymbolSolution> solutions; // solveInputs of the inputs
  bool isStatic = false;
  int64_t arenaBytes = 0, planBoundBytes = 0;
  int64_t workspaceBytes = 0; // of each worker; dynamic programs tell it in phase SIZES
  std::vector<BufferInfo> buffers;
  std::vector<DispatchInfo> dispatches;
  std::vector<ProgramText> programs; // of kernels, with the dispatches' buffers
  WeightsInfo weights;
  std::optional<DeviceInfo> device; // of a program of TW_DEVICE_ABI
  std::vector<std::string> sourceFiles;
};

/// The metadata format that this runtime reads.
inline constexpr int64_t metadataFormat = 4;

/// Parses the JSON of an artifact and checks that it makes sense by itself: known versions, dtypes,
/// indices in range, sizes that fit 63 bits, state inside the payload, a static plan inside its
/// arena. Errors: RUNTIME_3 (damaged) and RUNTIME_4 (another version).
Result<Metadata> parseMetadata(std::string_view json);

} // namespace tw::rt
