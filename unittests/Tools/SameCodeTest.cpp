// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of values change no code: what `tilewright check` looks into is what `compile` makes.
#include "IO/File.h"
#include "IO/TemporaryFolder.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

using namespace tw;

namespace {

struct SameCode : testing::TestWithParam<const char *> {};

/// The program as it goes to LLVM.
std::string codeOf(const cli::CompilerLibrary &library, const std::string &model,
                   const std::string &folder, bool values) {
  std::string dumps = folder + (values ? "/with" : "/without"), output = dumps + ".so";
  tilewright_compile_options options = {};
  options.struct_size = sizeof options;
  options.model = model.c_str();
  options.output = output.c_str();
  options.dump_to = dumps.c_str();
  options.values = values;
  if (library.compile(&options, nullptr, nullptr) != TILEWRIGHT_FINE)
    return "";
  for (const auto &entry : std::filesystem::directory_iterator(dumps))
    if (entry.path().string().ends_with("-llvm.mlir")) {
      auto file = MappedFile::open(entry.path());
      return file ? std::string(file->text()) : "";
    }
  return "";
}

} // namespace

TEST_P(SameCode, WithAndWithoutValues) {
  auto library = cli::CompilerLibrary::load(TW_COMPILER_PATH);
  ASSERT_TRUE(library);
  auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  std::string model = std::string(TW_MODELS "/") + GetParam() + "/" + GetParam() + ".pt2";
  std::string without = codeOf(*library, model, folder->path(), false);
  EXPECT_FALSE(without.empty());
  EXPECT_TRUE(without == codeOf(*library, model, folder->path(), true));
}

// Fusion, transposes, channels last, attention, branches, loops, state.
INSTANTIATE_TEST_SUITE_P(Models, SameCode,
                         testing::Values("small_mlp", "cnn", "bert_core", "cached_attention",
                                         "cond", "lstm_deep", "ring_buffer", "sgd_step"),
                         [](const auto &info) { return std::string(info.param); });
