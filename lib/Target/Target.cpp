// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Target.h"

using namespace tw::target;

Target::~Target() = default;

CpuFeatures CpuFeatures::fromNames(llvm::ArrayRef<std::string> names) {
  auto has = [&](llvm::StringRef wanted) {
    return llvm::any_of(names, [&](llvm::StringRef name) {
      return name == wanted || (name.consume_front("+") && name == wanted);
    });
  };
  if (has("avx512f") && has("avx512vl"))
    return {64, 32};
  if (has("avx2") && has("fma"))
    return {32, 16};
  return {};
}
