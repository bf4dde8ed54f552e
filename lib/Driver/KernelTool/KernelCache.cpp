// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/KernelTool/KernelCache.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "runtime/Seal.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

namespace fs = std::filesystem;

namespace tw {

static constexpr uint64_t mostBytes = uint64_t(256) << 20;

/// Behind the library.
struct Trailer {
  char magic[8];
  uint64_t hash;
};
static constexpr char trailerMagic[sizeof Trailer::magic + 1] = "TWKERNEL";

static uint64_t hashOf(std::span<const std::byte> bytes) {
  return rt::hashOf({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
}

Result<KernelCache> KernelCache::open() {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  std::error_code error;
  fs::path folder = cache && *cache ? fs::path(cache)
                    : home && *home ? fs::path(home) / ".cache"
                                    : fs::temp_directory_path(error);
  auto refuse = [&](const std::string &what) {
    return Diagnostic{Code::IO_2,
                      fmt::format("{}: {}", what, error.message()),
                      {},
                      {},
                      "set XDG_CACHE_HOME to a folder that can be written"};
  };
  if (error)
    return refuse("there is no folder to keep compiled kernels in");
  folder /= "tilewright";
  fs::create_directories(folder, error);
  if (error)
    return refuse(fmt::format("cannot make the folder {}", folder.string()));
  return KernelCache(folder.string());
}

std::optional<std::string> KernelCache::find(const std::string &key) const {
  std::string path = pathOf(key);
  auto file = MappedFile::open(path);
  Trailer trailer;
  if (!file || file->bytes().size() < sizeof trailer)
    return std::nullopt;
  std::span<const std::byte> bytes = file->bytes();
  std::memcpy(&trailer, bytes.last(sizeof trailer).data(), sizeof trailer);
  if (std::memcmp(trailer.magic, trailerMagic, sizeof trailer.magic) != 0 ||
      trailer.hash != hashOf(bytes.first(bytes.size() - sizeof trailer)))
    return std::nullopt;
  std::error_code ignored; // a cache that cannot be written can still be read
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return path;
}

/// The folder may be another's: only what has the name of an entry is ever removed.
static bool isEntry(const fs::path &path) {
  constexpr size_t keyDigits = 32; // of a hash (KernelCompiler.cpp)
  std::string key = path.stem();
  return path.extension() == ".so" && key.size() == keyDigits &&
         key.find_first_not_of("0123456789abcdef") == key.npos;
}

/// Removes what was not used for longest. What was used in the last minutes may be in use.
void KernelCache::evict() const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  std::error_code error;
  uint64_t total = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    Entry entry{at->path(), at->last_write_time(ignored), at->file_size(ignored)};
    if (ignored || !isEntry(entry.path))
      continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, {}, &Entry::used);
  auto recent = fs::file_time_type::clock::now() - std::chrono::minutes(10);
  for (const Entry &entry : entries) {
    if (total <= mostBytes || entry.used > recent)
      return;
    std::error_code ignored;
    if (fs::remove(entry.path, ignored))
      total -= entry.bytes;
  }
}

Result<std::string> KernelCache::keep(const std::string &key, const std::string &path) const {
  TW_ASSIGN(MappedFile library, MappedFile::open(path));
  Trailer trailer = {{}, hashOf(library.bytes())};
  std::memcpy(trailer.magic, trailerMagic, sizeof trailer.magic);
  std::span<const std::byte> pieces[] = {library.bytes(), std::as_bytes(std::span(&trailer, 1))};
  TW_TRY(writeFile(pathOf(key), pieces));
  evict();
  return pathOf(key);
}

} // namespace tw
