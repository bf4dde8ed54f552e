// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decisions about operators (IR/Graph/Decisions.h) as JSON: what `compile --report=json` prints
// under "decisions", and `--config=FILE` reads (docs/configurations.md).
#pragma once
#include "IR/Graph/Graph.h"
#include "Support/Diagnostic.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace tw {

class Json;
class JsonWriter;
class Session;

/// One that a file gives.
struct GivenDecision {
  graph::DecisionKind kind;
  std::vector<std::string> operators;
  bool isTaken;
  std::string place; // where it says so: "tuned.json: decisions[2]"
};

/// Reads an array of objects, of which those with a member "want" ask for something. Errors:
/// CONFIG_1 where an element is not written as a decision, CONFIG_5 for two of the same operators.
Result<std::vector<GivenDecision>> readDecisions(const Json &list, const std::string &file);

/// Tells the passes that are to run on a module what is given, and what rules say of others.
void wantDecisions(mlir::ModuleOp module, const std::vector<GivenDecision> &given,
                   mlir::ArrayRef<mlir::Attribute> rules);

/// After these passes: operators that share a dispatch may come apart again when it becomes several
/// kernels. Fusions of which the kernels show nothing are no longer taken.
void settleDecisions(mlir::ModuleOp module);

/// Then: whether what was given has been followed. Warns (CONFIG_4) of what is about no
/// decision of the model. Errors: CONFIG_6 for one that could not be followed, with the reason.
Status checkDecisions(mlir::ModuleOp module, const std::vector<GivenDecision> &given,
                      Session &session);

/// Those that the passes have made: an array of objects.
void writeDecisions(JsonWriter &json, mlir::ModuleOp module);

} // namespace tw
