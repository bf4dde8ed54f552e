// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/EarlierFields.h"
#include "mlir/IR/Builders.h"
#include <array>

using namespace mlir;

namespace tw::tune {
namespace {

/// One row for each field that is ever renamed, or moved to a target's own; then specVersion grows.
struct Earlier {
  int64_t until; // the last version that has it so
  StringRef kind, name;
  StringRef presentName;
  StringRef target = {}; // whose own field it is now; empty: it stays where it is
};
constexpr std::array<Earlier, 2> earlierFields = {
    {{1, "contraction", "vnni_packed", "interleaved"},
     {2, "contraction", "interleaved", "interleaved", "cpu"}}};

/// Up to this version kernels of GPUs that the tensor cores do not take had the cpu target's own
/// fields, without effect.
constexpr int64_t lastWithFieldsOfOthers = 2;

bool isUnset(Attribute value) {
  auto integer = dyn_cast<IntegerAttr>(value); // a flag is one, too
  return integer && integer.getValue().isZero();
}

/// The target's part of a configuration with one more field, which does not replace one.
DictionaryAttr withField(DictionaryAttr own, StringRef target, StringRef name, Attribute value) {
  NamedAttrList fields(own);
  Builder b(value.getContext());
  if (!fields.get("kind"))
    fields.set("kind", b.getStringAttr(target));
  if (!fields.get(name))
    fields.set(name, value);
  return fields.getDictionary(value.getContext());
}

/// Applies a row to a configuration of its kind.
void apply(const Earlier &row, NamedAttrList &fields, StringRef target) {
  Attribute value = fields.get(row.name);
  if (!value || (row.target != target && !row.target.empty() && !isUnset(value)))
    return; // then the reader says that there is no such field
  fields.erase(row.name);
  if (row.target.empty())
    fields.set(row.presentName, value);
  else if (row.target == target)
    fields.set("target", withField(dyn_cast_or_null<DictionaryAttr>(fields.get("target")), target,
                                   row.presentName, value));
}

} // namespace

DictionaryAttr withPresentFields(DictionaryAttr dictionary, int64_t version, StringRef target) {
  NamedAttrList fields(dictionary);
  auto kind = dictionary.getAs<StringAttr>("kind");
  if (auto own = dyn_cast_or_null<DictionaryAttr>(fields.get("target"))) {
    auto whose = own.getAs<StringAttr>("kind");
    if (version <= lastWithFieldsOfOthers && whose && whose.getValue() != target)
      fields.erase("target");
    else
      fields.set("target", withPresentFields(own, version, target));
  }
  for (const Earlier &row : earlierFields)
    if (version <= row.until && kind && kind.getValue() == row.kind)
      apply(row, fields, target);
  if (auto variants = dyn_cast_or_null<ArrayAttr>(fields.get("variants")))
    fields.set("variants",
               ArrayAttr::get(variants.getContext(), llvm::map_to_vector(variants, [&](auto each) {
                                auto one = dyn_cast<DictionaryAttr>(each);
                                return one ? Attribute(withPresentFields(one, version, target))
                                           : Attribute(each);
                              })));
  return fields.getDictionary(dictionary.getContext());
}

void usePresentFields(kernels::Configuration &given) {
  for (const Earlier &row : earlierFields) {
    kernels::Numbers &fields = given.fields.numbers;
    auto found = fields.find(row.name.str());
    if (given.kind != row.kind || found == fields.end())
      continue;
    int64_t value = found->second;
    bool isOther = !row.target.empty() && !given.target.empty() && row.target != given.target;
    if (isOther && value != 0)
      continue; // then the reader says that there is no such field
    fields.erase(found);
    if (row.target.empty()) {
      fields[row.presentName.str()] = value;
    } else if (!isOther) {
      given.target = row.target.str();
      given.targetFields.numbers.try_emplace(row.presentName.str(), value);
    }
  }
}

} // namespace tw::tune
