// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Emission/DotBlock.h"
#include "Target/NVIDIA/Emission/Width.h"
#include <algorithm>
#include <cmath>

namespace tw::target::nvidia {
namespace {

// Of a multiprocessor of a Hopper GPU (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr int64_t residentThreads = 2048, residentBlocks = 32, registerCount = 65536;
constexpr int64_t systemSharedBytes = 1024; // of each block
constexpr double issuedOfCycle = 4;         // instructions of warps
constexpr double lineBytes = 128;           // that one access of a warp reads in a cycle
// A multiprocessor begins a block of threads every 160 ns, measured on an H200.
constexpr double beginCycles = 280;
// A step of a sum that waits for its operands, of which those of four steps are under way; a
// barrier.
constexpr double stepCycles = 100, barrierCycles = 40;
// The share of the shorter of work and waiting that the longer one does not hide.
constexpr double notHidden = 0.25;
// Registers of a thread beside its sums and operands.
constexpr int64_t otherRegisters = 30;
// Of a load: itself and its address.
constexpr double loadInstructions = 2;
// Of a sum that is read from scratch, added to and written back.
constexpr double scratchAccesses = 2, scratchInstructions = 6;
// Scratch of blocks beyond this share of shared memory lies in the launch's workspace (Kernel.cpp).
constexpr int64_t blocksThatShare = 2;

double ceilDiv(double a, double b) { return std::ceil(a / b); }

/// Cycles in which a warp reads one element for each of its lanes, which have so many different
/// ones along the result.
double cyclesOfLoad(const DotOperand &operand, double different) {
  return operand.loads *
         (operand.isAlongSum ? different : ceilDiv(different * double(operand.bytes), lineBytes));
}

/// Programs that a multiprocessor runs at one time.
int64_t residentPrograms(const ProgramCost &program, const GpuArchitecture &architecture) {
  int64_t threads = program.block.allThreads();
  int64_t shared = program.sharedBytes * program.block.programs + systemSharedBytes;
  int64_t blocks = std::min({residentBlocks, residentThreads / threads,
                             registerCount / (threads * program.registers),
                             architecture.sharedBytes / shared});
  return std::max<int64_t>(blocks, 1) * program.block.programs;
}

/// Cycles in which a multiprocessor does what a program asks for, whatever waits for it.
double workOf(const ProgramCost &program, const GpuArchitecture &architecture) {
  bool isInWorkspace = program.sharedBytes * program.block.programs >
                       architecture.sharedBytes / blocksThatShare - systemSharedBytes;
  double bytes = program.bytes + (isInWorkspace ? program.accesses * lineBytes : 0);
  return std::max({program.instructions / issuedOfCycle, program.accesses, bytes / bytesOfCycle,
                   beginCycles / double(program.block.programs)});
}

} // namespace

double cyclesOfLaunch(const ProgramCost &program, double programs, double parts,
                      const GpuArchitecture &architecture) {
  double each = ceilDiv(programs * parts, double(architecture.multiprocessors));
  double rounds = ceilDiv(each, double(residentPrograms(program, architecture)));
  double busy = each * workOf(program, architecture), waiting = rounds * program.chain;
  return (parts > 1 ? 2 : 1) * launchCycles + std::max(busy, waiting) +
         notHidden * std::min(busy, waiting);
}

double partsOf(double programs, double trips, double work) {
  if (programs >= double(splitLimits.enoughPrograms))
    return 1;
  double tripsOfPart = ceilDiv(double(splitLimits.leastWork), std::max(work, 1.0));
  double most = std::min(double(splitLimits.wantedPrograms) / programs, trips / tripsOfPart);
  return std::max(1.0, std::floor(most));
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

BlockShape blockOfDots(int64_t elements, const GpuArchitecture &architecture) {
  Width width{.neighbours = 1, .held = heldElements, .largestTile = elements, .isRowByRow = false};
  return blockShapeFor(width, std::nullopt, architecture);
}

void addDot(ProgramCost &program, const DotWork &dot, double times) {
  int64_t threads = program.block.threads;
  DotBlock block = dotBlockOf(dot.rows, dot.columns, dot.rows * dot.columns, threads);
  auto rows = double(block.rows), columns = double(block.columns), depth = double(dot.depth);
  // Threads next to each other have blocks next to each other along the columns.
  double across = double(dot.columns) / columns, blocks = double(dot.rows) / rows * across;
  double passes = ceilDiv(blocks, double(threads));
  double busy = std::min(blocks, double(threads));
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
  auto results = double(dot.rows * dot.columns);
  program.accesses += scratchAccesses * times * results / lanesOfWarp;
  program.instructions += scratchInstructions * times * results / lanesOfWarp;
  int64_t sums = block.rows * block.columns * (dot.depth > termsOfDotPart ? 2 : 1);
  program.registers =
      std::max(program.registers, otherRegisters + sums + block.rows + block.columns);
}

} // namespace tw::target::nvidia
