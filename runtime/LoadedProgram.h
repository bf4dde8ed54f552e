// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An artifact whose code is mapped and ready to call, on its device. Immutable; shared by
// instances.
#pragma once
#include "runtime/Artifact/Artifact.h"
#include "runtime/Device/DeviceBuffer.h"
#include "runtime/ProgramABI.h"
#include <memory>
#include <string>
#include <string_view>

namespace tw::rt {

class LoadedProgram {
public:
  /// Opens the artifact, checks that this machine can run it, then maps its code and gives a device
  /// its weights and code. No device: the one that the artifact was compiled for. Errors: those of
  /// openArtifact, RUNTIME_5 (CPU), RUNTIME_7 (code), RUNTIME_8 and RUNTIME_20 (device),
  /// RUNTIME_17, RUNTIME_22.
  static Result<std::shared_ptr<const LoadedProgram>>
  load(const std::string &path, std::string_view device, const OpenOptions &options);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram &) = delete;
  LoadedProgram &operator=(const LoadedProgram &) = delete;

  const Metadata &metadata() const { return artifact.metadata; }
  /// The payload in the device's memory, and in the host's.
  const uint8_t *weights() const {
    return device().isHost() ? hostWeights() : deviceWeights.data();
  }
  const uint8_t *hostWeights() const { return artifact.weights().data(); }
  tw_program_entry entry() const { return function; }
  Device &device() const { return *ownDevice; }
  /// By their numbers in the metadata.
  std::span<const Kernel> kernels() const { return deviceCode->kernels; }

private:
  explicit LoadedProgram(Artifact artifact) : artifact(std::move(artifact)) {}
  Status mapCode();
  Status checkMappedCode() const;
  Status openDevice(std::string_view name);
  Status fillDevice();

  Artifact artifact;
  std::shared_ptr<Device> ownDevice;
  DeviceBuffer deviceWeights;
  std::unique_ptr<DeviceCode> deviceCode;
  void *library = nullptr;
  tw_program_entry function = nullptr;
};

} // namespace tw::rt
