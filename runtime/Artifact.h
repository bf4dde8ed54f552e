// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads an artifact from bytes: nothing here maps or runs its code, so `inspect` works on artifacts
// of other machines and on hostile files.
#pragma once
#include "runtime/MappedFile.h"
#include "runtime/Metadata.h"
#include <cstdint>
#include <span>
#include <string>

namespace tw::rt {

/// Finds and checks the metadata of an artifact's bytes: an ELF library for this kind of machine
/// whose headers, segments and sections lie inside the file, with one `.tilewright` section, and
/// (weights inside) a payload behind the image and inside the file. Errors: RUNTIME_2 to RUNTIME_4.
Result<Metadata> parseArtifact(std::span<const uint8_t> bytes);

/// An artifact and its payload, mapped read-only.
struct Artifact {
  std::string path;
  Metadata metadata;
  MappedFile image;
  MappedFile beside; // OUT.so.weights, or empty
  /// The payload: 64-byte aligned.
  std::span<const uint8_t> weights() const;
};

/// Opens the artifact at `path`, and OUT.so.weights beside it if it has one; checks the payload's
/// size and hash. Errors: RUNTIME_1 to RUNTIME_4, RUNTIME_6.
Result<Artifact> openArtifact(const std::string &path);

} // namespace tw::rt
