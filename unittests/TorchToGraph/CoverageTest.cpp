// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tables of lowerings promise as a whole.
#include "TorchToGraph/Core/Registry.h"
#include "TorchToGraph/TorchToGraph.h"
#include <gtest/gtest.h>

using namespace tw;

TEST(Coverage, EveryCoreOverloadIsLoweredOrRefusedWithAReason) {
  EXPECT_EQ(coreOperatorsWithoutAnswer(), std::vector<std::string>());
}

TEST(Coverage, OnlyAllowedCoreOverloadsAreRefused) {
  // Random numbers, sizes that depend on data, Fourier transforms, and questions about strides.
  const std::vector<std::string> allowed = {
      "_fft_c2c",      "_fft_c2r", "_fft_r2c", "nonzero",           "rand",
      "randn",         "randperm", "resize_",  "sym_is_contiguous", "sym_storage_offset",
      "sym_stride.int"};
  for (const torch::Schema &schema : torch::schemaTable())
    if (schema.has(torch::Flag::Core) && !schema.has(torch::Flag::Out) &&
        !lower::findLowering(schema.opName)) {
      std::string name = schema.opName.drop_front(strlen("torch.aten.")).str();
      EXPECT_NE(std::find(allowed.begin(), allowed.end(), name), allowed.end()) << name;
    }
}

TEST(Coverage, NoOverloadHasTwoLowerings) {
  std::set<std::string> seen;
  for (const lower::Family &family : lower::families())
    for (const lower::LoweringRow &row : family.rows)
      EXPECT_TRUE(seen.insert(row.op.str()).second) << row.op.str();
}
