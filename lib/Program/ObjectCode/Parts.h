// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module in parts that are compiled at the same time.
#pragma once
#include "llvm/ADT/SmallString.h"
#include <memory>
#include <vector>

namespace llvm {
class Module;
}

namespace tw {

/// At most `most` parts as bitcode, since a module belongs to a context and a context to a thread:
/// each definition in one of them, local ones with all that uses them. Parts have about as many
/// instructions as each other, which llvm::SplitModule does not look at, and the largest comes
/// first.
std::vector<llvm::SmallString<0>> splitInParts(const llvm::Module &module, size_t most);

} // namespace tw
