// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An artifact whose code is mapped and ready to call. Immutable; shared by instances.
#pragma once
#include "runtime/Artifact.h"
#include "runtime/ProgramABI.h"
#include <memory>
#include <string>
#include <string_view>

namespace tw::rt {

class LoadedProgram {
public:
  /// Opens the artifact, checks that this machine can run it, then maps its code. Errors: those of
  /// openArtifact, RUNTIME_5 (CPU), RUNTIME_7 (code), RUNTIME_8 (device).
  static Result<std::shared_ptr<const LoadedProgram>>
  load(const std::string &path, std::string_view device, const OpenOptions &options);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram &) = delete;
  LoadedProgram &operator=(const LoadedProgram &) = delete;

  const Metadata &metadata() const { return artifact.metadata; }
  const uint8_t *weights() const { return artifact.weights().data(); }
  tw_program_entry entry() const { return function; }

private:
  explicit LoadedProgram(Artifact artifact) : artifact(std::move(artifact)) {}
  Status mapCode();
  Status checkMappedCode() const;

  Artifact artifact;
  void *library = nullptr;
  tw_program_entry function = nullptr;
};

} // namespace tw::rt
