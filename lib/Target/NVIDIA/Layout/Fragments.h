// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts that the target uses, and those that instructions want.
#pragma once
#include "Target/NVIDIA/Layout/Layout.h"

namespace tw::target::nvidia {

/// Elements row-major, dealt one by one to `threads` threads: thread t has t, t + threads, ... of a
/// tile that is looked at as one line of `count` elements.
Layout strided(int64_t count, int64_t threads);

/// A tile of rows x columns in blocks, one a thread: rows next to each other, and columns as far
/// apart as there are blocks along them, so that threads next to each other touch columns next to
/// each other. The block divides the tile.
Layout blocks(int64_t rows, int64_t columns, int64_t blockRows, int64_t blockColumns);

/// wgmma.mma_async.m64nNk16: the sums, f32, of the 128 threads of a warp group; `columns` is any
/// multiple of 8 to 256. PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16".
Layout wgmmaSums(int64_t columns);
/// Its left operand in registers, f16 or bf16: 64 x 16.
Layout wgmmaLeft();

} // namespace tw::target::nvidia
