// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The directory of a ZIP (or ZIP64) archive whose entries are read in place. minizip reads the
// format; what a hostile archive could lie about is checked here before anything is handed out.
#pragma once
#include "Support/Diagnostic.h"
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace tw {

/// One entry. A stored entry's bytes are [offset, offset + bytes) of the archive; a compressed one
/// is listed, but has no bytes of its own that could be read in place.
struct ZipEntry {
  int64_t offset = 0;
  int64_t bytes = 0; // of the content, as the directory says
  bool stored = true;
};

/// The entries of an archive, by name.
class ZipDirectory {
public:
  /// Reads the directory of `archive`; `path` is for messages. The bytes must outlive the object.
  /// Errors (IO): not a ZIP, a damaged directory, an entry outside the file, encrypted entries,
  /// names given twice, names that leave the archive, entries that overlap.
  static Result<ZipDirectory> read(std::span<const std::byte> archive, const std::string &path);

  /// The entry called `name`, or null.
  const ZipEntry *find(std::string_view name) const;
  /// The bytes of a stored entry. Errors (IO): there is none, it is compressed.
  Result<std::span<const std::byte>> content(std::string_view name) const;

  const std::map<std::string, ZipEntry, std::less<>> &entries() const { return table; }
  const std::string &path() const { return archivePath; }

private:
  Status checkOverlaps() const;

  std::span<const std::byte> archive;
  std::string archivePath;
  std::map<std::string, ZipEntry, std::less<>> table;
};

} // namespace tw
