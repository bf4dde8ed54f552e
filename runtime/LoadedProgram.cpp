// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/LoadedProgram.h"
#include "runtime/Artifact/Elf.h"
#include "runtime/CpuFeatures.h"
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

namespace tw::rt {

/// What runs the code of a target: the start of the target's name, and of its devices'.
struct TargetDevice {
  std::string_view target, device;
};
static constexpr TargetDevice targetDevices[] = {
    {"cpu", "cpu"}, {"reference", "cpu"}, {"nvidia", "cuda"}};

/// Whether `name` is `kind`, or `kind` with a colon and more.
static bool isOfKind(std::string_view name, std::string_view kind) {
  return name.starts_with(kind) && (name.size() == kind.size() || name[kind.size()] == ':');
}

/// Finds the device; an artifact for another kind is refused before a driver is looked for.
Status LoadedProgram::openDevice(std::string_view name) {
  const std::string &target = metadata().target;
  std::string_view kind;
  for (const TargetDevice &each : targetDevices)
    if (isOfKind(target, each.target))
      kind = each.device;
  if (kind.empty() || (kind != "cpu") != metadata().device.has_value())
    return Diagnostic{Code::RUNTIME_8, fmt::format("the artifact was compiled for {}, which this "
                                                   "runtime has no device for",
                                                   target)};
  if (name.empty())
    name = kind;
  if (!isOfKind(name, kind) && (isOfKind(name, "cpu") || isOfKind(name, "cuda")))
    return Diagnostic{
        Code::RUNTIME_8,
        fmt::format("the artifact was compiled for {}, which device \"{}\" cannot run", target,
                    name),
        {},
        {},
        fmt::format("run it on {}, or compile the model again for that device", kind)};
  TW_ASSIGN(ownDevice, rt::openDevice(name));
  return metadata().device ? ownDevice->checkArchitecture(metadata().device->architecture)
                           : Status();
}

/// Uploads the weights and the device code.
Status LoadedProgram::fillDevice() {
  Device &device = *ownDevice;
  EnteredDevice entered(device);
  TW_TRY(entered.status);
  if (!device.isHost() && metadata().weights.bytes > 0) {
    TW_TRY(deviceWeights.reserve(device, "the weights", metadata().weights.bytes));
    TW_TRY(device.copy(Copy::ToDevice, deviceWeights.data(), hostWeights(),
                       metadata().weights.bytes, Stream()));
    TW_TRY(device.wait(Stream()));
  }
  std::vector<KernelPlace> places;
  if (metadata().device)
    for (const DeviceKernelInfo &kernel : metadata().device->kernels)
      places.push_back({kernel.name, kernel.image, kernel.sharedBytes});
  TW_ASSIGN(deviceCode, device.load(artifact.images, places));
  return {};
}

Result<std::shared_ptr<const LoadedProgram>>
LoadedProgram::load(const std::string &path, std::string_view device, const OpenOptions &options) {
  TW_ASSIGN(Artifact artifact, openArtifact(path, options));
  std::shared_ptr<LoadedProgram> program(new LoadedProgram(std::move(artifact)));
  auto prepare = [&]() -> Status {
    TW_TRY(program->openDevice(device));
    TW_TRY(requireInstructionSet(program->artifact.metadata.cpu()));
    TW_TRY(program->mapCode());
    return program->fillDevice();
  };
  if (Status status = prepare(); !status) {
    Diagnostic error = std::move(status).error();
    error.location = path;
    return error;
  }
  return std::shared_ptr<const LoadedProgram>(std::move(program));
}

LoadedProgram::~LoadedProgram() {
  if (library)
    dlclose(library);
}

Status LoadedProgram::mapCode() {
  auto refuse = [&](const char *why) {
    return Diagnostic{Code::RUNTIME_7, fmt::format("cannot load the artifact's code: {}",
                                                   why ? why : "unknown reason")};
  };
  library = dlopen(artifact.code.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return refuse(dlerror());
  function = reinterpret_cast<tw_program_entry>(dlsym(library, TW_PROGRAM_SYMBOL));
  if (!function)
    return refuse("it does not export " TW_PROGRAM_SYMBOL);
  return checkMappedCode();
}

/// Whether the library that is mapped at `base` is the one in `file`. The headers come first: when
/// they are equal, so are the places of all segments.
static bool isMapped(uintptr_t base, const ElfImage &image, std::span<const uint8_t> file) {
  constexpr uint64_t page = 4096;
  auto same = [&](uint64_t address, uint64_t offset, uint64_t bytes) {
    return std::memcmp(reinterpret_cast<const void *>(base + address), file.data() + offset,
                       bytes) == 0;
  };
  if (image.loaded.empty() || image.loaded[0].offset != 0 || image.headerBytes > page ||
      !same(image.loaded[0].address, 0, image.headerBytes))
    return false;
  for (const ElfSegment &segment : image.loaded)
    if (!segment.writable && !same(segment.address, segment.offset, segment.fileBytes))
      return false;
  return true;
}

/// dlopen hands out what it already has under the same path. The descriptor in ours is open as long
/// as the library, unless the process has closed it behind our back and it is another file's now:
/// compares the mapped code with the copy that the metadata came from.
Status LoadedProgram::checkMappedCode() const {
  link_map *map = nullptr;
  TW_ASSIGN(ElfImage image, parseElf(artifact.codeBytes.bytes()));
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void *>(&map)) == 0 &&
      isMapped(map->l_addr, image, artifact.codeBytes.bytes()))
    return {};
  return Diagnostic{Code::RUNTIME_7,
                    "another artifact was mapped in its place",
                    {},
                    {},
                    "do not close descriptors that are not your own while programs are loaded"};
}

} // namespace tw::rt
