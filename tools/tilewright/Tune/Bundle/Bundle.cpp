// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Bundle.h"
#include "IO/File.h"
#include "IO/Formats/Json.h"
#include "IO/Formats/JsonWriter.h"
#include "IO/InputSpec.h"
#include "IO/OutputFile.h"
#include <filesystem>
#include <fmt/format.h>

namespace tw::cli {

static constexpr int64_t bundleVersion = 5;

static std::string pathOf(const std::string &folder) { return folder + "/bundle.json"; }

std::string bundledProgramName(size_t number) { return fmt::format("program{}.so", number); }

Status takeApartBundle(const std::string &folder) {
  std::error_code error;
  std::filesystem::remove(pathOf(folder), error);
  if (!error)
    return {};
  return Diagnostic{Code::IO_2,
                    fmt::format("cannot replace {}: {}", pathOf(folder), error.message())};
}

Status writeBundle(const std::string &folder, const Bundle &bundle) {
  std::error_code none;
  for (size_t number = bundle.programs.size() + 1;
       std::filesystem::remove(folder + "/" + bundledProgramName(number), none);)
    ++number;
  JsonWriter json;
  json.beginObject().member("version", bundleVersion);
  json.member("model", std::string_view(bundle.model));
  json.member("reference", std::string_view(bundle.reference));
  json.member("target", std::string_view(bundle.target));
  json.member("threads", int64_t(bundle.threads)).member("pairs", int64_t(bundle.pairs));
  json.key("sizes").beginObject();
  for (const auto &[kernel, size] : bundle.sizes)
    json.member(kernel, size);
  json.endObject().key("inputs").beginArray();
  for (const std::string &input : bundle.inputs)
    json.value(std::string_view(input));
  json.endArray().key("programs").beginArray();
  for (const BundledProgram &program : bundle.programs) {
    json.beginObject().member("artifact", std::string_view(program.artifact));
    json.key("kernels").beginArray();
    for (const BundledKernel &kernel : program.kernels) {
      json.beginObject().member("name", std::string_view(kernel.name));
      json.member("signature", std::string_view(kernel.measured.signature));
      json.member("number", kernel.measured.number);
      json.member("start", std::string_view(kernel.measured.start));
      json.member("target", std::string_view(kernel.measured.target));
      json.member("compiler", std::string_view(kernel.measured.compiler));
      json.member("point", std::string_view(tune::pointText(kernel.point))).endObject();
    }
    json.endArray().endObject();
  }
  std::string text = json.endArray().endObject().text() + "\n";
  std::span<const std::byte> bytes = asBytes(text);
  return writeFile(pathOf(folder), std::span(&bytes, 1));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status readText(const Json &object, std::string_view key, std::string &text) {
  TW_ASSIGN(Json member, object.get(key));
  TW_ASSIGN(std::string_view value, member.string());
  text = value;
  return {};
}

static Status readKernel(const Json &object, BundledKernel &kernel) {
  std::string point;
  for (auto [key, text] : {std::pair("name", &kernel.name),
                           {"signature", &kernel.measured.signature},
                           {"start", &kernel.measured.start},
                           {"target", &kernel.measured.target},
                           {"compiler", &kernel.measured.compiler},
                           {"point", &point}})
    TW_TRY(readText(object, key, *text));
  TW_ASSIGN(Json number, object.get("number"));
  TW_ASSIGN(kernel.measured.number, number.integer());
  kernel.point = tune::parsePoint(point);
  return {};
}

/// A name of a file in the folder, nothing else: what a bundle says is not to be trusted.
static Status checkFileName(const std::string &name) {
  if (!name.empty() && name.find('/') == name.npos)
    return {};
  return Diagnostic{Code::TUNE_6, fmt::format("\"{}\" is no file of the bundle's folder", name)};
}

/// A SPEC that reads no file.
static Status checkRandom(const std::string &text) {
  TW_ASSIGN(InputSpec spec, parseInputSpec(text));
  if (std::holds_alternative<InputSpec::Random>(spec.source))
    return {};
  return Diagnostic{Code::TUNE_6, fmt::format("\"{}\" is no input with random values", text)};
}

static Status read(const Json &root, Bundle &bundle) {
  TW_ASSIGN(Json version, root.get("version"));
  TW_ASSIGN(int64_t number, version.integer());
  if (number != bundleVersion)
    return Diagnostic{Code::TUNE_6, fmt::format("the bundle has version {}, but this tool reads "
                                                "version {}",
                                                number, bundleVersion)};
  TW_TRY(readText(root, "model", bundle.model));
  TW_TRY(readText(root, "reference", bundle.reference));
  TW_TRY(readText(root, "target", bundle.target));
  for (auto [key, value] : {std::pair("threads", &bundle.threads), {"pairs", &bundle.pairs}}) {
    TW_ASSIGN(Json member, root.get(key));
    TW_ASSIGN(int64_t count, member.integer());
    if (count < 0 || count > 1024)
      return Diagnostic{Code::TUNE_6, fmt::format("{} is {}, but goes from 0 to 1024", key, count)};
    *value = int(count);
  }
  TW_ASSIGN(Json sizes, root.get("sizes"));
  TW_TRY(sizes.forEachMember([&](std::string_view kernel, const Json &size) -> Status {
    TW_ASSIGN(bundle.sizes[std::string(kernel)], size.integer());
    return {};
  }));
  TW_ASSIGN(Json inputs, root.get("inputs"));
  TW_TRY(inputs.forEach([&](const Json &each) -> Status {
    TW_ASSIGN(std::string_view name, each.string());
    bundle.inputs.emplace_back(name);
    return name.find('=') != name.npos ? checkRandom(bundle.inputs.back())
                                       : checkFileName(bundle.inputs.back());
  }));
  TW_ASSIGN(Json programs, root.get("programs"));
  return programs.forEach([&](const Json &each) -> Status {
    BundledProgram &program = bundle.programs.emplace_back();
    TW_TRY(readText(each, "artifact", program.artifact));
    TW_TRY(checkFileName(program.artifact));
    TW_ASSIGN(Json kernels, each.get("kernels"));
    return kernels.forEach(
        [&](const Json &kernel) { return readKernel(kernel, program.kernels.emplace_back()); });
  });
}

Result<Bundle> readBundle(const std::string &folder) {
  TW_ASSIGN(MappedFile file, MappedFile::open(pathOf(folder)));
  auto document = JsonDocument::parse(file.text(), pathOf(folder));
  Bundle bundle;
  Status status = document ? read(document->root(), bundle) : Status(document.error());
  if (status)
    return bundle;
  Diagnostic problem = status.error();
  problem.code = Code::TUNE_6;
  if (problem.location.empty())
    problem.location = pathOf(folder);
  problem.help = "make the bundle again with tilewright tune --prepare";
  return problem;
}

} // namespace tw::cli
