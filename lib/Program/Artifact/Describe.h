// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The metadata of an artifact (docs/artifact.md), from @main and what the host entry needs.
#pragma once
#include "Program/Artifact/Payload.h"
#include "Program/Artifact/WorkText.h"
#include "Program/Host/HostEntry.h"
#include <string>

namespace tw {

class JsonWriter;

/// The device code of a program, as it is in its section.
struct DeviceImages {
  struct Image {
    int64_t offset = 0, bytes = 0;
    std::shared_ptr<const target::DeviceCode> code;
  };
  std::vector<Image> images;
  std::string bytes; // all of them
};

/// What the metadata says beside what is in the program itself.
struct ArtifactFacts {
  std::string model, target;
  std::vector<std::string> cpuFeatures;
  bool hasExternalWeights = false;
  std::string architecture = {}; // of device code; empty: the program is for the CPU
  DeviceImages images = {};
  std::string key = {}; // by which it is kept
  bool isKernel = false;
};

/// Names and fused operations of a kernel, for people; read before code generation.
struct KernelSummary {
  std::string name, ops;
  std::string program = {}; // the text of a tile program, where it is to be reported
  std::optional<KernelCost> cost = std::nullopt; // of a tile program
};
KernelSummary describeKernel(mlir::Operation *kernel);

/// The model's nodes that a kernel computes, each once; of a function without places the names of
/// operations, of a tile program its own.
std::vector<std::string> operatorsOf(mlir::Operation *kernel);
/// "linear, relu, 3 more": the first few of them.
std::string operatorsText(const std::vector<std::string> &operators);

/// The JSON text. Place and hashes of the payload are not known yet: zeros stand for them, which
/// patchPayload overwrites in the linked library.
std::string describeProgram(mlir::func::FuncOp main, const HostProgram &program,
                            const llvm::StringMap<KernelSummary> &kernels, Payload &payload,
                            const ArtifactFacts &facts);

/// Puts the payload's place and the hashes of its blocks into the metadata; false when there is no
/// room for as many.
bool patchPayload(llvm::MutableArrayRef<char> metadata, int64_t offset,
                  llvm::ArrayRef<uint64_t> blocks);

/// "inputs", "outputs", "state", "symbols" as members of an open JSON object. `payload` may be null
/// (inspect): then state has no offsets.
void describeSignature(JsonWriter &json, mlir::func::FuncOp main, Payload *payload);

} // namespace tw
