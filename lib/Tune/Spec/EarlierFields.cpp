// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/EarlierFields.h"
#include "Kernels/SplitParts.h"
#include "mlir/IR/Builders.h"
#include <array>

using namespace mlir;

namespace tw::tune {
namespace {

/// One row for each field that is ever renamed, or moved to a target's own; then fieldsVersion
/// grows.
struct Earlier {
  int64_t until; // the last version that has it so
  const char *kind, *name;
  const char *presentName;
  const char *target = ""; // whose own field it is now; empty: it stays where it is
};
constexpr std::array<Earlier, 2> earlierFields = {
    {{1, "contraction", "vnni_packed", "interleaved"},
     {2, "contraction", "interleaved", "interleaved", "cpu"}}};

/// Up to this version kernels of GPUs that the tensor cores do not take had the cpu target's own
/// fields, without effect.
constexpr int64_t lastWithFieldsOfOthers = 2;

/// Up to this version the nvidia target had a field of its own for the parts of a loop, which was 1
/// where it is not split.
constexpr int64_t lastWithLoopParts = 3;
constexpr const char *loopParts = "loop_parts";

/// A configuration as a configuration file gives it.
struct GivenFields {
  kernels::Configuration &given;

  std::string kind() const { return given.kind; }
  std::string target() const { return given.target; }
  std::optional<int64_t> find(const char *name) const {
    auto found = given.fields.numbers.find(name);
    return found == given.fields.numbers.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<int64_t> findInTarget(const char *name) const {
    auto found = given.targetFields.numbers.find(name);
    return found == given.targetFields.numbers.end() ? std::nullopt : std::optional(found->second);
  }
  bool is(int64_t value, int64_t number) const { return value == number; }
  void erase(const char *name) { given.fields.numbers.erase(name); }
  void set(const char *name, int64_t value) { given.fields.numbers[name] = value; }
  void eraseTarget() { given.target.clear(), given.targetFields = {}; }
  void eraseFromTarget(const char *name) { given.targetFields.numbers.erase(name); }
  /// Does not replace one.
  void addToTarget(const std::string &target, const char *name, int64_t value) {
    given.target = target;
    given.targetFields.numbers.try_emplace(name, value);
  }
};

/// One as a tuning spec gives it.
struct DictionaryFields {
  MLIRContext *context;
  NamedAttrList fields;

  std::string kind() const { return textOf(fields.get("kind")); }
  std::string target() const { return own() ? textOf(own().get("kind")) : ""; }
  std::optional<Attribute> find(const char *name) const {
    Attribute value = fields.get(name);
    return value ? std::optional(value) : std::nullopt;
  }
  std::optional<Attribute> findInTarget(const char *name) const {
    Attribute value = own() ? own().get(name) : Attribute();
    return value ? std::optional(value) : std::nullopt;
  }
  bool is(Attribute value, int64_t number) const {
    auto integer = dyn_cast<IntegerAttr>(value); // a flag is one, too
    return integer && integer.getValue() == uint64_t(number);
  }
  void erase(const char *name) { fields.erase(StringRef(name)); }
  void set(const char *name, Attribute value) { fields.set(name, value); }
  void eraseTarget() { erase("target"); }
  void eraseFromTarget(const char *name) {
    NamedAttrList made(own());
    made.erase(StringRef(name));
    fields.set("target", made.getDictionary(context));
  }
  void addToTarget(const std::string &target, const char *name, Attribute value) {
    NamedAttrList made(own());
    made.set("kind", StringAttr::get(context, target));
    if (!made.get(name))
      made.set(name, value);
    fields.set("target", made.getDictionary(context));
  }

private:
  DictionaryAttr own() const { return dyn_cast_or_null<DictionaryAttr>(fields.get("target")); }
  static std::string textOf(Attribute value) {
    auto text = dyn_cast_or_null<StringAttr>(value);
    return text ? text.str() : "";
  }
};

template <typename Fields>
void moveLoopParts(Fields &fields) {
  auto parts = fields.findInTarget(loopParts);
  if (!parts)
    return;
  fields.eraseFromTarget(loopParts);
  auto isSet = [&](const char *flag) {
    auto value = fields.find(flag);
    return value && !fields.is(*value, 0);
  };
  if (isSet("split_k") || isSet("split_keys") || !fields.is(*parts, 1))
    fields.set(kernels::splitPartsName, *parts);
}

template <typename Fields>
void upgrade(Fields &fields, int64_t version, const std::string &target) {
  if (std::string whose = fields.target();
      version <= lastWithFieldsOfOthers && !whose.empty() && whose != target)
    fields.eraseTarget();
  if (version <= lastWithLoopParts)
    moveLoopParts(fields);
  for (const Earlier &row : earlierFields) {
    auto value =
        version <= row.until && fields.kind() == row.kind ? fields.find(row.name) : std::nullopt;
    std::string owner = row.target;
    bool isOfAnother = !owner.empty() && owner != target;
    if (!value || (isOfAnother && !fields.is(*value, 0)))
      continue; // then the reader says that there is no such field
    fields.erase(row.name);
    if (owner.empty())
      fields.set(row.presentName, *value);
    else if (!isOfAnother)
      fields.addToTarget(owner, row.presentName, *value);
  }
}

} // namespace

void usePresentFields(kernels::Configuration &given, int64_t version, const std::string &target) {
  GivenFields fields{given};
  upgrade(fields, version, target);
}

DictionaryAttr withPresentFields(DictionaryAttr dictionary, int64_t version, StringRef target) {
  MLIRContext *context = dictionary.getContext();
  DictionaryFields made{context, NamedAttrList(dictionary)};
  upgrade(made, version, target.str());
  if (auto variants = dyn_cast_or_null<ArrayAttr>(made.fields.get("variants")))
    made.fields.set("variants",
                    ArrayAttr::get(context, llvm::map_to_vector(variants, [&](Attribute each) {
                                     auto one = dyn_cast<DictionaryAttr>(each);
                                     return one ? withPresentFields(one, version, target) : each;
                                   })));
  return made.fields.getDictionary(context);
}

} // namespace tw::tune
