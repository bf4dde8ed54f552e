// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Archive.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace tw::pt2 {

static constexpr std::string_view reexport =
    "export again with torch.export.save of torch 2.9 or later";

std::string Archive::baseName() const {
  size_t slash = path().rfind('/');
  return slash == std::string::npos ? path() : path().substr(slash + 1);
}

Result<std::string_view> Archive::text(const std::string &name) const {
  TW_ASSIGN(auto bytes, zip.content(root + name));
  return std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

/// What the archive is when it is no exported program of today.
static std::optional<Diagnostic> knownOther(const ZipDirectory &zip, const std::string &path) {
  struct Row {
    std::string_view ending, what, help;
  };
  static constexpr Row rows[] = {
      {"serialized_exported_program.json", "an exported program of torch 2.7 or older", reexport},
      {"/constants.pkl", "a TorchScript archive",
       "export the model with torch.export.export and torch.export.save"},
      {"/data.pkl", "a pickled checkpoint of torch.save",
       "export the model with torch.export.export and torch.export.save"},
      {".npy", "an .npz archive of arrays", "give a .pt2 file"},
  };
  for (const Row &row : rows)
    for (const auto &[name, entry] : zip.entries())
      if (name == row.ending || name.ends_with(row.ending))
        return Diagnostic{
            Code::IMPORT_2, fmt::format("{} is {}", path, row.what), "", {}, std::string(row.help)};
  return std::nullopt;
}

Status Archive::findRoot() {
  static constexpr std::string_view marker = "archive_format";
  for (const auto &[name, entry] : zip.entries())
    if (std::string_view(name).ends_with(marker) &&
        name.find('/') == name.size() - marker.size() - 1) {
      if (!root.empty())
        return Diagnostic{Code::IMPORT_1, fmt::format("{} has two root folders: {} and {}", path(),
                                                      root, name.substr(0, name.find('/') + 1))};
      root = name.substr(0, name.size() - marker.size());
    }
  if (!root.empty())
    return {};
  if (auto other = knownOther(zip, path()))
    return *other;
  return Diagnostic{Code::IMPORT_1,
                    fmt::format("{} is a ZIP archive, but not an exported program: it has no entry "
                                "archive_format",
                                path()),
                    "",
                    {},
                    std::string(reexport)};
}

/// Text without the line end some writers add.
static std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  return text.substr(0, 40);
}

Status Archive::checkKind() const {
  struct Row {
    const char *entry;
    std::string_view expected;
    bool required;
  };
  static constexpr Row rows[] = {{"archive_format", "pt2", true},
                                 {"archive_version", "0", false},
                                 {"byteorder", "little", false}};
  for (const Row &row : rows) {
    if (!row.required && !find(row.entry))
      continue;
    TW_ASSIGN(std::string_view found, text(row.entry));
    if (trimmed(found) != row.expected)
      return Diagnostic{Code::IMPORT_3,
                        fmt::format("{}: {} is \"{}\", but only \"{}\" is supported", path(),
                                    row.entry, trimmed(found), row.expected),
                        "",
                        {},
                        std::string(reexport)};
  }
  return {};
}

Status Archive::findModel(const std::string &wanted) {
  const std::string folder = root + "models/";
  std::vector<std::string> found;
  for (const auto &[name, entry] : zip.entries())
    if (name.starts_with(folder) && name.ends_with(".json"))
      found.push_back(name.substr(folder.size(), name.size() - folder.size() - 5));
  for (const std::string &name : found)
    if (name == wanted || (wanted.empty() && (found.size() == 1 || name == "model"))) {
      model = name;
      return {};
    }
  if (found.empty())
    return Diagnostic{Code::IMPORT_4,
                      fmt::format("{} holds no model: it has no entry models/*.json", path()),
                      "",
                      {},
                      std::string(reexport)};
  return Diagnostic{
      Code::IMPORT_4,
      fmt::format("{} holds the models {}, {}", path(), fmt::join(found, ", "),
                  wanted.empty() ? "and none is called model" : fmt::format("but not {}", wanted))};
}

Result<Archive> Archive::open(const std::string &path, const std::string &model) {
  Archive archive;
  TW_ASSIGN(archive.file, MappedFile::open(path));
  TW_ASSIGN(archive.zip, ZipDirectory::read(archive.file.bytes(), path));
  TW_TRY(archive.findRoot());
  TW_TRY(archive.checkKind());
  TW_TRY(archive.findModel(model));
  if (!archive.find(archive.weightsEntry()) &&
      archive.find("data/weights/" + archive.model + ".pt"))
    return Diagnostic{Code::IMPORT_2,
                      fmt::format("{} holds pickled weights, as torch 2.8 wrote them", path),
                      "",
                      {},
                      std::string(reexport)};
  return archive;
}

} // namespace tw::pt2
