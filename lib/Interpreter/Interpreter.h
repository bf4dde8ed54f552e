// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a tile.kernel exactly as docs/tile-programs.md says, program after program, and finds what
// its author cannot have meant.
#pragma once
#include "IO/HostTensor.h"
#include "IR/Tile/Tile.h"
#include "Support/Cancellation.h"
#include "Tile/Binding/Signature.h"

namespace tw::interpreter {

struct Options {
  bool f64 = false;  // nothing is rounded; float results are f64
  bool check = true; // look for all that a Finding can be; else a failed tile.check is an error
  int64_t mostElements = int64_t(1) << 28;  // of buffers and live tiles together, 8 bytes each
  int64_t mostOperations = 200'000'000'000; // elements computed, read and written, and operations
  int mostOfAKind = 3; // findings that are listed of one kind, place and buffer
  const Cancellation *cancellation = nullptr;
};

/// Something a program did that it must not. `problem` is complete: the message names the buffer
/// and the element, the location is the kernel's source, the notes name the program.
struct Finding {
  Diagnostic problem;
  std::vector<int64_t> program; // coordinates in the grid; empty: all programs together
  std::string buffer;           // empty: none
  std::vector<int64_t> element; // of the buffer, or where a box begins
  int64_t others = 0;           // of the same kind, place and buffer that are not listed
};

struct Run {
  std::vector<HostTensor> results; // of the out and inout arguments, in order
  std::vector<Finding> findings;
  std::vector<std::string> notes; // what could not be looked at
};

/// What a tile.check says of a value that is not below its bound: the first %lld of its text is the
/// value, the second the bound.
std::string checkMessage(llvm::StringRef text, int64_t value, int64_t bound);

/// Runs the kernel, which has been verified. `given` has a tensor for each argument that is not
/// `out`, in order; a scalar is a tensor without sizes. Errors: those of bindKernel; INTERPRETER_4
/// (too large), INTERPRETER_5 (too long), SYSTEM_7 (cancelled), INTERPRETER_7 (an operation that no
/// kernel may have), and INTERPRETER_6 where nothing is looked for.
Result<Run> interpret(tile::KernelOp kernel, std::span<const HostTensor> given,
                      const Options &options = {});

} // namespace tw::interpreter
