// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of examples/kernels, through the C entry: all trace, with and without their symbols
// bound, and the tile dialect takes what they trace to.
#include "Parse.h"
#include "tilewright/KernelLibrary.h"
#include <cstring>
#include <gtest/gtest.h>

namespace tw {
namespace {

std::string traceText(const char *name, const std::vector<tw_kernel_binding> &bindings) {
  const tw_kernel_library *library = tilewright_kernel_library();
  const tw_kernel_trace *trace = library->trace(name, bindings.data(), bindings.size());
  std::string text = trace->text ? trace->text : "";
  EXPECT_TRUE(trace->text) << name << ", line " << trace->line << ": " << trace->error << "\n"
                           << trace->help;
  library->free_trace(trace);
  return text;
}

TEST(Examples, AllTrace) {
  const tw_kernel_library *library = tilewright_kernel_library();
  ASSERT_EQ(library->version, uint32_t(TW_KERNEL_LIBRARY_VERSION));
  const tw_kernel_list *list = library->list();
  EXPECT_GE(list->count, 2u);
  for (size_t i = 0; i < list->count; ++i) {
    if (!std::strstr(list->kernels[i].file, "examples/kernels"))
      continue; // another test's
    std::string text = traceText(list->kernels[i].name, {});
    EXPECT_EQ(parseErrors(text), "") << text;
    EXPECT_STRNE(list->kernels[i].doc, "");
  }
  library->free_list(list);
}

TEST(Examples, BoundSymbolsAreNumbers) {
  std::string text = traceText("gemm", {{"K", 256}, {"M", 64}, {"BM", 16}});
  EXPECT_EQ(parseErrors(text), "") << text;
  EXPECT_NE(text.find("in %a: !tile.buffer<[64, 256], f32>"), std::string::npos) << text;
  EXPECT_NE(text.find("symbols [N] grid [4, N ceildiv 32]"), std::string::npos) << text;
}

} // namespace
} // namespace tw
