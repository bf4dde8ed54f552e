// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tells kernels apart before they are configured, in terms that mean the same in every model:
// for rules that give configurations to more than one kernel (lib/Tune/Spec).
#pragma once
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "GraphToTile/Configuration/Overrides.h"
#include <map>
#include <string>
#include <vector>

namespace tw::conversion {

/// What a size may be; of one that is known, `least` and `most` are the same.
struct SizeRange {
  int64_t least = 0, most = 0;
  bool operator==(const SizeRange &) const = default;
};

struct KernelFeatures {
  std::string kind;                    // of its configuration
  std::vector<std::string> operations; // of the model, without their numbers: "linear", "relu"
  std::vector<std::string> dtypes;     // of its buffers, in order
  bool isRhsWeight = false;            // as in ConfigurationProblem
  std::string signature;               // of its dispatch
  int64_t number = 0;                  // in it
  /// By their names: those of `sizeNames(kind)`. Those with several dimensions are their product.
  std::map<std::string, SizeRange> sizes;
};

/// The sizes of kernels of a kind; a name that ends in "_" goes on with a number: "dim_0".
std::vector<std::string> sizeNames(const std::string &kind);

KernelFeatures featuresOf(const ConfigurationProblem &problem, std::string signature,
                          int64_t number);

/// Configurations that are for all kernels with certain features.
class ConfigurationRules {
public:
  virtual ~ConfigurationRules() = default;
  /// What the first rule that matches says; nothing if none does.
  virtual std::optional<KernelOverride> find(const KernelFeatures &kernel) = 0;
  /// Told what became of one that was found: `why` it does not fit the kernel; empty: it does.
  virtual void follow(const KernelOverride &rule, const std::string &why) = 0;
};

} // namespace tw::conversion
