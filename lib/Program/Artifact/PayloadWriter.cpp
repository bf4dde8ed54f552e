// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights are read, packed, hashed and written block by block, while they are in a core's cache.
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "Program/Artifact/Payload.h"
#include "Program/Artifact/StridedCopy.h"
#include "Support/Parallel.h"
#include "runtime/Artifact/Seal.h"
#include "runtime/ProgramABI.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

namespace tw {
namespace {

/// Goes on where pread or pwrite, `some`, stops before the end; false with errno where it fails, or
/// 0 at the end of the file.
template <typename Byte, typename Some>
bool all(Some some, int fd, Byte *bytes, int64_t count, int64_t at) {
  while (count > 0) {
    ssize_t done = some(fd, bytes, static_cast<size_t>(count), at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return false;
    bytes += done, at += done, count -= done;
  }
  return true;
}

bool isContiguous(const Payload::Piece &piece) {
  int64_t expected = 1;
  for (size_t d = piece.sizes.size(); d-- > 0;) {
    if (piece.sizes[d] != 1 && piece.strides[d] != expected)
      return false;
    expected *= piece.sizes[d];
  }
  return true;
}

Diagnostic unreadable(const Payload::Piece &piece, int error) {
  return {Code::PROGRAM_4,
          fmt::format("weight \"{}\" cannot be read from {}: {}", piece.name, piece.file,
                      error ? std::strerror(error) : "the file ends early")};
}

/// A file of the model, open while pieces are read from it.
class ModelFile {
public:
  explicit ModelFile(const std::string &path)
      : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)), error(descriptor < 0 ? errno : 0) {}
  ModelFile(const ModelFile &) = delete;
  ~ModelFile() {
    if (descriptor >= 0)
      close(descriptor);
  }

  int descriptor;
  int error;        // why it is not open
  MappedFile bytes; // where strided weights are read from: neighbours may lie far apart
};

/// A piece as bytes that any thread reads any part of.
class PieceReader {
public:
  /// Errors: PROGRAM_4, IO_1.
  static Result<PieceReader> open(const Payload::Piece &piece, ModelFile *file) {
    PieceReader reader(piece);
    bool isDense = isContiguous(piece);
    if (file && file->error)
      return unreadable(piece, file->error);
    if (!file) {
      reader.memory = reinterpret_cast<const std::byte *>(static_cast<uintptr_t>(piece.begin));
    } else if (isDense) {
      reader.descriptor = file->descriptor;
    } else {
      if (file->bytes.bytes().empty()) {
        TW_ASSIGN(file->bytes, MappedFile::open(piece.file));
      }
      if (static_cast<int64_t>(file->bytes.bytes().size()) < piece.begin + piece.bytes)
        return unreadable(piece, 0);
      reader.memory = file->bytes.bytes().data() + piece.begin;
    }
    if (!isDense)
      reader.view.emplace(StridedSource{reader.memory + piece.start * piece.elementBytes,
                                        piece.sizes, piece.strides, piece.elementBytes,
                                        piece.bytes / piece.elementBytes - piece.start});
    return reader;
  }

  int64_t begin() const { return piece->offset; }
  int64_t end() const { return piece->offset + bytes; }

  /// Bytes [from, to) of the payload, all of this piece. Behind the storage there are zeros.
  Status read(int64_t from, int64_t to, std::byte *target) const {
    int64_t first = from - begin(), count = to - from;
    if (view)
      return view->copy(first, count, target), Status();
    int64_t at = piece->start * piece->elementBytes + first;
    int64_t stored = std::clamp<int64_t>(piece->bytes - at, 0, count);
    std::memset(target + stored, 0, static_cast<size_t>(count - stored));
    if (memory)
      return std::memcpy(target, memory + at, static_cast<size_t>(stored)), Status();
    errno = 0;
    return all(pread, descriptor, target, stored, piece->begin + at) ? Status()
                                                                     : unreadable(*piece, errno);
  }

private:
  explicit PieceReader(const Payload::Piece &piece) : piece(&piece), bytes(piece.elementBytes) {
    for (int64_t size : piece.sizes)
      bytes *= size;
  }

  const Payload::Piece *piece;
  int64_t bytes;
  int descriptor = -1;
  const std::byte *memory = nullptr;
  std::optional<DenseView> view;
};

/// Where the payload goes.
struct Target {
  int descriptor;
  int64_t at, bytes;
  const std::string &path;
};

/// Of the blocks up to this one, where they are so many that it pays.
void startWritebackUpTo(const Target &target, int64_t number) {
  constexpr int64_t together = 8;
  if ((number + 1) % together == 0)
    startWriteback(target.descriptor, target.at + (number + 1 - together) * rt::weightBlockBytes,
                   together * rt::weightBlockBytes);
}

/// Writes one block, but for what no piece fills: padding, and weights of zeros, are holes of the
/// file. `room`: of a block. The block's hash.
Result<uint64_t> writeBlock(const std::vector<PieceReader> &pieces, const Target &target,
                            int64_t number, std::vector<std::byte> &room) {
  int64_t begin = number * rt::weightBlockBytes;
  int64_t end = std::min(begin + rt::weightBlockBytes, target.bytes);
  std::memset(room.data(), 0, static_cast<size_t>(end - begin));
  int64_t filled = begin, written = begin; // what is between is to be written
  auto flush = [&] {
    return all(pwrite, target.descriptor, room.data() + (written - begin), filled - written,
               target.at + written);
  };
  auto piece = std::upper_bound(pieces.begin(), pieces.end(), begin,
                                [](int64_t at, const PieceReader &one) { return at < one.end(); });
  for (; piece != pieces.end() && piece->begin() < end; ++piece) {
    int64_t from = std::max(begin, piece->begin()), to = std::min(end, piece->end());
    if (from - filled >= TW_ALIGNMENT) {
      if (!flush())
        return cannotWrite(target.path, errno);
      written = from;
    }
    TW_TRY(piece->read(from, to, room.data() + (from - begin)));
    filled = to;
  }
  if (!flush())
    return cannotWrite(target.path, errno);
  return rt::hashOf({reinterpret_cast<const uint8_t *>(room.data()), size_t(end - begin)});
}

} // namespace

Result<std::vector<uint64_t>> Payload::write(int fd, int64_t at, const std::string &path,
                                             bool isTemporary,
                                             const Cancellation *cancellation) const {
  if (end && ftruncate(fd, at + end) != 0)
    return cannotWrite(path, errno);
  llvm::StringMap<std::unique_ptr<ModelFile>> files;
  std::vector<PieceReader> readers;
  for (const Piece &piece : pieces) {
    if (piece.bytes == 0)
      continue;
    ModelFile *file = nullptr;
    if (!piece.file.empty()) {
      auto &known = files[piece.file];
      if (!known)
        known = std::make_unique<ModelFile>(piece.file);
      file = known.get();
    }
    TW_ASSIGN(PieceReader reader, PieceReader::open(piece, file));
    if (reader.end() > reader.begin())
      readers.push_back(std::move(reader));
  }
  // Blocks come from memory and go there: more threads than these only wait for each other.
  constexpr size_t mostThreads = 8;
  std::vector<uint64_t> hashes(rt::blockCount(end));
  std::vector<std::optional<Diagnostic>> problems(hashes.size());
  std::atomic<bool> hasFailed = false;
  Target target{fd, at, end, path};
  onThreads(hashes.size(), mostThreads, [&](size_t number) {
    thread_local std::vector<std::byte> room(rt::weightBlockBytes);
    if (hasFailed || isCancelled(cancellation))
      return;
    Result<uint64_t> hash = writeBlock(readers, target, int64_t(number), room);
    if (hash)
      hashes[number] = *hash;
    else
      problems[number] = hash.error(), hasFailed = true;
    if (!isTemporary)
      startWritebackUpTo(target, int64_t(number));
  });
  if (isCancelled(cancellation))
    return Cancellation::error();
  for (const std::optional<Diagnostic> &problem : problems)
    if (problem)
      return *problem;
  return hashes;
}

} // namespace tw
