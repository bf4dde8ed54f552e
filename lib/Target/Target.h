// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a target is: it takes one kernel of the dispatch level and makes callable code of it.
// docs/contracts.md, "Target level", fixes the calling convention.
#pragma once
#include "Support/Cancellation.h"
#include "Target/CodeCache.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class DialectRegistry;
class ModuleOp;
class Operation;
class TypeRange;
} // namespace mlir

namespace tw::target {

/// Code of a kernel for another device than the CPU.
///
/// Beside it stand, on the host, `void k3_info(int64_t *scalars, int64_t out[2])`, whose out[1] are
/// the bytes of workspace of the whole launch, and
///
///   void k3_launch(void **buffers, int64_t *scalars, void *workspace, tw_launch *launch)
///
/// which fills in *launch (runtime/ProgramABI.h); `launch->arguments` is room for `arguments` of
/// them. Buffers and workspace are addresses on the device. A call launches several kernels, one
/// after the other: k3_fill, where there is something to be filled in, and those of which each is
/// for other sizes, as k3 and k3_plain, or k3_max1 and k3$any: all but one have no blocks.
struct DeviceCode {
  struct Entry {
    std::string name; // in the image, and before "_launch"
    int64_t sharedBytes = 0, staticSharedBytes = 0, registers = 0, spillBytes = 0;
  };
  std::string image; // as the device's driver loads it
  std::vector<Entry> entries;
  int64_t arguments = 0;
  std::vector<std::string> launches; // names of entries
  /// Of a kernel with variants: their code, and the kernel's own. There is no other, then.
  std::vector<std::shared_ptr<const DeviceCode>> variants = {};
};
inline constexpr char plainSuffix[] = "_plain";

/// What the host entry must know to call a kernel:
///
///   void k3(void **buffers, int64_t *scalars, uint8_t *workspace, int64_t begin, int64_t end)
///
/// `buffers`: the data of every tensor argument in order (inputs, then outs), contiguous row-major;
/// when the kernel may fail, one more: `int64_t failure[3]`, see `failures`.
/// `scalars`: the sizes of every tensor argument (inputs, then outs) in `passedSizes`, then the
/// index, integer and float arguments in order, each in 64 bits (integers sign-extended, i1 as
/// 0 or 1, floats as the bits of a double), and at the end how many workers the call has, where
/// `takesWorkers`.
/// `workspace`: `workspaceBytes` bytes, TW_ALIGNMENT-aligned, used by this call alone: two calls
/// that run at the same time need two. `begin`, `end`: 0 <= begin <= end <= iterations.
///
/// Beside it stands `void k3_info(int64_t *scalars, int64_t out[2])`, which gives {iterations,
/// workspaceBytes} for these scalars; private, so it vanishes where it is not called.
struct KernelInfo {
  std::string name;
  /// How often the parallel loop runs, when that does not depend on the scalars. An iteration is a
  /// whole block of work (a row, a tile): worth tens of microseconds where the sizes allow it.
  std::optional<int64_t> iterations;
  /// The fewest iterations worth handing to another thread.
  int64_t grain = 1;
  /// Bytes of workspace one call needs, when that does not depend on the scalars.
  std::optional<int64_t> workspaceBytes;
  /// The messages of the kernel's tw.check_index. Not empty: the kernel may fail. `failure[0]` must
  /// be 0 before the call; afterwards it is 0, or n + 1 where failures[n] is to be handed to
  /// callbacks->fail with a = failure[1] (the index) and b = failure[2] (the bound). The first
  /// failure of several threads wins.
  std::vector<std::string> failures;
  /// Of every tensor argument in order, the dimensions whose sizes are among `scalars`.
  std::vector<std::vector<unsigned>> passedSizes;
  /// Functions of libm that the code may call, sorted. (LLVM may add memcpy, memmove, memset.)
  std::vector<std::string> imports;
  /// Whether there is `void k3_fill(void **buffers, int64_t *scalars)`, to be called once before
  /// the first iteration: it fills outs with what the kernel expects there.
  bool fills = false;
  /// (input, out) pairs, numbered among the tensor inputs and among the outs, that may be one
  /// buffer: every element is read before it is overwritten. All other outs must not overlap
  /// anything. An out may be in several pairs, of which one may be used.
  std::vector<std::pair<unsigned, unsigned>> inPlace;
  /// Code that runs elsewhere instead; null: the function above is called, on the host.
  std::shared_ptr<const DeviceCode> device = nullptr;

  /// Whether variants of the kernel are for other numbers of workers (IR/Tile/Variants.h).
  bool takesWorkers = false;

  bool mayFail() const { return !failures.empty(); }
};

/// `passedSizes` for a function with such arguments: those that are dynamic.
std::vector<std::vector<unsigned>> dynamicSizes(mlir::TypeRange arguments);

/// A way to turn kernels into code.
class Target {
public:
  virtual ~Target();
  virtual llvm::StringRef name() const = 0;

  /// Adds the code of `kernel` (a func.func with `tw.kernel` or a tile.kernel, verified, which
  /// stays as it is) to `into` as llvm.func's named as the kernel and `<kernel>_info`, whose bodies
  /// are loops: operations of scf, arith, math and llvm. `into` must be empty. Fails with a coded
  /// diagnostic at the operation that the target cannot do; and without one, with a part of the
  /// code in `into`, where it is cancelled meanwhile, which a target of large kernels asks.
  virtual mlir::FailureOr<KernelInfo> emit(mlir::Operation *kernel, mlir::ModuleOp into,
                                           const Cancellation *cancellation = nullptr) = 0;

  /// Adds the same to `into` in the llvm dialect alone, with declarations of what is imported.
  /// `into` must not be used by anyone else meanwhile; kernels can be lowered at the same time into
  /// different modules.
  mlir::FailureOr<KernelInfo> lower(mlir::Operation *kernel, mlir::ModuleOp into,
                                    const Cancellation *cancellation = nullptr);

  /// Completes the device code of all kernels that have been lowered so far, on several threads:
  /// before, their images are empty. What other programs make of the same code is taken from
  /// `cache`, if it is there, and kept there. Fails with a coded diagnostic.
  virtual mlir::LogicalResult finish(const Cancellation *cancellation = nullptr,
                                     CodeCache *cache = nullptr);

  /// Prints what the target decides about `kernel`, as for `emit`, before it emits code. Nothing
  /// where it does not plan; fails as `emit` does.
  virtual mlir::LogicalResult printPlan(mlir::Operation *kernel, llvm::raw_ostream &out,
                                        const Cancellation *cancellation = nullptr);

  /// What becomes of `kernel` for another device than the CPU, as text: its "loops", what "llvm"
  /// makes of them, or the "assembly". Empty where this target's code is the host's; fails as
  /// `emit` does.
  virtual mlir::FailureOr<std::string> deviceText(mlir::Operation *kernel, llvm::StringRef level,
                                                  const Cancellation *cancellation = nullptr);

  /// Which other programs have a part in the code, as text that differs where they do; empty: none.
  virtual std::string toolchain() const { return {}; }

  /// Registers the dialects that `emit` and `lower` create operations of, and how they are
  /// translated there: what must be loaded before several threads do.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
};

} // namespace tw::target
