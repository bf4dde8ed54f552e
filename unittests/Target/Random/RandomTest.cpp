// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels: compiled they give what the interpreter gives, which finds nothing in them. A
// failure prints the kernel; RANDOM_KERNELS=FIRST:COUNT tries other seeds.
#include "RandomKernel.h"
#include "unittests/Target/CompiledKernel.h"
#include "llvm/ADT/StringRef.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tw::target {
namespace {

void tryKernel(unsigned seed) {
  RandomKernel made = makeRandomKernel(seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + made.text);
  ASSERT_EQ(made.problem, "");
  try {
    CompiledKernel kernel(made.text);
    kernel.expectSame(made.inputs, made.errors);
  } catch (const std::exception &problem) {
    ADD_FAILURE() << problem.what();
  }
}

TEST(Random, CompiledAsInterpreted) {
  unsigned first = 1, count = 120;
  if (const char *range = std::getenv("RANDOM_KERNELS")) {
    auto [seed, number] = llvm::StringRef(range).split(':');
    ASSERT_FALSE(seed.getAsInteger(10, first) || number.getAsInteger(10, count)) << range;
  }
  for (unsigned seed = first; seed < first + count; ++seed)
    tryKernel(seed);
}

} // namespace
} // namespace tw::target
