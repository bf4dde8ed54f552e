// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The torch level: dialects torch and torch_c, see docs/torch-dialect.md.
#pragma once
#include "IR/Torch/AtenOp.h"
#include "IR/Torch/Ops.h"
#include "IR/Torch/Ops/TorchConversion.h"
#include "IR/Torch/Schema.h"
#include "IR/Torch/TorchTypes.h"
