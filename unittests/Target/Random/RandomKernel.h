// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: kernels made at random, one for each seed, with inputs for them and how inexact their
// results may be. They are right: the interpreter finds nothing in them.
#pragma once
#include "IO/HostTensor.h"
#include <string>
#include <vector>

namespace tw {

struct RandomKernel {
  std::string text;               // of the tile.kernel
  std::string problem;            // why there is none; else empty
  std::vector<HostTensor> inputs; // of a call
  std::vector<double> errors;     // of each result, absolute; 0: it is exact
};

RandomKernel makeRandomKernel(unsigned seed);

} // namespace tw
