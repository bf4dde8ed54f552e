// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model of how long kernels of the plain lowering take: what their programs ask of the busiest
// multiprocessor.
#pragma once
#include "Kernels/Access.h"
#include "Target/NVIDIA/Architecture.h"
#include "Target/NVIDIA/Emission/BlockShape.h"
#include "Target/NVIDIA/Emission/Lanes.h"
#include "tilewright/Kernel.h"

namespace tw::target::nvidia {

/// Bytes that a multiprocessor gets from the second-level cache in a cycle: what threads that load
/// get of the most that it has.
inline double bytesOfCycle(const GpuArchitecture &architecture) {
  constexpr double share = 0.4375;
  return share * architecture.rates.loadedBytes;
}
/// Elements of a tile that a thread of a simple program keeps in registers (Emission/Width.h).
inline constexpr int64_t heldElements = 32;

/// What one program asks of a multiprocessor.
struct ProgramCost {
  BlockShape block{lanesOfWarp, 1};
  int64_t registers = 32;  // of a thread
  int64_t sharedBytes = 0; // scratch of the program
  double warps = 1;        // that have something to do
  double instructions = 0; // of warps
  double accesses = 0;     // cycles of the first-level cache
  double scratch = 0;      // cycles of shared memory
  double bytes = 0;        // that come from the second-level cache
  double waiting = 0;      // cycles for what was asked for to come, and at barriers
};

/// Cycles of a launch of so many programs, each of which is shared by `parts` blocks of threads; a
/// second launch combines what these have then.
double cyclesOfLaunch(const ProgramCost &program, double programs, double parts,
                      const GpuArchitecture &architecture);

/// Cycles of the launch that combines parts of what the tensor cores sum, all at one time: so many
/// numbers of f32, row by row.
double combiningCycles(double numbers, const GpuArchitecture &architecture);

/// Into how many parts tile-split divides a loop that workers share. `work`: what a trip does, in
/// multiplications.
double partsOf(double programs, double trips, double work, const GpuArchitecture &architecture);

/// An operand of a product, as the threads of a warp read it.
struct DotOperand {
  int64_t bytes = 4;       // of an element
  bool isAlongSum = true;  // whether elements along the sum are adjacent, not those of the result
  double instructions = 0; // for an element beside its load: it is computed or converted
  double tests = 0;        // instructions for a load: whether the place is inside
  double loads = 1;        // from memory, for an element
};

/// A product in a program, rows x depth times depth x columns.
struct DotWork {
  int64_t rows, columns, depth;
  DotOperand a, b;
};

using kernels::bytesOf;

/// The threads of a program with a `dot`, whose largest tile has so many elements.
BlockShape blockOfDots(int64_t elements, const GpuArchitecture &architecture);

/// Adds a product, done so often one after the other, to what a program takes.
void addDot(ProgramCost &program, const DotWork &dot, const GpuArchitecture &architecture,
            double times = 1);

} // namespace tw::target::nvidia
