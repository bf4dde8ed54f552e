// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Cache/CompileCache.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "Support/CacheFolder.h"
#include "runtime/Artifact/Seal.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace tw {
namespace {

constexpr int64_t mostBytes = int64_t(4) << 30, mostOfOne = mostBytes / 4;
/// Up to so many bytes are hashed again when they are found; larger ones are artifacts, which the
/// runtime checks when it opens them (runtime/Artifact/Seal.h).
constexpr int64_t mostHashed = int64_t(64) << 20;
constexpr size_t keyDigits = 32;

/// What a file is known by: it was not written to since it was kept if these are the same. The
/// hash is that of its blocks.
struct Facts {
  int64_t bytes = 0, written = 0; // ns
  std::string hash;
};

std::optional<Facts> statOf(const std::string &path) {
  struct stat facts;
  if (lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid())
    return std::nullopt;
  return Facts{
      facts.st_size, int64_t(facts.st_mtim.tv_sec) * 1'000'000'000 + facts.st_mtim.tv_nsec, {}};
}

std::string contentOf(const MappedFile &file) {
  std::span<const std::byte> bytes = file.bytes();
  if (int64_t(bytes.size()) > mostHashed)
    return "";
  uint64_t hash = rt::contentHash(
      rt::hashBlocks({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()}));
  return rt::hashText({&hash, 1});
}

std::string textOf(const Facts &facts) {
  return fmt::format("{{\"bytes\": {}, \"written_ns\": {}, \"hash\": \"{}\"}}\n", facts.bytes,
                     facts.written, facts.hash);
}

std::optional<Facts> readFacts(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return std::nullopt;
  auto json = llvm::json::parse(file->text());
  if (!json)
    llvm::consumeError(json.takeError());
  const llvm::json::Object *object = json ? json->getAsObject() : nullptr;
  if (!object)
    return std::nullopt;
  auto bytes = object->getInteger("bytes"), written = object->getInteger("written_ns");
  auto hash = object->getString("hash");
  return bytes && written && hash ? std::optional(Facts{*bytes, *written, hash->str()})
                                  : std::nullopt;
}

/// The folder may hold other things: only what has the name of an entry is ever removed.
bool isKey(const std::string &stem) {
  return stem.size() == keyDigits && stem.find_first_not_of("0123456789abcdef") == stem.npos;
}

} // namespace

Result<CompileCache> CompileCache::open() {
  TW_ASSIGN(std::string folder, cacheFolder());
  return CompileCache(std::move(folder));
}

std::optional<std::string> CompileCache::find(const std::string &key) const {
  std::string path = pathOf(key);
  auto kept = readFacts(factsOf(key)), now = statOf(path);
  if (!kept || !now || kept->bytes != now->bytes || kept->written != now->written)
    return std::nullopt;
  auto file = MappedFile::open(path);
  if (!file || contentOf(*file) != kept->hash)
    return std::nullopt;
  std::error_code ignored; // a cache that cannot be written can still be read
  fs::last_write_time(factsOf(key), fs::file_time_type::clock::now(), ignored);
  return path;
}

/// Removes what was not used for longest. What was used in the last minutes may be in use.
void CompileCache::evict() const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    int64_t bytes;
  };
  std::vector<Entry> entries;
  std::error_code error;
  int64_t total = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string key = at->path().stem();
    if (at->path().extension() != ".so" || !isKey(key))
      continue;
    std::error_code ignored, isAlone;
    Entry entry{at->path(), fs::last_write_time(factsOf(key), isAlone),
                int64_t(at->file_size(ignored))};
    if (isAlone) // nothing says what it was
      entry.used = at->last_write_time(ignored);
    if (ignored)
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
    fs::remove(factsOf(entry.path.stem()), ignored);
    if (fs::remove(entry.path, ignored))
      total -= entry.bytes;
  }
}

Result<std::string> CompileCache::keep(const std::string &key, const std::string &path) const {
  std::string kept = pathOf(key);
  std::error_code ignored;
  if (fs::file_size(path, ignored) > uintmax_t(mostOfOne))
    return Diagnostic{Code::IO_2, fmt::format("{} is too large for the cache", path)};
  fs::remove(factsOf(key), ignored); // it says nothing of what comes now
  fs::remove(kept, ignored);
  // Another process may just have made it, of the same.
  if (link(path.c_str(), kept.c_str()) != 0)
    TW_TRY(copy(path, kept));
  return noteFacts(key);
}

Result<std::string> CompileCache::keepText(const std::string &key, std::string_view text) const {
  std::error_code ignored;
  fs::remove(factsOf(key), ignored);
  std::span<const std::byte> piece = std::as_bytes(std::span(text));
  TW_TRY(writeFile(pathOf(key), std::span(&piece, 1)));
  return noteFacts(key);
}

/// Says of a file that is there now how it is known again.
Result<std::string> CompileCache::noteFacts(const std::string &key) const {
  std::string kept = pathOf(key);
  TW_ASSIGN(MappedFile file, MappedFile::open(kept));
  auto facts = statOf(kept);
  if (!facts)
    return cannotWrite(kept, EPERM);
  facts->hash = contentOf(file);
  std::string text = textOf(*facts);
  std::span<const std::byte> piece = std::as_bytes(std::span(text));
  TW_TRY(writeFile(factsOf(key), std::span(&piece, 1)));
  evict();
  return kept;
}

Status CompileCache::copy(const std::string &found, const std::string &path) {
  TW_ASSIGN(OutputFile file, OutputFile::create(path));
  TW_TRY(file.copy(found));
  return file.commit();
}

std::string cacheKey(std::span<const std::string> parts) {
  llvm::SHA256 hash;
  for (const std::string &part : parts) {
    hash.update(fmt::format("{} ", part.size()));
    hash.update(part);
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, keyDigits);
}

} // namespace tw
