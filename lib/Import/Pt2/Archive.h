// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container of an exported program: which entry of the archive is what. Reads no weights and
// opens no pickle.
#pragma once
#include "IO/File.h"
#include "IO/Formats/Zip.h"
#include <string>
#include <string_view>

namespace tw::pt2 {

/// A .pt2 file as torch.export.save (2.9 and later) writes it.
class Archive {
public:
  /// Opens `path` and finds the model called `model` in it, or the only one when `model` is empty.
  /// Errors: IO (not a readable ZIP), IMPORT (another kind of archive, written by an old torch, on
  /// a big-endian machine, several models).
  static Result<Archive> open(const std::string &path, const std::string &model = "");

  const std::string &path() const { return file.path(); }
  /// The file's name without folders, as messages and locations show it.
  std::string baseName() const;

  /// The text of entry `name`, below the archive's root folder.
  Result<std::string_view> text(const std::string &name) const;
  /// The entry `name` below the root folder, or null.
  const ZipEntry *find(const std::string &name) const { return zip.find(root + name); }

  std::string modelEntry() const { return "models/" + model + ".json"; }
  std::string weightsEntry() const { return "data/weights/" + model + "_weights_config.json"; }
  std::string constantsEntry() const {
    return "data/constants/" + model + "_constants_config.json";
  }

private:
  Status findRoot();
  Status checkKind() const;
  Status findModel(const std::string &wanted);

  MappedFile file;
  ZipDirectory zip;
  std::string root;  // "model/"
  std::string model; // "model"
};

} // namespace tw::pt2
