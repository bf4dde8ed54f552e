// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The configuration spaces of a model's kernels, for people and programs that search them.
#pragma once
#include "Driver/Model/ConfigurationSpaces.h"

namespace tw {

/// Describes the spaces of all kernels of a module between tw-configure and tw-tile-programs, as
/// text, SMT-LIB or JSON: {"spaces": [{"kernel": "k3", "signature": "...", "number": 0, "calls":
/// 12, "ops": "...", "source": "...", "kind": "contraction", "target": "cpu", "size"?: 3,
/// "variant"?: {"at_most": 4}, "own": {"values": {}}, "variants": [{"at_most": 1, "values": {}}],
/// "given_variants": false, "is_chosen": true, "features":
/// {"operations": ["linear"], "dtypes": ["f32", ...], "weight": true, "sizes": {"rows": [5, 5],
/// ...}}, "cost": 1.5e6,
/// "knobs": [{"name": "rows", "value": 8, "values": [1, 2, ...], "of_target": false,
/// "meaning": "..."}, {"name": "block_1", "list": "block", "index": 1, ...}], "chosen": {"values":
/// {}}, "constraints": [{"text": "...", "reason": "..."}], "legal": {"points": 1200, "exact":
/// true}, "enumerated": {"legal": 1200, "complete": true, "within": 90}, "points": [{"cost": 1.4e6,
/// "values": {"rows": 6}}]}]}. A point has the values in which it differs from the configuration;
/// "chosen" is the target's choice, which is the configuration unless a spec or a file has given
/// another one. Errors: DRIVER_1 for a kernel that there is not.
Result<std::string> describeSpaces(mlir::ModuleOp module,
                                   const conversion::ConfigurationChooser &chooser,
                                   const SpaceRequest &request);

} // namespace tw
