// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One dispatch, compiled with configurations that are given as --config gives them.
#pragma once
#include "Driver/Model/ConfigurationSpaces.h"
#include "Driver/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tw {

class Session;
class Pipeline;

class PointCompiler {
public:
  /// A module at the dispatch level with one dispatch, @k, whose first computation is cut as asked
  /// for. Spaces are those for the call that `request` has. Throws std::runtime_error where the
  /// target's own choice does not compile.
  PointCompiler(const std::string &text, const std::string &target, tile::Cut cut = tile::Cut::None,
                const SpaceRequest &request = {});

  const std::vector<KernelSpace> &spaces() const { return kernels; }

  /// Compiles the dispatch to the llvm dialect with `point` for `kernel`, or for the variant of it
  /// that the space is for, and all other kernels as the target chooses. What is said against it;
  /// empty: nothing.
  std::string compile(const KernelSpace &kernel, const tune::Point &point);
  /// The same without making code of it: what is said before there is a tile program.
  std::string configure(const KernelSpace &kernel, const tune::Point &point);

  /// How many different tile programs were lowered.
  size_t programs() const { return lowered.size(); }

private:
  using Action = std::function<void(Session &, Pipeline &, mlir::ModuleOp)>;
  std::string attempt(const conversion::ConfigurationOverrides &given, const Action &then);
  conversion::ConfigurationOverrides overridesOf(const KernelSpace &kernel,
                                                 const tune::Point &point) const;
  /// Whether the dispatch has been given what was asked for.
  void expectGiven(Session &session, mlir::ModuleOp module, const KernelSpace &kernel,
                   const tune::Point &point) const;
  void lower(Session &session, mlir::ModuleOp module);

  NamedTarget target;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<tile::Cut> cuts;
  std::vector<KernelSpace> kernels;
  std::set<std::string> lowered; // texts of kernels
};

} // namespace tw
