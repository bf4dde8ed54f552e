// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters, buffers and constants of an exported program: where their bytes are, in an archive or
// in memory. No byte of a weight is read here, and no pickle is opened.
#pragma once
#include "Import/Pt2/Archive.h"
#include "Import/Pt2/Pt2.h"
#include "Import/Pt2/Schema/Schema.h"
#include <map>

namespace tw::pt2 {

/// A tensor in the archive, or in memory, where `offset` is an address. Element (i, j, ...) is
/// element `start + i * strides[0] + ...` of the `bytes` bytes at `offset`; all of them are inside.
/// `bytes` = 0 stands for zeros.
struct StoredTensor {
  int64_t offset = 0, bytes = 0, start = 0;
  std::vector<int64_t> strides;
  const TensorMeta *meta = nullptr;
  bool isGivenByCalls = false; // `offset` is then its number

  /// Whether both are the same elements of the same memory, seen in the same way.
  bool isSameAs(const StoredTensor &other) const;
  /// Whether both are in the same memory.
  bool sharesMemoryWith(const StoredTensor &other) const {
    return bytes > 0 && offset == other.offset && isGivenByCalls == other.isGivenByCalls;
  }
};

class WeightSource {
public:
  virtual ~WeightSource() = default;
  /// The tensor called `name`, of which the graph says `meta` (null: nothing). Errors (IMPORT):
  /// there is none, it is too small, its sizes and strides make no sense.
  virtual Result<StoredTensor> find(std::string_view name, const TensorMeta *meta) const = 0;
};

class MemoryWeights : public WeightSource {
public:
  /// Errors: IMPORT_11 when two have one name.
  static Result<MemoryWeights> of(const std::vector<MemoryWeight> &weights, bool optional);
  /// Errors also (IMPORT): its dtype, its layout.
  Result<StoredTensor> find(std::string_view name, const TensorMeta *meta) const override;

private:
  struct Row {
    MemoryWeight weight;
    int64_t number;
  };
  std::map<std::string_view, Row> table;
  bool optional = false;
};

class WeightTable : public WeightSource {
public:
  /// Reads the archive's two tables. An archive without one has no such tensors.
  static Result<WeightTable> read(const Archive &archive);

  /// Sizes and strides are those that the archive says. Errors also (IMPORT): it is pickled, its
  /// entry is missing; (IO): its entry is compressed.
  Result<StoredTensor> find(std::string_view name, const TensorMeta *meta) const override;

private:
  Status readTable(const std::string &entry, const std::string &folder);

  struct Row {
    Payload payload;
    std::string folder;
  };
  const Archive *archive = nullptr;
  std::vector<JsonDocument> documents;
  std::map<std::string_view, Row> table;
};

} // namespace tw::pt2
