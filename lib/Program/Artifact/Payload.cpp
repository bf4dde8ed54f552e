// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact/Payload.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "runtime/ProgramABI.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace tw {

Payload::Piece Payload::pieceOf(graph::WeightAttr source, mlir::RankedTensorType type) {
  return {source.getName().str(),
          source.getFile().str(),
          source.getOffset(),
          source.getBytes(),
          source.getStart(),
          type.getShape().vec(),
          source.getStrides().vec(),
          (type.getElementTypeBitWidth() + 7) / 8,
          0};
}

static int64_t aligned(int64_t bytes) {
  return (bytes + TW_ALIGNMENT - 1) / TW_ALIGNMENT * TW_ALIGNMENT;
}

int64_t Payload::add(graph::WeightAttr source, mlir::RankedTensorType type) {
  Piece piece = pieceOf(source, type);
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}", piece.file, piece.begin, piece.bytes, piece.start,
                  fmt::join(piece.sizes, ","), fmt::join(piece.strides, ","), piece.elementBytes);
  auto [place, isNew] = known.try_emplace(key, end);
  if (!isNew)
    return place->second;
  piece.offset = end;
  end += aligned(type.getNumElements() * piece.elementBytes);
  pieces.push_back(std::move(piece));
  return place->second;
}

int64_t
Payload::addJoined(llvm::ArrayRef<std::pair<graph::WeightAttr, mlir::RankedTensorType>> parts) {
  int64_t begin = end;
  for (const auto &[source, type] : parts) {
    Piece piece = pieceOf(source, type);
    piece.offset = end;
    end += type.getNumElements() * piece.elementBytes;
    pieces.push_back(std::move(piece));
  }
  end = aligned(end);
  return begin;
}

static bool areZero(std::span<const std::byte> bytes) {
  return bytes.empty() || (bytes[0] == std::byte(0) &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

bool Payload::isZero(graph::WeightAttr source) {
  if (source.getBytes() == 0)
    return true;
  auto begin = static_cast<uintptr_t>(source.getOffset());
  auto bytes = static_cast<size_t>(source.getBytes());
  std::string file = source.getFile().str();
  if (file.empty())
    return areZero({reinterpret_cast<const std::byte *>(begin), bytes});
  Result<MappedFile> mapped = MappedFile::open(file);
  return mapped && mapped->bytes().size() >= begin + bytes &&
         areZero(mapped->bytes().subspan(begin, bytes));
}

static constexpr int64_t chunkBytes = int64_t(1) << 20;

bool writeAll(int fd, const char *bytes, int64_t count, int64_t at) {
  while (count > 0) {
    ssize_t done = pwrite(fd, bytes, static_cast<size_t>(count), at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return false;
    bytes += done, at += done, count -= done;
  }
  return true;
}

static bool readAll(int fd, char *bytes, int64_t count, int64_t at) {
  while (count > 0) {
    ssize_t done = pread(fd, bytes, static_cast<size_t>(count), at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return false;
    bytes += done, at += done, count -= done;
  }
  return true;
}

static bool isContiguous(const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides) {
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != expected)
      return false;
    expected *= sizes[d];
  }
  return true;
}

static Diagnostic unreadable(const std::string &name, const std::string &file) {
  return {Code::PROGRAM_4, fmt::format("weight \"{}\" cannot be read from {}: {}", name, file,
                                       errno ? std::strerror(errno) : "the file ends early")};
}

/// Strided weights are read through a mapping: neighbours may lie far apart in the file.
static Status writeStrided(const StridedSource &source, int fd, int64_t at,
                           const std::string &path) {
  bool written = forEachDensePiece(source, chunkBytes, [&](const std::byte *bytes, int64_t count) {
    bool fine = writeAll(fd, reinterpret_cast<const char *>(bytes), count, at);
    at += count;
    return fine;
  });
  return written ? Status() : Status(cannotWrite(path, errno));
}

StridedSource Payload::stridedSource(const Piece &piece, const std::byte *storage) {
  return {storage + piece.start * piece.elementBytes, piece.sizes, piece.strides,
          piece.elementBytes, piece.bytes / piece.elementBytes - piece.start};
}

int64_t Payload::storedBytes(const Piece &contiguous) {
  int64_t total = contiguous.elementBytes;
  for (int64_t size : contiguous.sizes)
    total *= size;
  return std::min(total, contiguous.bytes - contiguous.start * contiguous.elementBytes);
}

Status Payload::writeMemory(const Piece &piece, int fd, int64_t at, const std::string &path) {
  auto *storage = reinterpret_cast<const std::byte *>(static_cast<uintptr_t>(piece.begin));
  if (!isContiguous(piece.sizes, piece.strides))
    return writeStrided(stridedSource(piece, storage), fd, at + piece.offset, path);
  auto *first = reinterpret_cast<const char *>(storage) + piece.start * piece.elementBytes;
  bool written = writeAll(fd, first, storedBytes(piece), at + piece.offset);
  return written ? Status() : Status(cannotWrite(path, errno));
}

Status Payload::writePiece(const Piece &piece, int input, int fd, int64_t at,
                           const std::string &path) {
  int64_t total = storedBytes(piece), source = piece.begin + piece.start * piece.elementBytes;
  if (!isContiguous(piece.sizes, piece.strides)) {
    TW_ASSIGN(MappedFile mapped, MappedFile::open(piece.file));
    if (static_cast<int64_t>(mapped.bytes().size()) < piece.begin + piece.bytes)
      return errno = 0, unreadable(piece.name, piece.file);
    return writeStrided(stridedSource(piece, mapped.bytes().data() + piece.begin), fd,
                        at + piece.offset, path);
  }
  std::vector<char> chunk(static_cast<size_t>(std::min(total, chunkBytes)));
  for (int64_t done = 0; done < total;) {
    int64_t count = std::min<int64_t>(static_cast<int64_t>(chunk.size()), total - done);
    errno = 0;
    if (!readAll(input, chunk.data(), count, source + done))
      return unreadable(piece.name, piece.file);
    if (!writeAll(fd, chunk.data(), count, at + piece.offset + done))
      return cannotWrite(path, errno);
    done += count;
  }
  return {};
}

Status Payload::write(int fd, int64_t at, const std::string &path) const {
  if (end && ftruncate(fd, at + end) != 0) // padding, and weights of zeros, are holes
    return cannotWrite(path, errno);
  std::string open;
  int input = -1;
  Status status;
  for (const Piece &piece : pieces) {
    if (piece.bytes == 0)
      continue;
    if (piece.file.empty()) {
      status = writeMemory(piece, fd, at, path);
      if (!status)
        break;
      continue;
    }
    if (piece.file != open || input < 0) {
      if (input >= 0)
        close(input);
      input = ::open(piece.file.c_str(), O_RDONLY | O_CLOEXEC);
      open = piece.file;
    }
    if (input < 0)
      return unreadable(piece.name, piece.file);
    status = writePiece(piece, input, fd, at, path);
    if (!status)
      break;
  }
  if (input >= 0)
    close(input);
  return status;
}

} // namespace tw
