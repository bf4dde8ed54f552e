// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Emission/DotBlock.h"
#include "Target/NVIDIA/Emission/Width.h"
#include <algorithm>
#include <cmath>

namespace tw::target::nvidia {
namespace {

constexpr double lineBytes = 128; // that one access of a warp reads in a cycle
// Scratch of blocks beyond this share of shared memory lies in the launch's workspace (Kernel.cpp).
constexpr int64_t blocksThatShare = 2;
// What follows fits times measured on an H100 (docs/nvidia-target.md), as the architecture's rates
// do. So many warps hide all but half of the shorter of working and waiting.
constexpr double hidingWarps = 24;
// ptxas writes loops of fewer instructions out several times, so that more loads are under way.
constexpr double unrolledInstructions = 192, mostUnrolled = 8, mostUnrolledTested = 2;
// Of a thread for its block: where its rows and columns are.
constexpr double blockInstructions = 60;
// Of a load: itself and its address.
constexpr double loadInstructions = 2;
// Of a sum that is read from scratch, added to and written back.
constexpr double scratchAccesses = 2, scratchInstructions = 6;
// Registers of a row whose places are tested: its address and what that is compared with. What
// ptxas takes of what seems to be needed.
constexpr int64_t testedRegisters = 10;
constexpr double takenRegisters = 1.15;
constexpr double spillAccesses = 2; // of a register that there is not: it is stored and loaded
// The launch that combines parts, which waits for all of them; for each, and bytes of it in a
// cycle.
constexpr double secondLaunchCycles = 5000, combineCycles = 300, combinedBytes = 8;
// The same where all parts are read at one time.
constexpr double writtenOutCycles = 4000;

double ceilDiv(double a, double b) { return std::ceil(a / b); }

/// Programs that a multiprocessor runs at one time.
int64_t residentPrograms(const ProgramCost &program, const GpuArchitecture &architecture) {
  int64_t threads = program.block.allThreads();
  int64_t shared = program.sharedBytes * program.block.programs + systemSharedBytes;
  int64_t blocks = std::min({architecture.residentBlocks, architecture.residentThreads / threads,
                             registersOfMultiprocessor / (threads * program.registers),
                             architecture.sharedBytes / shared});
  return std::max<int64_t>(blocks, 1) * program.block.programs;
}

/// Cycles in which a multiprocessor does what a program asks for, whatever waits for it.
double workOf(const ProgramCost &program, const GpuArchitecture &architecture) {
  const GpuRates &rates = architecture.rates;
  double begin =
      rates.beginBlock + rates.beginWarp * double(program.block.allThreads() / lanesOfWarp);
  double most = std::max({program.instructions / rates.issued, program.accesses + program.scratch,
                          program.bytes / bytesOfCycle(architecture),
                          begin / double(program.block.programs)});
  bool isInWorkspace = program.sharedBytes * program.block.programs >
                       architecture.sharedBytes / blocksThatShare - systemSharedBytes;
  return most + (isInWorkspace ? program.scratch * lineBytes / bytesOfCycle(architecture) : 0);
}

} // namespace

double cyclesOfLaunch(const ProgramCost &program, double programs, double parts,
                      const GpuArchitecture &architecture) {
  auto resident = double(residentPrograms(program, architecture));
  double each = ceilDiv(programs * parts, double(architecture.multiprocessors));
  double working = each * workOf(program, architecture);
  double waiting = ceilDiv(each, resident) * program.waiting;
  double warps = std::min(each, resident) * program.warps;
  double notHidden = std::min(1.0, hidingWarps / 2 / warps);
  double combining = parts > 1
                         ? secondLaunchCycles +
                               parts * (combineCycles + double(program.sharedBytes) / combinedBytes)
                         : 0;
  return architecture.rates.launch + std::max(working, waiting) +
         notHidden * std::min(working, waiting) + combining;
}

double combiningCycles(double numbers, const GpuArchitecture &architecture) {
  constexpr double numberBytes = 4;
  double ofOne = numbers / double(architecture.multiprocessors);
  return writtenOutCycles + ofOne * numberBytes / bytesOfCycle(architecture);
}

double partsOf(double programs, double trips, double work, const GpuArchitecture &architecture) {
  conversion::SplitLimits limits = splitLimits(architecture);
  if (programs >= double(limits.enoughPrograms))
    return 1;
  double tripsOfPart = ceilDiv(double(limits.leastWork), std::max(work, 1.0));
  double most = std::min(double(limits.wantedPrograms) / programs, trips / tripsOfPart);
  return std::max(1.0, std::floor(most));
}

BlockShape blockOfDots(int64_t elements, const GpuArchitecture &architecture) {
  Width width{.neighbours = 1, .held = heldElements, .largestTile = elements, .isRowByRow = false};
  return blockShapeFor(width, std::nullopt, architecture);
}

namespace {

/// What the threads of a warp do to read an operand for so many terms.
struct Reading {
  double instructions, accesses;
};

/// `count`: rows or columns of a thread's block; `different`: those of all threads of a warp, for
/// each of these.
Reading readingOf(const DotOperand &operand, double count, double different, int64_t terms,
                  int64_t depth) {
  int64_t even = depth & -depth; // the largest power of two that divides it
  int64_t neighbours =
      operand.isAlongSum ? std::min({terms, even, accessBytes / operand.bytes}) : 1;
  double loads = count * operand.loads * double(terms) / double(neighbours);
  double lines =
      operand.isAlongSum ? different : ceilDiv(different * double(operand.bytes), lineBytes);
  return {loads * (loadInstructions + operand.tests) + count * double(terms) * operand.instructions,
          loads * lines};
}

} // namespace

void addDot(ProgramCost &program, const DotWork &dot, const GpuArchitecture &architecture,
            double times) {
  int64_t threads = program.block.threads;
  DotBlock block = dotBlockOf(dot.rows, dot.columns, dot.rows * dot.columns, threads);
  auto rows = double(block.rows), columns = double(block.columns);
  int64_t terms = termsTogether(block, dot.depth, /*words=*/1, threads);
  // Threads next to each other have blocks next to each other along the columns.
  double across = double(dot.columns) / columns, blocks = double(dot.rows) / rows * across;
  double passes = ceilDiv(blocks, double(threads)), busy = std::min(blocks, double(threads));
  double warps = ceilDiv(busy, lanesOfWarp), lanes = std::min(busy, double(lanesOfWarp));
  double alongColumns = std::min(lanes, across), alongRows = ceilDiv(lanes, alongColumns);
  // A thread's rows follow each other; its columns are as far apart as there are blocks along them.
  Reading a =
      readingOf(dot.a, rows, dot.a.isAlongSum ? alongRows : alongRows * rows, terms, dot.depth);
  Reading b = readingOf(dot.b, columns, alongColumns, terms, dot.depth);
  double instructions = rows * columns * double(terms) + a.instructions + b.instructions;

  int64_t sums = block.rows * block.columns * (dot.depth > termsOfDotPart ? 2 : 1);
  auto operands = double((block.rows + block.columns) * terms);
  double spare = double(registersOfMultiprocessor / threads - registersBeside - sums) / operands;
  double steps = ceilDiv(double(dot.depth), double(terms));
  double unrolled =
      std::clamp(std::floor(std::min({spare, unrolledInstructions / instructions, passes * steps})),
                 1.0, dot.a.tests > 0 ? mostUnrolledTested : mostUnrolled);
  auto most = double(std::min(registersOfThread, registersOfMultiprocessor / threads));
  double registers = double(registersBeside + sums) + operands +
                     (dot.a.tests > 0 ? double(testedRegisters) * rows : 0);
  double spilled = std::max(0.0, registers - most);
  registers = std::min(most, takenRegisters * (registers + operands * (unrolled - 1)));
  program.registers = std::max(program.registers, int64_t(registers));

  double all = times * passes * steps,
         results = times * double(dot.rows * dot.columns) / lanesOfWarp;
  program.warps = std::max(program.warps, warps);
  program.instructions += all * warps * (instructions + spillAccesses * spilled) +
                          times * passes * warps * blockInstructions +
                          scratchInstructions * results;
  program.accesses += all * warps * (a.accesses + b.accesses + spillAccesses * spilled);
  program.scratch += scratchAccesses * results;
  program.bytes +=
      times * double(dot.depth) * double(dot.rows * dot.a.bytes + dot.columns * dot.b.bytes);
  program.waiting += all * architecture.rates.load / unrolled + times * architecture.rates.barrier;
}

} // namespace tw::target::nvidia
