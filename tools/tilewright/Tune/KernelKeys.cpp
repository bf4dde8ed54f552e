// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelKeys.h"
#include "IO/File.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

namespace tw::cli {

Result<ProgramDescription> describeProgram(const rt::Metadata &metadata) {
  const char *given = std::getenv("TILEWRIGHT_COMPILER");
  TW_ASSIGN(MappedFile library,
            MappedFile::open(given ? given : CompilerLibrary::besideExecutable()));
  ProgramDescription made{
      metadata.target,
      fmt::format("{}; {:016x}", metadata.compiler, std::hash<std::string_view>()(library.text())),
      {}};
  for (const rt::DispatchInfo &dispatch : metadata.dispatches)
    made.configured.insert(dispatch.configuredAs());
  return made;
}

/// The dispatch, and which calls of it: times of others say nothing.
static std::string codeText(const TunableKernel &kernel) {
  std::string text = kernel.signature + kernel.bound.text();
  if (kernel.callSize)
    text += fmt::format(", size {}", *kernel.callSize);
  return kernel.bound.isForAll() ? text
                                 : fmt::format("{}, of {}", text, tune::pointText(kernel.own));
}

tune::MeasuredKernel keyOf(const TunableKernel &kernel, const ProgramDescription &program,
                           const std::string &machine) {
  return {codeText(kernel),
          kernel.number,
          tune::pointText(kernel.start.point),
          fmt::format("{} {}", program.target, kernel.kind),
          machine,
          program.compiler};
}

tune::KernelDescription descriptionOf(const TunableKernel &kernel) {
  int64_t enumerated = 0;
  if (kernel.enumerated)
    enumerated = std::ranges::count_if(kernel.points, [&](const tune::Candidate &candidate) {
      return candidate.point != kernel.start.point;
    });
  return {fmt::format("{}", fmt::join(kernel.dtypes, ", ")), kernel.sizes, kernel.space,
          kernel.start.cost, enumerated};
}

} // namespace tw::cli
