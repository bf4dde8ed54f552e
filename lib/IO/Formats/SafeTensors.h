// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// safetensors files: u64 header length, a JSON header, then the tensors' bytes without holes. And
// model.safetensors.index.json, which says in which of several files each tensor is.
#pragma once
#include "Support/DType.h"
#include "Support/Diagnostic.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tw {

/// One tensor: contiguous, row-major, at `offset` bytes from the start of the file.
struct SafeTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> sizes;
  int64_t offset = 0, bytes = 0;
};

struct SafeTensors {
  std::vector<SafeTensor> tensors; // in the order of their offsets
  std::map<std::string, std::string> metadata;

  /// By name; null when there is none.
  const SafeTensor *find(std::string_view name) const;
};

/// Reads the header of a file's bytes; the tensors' bytes are not touched. The tensors lie inside
/// the file, are as long as their shapes say, and cover the file without holes or overlap.
/// Errors: IO_6 (malformed), IO_7 (a dtype that we do not have).
Result<SafeTensors> parseSafeTensors(std::span<const std::byte> bytes, const std::string &name);

/// Reads an index: tensor name to the file it is in. `folder` is where the index is; the files lie
/// in it, names with a slash or ".." are refused (IO_6). The files need not exist.
Result<std::map<std::string, std::string>>
parseSafeTensorsIndex(std::string_view json, const std::string &name, const std::string &folder);

} // namespace tw
