// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifacts made of bytes, for tests of what reads them.
#pragma once
#include "runtime/Artifact/Seal.h"
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::testing {

/// The smallest ELF library with a metadata section: three sections and no code.
inline std::string elfAround(std::string_view section) {
  static constexpr char names[] = "\0.tilewright\0.shstrtab";
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  header.e_shoff = sizeof header;
  Elf64_Shdr sections[3] = {};
  uint64_t at = sizeof header + sizeof sections;
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = at;
  sections[1].sh_size = section.size();
  sections[2].sh_name = 13;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = at + section.size();
  sections[2].sh_size = sizeof names;
  std::string bytes(reinterpret_cast<char *>(&header), sizeof header);
  bytes.append(reinterpret_cast<char *>(sections), sizeof sections);
  bytes.append(section);
  bytes.append(names, sizeof names);
  return bytes;
}

/// The metadata section's contents, without a seal.
inline std::string sectionOf(std::string_view json) {
  rt::MetadataPrefix prefix = {{}, json.size(), 0, 0};
  std::memcpy(prefix.magic, rt::metadataMagic.data(), sizeof prefix.magic);
  std::string section(reinterpret_cast<char *>(&prefix), sizeof prefix);
  section.append(json);
  return section;
}

inline std::span<const uint8_t> asBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// The number behind `key` in a JSON text; 0 when it is not there.
inline uint64_t numberBehind(std::string_view json, std::string_view key) {
  size_t at = json.find(key);
  return at == json.npos ? 0 : std::strtoull(json.data() + at + key.size(), nullptr, 10);
}

/// Puts hexadecimal digits behind `key`, if it is there and so many digits are.
inline void setDigits(std::string &bytes, std::string_view key, const std::string &digits) {
  if (size_t at = bytes.find(key); at != bytes.npos)
    bytes.replace(at + key.size(), digits.size(), digits);
}

/// The hashes of the weights inside, and the seal, for an artifact that has changed. False when it
/// has no metadata.
inline bool seal(std::string &bytes) {
  size_t at = bytes.find(rt::metadataMagic);
  rt::MetadataPrefix prefix;
  if (at == bytes.npos || bytes.size() - at < sizeof prefix)
    return false;
  size_t sealed = bytes.size();
  size_t weights = bytes.find("\"where\": \"embedded\"");
  if (weights != bytes.npos) {
    std::string_view json = std::string_view(bytes).substr(weights);
    size_t offset = numberBehind(json, "\"offset\": "), count = numberBehind(json, "\"bytes\": ");
    if (count > 0 && offset <= bytes.size() && count <= bytes.size() - offset) {
      sealed = offset;
      auto blocks = rt::hashBlocks(asBytes(bytes).subspan(offset, count));
      uint64_t content[] = {rt::contentHash(blocks)};
      setDigits(bytes, "\"hash\": \"", rt::hashText(content));
      setDigits(bytes, "\"blocks\": \"", rt::hashText(blocks));
    } else if (count > 0 && offset <= bytes.size()) {
      sealed = offset;
    }
  }
  std::memcpy(&prefix, bytes.data() + at, sizeof prefix);
  if (sealed < at + sizeof prefix) // weights that are said to be where code is
    sealed = bytes.size();
  prefix.sealedBytes = sealed;
  std::memcpy(bytes.data() + at, &prefix, sizeof prefix);
  prefix.seal = rt::sealOf(asBytes(bytes).first(sealed), at);
  std::memcpy(bytes.data() + at, &prefix, sizeof prefix);
  return true;
}

inline std::string artifactOf(std::string_view json) {
  std::string bytes = elfAround(sectionOf(json));
  seal(bytes);
  return bytes;
}

} // namespace tw::testing
