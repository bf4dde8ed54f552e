// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decisions about operators of the model, which change results by rounding at most: which of them
// share a kernel or take several, in which layout they run. Passes note what they decide, and
// follow what they are told, both as attributes of the module (#tw.decision), so that a
// configuration file can turn any of them round.
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

/// On a module, too: rules for decisions of any model, dictionaries {decision = "fuse", operations
/// =
/// ["linear", "gelu"], types = ["128x3072xf32", "128x3072xf32"], want = false} of which the first
/// that fits decides; types may be left out. And the types of the module's operators by their
/// names.
inline constexpr llvm::StringLiteral decisionRulesName = "tw.decision_rules";
inline constexpr llvm::StringLiteral operatorTypesName = "tw.operator_types";

/// Why this is no such rule; empty if it is one.
std::string whyNoDecisionRule(mlir::Attribute rule);

/// "linear" of "linear_1", as a model numbers operators of the same name.
std::string withoutNumber(const std::string &node);

/// What operators compute, by their names: "128x768xf32".
mlir::DictionaryAttr operatorTypes(mlir::ModuleOp module);

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

  /// What the configuration, or else a rule, says of operators, by where these come from; nothing:
  /// it says nothing.
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

  std::optional<bool> ruled(const Key &key) const;

  mlir::ModuleOp module;
  bool isNoted = false;
  mlir::ArrayAttr rules;
  mlir::DictionaryAttr types;
  std::map<Key, bool> wishes;
  llvm::MapVector<Key, DecisionAttr, std::map<Key, unsigned>> made;
};

} // namespace tw::graph
