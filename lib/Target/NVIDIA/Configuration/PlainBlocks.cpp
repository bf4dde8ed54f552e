// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/PlainBlocks.h"

namespace tw::target::nvidia {
using kernels::Constraint;

namespace {

// Of a block of threads: so many threads, of which each has so many sums in registers at once
// (Emission/Dot.cpp).
constexpr int64_t mostThreads = 1024, sumsOfThread = 8 * 8;
// Products of Winograd's algorithm that make a block of 2 x 2 places.
constexpr int64_t productsOfBlock = 16;

const char *const manySums = "the threads of a block, 1024 at most, have 8 x 8 sums each in "
                             "registers";

struct Asked {
  std::vector<Constraint> operator()(const kernels::Contraction &) const {
    return {
        {"rows * columns * (1 - vectorize_reduction)", most(mostThreads * sumsOfThread), manySums},
        {"rows * columns * vectorize_reduction", most(mostThreads),
         "each sum is one of the threads of a block, 1024 at most"}};
  }
  std::vector<Constraint> operator()(const kernels::Convolution &convolution) const {
    int64_t products = convolution.hasTransformedWeights ? productsOfBlock : 1;
    return {{"width * height * columns", most(mostThreads * sumsOfThread / products), manySums}};
  }
  std::vector<Constraint> operator()(const auto &) const { return {}; }

private:
  static std::string most(int64_t number) { return std::to_string(number); }
};

} // namespace

std::vector<Constraint> plainConstraints(const conversion::Subkernel &subkernel) {
  return std::visit(Asked(), subkernel.what);
}

} // namespace tw::target::nvidia
