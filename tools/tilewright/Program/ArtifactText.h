// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `inspect OUT.so` prints of an artifact's metadata.
#pragma once
#include "runtime/Artifact/Artifact.h"
#include <string>

namespace tw::cli {

/// For people. `fileBytes` is the artifact's size.
std::string artifactText(const std::string &path, int64_t fileBytes,
                         const rt::SealedMetadata &metadata);
/// The same facts as one JSON object.
std::string artifactJson(const std::string &path, int64_t fileBytes,
                         const rt::SealedMetadata &metadata);

} // namespace tw::cli
