// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's dtypes: their numbers in exported programs. ATen's schemas have others.
#include "IR/Torch/DtypeCode.h"
#include "Import/Pt2/Schema/Schema.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

namespace tw::pt2 {

namespace {
struct Row {
  ScalarType serialized;
  int64_t aten;
};
} // namespace

static constexpr Row rows[] = {
    {1, 0},   {2, 1},   {3, 2},   {4, 3},   {5, 4},   {6, 5},   {7, 6},
    {8, 7},   {9, 8},   {10, 9},  {11, 10}, {12, 11}, {13, 15}, {28, 27},
    {29, 24}, {30, 23}, {31, 26}, {32, 25}, {33, 44}, {34, 28}, {35, 29},
};

std::optional<int64_t> atenScalarType(ScalarType type) {
  auto row = llvm::find_if(rows, [&](const Row &row) { return row.serialized == type; });
  return row == std::end(rows) ? std::nullopt : std::optional(row->aten);
}

std::optional<DType> dtypeOf(ScalarType type) {
  auto code = atenScalarType(type);
  return code ? torch::plainDtypeOfCode(*code) : std::nullopt;
}

std::string scalarTypeName(ScalarType type) {
  auto code = atenScalarType(type);
  return code ? "torch." + torch::nameOfCode(*code) : fmt::format("number {}", type);
}

} // namespace tw::pt2
