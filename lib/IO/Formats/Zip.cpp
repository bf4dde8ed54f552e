// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/Zip.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <minizip/unzip.h>
#include <vector>

namespace tw {

namespace {

/// The archive in memory, as minizip's "file".
struct MemoryFile {
  std::span<const std::byte> bytes;
  uint64_t position = 0;
};

void *openMemory(void *opaque, const void *, int) { return opaque; }

uLong readMemory(void *, void *stream, void *to, uLong wanted) {
  auto &file = *static_cast<MemoryFile *>(stream);
  uLong count = std::min<uint64_t>(wanted, file.bytes.size() - file.position);
  if (count)
    std::memcpy(to, file.bytes.data() + file.position, count);
  file.position += count;
  return count;
}

ZPOS64_T tellMemory(void *, void *stream) { return static_cast<MemoryFile *>(stream)->position; }

long seekMemory(void *, void *stream, ZPOS64_T offset, int origin) {
  auto &file = *static_cast<MemoryFile *>(stream);
  uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                  : origin == ZLIB_FILEFUNC_SEEK_CUR ? file.position
                                                     : file.bytes.size();
  uint64_t target;
  if (__builtin_add_overflow(base, offset, &target) || target > file.bytes.size())
    return -1;
  file.position = target;
  return 0;
}

int closeMemory(void *, void *) { return 0; }
int noError(void *, void *) { return 0; }

struct Close {
  void operator()(void *zip) const { unzClose(zip); }
};
using Unzip = std::unique_ptr<void, Close>;

Unzip open(MemoryFile &file) {
  zlib_filefunc64_def functions = {openMemory, readMemory,  nullptr, tellMemory,
                                   seekMemory, closeMemory, noError, &file};
  return Unzip(unzOpen2_64("", &functions));
}

constexpr int encrypted = 1; // bit of the general purpose flags

Diagnostic damaged(const std::string &path, const std::string &why) {
  return {Code::IO_12,
          fmt::format("{} is a damaged ZIP archive: {}", path, why),
          "",
          {},
          "the file is incomplete or was changed; export or copy it again"};
}

bool leavesArchive(std::string_view name) {
  if (name.starts_with('/') || name.find('\0') != name.npos || name.find('\\') != name.npos)
    return true;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..")
      return true;
    begin = end + 1;
  }
  return false;
}

/// The current entry's place; its local header is read for where the content begins.
Result<ZipEntry> readEntry(unzFile zip, const unz_file_info64 &info, const std::string &name,
                           std::span<const std::byte> archive, const std::string &path) {
  if (info.flag & encrypted)
    return Diagnostic{Code::IO_13,
                      fmt::format("{}: entry {} is encrypted", path, name),
                      "",
                      {},
                      "save the model without a password"};
  int method = 0, level = 0;
  if (unzOpenCurrentFile2(zip, &method, &level, /*raw=*/1) != UNZ_OK)
    return damaged(path, fmt::format("the header of entry {} does not match the directory", name));
  uint64_t begin = unzGetCurrentFileZStreamPos64(zip);
  unzCloseCurrentFile(zip);
  if (begin > archive.size() || info.compressed_size > archive.size() - begin)
    return damaged(path, fmt::format("entry {} should have {} bytes at offset {}, but the file has "
                                     "{} bytes",
                                     name, info.compressed_size, begin, archive.size()));
  bool stored = info.compression_method == 0;
  if (stored && info.compressed_size != info.uncompressed_size)
    return damaged(path, fmt::format("entry {} is stored, but its two sizes differ: {} and {}",
                                     name, info.compressed_size, info.uncompressed_size));
  return ZipEntry{static_cast<int64_t>(begin), static_cast<int64_t>(info.compressed_size), stored};
}

/// Whether the archive ends with a whole end-of-directory record: minizip reads zeros behind the
/// end of a truncated one.
bool endsWhole(std::span<const std::byte> archive, uint64_t commentBytes) {
  constexpr size_t recordBytes = 22;
  constexpr char signature[] = {'P', 'K', 5, 6};
  return archive.size() >= recordBytes + commentBytes &&
         std::memcmp(archive.data() + archive.size() - commentBytes - recordBytes, signature, 4) ==
             0;
}

} // namespace

Result<ZipDirectory> ZipDirectory::read(std::span<const std::byte> archive,
                                        const std::string &path) {
  MemoryFile file{archive};
  Unzip zip = open(file);
  unz_global_info64 global;
  if (!zip || unzGetGlobalInfo64(zip.get(), &global) != UNZ_OK ||
      !endsWhole(archive, global.size_comment))
    return Diagnostic{Code::IO_11,
                      archive.empty() ? fmt::format("{} is empty", path)
                                      : fmt::format("{} is not a complete ZIP archive", path),
                      "",
                      {},
                      "a .pt2 file is what torch.export.save writes; if it was copied, compare "
                      "sizes"};
  ZipDirectory result;
  result.archive = archive;
  result.archivePath = path;
  int state = global.number_entry ? unzGoToFirstFile(zip.get()) : UNZ_END_OF_LIST_OF_FILE;
  for (; state == UNZ_OK; state = unzGoToNextFile(zip.get())) {
    unz_file_info64 info;
    if (unzGetCurrentFileInfo64(zip.get(), &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK)
      return damaged(path, "its directory cannot be read");
    std::string name(info.size_filename, '\0'); // 16 bits wide: at most 64 KiB
    if (unzGetCurrentFileInfo64(zip.get(), &info, name.data(), name.size(), nullptr, 0, nullptr,
                                0) != UNZ_OK)
      return damaged(path, "its directory cannot be read");
    if (leavesArchive(name))
      return damaged(path, fmt::format("entry \"{}\" has a name that leaves the archive", name));
    TW_ASSIGN(ZipEntry entry, readEntry(zip.get(), info, name, archive, path));
    if (!result.table.emplace(name, entry).second)
      return damaged(path, fmt::format("it has two entries called {}", name));
  }
  if (state != UNZ_END_OF_LIST_OF_FILE || result.table.size() != global.number_entry)
    return damaged(path, fmt::format("its directory names {} entries, but {} can be read",
                                     global.number_entry, result.table.size()));
  TW_TRY(result.checkOverlaps());
  return result;
}

Status ZipDirectory::checkOverlaps() const {
  using Row = std::pair<const std::string, ZipEntry>;
  std::vector<const Row *> rows;
  for (const Row &row : table)
    if (row.second.bytes > 0)
      rows.push_back(&row);
  std::ranges::sort(rows, {}, [](const Row *row) { return row->second.offset; });
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i - 1]->second.offset + rows[i - 1]->second.bytes > rows[i]->second.offset)
      return damaged(archivePath,
                     fmt::format("entries {} and {} overlap", rows[i - 1]->first, rows[i]->first));
  return {};
}

const ZipEntry *ZipDirectory::find(std::string_view name) const {
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

Result<std::span<const std::byte>> ZipDirectory::content(std::string_view name) const {
  const ZipEntry *entry = find(name);
  if (!entry)
    return Diagnostic{Code::IO_14, fmt::format("{} has no entry {}", archivePath, name)};
  if (!entry->stored)
    return Diagnostic{Code::IO_15,
                      fmt::format("{}: entry {} is compressed", archivePath, name),
                      "",
                      {},
                      "Tilewright reads weights in place: save with torch.export.save, or "
                      "pack the archive again with `zip -0`"};
  return archive.subspan(entry->offset, entry->bytes);
}

} // namespace tw
