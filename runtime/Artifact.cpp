// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact.h"
#include "runtime/Elf.h"
#include "runtime/PayloadHash.h"
#include "runtime/ProgramABI.h"
#include <cstring>
#include <fmt/format.h>

namespace tw::rt {

static constexpr std::string_view magic = "TWPROG01";
static constexpr uint64_t maxMetadataBytes = uint64_t(64) << 20;

static Diagnostic damaged(std::string why) {
  return {Code::RUNTIME_3,
          "the artifact is damaged: " + std::move(why),
          {},
          {},
          "copy or compile it again"};
}

/// The JSON in the section's contents: magic, length, text.
static Result<std::string_view> metadataText(std::span<const uint8_t> section) {
  constexpr size_t prefix = 16;
  if (section.size() < prefix || std::memcmp(section.data(), magic.data(), magic.size()) != 0)
    return damaged(
        fmt::format("its {} section does not start with {}", TW_METADATA_SECTION, magic));
  uint64_t length;
  std::memcpy(&length, section.data() + magic.size(), sizeof length);
  if (length > section.size() - prefix || length > maxMetadataBytes)
    return damaged(fmt::format("its metadata says it has {} bytes, but there are {}", length,
                               section.size() - prefix));
  return std::string_view(reinterpret_cast<const char *>(section.data()) + prefix, length);
}

/// Checks where a payload inside the file lies.
static Status checkInside(const WeightsInfo &weights, uint64_t imageEnd, uint64_t fileBytes) {
  auto offset = static_cast<uint64_t>(weights.offset);
  if (offset % 4096 != 0 || offset < imageEnd)
    return damaged(fmt::format("its weights are said to start at offset {}, which is not a page "
                               "boundary behind the code's {} bytes",
                               offset, imageEnd));
  if (offset > fileBytes || static_cast<uint64_t>(weights.bytes) > fileBytes - offset)
    return damaged(fmt::format("its weights take {} bytes at offset {}, but the file has {} bytes",
                               weights.bytes, offset, fileBytes));
  return {};
}

Result<Metadata> parseArtifact(std::span<const uint8_t> bytes) {
  TW_ASSIGN(ElfImage image, parseElf(bytes));
  if (!image.metadata)
    return Diagnostic{Code::RUNTIME_2,
                      fmt::format("not a Tilewright artifact: the library has no {} section",
                                  TW_METADATA_SECTION),
                      {},
                      {},
                      "artifacts are made by `tilewright compile MODEL -o OUT.so`"};
  TW_ASSIGN(std::string_view text, metadataText(*image.metadata));
  TW_ASSIGN(Metadata metadata, parseMetadata(text));
  if (metadata.weights.bytes > 0 && !metadata.weights.beside)
    TW_TRY(checkInside(metadata.weights, image.end, bytes.size()));
  return metadata;
}

std::span<const uint8_t> Artifact::weights() const {
  auto bytes = static_cast<size_t>(metadata.weights.bytes);
  if (bytes == 0)
    return {};
  if (metadata.weights.beside)
    return beside.bytes();
  return image.bytes().subspan(metadata.weights.offset, bytes);
}

/// Maps OUT.so.weights and checks that it has the size the artifact says.
static Status openBeside(Artifact &artifact) {
  std::string path = artifact.path + ".weights";
  auto file = MappedFile::open(path, Code::RUNTIME_6, "artifact's weights");
  if (!file) {
    Diagnostic error = std::move(file).error();
    error.help = "the artifact was made with --weights=beside: keep both files together";
    return error;
  }
  artifact.beside = *std::move(file);
  size_t expected = artifact.metadata.weights.bytes, actual = artifact.beside.bytes().size();
  if (actual != expected)
    return Diagnostic{
        Code::RUNTIME_6,
        fmt::format("{} has {} bytes, but the artifact's weights have {}", path, actual, expected),
        path,
        {},
        "it belongs to another artifact or was cut off: copy both files again"};
  return {};
}

static Status checkHash(const Artifact &artifact) {
  const std::string &expected = artifact.metadata.weights.hash;
  if (expected.empty() || artifact.weights().empty())
    return {};
  std::string actual = payloadHash(artifact.weights());
  if (actual == expected)
    return {};
  return Diagnostic{
      Code::RUNTIME_6,
      fmt::format("the weights have the hash {}, but the artifact expects {}", actual, expected),
      artifact.path + (artifact.metadata.weights.beside ? ".weights" : ""),
      {},
      "they belong to another artifact or are damaged: copy or compile it again"};
}

Result<Artifact> openArtifact(const std::string &path) {
  Artifact artifact;
  artifact.path = path;
  TW_ASSIGN(artifact.image, MappedFile::open(path, Code::RUNTIME_1, "artifact"));
  auto metadata = parseArtifact(artifact.image.bytes());
  if (!metadata) {
    Diagnostic error = std::move(metadata).error();
    error.location = path;
    return error;
  }
  artifact.metadata = *std::move(metadata);
  if (artifact.metadata.weights.bytes > 0 && artifact.metadata.weights.beside)
    TW_TRY(openBeside(artifact));
  TW_TRY(checkHash(artifact));
  return artifact;
}

} // namespace tw::rt
