// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes small ZIP archives for tests, well-formed or lying in the ways a test asks for.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tw::test {

class ZipWriter {
public:
  struct Lies {
    uint16_t method = 0;         // 8: deflate
    uint16_t flags = 0;          // 1: encrypted
    int64_t directoryBytes = -1; // size the directory claims
    int64_t headerOffset = -1;   // place the directory claims
  };

  /// Adds a stored entry whose content begins at a multiple of 64.
  void add(const std::string &name, const std::string &content) { add(name, content, Lies{}); }
  void add(const std::string &name, const std::string &content, const Lies &lies) {
    Row row{name, lies, static_cast<uint32_t>(data.size()), static_cast<uint32_t>(content.size())};
    size_t begin = data.size() + 30 + name.size() + 4;
    uint16_t extra = static_cast<uint16_t>(4 + (64 - begin % 64) % 64);
    put(0x04034b50, 4), put(20, 2), put(lies.flags, 2), put(lies.method, 2), put(0, 2), put(0, 2);
    put(0, 4), put(content.size(), 4), put(content.size(), 4), put(name.size(), 2), put(extra, 2);
    data += name;
    put(0x4246, 2), put(extra - 4, 2), data.append(extra - 4, 'Z');
    data += content;
    rows.push_back(row);
  }

  /// The archive.
  std::string finish(int64_t claimedEntries = -1) {
    size_t begin = data.size();
    for (const Row &row : rows) {
      uint64_t size = row.lies.directoryBytes >= 0 ? row.lies.directoryBytes : row.bytes;
      put(0x02014b50, 4), put(20, 2), put(20, 2), put(row.lies.flags, 2), put(row.lies.method, 2);
      put(0, 2), put(0, 2), put(0, 4), put(size, 4), put(size, 4), put(row.name.size(), 2);
      put(0, 2), put(0, 2), put(0, 2), put(0, 2), put(0, 4);
      put(row.lies.headerOffset >= 0 ? row.lies.headerOffset : row.offset, 4);
      data += row.name;
    }
    uint64_t bytes = data.size() - begin;
    uint64_t count = claimedEntries >= 0 ? claimedEntries : rows.size();
    put(0x06054b50, 4), put(0, 2), put(0, 2), put(count, 2), put(count, 2), put(bytes, 4);
    put(begin, 4), put(0, 2);
    return data;
  }

  static std::span<const std::byte> bytes(const std::string &text) {
    return std::as_bytes(std::span(text.data(), text.size()));
  }

private:
  struct Row {
    std::string name;
    Lies lies;
    uint32_t offset, bytes;
  };
  void put(uint64_t value, int count) {
    for (int i = 0; i < count; ++i)
      data += static_cast<char>(value >> (8 * i));
  }
  std::string data;
  std::vector<Row> rows;
};

} // namespace tw::test
