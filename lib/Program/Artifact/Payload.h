// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights of a program as one block of bytes: each contiguous, 64-byte aligned, streamed from
// the model's files or memory.
#pragma once
#include "IR/Graph/Graph.h"
#include "Support/Cancellation.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace tw {

class Payload {
public:
  /// The place of a weight in the payload. The same bytes in the same layout are stored once.
  int64_t add(graph::WeightAttr source, mlir::RankedTensorType type);
  /// The place of weights that follow each other directly, as one tensor.
  int64_t addJoined(llvm::ArrayRef<std::pair<graph::WeightAttr, mlir::RankedTensorType>> parts);
  int64_t bytes() const { return end; }
  /// Whether all bytes of a weight's storage are 0. False when it cannot be read.
  static bool isZero(graph::WeightAttr source);

  /// Writes all weights to the open file `fd` from position `at` on, block by block on all cores
  /// (PayloadWriter.cpp), and gives the hashes of the blocks (runtime/Artifact/Seal.h). `path` is
  /// for messages; what is temporary need not get to the disk. Errors: PROGRAM_4 (a model's file),
  /// IO_2 and SYSTEM_3 (the output), SYSTEM_7 (cancelled).
  Result<std::vector<uint64_t>> write(int fd, int64_t at, const std::string &path,
                                      bool isTemporary = false,
                                      const Cancellation *cancellation = nullptr) const;

  /// A weight, and where it is.
  struct Piece {
    std::string name, file;       // no file: memory
    int64_t begin = 0, bytes = 0; // of the storage in `file`; no bytes: zeros
    int64_t start = 0;            // element of the storage that is the tensor's first
    std::vector<int64_t> sizes, strides;
    int64_t elementBytes = 1;
    int64_t offset = 0; // in the payload
  };

private:
  static Piece pieceOf(graph::WeightAttr source, mlir::RankedTensorType type);

  std::vector<Piece> pieces;
  llvm::StringMap<int64_t> known;
  int64_t end = 0;
};

} // namespace tw
