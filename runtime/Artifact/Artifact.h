// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads an artifact from bytes: nothing here runs its code, so `inspect` works on artifacts of
// other machines and on hostile files.
#pragma once
#include "Support/InstructionSet.h"
#include "Support/MemoryFile.h"
#include "runtime/AlignedBuffer.h"
#include "runtime/Artifact/MappedFile.h"
#include "runtime/Artifact/Metadata.h"
#include <cstdint>
#include <span>
#include <string>

namespace tw::rt {

/// Finds and checks the metadata of an artifact: an ELF library for any kind of CPU whose
/// headers, segments and sections lie inside the file, with one `.tilewright` section, the seal of
/// all before the weights, and (weights inside) a payload that ends with the file. `bytes` is the
/// file, or its start up to at least where the weights begin; the file has `fileBytes`. Errors:
/// RUNTIME_2 to RUNTIME_4.
struct SealedMetadata : Metadata {
  uint64_t seal = 0, sealedBytes = 0;
  Architecture architecture = hostArchitecture; // of the code for CPUs
  /// What the code for CPUs needs.
  InstructionSet cpu() const { return {architecture, cpuFeatures}; }
};
Result<SealedMetadata> parseArtifact(std::span<const uint8_t> bytes, uint64_t fileBytes);

/// How an artifact is opened.
struct OpenOptions {
  bool verify = false;      // check the weights against their hashes, which reads all of them
  bool copyWeights = false; // to memory, which no change of the file reaches; else they are mapped
};

/// An artifact: a private copy of its code, and its payload.
struct Artifact {
  std::string path;
  SealedMetadata metadata;
  MemoryFile code;      // all before the weights; nobody can change it
  MappedFile codeBytes; // the same as bytes
  MappedFile holder;    // the file with the payload, or empty
  AlignedBuffer copied; // the payload, if it was to be copied
  /// The payload: 64-byte aligned.
  std::span<const uint8_t> weights() const;
  /// The images of the device code, in the order of the metadata.
  std::vector<std::span<const uint8_t>> images;
};

/// Opens the artifact at `path`, and OUT.so.weights next to it if it has one; where `path` is a
/// symbolic link, also next to what that leads to. Code and metadata are always checked against the
/// seal, a file of weights against the artifact. Errors: RUNTIME_1 to RUNTIME_4, RUNTIME_6,
/// RUNTIME_17.
Result<Artifact> openArtifact(const std::string &path, const OpenOptions &options = {});

} // namespace tw::rt
