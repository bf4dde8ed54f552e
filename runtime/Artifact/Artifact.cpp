// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/Artifact.h"
#include "runtime/Artifact/Elf.h"
#include "runtime/Artifact/Seal.h"
#include "runtime/ProgramABI.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

namespace tw::rt {

static constexpr uint64_t maxMetadataBytes = uint64_t(64) << 20, pageBytes = 4096;

static Diagnostic damaged(std::string why) {
  return {Code::RUNTIME_3,
          "the artifact is damaged: " + std::move(why),
          {},
          {},
          "copy or compile it again"};
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

static Diagnostic otherFormat(std::string_view version) {
  return {Code::RUNTIME_4,
          fmt::format("the artifact has format {}, but this runtime reads format {}", version,
                      metadataMagic.substr(6)),
          {},
          {},
          "compile the model again with this version, or use the runtime of the other one"};
}

static Result<MetadataPrefix> readPrefix(std::span<const uint8_t> section) {
  MetadataPrefix prefix;
  std::string_view start(reinterpret_cast<const char *>(section.data()),
                         std::min(section.size(), sizeof prefix.magic));
  std::string_view family = metadataMagic.substr(0, 6),
                   version = start.substr(std::min<size_t>(6, start.size()));
  bool isOther = version.size() == 2 && version != metadataMagic.substr(6) &&
                 std::ranges::all_of(version, [](char c) { return c >= '0' && c <= '9'; });
  if (start.starts_with(family) && isOther)
    return otherFormat(version);
  if (section.size() < sizeof prefix || start != metadataMagic)
    return damaged(
        fmt::format("its {} section does not start with {}", TW_METADATA_SECTION, metadataMagic));
  std::memcpy(&prefix, section.data(), sizeof prefix);
  if (prefix.jsonBytes > section.size() - sizeof prefix || prefix.jsonBytes > maxMetadataBytes)
    return damaged(fmt::format("its metadata says it has {} bytes, but there are {}",
                               prefix.jsonBytes, section.size() - sizeof prefix));
  return prefix;
}

/// Checks where a payload inside the file lies.
static Status checkInside(const SealedMetadata &metadata, uint64_t imageEnd, uint64_t fileBytes) {
  auto offset = static_cast<uint64_t>(metadata.weights.offset);
  if (offset % pageBytes != 0 || offset < imageEnd || offset != metadata.sealedBytes)
    return damaged(
        fmt::format("its weights are said to start at offset {}, but what is sealed ends "
                    "at {}",
                    offset, metadata.sealedBytes));
  auto bytes = static_cast<uint64_t>(metadata.weights.bytes);
  if (offset > fileBytes || bytes != fileBytes - offset)
    return damaged(fmt::format("its weights take {} bytes at offset {}, but the file has {} bytes",
                               bytes, offset, fileBytes));
  return {};
}

/// The seal over what is before the weights.
static Status checkSeal(std::span<const uint8_t> bytes, size_t at, const MetadataPrefix &prefix,
                        uint64_t imageEnd) {
  if (prefix.sealedBytes < imageEnd || prefix.sealedBytes > bytes.size())
    return damaged(fmt::format("its seal is over {} bytes, but the code has {} and the file {}",
                               prefix.sealedBytes, imageEnd, bytes.size()));
  uint64_t actual[] = {sealOf(bytes.first(prefix.sealedBytes), at)}, expected[] = {prefix.seal};
  if (actual[0] == expected[0])
    return {};
  return damaged(fmt::format("its code and metadata have the hash {}, but their seal says {}",
                             hashText(actual), hashText(expected)));
}

/// Checks that the images of the device code lie in its section.
static Status checkImages(const Metadata &metadata, const ElfImage &image) {
  auto size = static_cast<int64_t>(image.deviceCode.size());
  if (metadata.device)
    for (const DeviceInfo::Image &each : metadata.device->images)
      if (each.offset > size || each.bytes > size - each.offset)
        return damaged(fmt::format("an image of its device code takes {} bytes at offset {}, but "
                                   "its {} section has {} bytes",
                                   each.bytes, each.offset, TW_DEVICE_SECTION, size));
  return {};
}

Result<SealedMetadata> parseArtifact(std::span<const uint8_t> bytes, uint64_t fileBytes) {
  TW_ASSIGN(ElfImage image, parseElf(bytes));
  if (!image.metadata)
    return Diagnostic{Code::RUNTIME_2,
                      fmt::format("not a Tilewright artifact: the library has no {} section",
                                  TW_METADATA_SECTION),
                      {},
                      {},
                      "artifacts are made by `tilewright compile MODEL -o OUT.so`, in Python by "
                      "Program.save"};
  std::span<const uint8_t> section = *image.metadata;
  TW_ASSIGN(MetadataPrefix prefix, readPrefix(section));
  TW_TRY(checkSeal(bytes, size_t(section.data() - bytes.data()), prefix, image.end));
  const auto *json = reinterpret_cast<const char *>(section.data()) + sizeof prefix;
  TW_ASSIGN(Metadata parsed, parseMetadata({json, prefix.jsonBytes}));
  SealedMetadata metadata{std::move(parsed), prefix.seal, prefix.sealedBytes, image.architecture};
  TW_TRY(checkImages(metadata, image));
  if (metadata.weights.bytes > 0 && !metadata.weights.isExternal)
    TW_TRY(checkInside(metadata, image.end, fileBytes));
  else if (metadata.sealedBytes != fileBytes)
    return damaged(
        fmt::format("it ends at {} bytes, but the file has {}", metadata.sealedBytes, fileBytes));
  return metadata;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

std::span<const uint8_t> Artifact::weights() const {
  auto bytes = static_cast<size_t>(metadata.weights.bytes);
  if (bytes == 0)
    return {};
  if (copied.data())
    return {copied.data(), bytes};
  return holder.bytes().subspan(metadata.weights.offset, bytes);
}

/// OUT.so.weights next to the path, or next to what it links to.
static Result<OpenFile> openBeside(const std::string &path) {
  std::string name = path + ".weights";
  std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  if (access(name.c_str(), F_OK) != 0 && real &&
      access((real.get() + std::string(".weights")).c_str(), F_OK) == 0)
    name = real.get() + std::string(".weights");
  auto file = OpenFile::open(name, Code::RUNTIME_6, "artifact's weights");
  if (file || access(name.c_str(), F_OK) == 0)
    return file;
  Diagnostic error = std::move(file).error();
  error.help = "the artifact was made with --weights=external: keep both files together";
  return error;
}

/// Is that file of weights the artifact's own?
static Status checkBeside(const Artifact &artifact, const OpenFile &file, const std::string &path) {
  const WeightsInfo &weights = artifact.metadata.weights;
  auto refuse = [&](std::string what) {
    return Diagnostic{Code::RUNTIME_6,
                      path + " " + std::move(what),
                      path,
                      {},
                      "it belongs to another artifact, or is damaged: copy both files again"};
  };
  uint64_t expected = uint64_t(weights.bytes + weights.offset);
  if (file.bytes() != expected)
    return refuse(fmt::format("has {} bytes, but with the artifact's weights it would have {}",
                              file.bytes(), expected));
  std::vector<uint8_t> page(weightsHeaderBytes);
  TW_TRY(file.read(0, page));
  auto header = parseWeightsHeader(page);
  if (!header)
    return refuse("is no file of weights, or its first page is damaged");
  uint64_t belongs[] = {header->artifact}, seal[] = {artifact.metadata.seal},
           holds[] = {header->payload};
  if (header->artifact != artifact.metadata.seal)
    return refuse(fmt::format("belongs to the artifact {}, but this is {}", hashText(belongs),
                              hashText(seal)));
  if (hashText(holds) != weights.hash)
    return refuse(fmt::format("has weights with the hash {}, but the artifact's have {}",
                              hashText(holds), weights.hash));
  return {};
}

/// All weights against their hashes.
static Status verify(const Artifact &artifact, const std::string &path) {
  const WeightsInfo &weights = artifact.metadata.weights;
  std::vector<uint64_t> actual = hashBlocks(artifact.weights());
  size_t bad = 0, count = 0;
  for (size_t i = actual.size(); i-- > 0;)
    if (actual[i] != weights.blocks[i])
      bad = i, ++count;
  if (count == 0)
    return {};
  int64_t begin = weights.offset + int64_t(bad) * weightBlockBytes;
  return Diagnostic{Code::RUNTIME_6,
                    fmt::format("the weights are damaged: {} of {} blocks have another hash than "
                                "the artifact says, first the one at {} in the file",
                                count, actual.size(), begin),
                    path,
                    {},
                    "copy or compile the artifact again"};
}

static Status openWeights(Artifact &artifact, const OpenFile &file, const std::string &path,
                          const OpenOptions &options) {
  const WeightsInfo &weights = artifact.metadata.weights;
  if (options.copyWeights) {
    if (!artifact.copied.reserve(weights.bytes))
      return Diagnostic{Code::RUNTIME_17, fmt::format("there is not enough memory for a copy of "
                                                      "the weights: {} bytes",
                                                      weights.bytes)};
    TW_TRY(file.read(uint64_t(weights.offset), {artifact.copied.data(), size_t(weights.bytes)}));
  } else {
    TW_ASSIGN(artifact.holder, file.map());
  }
  return options.verify ? verify(artifact, path) : Status();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// How much of the file the image and the padding behind it take, at most: linkers put the section
/// headers last.
static Result<uint64_t> imageBytes(const OpenFile &file) {
  constexpr uint64_t mostPadding = 1 << 16;
  Elf64_Ehdr header{};
  uint64_t bytes = std::min<uint64_t>(file.bytes(), sizeof header);
  TW_TRY(file.read(0, {reinterpret_cast<uint8_t *>(&header), bytes}));
  uint64_t sections = uint64_t(header.e_shnum) * header.e_shentsize, end = 0;
  if (__builtin_add_overflow(header.e_shoff, sections + mostPadding, &end))
    return file.bytes();
  return std::min(file.bytes(), end);
}

/// Copies the code to a file in memory, which dlopen takes and nobody changes.
static Status copyCode(Artifact &artifact, const OpenFile &file) {
  auto refuse = [](int error) {
    Diagnostic problem{error == ENOMEM ? Code::RUNTIME_17 : Code::RUNTIME_7,
                       fmt::format("cannot keep a copy of the artifact's code in memory: {}",
                                   std::strerror(error))};
    if (error == EMFILE)
      problem.help = "raise the limit of open files: ulimit -n";
    if (error == EFBIG) // it counts for files in memory, too
      problem.help = "raise the limit of a file's size: ulimit -f";
    return problem;
  };
  TW_ASSIGN(uint64_t bytes, imageBytes(file));
  artifact.code = MemoryFile("tilewright");
  if (!artifact.code.ok())
    return refuse(errno);
  std::vector<uint8_t> part(size_t(1) << 18);
  for (uint64_t done = 0; done < bytes; done += part.size()) {
    part.resize(std::min<uint64_t>(part.size(), bytes - done));
    TW_TRY(file.read(done, part));
    if (!artifact.code.append(std::as_bytes(std::span(part))))
      return refuse(errno);
  }
  artifact.code.seal(); // an old kernel may not know it: the copy is private all the same
  auto mapped = MappedFile::map(artifact.code.descriptor(), bytes);
  if (!mapped)
    return refuse(errno);
  artifact.codeBytes = *std::move(mapped);
  return {};
}

Result<Artifact> openArtifact(const std::string &path, const OpenOptions &options) {
  Artifact artifact;
  artifact.path = path;
  TW_ASSIGN(OpenFile file, OpenFile::open(path, Code::RUNTIME_1, "artifact"));
  TW_TRY(copyCode(artifact, file));
  auto metadata = parseArtifact(artifact.codeBytes.bytes(), file.bytes());
  if (!metadata) {
    Diagnostic error = std::move(metadata).error();
    error.location = path;
    return error;
  }
  artifact.metadata = *std::move(metadata);
  if (const auto &device = artifact.metadata.device) {
    TW_ASSIGN(ElfImage image, parseElf(artifact.codeBytes.bytes()));
    for (const DeviceInfo::Image &each : device->images) // checked by parseArtifact
      artifact.images.push_back(image.deviceCode.subspan(size_t(each.offset), size_t(each.bytes)));
  }
  const WeightsInfo &weights = artifact.metadata.weights;
  if (weights.bytes == 0)
    return artifact;
  if (!weights.isExternal) {
    TW_TRY(openWeights(artifact, file, path, options));
    return artifact;
  }
  TW_ASSIGN(OpenFile beside, openBeside(path));
  TW_TRY(checkBeside(artifact, beside, path + ".weights"));
  TW_TRY(openWeights(artifact, beside, path + ".weights", options));
  return artifact;
}

} // namespace tw::rt
