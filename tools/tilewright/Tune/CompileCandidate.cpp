// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileCandidate.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/Program.h"
#include <cstdio>

namespace tw::cli {

/// The first line of what was printed to a file.
static std::string firstLine(const std::string &path) {
  auto file = MappedFile::open(path);
  std::string text = file ? std::string(file->text()) : "";
  text = text.substr(0, text.find('\n'));
  return text.empty() ? "the compiler refuses it" : text;
}

Result<CandidateProgram> compileCandidate(ModelOptions model, const std::string &configuration,
                                          const TemporaryFolder &folder, const std::string &name) {
  CandidateProgram made;
  std::string path = folder.path() + "/" + name, said = path + ".txt";
  made.artifact = path + ".so";
  model.configurations = path + ".json";
  std::span<const std::byte> bytes = asBytes(configuration);
  TW_TRY(writeFile(model.configurations, std::span(&bytes, 1)));
  auto outcome = runIsolated(
      "compiling a candidate",
      [&] {
        // What it says is the candidate's, not the user's.
        expectJson(false);
        if (!std::freopen(said.c_str(), "w", stderr))
          return 1;
        int status = compileHere(model, made.artifact);
        std::fflush(stderr);
        return status;
      },
      &folder);
  // However it ended, the search goes on: of memory, too, the candidate may have wanted too much.
  if (!outcome)
    made.refusal = outcome.error().message;
  else if (*outcome != 0)
    made.refusal = firstLine(said);
  return made;
}

} // namespace tw::cli
