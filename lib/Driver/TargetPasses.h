// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tw {

/// Targets as passes, for tilewright-opt and tests; the compiler itself calls them (Target.h). Both
/// replace the kernels that they take by functions in the llvm dialect, or as `loops`:
/// tw-target-cpu (options `cpu`, as in --target=cpu:NAME, `loops`, and `plan`: print what is
/// decided about each kernel to the standard output first) the tile programs, tw-target-reference
/// (option `loops`) the functions with `tw.kernel`.
void registerTargetPasses();

} // namespace tw
