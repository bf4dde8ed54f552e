// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelKeys.h"
#include "IO/File.h"
#include "runtime/Artifact/Artifact.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

namespace tw::cli {

Result<ProgramDescription> describeProgram(const std::string &artifact) {
  TW_ASSIGN(rt::Artifact opened, rt::openArtifact(artifact));
  const rt::Metadata &metadata = opened.metadata;
  const char *given = std::getenv("TILEWRIGHT_COMPILER");
  TW_ASSIGN(MappedFile library,
            MappedFile::open(given ? given : CompilerLibrary::besideExecutable()));
  ProgramDescription made{
      metadata.target,
      fmt::format("{}; {:016x}", metadata.compiler, std::hash<std::string_view>()(library.text())),
      {}};
  for (const rt::DispatchInfo &dispatch : metadata.dispatches)
    made.configured.insert(dispatch.configured.empty() ? dispatch.kernel
                                                       : dispatch.configured.front());
  return made;
}

tune::MeasuredKernel keyOf(const TunableKernel &kernel, const ProgramDescription &program,
                           const std::string &machine) {
  return {kernel.signature,
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
