// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Weights.h"
#include "Support/Checked.h"
#include <fmt/format.h>

namespace tw::pt2 {

bool StoredTensor::isSameAs(const StoredTensor &other) const {
  if (isGivenByCalls != other.isGivenByCalls || offset != other.offset || bytes != other.bytes ||
      start != other.start || strides != other.strides || meta->dtype != other.meta->dtype ||
      bytes == 0)
    return false;
  for (size_t i = 0; i < meta->sizes.size(); ++i)
    if (meta->sizes[i].value != other.meta->sizes[i].value)
      return false;
  return true;
}

Status WeightTable::readTable(const std::string &entry, const std::string &folder) {
  if (!archive->find(entry))
    return {};
  TW_ASSIGN(std::string_view text, archive->text(entry));
  TW_ASSIGN(JsonDocument document,
            JsonDocument::parse(text, fmt::format("{}: {}", archive->baseName(), entry)));
  TW_ASSIGN(Named<Payload> payloads, readPayloads(document));
  documents.push_back(std::move(document));
  for (auto &[name, payload] : payloads)
    if (!table.emplace(name, Row{std::move(payload), folder}).second)
      return Diagnostic{Code::IMPORT_11, fmt::format("two weights are called {}", name),
                        fmt::format("{}: {}", archive->baseName(), entry)};
  return {};
}

Result<WeightTable> WeightTable::read(const Archive &archive) {
  WeightTable result;
  result.archive = &archive;
  TW_TRY(result.readTable(archive.weightsEntry(), "data/weights/"));
  TW_TRY(result.readTable(archive.constantsEntry(), "data/constants/"));
  return result;
}

static Diagnostic wrongExtent(std::string_view name, const std::string &why) {
  return {Code::IMPORT_7,
          fmt::format("weight {}: {}", name, why),
          "",
          {},
          "the file is damaged; export it again"};
}

/// Fills `start` and `strides`, and gives the number of elements the storage must have at least.
static Result<int64_t> extentOf(std::string_view name, const TensorMeta &meta,
                                StoredTensor &stored) {
  if (!meta.storageOffset.isConstant() || meta.storageOffset.value < 0)
    return wrongExtent(name, "its storage offset is not a number");
  stored.start = meta.storageOffset.value;
  std::optional<int64_t> last = stored.start;
  bool empty = false;
  for (size_t i = 0; i < meta.sizes.size(); ++i) {
    const SymInt &size = meta.sizes[i], &stride = meta.strides[i];
    if (!size.isConstant() || !stride.isConstant() || size.value < 0 || stride.value < 0)
      return wrongExtent(name, "its sizes and strides are not all numbers from 0 on");
    stored.strides.push_back(stride.value);
    empty |= size.value == 0;
    auto step = size.value == 0 ? 0 : checkedMul(size.value - 1, stride.value);
    last = last && step ? checkedAdd(*last, *step) : std::nullopt;
  }
  auto needed = last ? checkedAdd(*last, 1) : std::nullopt;
  if (!needed)
    return wrongExtent(name, "its sizes and strides reach beyond 63 bits");
  return empty ? 0 : *needed;
}

/// A stride of 0 repeats elements: a few bytes of a file must not ask for all of the memory.
static Status checkExpansion(std::string_view name, const TensorMeta &meta, int elementBytes,
                             int64_t storedBytes) {
  constexpr int64_t harmless = int64_t(1) << 30, factor = 64;
  std::optional<int64_t> dense = elementBytes;
  for (const SymInt &size : meta.sizes)
    dense = dense ? checkedMul(*dense, size.value) : std::nullopt;
  if (dense && (*dense <= harmless || *dense / factor <= storedBytes))
    return {};
  return wrongExtent(name, fmt::format("its {} stored bytes stand for more than {} GiB",
                                       storedBytes, harmless >> 30));
}

/// What both kinds of weights must be: strided, of a dtype that we have, and inside of the
/// `available` bytes, of which `where` speaks.
static Result<StoredTensor> layOut(std::string_view name, const TensorMeta &meta, int64_t available,
                                   const std::string &where) {
  auto dtype = dtypeOf(meta.dtype);
  if (!dtype)
    return Diagnostic{Code::IMPORT_8, fmt::format("weight {}: dtype {} is not supported", name,
                                                  scalarTypeName(meta.dtype))};
  if (!meta.isStrided())
    return Diagnostic{Code::IMPORT_9, fmt::format("weight {} is a sparse tensor", name)};
  StoredTensor stored;
  stored.meta = &meta;
  TW_ASSIGN(int64_t elements, extentOf(name, meta, stored));
  auto needed = checkedMul(elements, info(*dtype).bytes);
  if (!needed || *needed > available)
    return wrongExtent(name,
                       fmt::format("it needs {} elements of {} bytes, but {} has only {} bytes",
                                   elements, info(*dtype).bytes, where, available));
  TW_TRY(checkExpansion(name, meta, info(*dtype).bytes, available));
  stored.bytes = elements > 0 ? available : 0;
  return stored;
}

Result<MemoryWeights> MemoryWeights::of(const std::vector<MemoryWeight> &weights, bool optional) {
  MemoryWeights result;
  result.optional = optional;
  int64_t number = 0;
  for (const MemoryWeight &weight : weights)
    if (!result.table.emplace(weight.name, Row{weight, number++}).second)
      return Diagnostic{Code::IMPORT_11, fmt::format("two weights are called {}", weight.name)};
  return result;
}

/// A tensor that calls give, row-major.
static Result<StoredTensor> givenTensor(std::string_view name, const TensorMeta &meta,
                                        int64_t number) {
  TW_ASSIGN(StoredTensor stored, layOut(name, meta, INT64_MAX, ""));
  int64_t elements = 1;
  for (size_t d = meta.sizes.size(); d-- > 0; elements *= meta.sizes[d].value)
    if (meta.sizes[d].value != 1 && stored.strides[d] != elements && stored.bytes > 0)
      return wrongExtent(name, "calls give it, but the graph says that it is not row-major");
  if (stored.start != 0)
    return wrongExtent(name, "calls give it, but the graph says that it has an offset");
  if (stored.bytes > 0)
    stored.bytes = elements * info(*dtypeOf(meta.dtype)).bytes;
  stored.offset = number;
  stored.isGivenByCalls = true;
  return stored;
}

Result<StoredTensor> MemoryWeights::find(std::string_view name, const TensorMeta *meta) const {
  auto it = table.find(name);
  if (!meta || (it == table.end() && !optional))
    return Diagnostic{Code::IMPORT_5,
                      fmt::format("no weight called {} is given", name),
                      "",
                      {},
                      "give the memory of every parameter, buffer and constant of the signature"};
  if (it == table.end()) { // whoever only asks about operators
    TW_ASSIGN(StoredTensor zeros, layOut(name, *meta, INT64_MAX, ""));
    zeros.bytes = 0;
    return zeros;
  }
  const auto &[weight, number] = it->second;
  if (weight.isGivenByCalls)
    return givenTensor(name, *meta, number);
  TW_ASSIGN(StoredTensor stored,
            layOut(name, *meta, static_cast<int64_t>(weight.storage.size()), "its memory"));
  stored.offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(weight.storage.data()));
  return stored;
}

Result<StoredTensor> WeightTable::find(std::string_view name, const TensorMeta *) const {
  auto it = table.find(name);
  if (it == table.end())
    return Diagnostic{Code::IMPORT_5,
                      fmt::format("the archive has no weight called {}", name),
                      "",
                      {},
                      "export the model again with its parameters"};
  const auto &[payload, folder] = it->second;
  if (payload.isPickled || !payload.hasMeta)
    return Diagnostic{
        Code::IMPORT_6,
        fmt::format("weight {} is stored as a Python pickle, which is never opened", name),
        "",
        {},
        "replace tensor subclasses and custom objects by plain tensors"};
  std::string entryName = folder + std::string(payload.pathName);
  const ZipEntry *entry = archive->find(entryName);
  if (!entry)
    return Diagnostic{Code::IMPORT_5,
                      fmt::format("weight {}: the archive has no entry {}", name, entryName)};
  TW_TRY(archive->text(entryName)); // refuses compressed ones
  TW_ASSIGN(StoredTensor stored, layOut(name, payload.meta, entry->bytes, "entry " + entryName));
  stored.offset = entry->offset;
  return stored;
}

} // namespace tw::pt2
