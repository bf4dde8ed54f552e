// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/Elf.h"
#include "runtime/ProgramABI.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>

namespace tw::rt {

static_assert(std::endian::native == std::endian::little);

static Diagnostic notAnArtifact(std::string why) {
  return {Code::RUNTIME_2,
          "not a Tilewright artifact: " + std::move(why),
          {},
          {},
          "artifacts are made by `tilewright compile MODEL -o OUT.so`, in Python by Program.save"};
}

static Diagnostic damaged(std::string why) {
  return {Code::RUNTIME_3,
          "the artifact is damaged: " + std::move(why),
          {},
          {},
          "copy or compile it again"};
}

namespace {

class ElfParser {
public:
  explicit ElfParser(std::span<const uint8_t> bytes) : bytes(bytes) {}

  Result<ElfImage> run() {
    TW_TRY(readHeader());
    TW_TRY(readSegments());
    TW_TRY(readSections());
    return std::move(image);
  }

private:
  bool inside(uint64_t offset, uint64_t size) const {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  }
  /// A copy of the structure at `offset`, which need not be aligned and must be inside.
  template <typename T>
  T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  /// Checks that a part of the file is in it and counts it to the image.
  Status claim(const char *what, uint64_t offset, uint64_t size) {
    if (!inside(offset, size))
      return damaged(fmt::format("its {} take {} bytes at offset {}, but the file has {} bytes",
                                 what, size, offset, bytes.size()));
    image.end = std::max(image.end, offset + size);
    return {};
  }

  Status readHeader() {
    if (!inside(0, SELFMAG) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
      return notAnArtifact("the file is not an ELF library");
    if (!inside(0, sizeof header))
      return damaged(fmt::format("the file ends after {} bytes", bytes.size()));
    header = at<Elf64_Ehdr>(0);
    std::optional<Architecture> architecture = architectureOfElf(header.e_machine);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        !architecture)
      return notAnArtifact(fmt::format(
          "the ELF file is for machine {}, for which no artifacts are made", header.e_machine));
    image.architecture = *architecture;
    if (header.e_type != ET_DYN)
      return notAnArtifact("the ELF file is not a shared library");
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_shentsize != sizeof(Elf64_Shdr))
      return damaged("its ELF header gives impossible header sizes");
    TW_TRY(claim("program headers", header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)));
    image.headerBytes = image.end;
    return claim("section headers", header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  }

  Status readSegments() {
    for (uint64_t i = 0; i < header.e_phnum; ++i) {
      auto segment = at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
      TW_TRY(claim("segments", segment.p_offset, segment.p_filesz));
      if (segment.p_type == PT_LOAD)
        image.loaded.push_back(
            {segment.p_offset, segment.p_vaddr, segment.p_filesz, (segment.p_flags & PF_W) != 0});
    }
    return {};
  }

  Elf64_Shdr section(uint64_t index) const {
    return at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  }

  Status readSections() {
    if (header.e_shstrndx >= header.e_shnum)
      return notAnArtifact("the ELF file has no section names");
    Elf64_Shdr strings = section(header.e_shstrndx);
    TW_TRY(claim("section names", strings.sh_offset, strings.sh_size));
    std::string_view names(reinterpret_cast<const char *>(bytes.data()) + strings.sh_offset,
                           strings.sh_size);
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr s = section(i);
      if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL)
        continue;
      TW_TRY(claim("sections", s.sh_offset, s.sh_size));
      if (s.sh_name < names.size() && hasName(names.substr(s.sh_name), TW_DEVICE_SECTION))
        image.deviceCode = bytes.subspan(s.sh_offset, s.sh_size);
      if (s.sh_name >= names.size() || !hasName(names.substr(s.sh_name), TW_METADATA_SECTION))
        continue;
      if (image.metadata)
        return damaged("it has two " TW_METADATA_SECTION " sections");
      image.metadata = bytes.subspan(s.sh_offset, s.sh_size);
    }
    return {};
  }

  /// Whether the NUL-terminated string at the start of `text` is `name`.
  static bool hasName(std::string_view text, std::string_view name) {
    return text.size() > name.size() && text.substr(0, name.size()) == name &&
           text[name.size()] == '\0';
  }

  std::span<const uint8_t> bytes;
  Elf64_Ehdr header{};
  ElfImage image;
};

} // namespace

Result<ElfImage> parseElf(std::span<const uint8_t> bytes) { return ElfParser(bytes).run(); }

} // namespace tw::rt
