// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/LoopCost.h"
#include "GraphToTile/Analysis/Subkernels/LoopProperties.h"
#include <algorithm>

namespace tw::target::nvidia {
using namespace conversion;

// Measured on an H200: a multiprocessor begins a block of threads every 160 ns, in which it could
// read and write 5 kB.
constexpr int64_t programElements = 4096, programsOfMultiprocessor = 32;
constexpr int64_t evenColumns = 16; // blocks along the last dimension are multiples of it

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Whether all loops are parallel, of known sizes, and go along memory in the same direction.
static bool isPlainNest(const LoopProgram &program, const LoopConfiguration &configuration) {
  std::vector<bool> parallel = parallelDims(program), folded = foldedDims(program);
  int last = int(program.dims.size()) - 1;
  bool isPlain =
      last >= 0 && configuration.parts == 1 && program.unitDims.empty() && !hasUpdates(program);
  for (size_t dim = 0; dim < program.dims.size(); ++dim)
    isPlain = isPlain && parallel[dim] && !folded[dim] && program.dims[dim].size &&
              *program.dims[dim].size > 0 && configuration.tilings[dim].block > 0;
  forEachAccess(program, [&](const Access &access, bool) {
    isPlain &= access.axes.empty() || !access.covers(last) || access.axes.back().dim == last;
  });
  return isPlain;
}

void growPrograms(const LoopProgram &program, LoopConfiguration &configuration,
                  const GpuArchitecture &architecture) {
  if (!isPlainNest(program, configuration))
    return;
  int64_t elements = 1, programs = 1;
  for (auto [dim, tiling] : llvm::zip(program.dims, configuration.tilings)) {
    elements *= tiling.block;
    programs *= ceilDiv(*dim.size, tiling.block);
  }
  int64_t factor = std::min(programElements / elements,
                            programs / (architecture.multiprocessors * programsOfMultiprocessor));
  int last = int(program.dims.size()) - 1;
  for (int dim = last; dim >= 0 && factor > 1; --dim) {
    LoopTiling &tiling = configuration.tilings[dim];
    int64_t size = *program.dims[dim].size, before = tiling.block;
    int64_t blocks = ceilDiv(size, std::min(size, before * factor));
    tiling.block = ceilDiv(size, blocks);
    if (dim == last && blocks > 1)
      tiling.block = ceilDiv(tiling.block, evenColumns) * evenColumns;
    tiling.programs = 1;
    if (tiling.block < size)
      return;
    factor /= ceilDiv(tiling.block, before);
  }
}

} // namespace tw::target::nvidia
