// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels in the forms in which authors give them, as text in the tile dialect.
#pragma once
#include "Driver/CApi/RunApart.h"
#include "Support/Diagnostic.h"
#include "Support/Size.h"
#include <map>
#include <string>
#include <vector>

namespace tw {

struct KernelText {
  std::string text;             // of one kernel, or of a whole .mlir file
  std::string name;             // of the file, for locations
  Size::Values parameters = {}; // of a traced kernel, with the values that it was traced with
  std::vector<std::string> included = {};     // the files that its C++ includes
  std::vector<std::string> configurable = {}; // the kernels of its library that have parameters
};

/// Values for parameters, by the names of kernels.
using KernelParameters = std::map<std::string, Size::Values, std::less<>>;

/// Errors: KERNEL_5 for parameters that the file `path` has for none of the kernels `configurable`,
/// those that have some.
Status checkKernelNames(const KernelParameters &configured, const std::string &path,
                        const std::vector<std::string> &configurable);

/// Reads a .mlir file; or loads a kernel library (.so), after compiling it if it is given as .cpp,
/// and traces its kernel `wanted`, or the only one where that is empty, with `values` for symbols
/// and parameters, else those of `configured` (text in a file stays as it is). This executes code
/// of the library, in a process of its own. Errors: IO_1, DRIVER_4 (another kind of file),
/// IMPORT_109 (no such kernel), KERNEL_1 to KERNEL_4, KERNEL_8 (that code crashes, or it takes more
/// than KernelTime).
Result<KernelText> readKernel(const std::string &path, const std::string &wanted,
                              const Size::Values &values, const KernelParameters &configured = {});

/// The same for all kernels of the file, with the parameters `configured` and else their defaults:
/// each text has one kernel or more.
Result<std::vector<KernelText>> readKernels(const std::string &path,
                                            const KernelParameters &configured = {});

struct CompiledLibrary {
  std::string path;                  // of the .so
  std::vector<std::string> included; // the files that its source includes, but for a system's own
};

/// Compiles a kernel library, which is kept in the user's cache (Cache/CompileCache.h) under a hash
/// of the preprocessed source, of the compiler and of what is linked. $CXX, or else c++, is the
/// compiler. Errors: KERNEL_1 with all that the compiler says, KERNEL_4, KERNEL_8 when there is no
/// more `time`, IO_2, SYSTEM_3 to SYSTEM_5.
Result<CompiledLibrary> compileKernelLibrary(const std::string &source, const KernelTime &time);

} // namespace tw
