// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of examples/kernels as a kernel library, through its C entry: all trace, with and
// without their symbols bound, and the tile dialect takes what they trace to.
#include "Parse.h"
#include "tilewright/KernelLibrary.h"
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace tw {
namespace {

const tw_kernel_library *examples() {
  static void *handle = dlopen(EXAMPLE_KERNELS, RTLD_NOW | RTLD_LOCAL);
  void *entry = handle ? dlsym(handle, TW_KERNEL_LIBRARY_ENTRY) : nullptr;
  if (!entry) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  return reinterpret_cast<tw_kernel_library_entry *>(entry)();
}

std::string traceText(const char *name, const std::vector<tw_kernel_binding> &bindings) {
  const tw_kernel_library *library = examples();
  const tw_kernel_trace *trace = library->trace(name, bindings.data(), bindings.size());
  std::string text = trace->text ? trace->text : "";
  EXPECT_TRUE(trace->text) << name << ", line " << trace->line << ": " << trace->error << "\n"
                           << trace->help;
  library->free_trace(trace);
  EXPECT_EQ(parseErrors(text), "") << text;
  return text;
}

TEST(Examples, AllTrace) {
  const tw_kernel_library *library = examples();
  ASSERT_TRUE(library);
  ASSERT_EQ(library->version, uint32_t(TW_KERNEL_LIBRARY_VERSION));
  const tw_kernel_list *list = library->list();
  std::string names;
  for (size_t i = 0; i < list->count; ++i) {
    names += std::string(list->kernels[i].name) + " ";
    EXPECT_STRNE(list->kernels[i].doc, "");
    EXPECT_FALSE(traceText(list->kernels[i].name, {}).empty());
  }
  EXPECT_EQ(names, "add_mul_activation causal_flash_attention decode_attention dlrm_interaction "
                   "flash_attention gemm layer_norm lora mlp softmax ");
  library->free_list(list);
}

TEST(Examples, ParametersAreListed) {
  const tw_kernel_library *library = examples();
  const tw_kernel_list *list = library->list();
  const tw_kernel_description &gemm = list->kernels[5];
  ASSERT_EQ(gemm.parameter_count, 3u);
  EXPECT_STREQ(gemm.parameters[2].name, "BK");
  EXPECT_EQ(gemm.parameters[2].default_value, 64);
  EXPECT_TRUE(std::string(gemm.file).ends_with("examples/kernels/gemm.cpp"));
  library->free_list(list);
}

TEST(Examples, BoundSymbolsAreNumbers) {
  std::string text = traceText("gemm", {{"K", 256}, {"M", 64}, {"BM", 16}});
  EXPECT_NE(text.find("in %a: !tile.buffer<[64, 256], f32>"), std::string::npos) << text;
  EXPECT_NE(text.find("symbols [N] grid [4, N ceildiv 32]"), std::string::npos) << text;
  std::string attention = traceText("flash_attention", {{"H", 2}, {"M", 7}, {"N", 0}, {"D", 64}});
  EXPECT_EQ(attention.find("symbols"), std::string::npos) << attention;
}

} // namespace
} // namespace tw
