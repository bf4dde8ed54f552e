// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decisions about operators of the model that change no result: which of them share a kernel, in
// which layout they run. Passes note what they decide, and follow what they are told, both as
// attributes of the module (#tw.decision), so that a configuration file can turn any of them round.
#pragma once
#include "IR/Graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace tw::graph {

/// What passes are told, and what they have decided, on a module. Nothing is noted on a module
/// without the first.
inline constexpr llvm::StringLiteral wantedDecisionsName = "tw.wanted_decisions";
inline constexpr llvm::StringLiteral decisionsName = "tw.decisions";

/// Why something is not done that a configuration file forbids.
inline constexpr const char *unwanted = "the configuration says so";

/// How many operators a decision is about.
struct OperatorCount {
  size_t least, most;
};
OperatorCount operatorCount(DecisionKind kind);

class Decisions {
public:
  /// Of the module that `root` is or stands in.
  explicit Decisions(mlir::Operation *root);

  /// What the configuration says of operators, by where these come from; nothing: it says nothing.
  std::optional<bool> wanted(DecisionKind kind, mlir::ArrayRef<mlir::Location> operators) const;
  /// Notes what has been decided, and of a refusal the reason. What one pass has done no other one
  /// undoes: a refusal changes nothing that was taken.
  void note(DecisionKind kind, mlir::ArrayRef<mlir::Location> operators, bool isTaken,
            llvm::StringRef reason = {});
  /// Writes all of it to the module, at the end of a pass on that.
  void store();

private:
  using Key = std::pair<DecisionKind, std::vector<std::string>>;
  /// Nothing for operators without names, and for one that is compared with itself.
  static std::optional<Key> keyOf(DecisionKind kind, mlir::ArrayRef<mlir::Location> operators);

  mlir::ModuleOp module;
  bool isNoted = false;
  std::map<Key, bool> wishes;
  llvm::MapVector<Key, DecisionAttr, std::map<Key, unsigned>> made;
};

} // namespace tw::graph
