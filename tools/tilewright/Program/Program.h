// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MODEL or OUT.so as a loaded program: a model is compiled to a temporary artifact first.
#pragma once
#include "IO/TemporaryFolder.h"
#include "Support/Diagnostic.h"
#include "runtime/Artifact/Metadata.h"
#include "tilewright/tilewright.h"
#include "tools/tilewright/Compiler/ModelOptions.h"
#include <memory>
#include <string>

namespace tw::cli {

struct FreeProgram {
  void operator()(tw_program *program) const { tw_program_free(program); }
};
using ProgramPtr = std::unique_ptr<tw_program, FreeProgram>;

struct FreeInstance {
  void operator()(tw_instance *instance) const { tw_instance_free(instance); }
};
using InstancePtr = std::unique_ptr<tw_instance, FreeInstance>;

/// Is the file at `path` an artifact? It is when it starts like an ELF file or is called .so;
/// anything else is the compiler's. Errors: IO_1.
Result<bool> isArtifact(const std::string &path);

/// Loads options.model for `device` (empty: the default one), and of a model that is compiled for
/// it the metadata, too, if asked for. Returns an exit status; errors have been printed.
int openProgram(const ModelOptions &options, const std::string &device, ProgramPtr &program,
                rt::Metadata *metadata = nullptr);

/// Loads an artifact. Errors: those of the runtime.
Status loadArtifact(const std::string &path, const std::string &device, bool verify,
                    ProgramPtr &program);

/// Compiles options.model to `output`, in the child process of runIsolated; returns an exit status;
/// errors have been printed.
int compileHere(const ModelOptions &options, const std::string &output);

/// Compiles options.model to `output` in a child process whose temporary files go to `folder`;
/// returns an exit status; errors have been printed.
int compileTo(const ModelOptions &options, const std::string &output,
              const TemporaryFolder &folder);

/// Creates an instance; 0 threads: all. `graphs`: on a GPU it may launch calls as CUDA graphs.
Result<InstancePtr> createInstance(const tw_program *program, int threads, bool graphs = true);

} // namespace tw::cli
