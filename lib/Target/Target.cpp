// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Target.h"

using namespace tw::target;

Target::~Target() = default;
