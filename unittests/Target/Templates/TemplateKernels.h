// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of templates have in common: tensors for the buffers of a specification, and the text
// of a kernel as tests call it.
#pragma once
#include "IO/HostTensor.h"
#include "Kernels/Access.h"
#include "unittests/Target/CompiledKernel.h"

namespace tw {

/// Element i as a number.
double at(const HostTensor &tensor, int64_t i);

/// All of them.
std::vector<double> valuesOf(const HostTensor &tensor);

/// Random elements for a buffer of known sizes; of i1 about half are set.
HostTensor randomTensor(const kernels::BufferSpec &buffer, int seed);

/// Tests call kernels with inputs alone.
std::string withoutDestinations(std::string text);

} // namespace tw
