// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact/Payload.h"
#include "IO/File.h"
#include "runtime/ProgramABI.h"
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

} // namespace tw
