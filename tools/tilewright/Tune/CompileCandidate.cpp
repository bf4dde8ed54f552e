// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileCandidate.h"
#include "CandidateLimits.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "Support/MemoryFile.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/Program.h"
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <unistd.h>

namespace tw::cli {

/// Whether an error says something of the machine, and nothing of what was to be compiled.
static bool isOfMachine(Code code) {
  constexpr Code codes[] = {Code::IO_2, Code::SYSTEM_3, Code::SYSTEM_4, Code::SYSTEM_5};
  return std::ranges::find(codes, code) != std::end(codes);
}

/// The first line of the error that was printed to a file, perhaps after warnings.
static std::string firstLine(const std::string &path) {
  auto file = MappedFile::open(path);
  std::string text = file ? std::string(file->text()) : "";
  size_t error = text.find("error[");
  text = text.substr(error == text.npos ? 0 : error);
  text = text.substr(0, text.find('\n'));
  return text.empty() ? "the compiler refuses it" : text;
}

/// Of "error[CODE]: message", if that is one of the machine.
static std::optional<Diagnostic> machinesError(const std::string &line) {
  constexpr std::string_view begin = "error[", middle = "]: ";
  size_t end = line.find(middle);
  if (!line.starts_with(begin) || end == line.npos)
    return std::nullopt;
  auto code = parseCode(line.substr(begin.size(), end - begin.size()));
  if (!code || !isOfMachine(*code))
    return std::nullopt;
  return Diagnostic{*code,
                    line.substr(end + middle.size()),
                    {},
                    {},
                    "make room in TMPDIR, or raise the limit; with --database the next search goes "
                    "on from what is known"};
}

Result<CandidateProgram> compileCandidate(ModelOptions model, const std::string &configuration,
                                          const TemporaryFolder &folder, const std::string &name,
                                          std::optional<int> seconds) {
  CandidateProgram made;
  std::string path = folder.path() + "/" + name;
  made.artifact = path + ".so";
  model.configurations = path + ".json";
  std::span<const std::byte> bytes = asBytes(configuration);
  TW_TRY(writeFile(model.configurations, std::span(&bytes, 1)));
  MemoryFile said("what the compiler said"); // also that no disk has room
  auto outcome = runIsolated("compiling a candidate",
                             [&] {
                               // What it says is the candidate's, not the user's.
                               expectJson(false);
                               if (dup2(said.descriptor(), STDERR_FILENO) < 0)
                                 return 1;
                               int status = compileHere(model, made.artifact);
                               std::fflush(stderr);
                               return status;
                             },
                             &folder, {seconds, memoryForCandidate({model.model})});
  if (!outcome && isOfMachine(outcome.error().code))
    return outcome.error();
  if (!outcome)
    made.refusal = outcome.error().message;
  else if (*outcome != 0)
    made.refusal = firstLine(said.path());
  if (auto error = machinesError(made.refusal))
    return *error;
  return made;
}

} // namespace tw::cli
