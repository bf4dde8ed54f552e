// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each family of lowerings is one file that defines one of these functions.
#pragma once
#include "TorchToGraph/Core/Registry.h"

namespace tw::lower {

#define TW_FAMILY(function) Family function();
#include "TorchToGraph/Families.def"

} // namespace tw::lower
