// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `reference` target as a pass, for tilewright-opt and tests. The compiler itself uses
// createReferenceTarget (Target/Target.h).
#pragma once

namespace tw::target {

/// Registers -tw-target-reference: replaces every kernel of a module by its llvm.func's.
void registerReferencePasses();

} // namespace tw::target
