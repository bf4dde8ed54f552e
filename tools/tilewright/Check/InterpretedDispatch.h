// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dispatch of a program, done again by the interpreter of tile programs.
#pragma once
#include "IO/HostTensor.h"
#include "runtime/Artifact/Metadata.h"
#include "tools/tilewright/Program/OpenKernel.h"
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tw::cli {

/// The sizes of a tensor that a dispatch's kernel is called with; nothing where the call does not
/// say.
std::optional<std::vector<int64_t>> sizesOf(const rt::CallBuffer &buffer, const int64_t *scalars);

class DispatchInterpreter {
public:
  /// Of a program that was compiled with ModelOptions::values.
  explicit DispatchInterpreter(const rt::Metadata &metadata) : metadata(metadata) {}

  /// Before a dispatch: keeps what its kernel reads.
  Status begin(int32_t dispatch, void *const *buffers, const int64_t *scalars);
  /// After it: what its kernel has written, in order.
  Result<std::vector<HostTensor>> written(int32_t dispatch, void *const *buffers) const;
  /// What it should have written; nothing, with the reason in `why`, if that cannot be told. To be
  /// called at most once for each begin.
  std::optional<std::vector<HostTensor>> interpret(int32_t dispatch, std::string &why);

private:
  struct Kernel {
    const rt::ProgramText *program = nullptr;
    OpenKernel open;
    bool isOpen = false;
  };
  Kernel *kernelOf(int32_t dispatch, std::string &why);

  const rt::Metadata &metadata;
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  // Of the dispatch that has begun.
  std::vector<std::optional<HostTensor>>
      tensors;                 // for each buffer: what it was; a result: its type
  std::vector<int64_t> values; // of its scalars, behind the sizes
  bool isKnown = false;        // all sizes are
};

} // namespace tw::cli
