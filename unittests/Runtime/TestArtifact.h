// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifacts made of bytes, for tests of what reads them.
#pragma once
#include <cstdint>
#include <cstring>
#include <elf.h>
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

/// The metadata section's contents.
inline std::string sectionOf(std::string_view json) {
  uint64_t length = json.size();
  std::string section = "TWPROG01";
  section.append(reinterpret_cast<char *>(&length), sizeof length);
  section.append(json);
  return section;
}

inline std::string artifactOf(std::string_view json) { return elfAround(sectionOf(json)); }

} // namespace tw::testing
