// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long programs of the plain lowering take: one multiprocessor, by what its threads ask of it.
#pragma once
#include "Target/NVIDIA/Architecture.h"
#include "tilewright/Kernel.h"
#include <optional>

namespace tw::target::nvidia {

/// What one program asks of a multiprocessor.
struct ProgramCost {
  int64_t threads = 32;
  int64_t registers = 32;     // of a thread
  int64_t sharedBytes = 0;    // of the block
  double instructions = 0;    // of warps
  double accesses = 0;        // cycles of the first-level cache and of shared memory
  double bytes = 0;           // that come from the second-level cache
  double chain = 0;           // cycles that it takes alone: each step waits for the one before
};

/// Cycles of a launch of so many programs.
double cyclesOfLaunch(const ProgramCost &program, double programs,
                      const GpuArchitecture &architecture);

/// An operand of a product, as the threads of a warp read it.
struct DotOperand {
  int64_t bytes = 4;      // of an element
  bool isAlongSum = true; // whether the sum's elements are side by side, not the result's
  double instructions = 0; // beside the load's own, of an element: it is computed or converted
  double loads = 1;        // of memory, for an element
};

/// A product of a program, rows x depth times depth x columns.
struct DotWork {
  int64_t rows, columns, depth;
  bool areKnown = true; // rows and columns; else a thread has one result at a time
  DotOperand a, b;
};

/// Bytes of an element in memory.
int64_t bytesOf(kernel::DType dtype);

/// Threads of a block whose largest tile has so many elements, none of which an access of 128 bits
/// reads; nothing: known only at the call.
int64_t threadsOfTile(std::optional<int64_t> elements);

/// Adds a product, done so often one after the other, to what a program takes.
void addDot(ProgramCost &program, const DotWork &dot, double times = 1);

} // namespace tw::target::nvidia
