// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tuning specs: text in the transform dialect that gives configurations to the kernels that its
// matchers match. docs/tuning.md has the format.
#pragma once
#include "GraphToTile/Configuration/KernelFeatures.h"
#include "Support/Diagnostic.h"
#include "Tune/Spec/FieldsVersion.h"
#include "Tune/Spec/SpecRules.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <string>
#include <vector>

namespace tw::tune {

class TuningSpec {
public:
  /// `context` has the dialects of registerTuningDialect, and the configurations of `target`: "cpu"
  /// or "nvidia"; empty: any. Errors: TUNE_4 for what is no spec, with its place; TUNE_5 for one
  /// that is for another target, or comes from a later version; those of files.
  static Result<TuningSpec> read(mlir::MLIRContext *context, const std::string &path,
                                 const std::string &target);
  /// The same for text in memory.
  static Result<TuningSpec> parse(mlir::MLIRContext *context, std::string_view text,
                                  const std::string &name, const std::string &target);

  /// What the first matcher that matches gives the kernel.
  std::optional<conversion::KernelOverride> find(const conversion::KernelFeatures &kernel) const;

  mlir::ModuleOp getModule() const { return *module; }
  /// Whether it may say something of a kernel.
  bool hasRules() const { return !rules.empty(); }
  /// Its rules for decisions about operators (IR/Graph/Decisions.h); null: there are none.
  mlir::ArrayAttr getDecisions() const;
  /// What it is for: "cpu" or "nvidia".
  llvm::StringRef getTarget() const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<SpecRule> rules; // in order
  /// By the parameter that stands for it, which has its place, too, so that no two are the same.
  llvm::DenseMap<mlir::Attribute, conversion::KernelOverride> configurations;
};

/// Several, of which the first that says something of a kernel decides.
class TuningSpecs : public conversion::ConfigurationRules {
public:
  explicit TuningSpecs(std::vector<TuningSpec> specs) : specs(std::move(specs)) {}
  std::optional<conversion::KernelOverride> find(const conversion::KernelFeatures &kernel) override;
  /// Whether any may say something of a kernel.
  bool haveRules() const;
  void follow(const conversion::KernelOverride &rule, const std::string &why) override;
  /// Of the configurations that the first `count` specs have given: where those are that fit none
  /// of the kernels that they were given, and why they do not fit the first one.
  std::vector<std::string> misfits(size_t count) const;
  /// The rules of all, of which the first that fits decides.
  std::vector<mlir::Attribute> decisions() const;

private:
  /// What became of a configuration.
  struct Followed {
    bool fits = false; // a kernel
    std::string why;   // it does not fit the first that it does not fit
  };

  std::vector<TuningSpec> specs;
  size_t last = 0; // spec that has given something
  /// By the spec and the place in it.
  std::map<std::pair<size_t, std::string>, Followed> followed;
};

} // namespace tw::tune
