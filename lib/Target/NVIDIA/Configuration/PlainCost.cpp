// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include "Target/NVIDIA/Emission/DotBlock.h"
#include "Target/NVIDIA/Emission/Lanes.h"
#include "Target/NVIDIA/Emission/Width.h"
#include <algorithm>
#include <cmath>

namespace tw::target::nvidia {
namespace {

// Of a multiprocessor of a Hopper GPU (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr int64_t residentThreads = 2048, residentBlocks = 32, registerCount = 65536;
// In one cycle: instructions of warps, and bytes that its loads bring from the second-level cache.
constexpr double issuedOfCycle = 4, bytesOfCycle = 28;
// A block of threads begins every 160 ns, measured on an H200; and what a launch takes beside.
constexpr double beginCycles = 280, launchCycles = 2500;
// A step of a sum that waits for its operands, of which those of four steps are under way; a
// barrier.
constexpr double stepCycles = 100, barrierCycles = 40;
// Of what could be done while something else is waited for, the part that is not.
constexpr double notHidden = 0.25;
constexpr double lineBytes = 128; // what one access of a warp finds at once
// Registers of a thread beside its sums and operands.
constexpr int64_t otherRegisters = 30;
// Of a load: itself and its address.
constexpr double loadInstructions = 2;

double ceilDiv(double a, double b) { return std::ceil(a / b); }

/// Cycles in which a warp reads one element for each of its lanes, which have so many different
/// ones along the result.
double cyclesOfLoad(const DotOperand &operand, double different) {
  return operand.loads *
         (operand.isAlongSum ? different
                             : ceilDiv(different * double(operand.bytes), lineBytes));
}

} // namespace

double cyclesOfLaunch(const ProgramCost &program, double programs,
                      const GpuArchitecture &architecture) {
  int64_t resident = std::min({residentBlocks, residentThreads / program.threads,
                               registerCount / (program.threads * program.registers),
                               architecture.sharedBytes /
                                   std::max<int64_t>(program.sharedBytes + 1024, 1)});
  double each = ceilDiv(programs, double(architecture.multiprocessors));
  double rounds = ceilDiv(each, double(std::max<int64_t>(resident, 1)));
  double work = std::max({program.instructions / issuedOfCycle, program.accesses,
                          program.bytes / bytesOfCycle, beginCycles});
  double busy = each * work, waiting = rounds * program.chain;
  return launchCycles + std::max(busy, waiting) + notHidden * std::min(busy, waiting);
}

int64_t bytesOf(kernel::DType dtype) {
  switch (dtype) {
  case kernel::DType::i8:
  case kernel::DType::u8:
  case kernel::DType::i1:
    return 1;
  case kernel::DType::f16:
  case kernel::DType::bf16:
  case kernel::DType::i16:
    return 2;
  case kernel::DType::f64:
  case kernel::DType::i64:
  case kernel::DType::index:
    return 8;
  case kernel::DType::f32:
  case kernel::DType::i32:
    return 4;
  }
  return 4;
}

int64_t threadsOfTile(std::optional<int64_t> elements) {
  constexpr int64_t held = 32; // of simple programs
  return threadsFor({1, held, elements});
}

void addDot(ProgramCost &program, const DotWork &dot, double times) {
  auto known = [&](int64_t extent) { return dot.areKnown ? std::optional(extent) : std::nullopt; };
  DotBlock block =
      dotBlockOf(known(dot.rows), known(dot.columns), dot.rows * dot.columns, program.threads);
  auto rows = double(block.rows), columns = double(block.columns), depth = double(dot.depth);
  // Threads next to each other have blocks next to each other along the columns.
  double across = double(dot.columns) / columns, blocks = double(dot.rows) / rows * across;
  double passes = ceilDiv(blocks, double(program.threads));
  double busy = std::min(blocks, double(program.threads));
  double warps = ceilDiv(busy, lanesOfWarp), lanes = std::min(busy, double(lanesOfWarp));
  double alongColumns = std::min(lanes, across), alongRows = ceilDiv(lanes, alongColumns);
  double steps = times * passes * depth;
  double instructions = rows * columns + rows * (dot.a.loads * loadInstructions + dot.a.instructions) +
                        columns * (dot.b.loads * loadInstructions + dot.b.instructions);
  program.instructions += steps * warps * instructions;
  // A thread's rows follow each other, and its columns are as far apart as a row of blocks is wide.
  double rowsOfLoad = dot.a.isAlongSum ? alongRows : alongRows * rows;
  program.accesses += steps * warps *
                      (rows * cyclesOfLoad(dot.a, rowsOfLoad) +
                       columns * cyclesOfLoad(dot.b, alongColumns));
  program.bytes += times * depth *
                   double(dot.rows * dot.a.bytes + dot.columns * dot.b.bytes);
  program.chain += steps * std::max(stepCycles, ceilDiv(warps, issuedOfCycle) * instructions) +
                   times * barrierCycles;
  // What is there before, and what comes of it, in shared memory.
  auto results = double(dot.rows * dot.columns);
  program.accesses += 2 * times * results / lanesOfWarp;
  program.instructions += 6 * times * results / lanesOfWarp;
  int64_t sums = block.rows * block.columns * (dot.depth > termsOfDotPart ? 2 : 1);
  program.registers =
      std::max(program.registers, otherRegisters + sums + block.rows + block.columns);
}

} // namespace tw::target::nvidia
