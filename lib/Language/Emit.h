// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_LANGUAGE_EMIT_H
#define TILEWRIGHT_LANGUAGE_EMIT_H

#include "Language/Program.h"

namespace tw::kernel::detail {

/// The text of a kernel in the tile dialect's syntax, with a location on each operation.
std::string print(const Program &program);

} // namespace tw::kernel::detail

#endif // TILEWRIGHT_LANGUAGE_EMIT_H
