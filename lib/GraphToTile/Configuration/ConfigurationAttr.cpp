// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "Kernels/Attention.h"
#include "Kernels/AttentionGradient.h"
#include "Kernels/Contraction.h"
#include "Kernels/Winograd.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace tw::conversion {
using kernels::Configuration;
using kernels::Numbers;

/// `block` of `block_0`, `block_1`; the name itself for what is no list of the schema.
static std::string fieldOf(const std::string &name, const ConfigurationSchema &schema) {
  size_t end = name.find_last_of('_');
  bool isElement = end != std::string::npos && end + 1 < name.size() &&
                   name.find_first_not_of("0123456789", end + 1) == std::string::npos;
  const ConfigurationField *list = isElement ? schema.find(name.substr(0, end)) : nullptr;
  return list && list->kind == ConfigurationField::List ? list->name : name;
}

static DictionaryAttr fieldsAttribute(Builder &b, const Numbers &numbers,
                                      const ConfigurationSchema &schema) {
  std::map<std::string, SmallVector<int64_t>> lists;
  NamedAttrList fields;
  for (const auto &[name, number] : numbers) {
    std::string field = fieldOf(name, schema);
    const ConfigurationField *known = schema.find(field);
    if (field == name) {
      bool isFlag =
          known && known->kind == ConfigurationField::Flag && (number == 0 || number == 1);
      fields.append(name,
                    isFlag ? Attribute(b.getBoolAttr(number != 0)) : b.getI64IntegerAttr(number));
      continue;
    }
    size_t at = std::stoul(name.substr(field.size() + 1));
    SmallVector<int64_t> &list = lists[field];
    list.resize(std::max(list.size(), at + 1), known->least);
    list[at] = number;
  }
  for (const ConfigurationField &field : schema.fields)
    if (field.kind == ConfigurationField::List)
      fields.append(field.name, b.getDenseI64ArrayAttr(lists[field.name]));
  return fields.getDictionary(b.getContext());
}

/// `get`, or null with what the verifier says in `why`.
static tile::ConfigurationAttr
checked(MLIRContext *context, std::string &why,
        llvm::function_ref<tile::ConfigurationAttr(function_ref<InFlightDiagnostic()>)> get) {
  ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    why = diagnostic.str();
    return success();
  });
  return get([&] { return emitError(UnknownLoc::get(context)); });
}

static tile::ConfigurationAttr make(MLIRContext *context, const std::string &kind,
                                    const Numbers &numbers, tile::ConfigurationAttr target,
                                    std::string &why) {
  auto *dialect = context->getLoadedDialect<tile::TileDialect>();
  const ConfigurationSchema *schema = dialect ? dialect->getSchema(kind) : nullptr;
  if (!schema)
    return why = "there is no kind of configurations called \"" + kind + "\"",
           tile::ConfigurationAttr();
  Builder b(context);
  DictionaryAttr fields = fieldsAttribute(b, numbers, *schema);
  return checked(context, why, [&](function_ref<InFlightDiagnostic()> emit) {
    return tile::ConfigurationAttr::getChecked(emit, context, StringRef(kind), fields, target);
  });
}

tile::ConfigurationAttr withVariants(tile::ConfigurationAttr configuration,
                                     ArrayRef<tile::VariantAttr> variants, std::string &why) {
  MLIRContext *context = configuration.getContext();
  return checked(context, why, [&](function_ref<InFlightDiagnostic()> emit) {
    return tile::ConfigurationAttr::getChecked(emit, context, configuration.getKind(),
                                               configuration.getFields(), configuration.getTarget(),
                                               variants);
  });
}

tile::ConfigurationAttr toAttribute(MLIRContext *context, const Configuration &configuration,
                                    std::string &why) {
  tile::ConfigurationAttr target;
  if (!configuration.target.empty()) {
    target = make(context, configuration.target, configuration.targetFields, {}, why);
    if (!target)
      return {};
  }
  return make(context, configuration.kind, configuration.fields, target, why);
}

static Numbers numbersOf(DictionaryAttr fields) {
  Numbers numbers;
  for (NamedAttribute field : fields) {
    std::string name = field.getName().str();
    if (auto list = dyn_cast<DenseI64ArrayAttr>(field.getValue()))
      for (auto [i, number] : llvm::enumerate(list.asArrayRef()))
        numbers[name + "_" + std::to_string(i)] = number;
    else if (auto flag = dyn_cast<BoolAttr>(field.getValue()))
      numbers[name] = flag.getValue();
    else
      numbers[name] = cast<IntegerAttr>(field.getValue()).getInt();
  }
  return numbers;
}

Configuration fromAttribute(tile::ConfigurationAttr attribute) {
  Configuration configuration{attribute.getKind().str(), numbersOf(attribute.getFields()), {}, {}};
  if (auto target = attribute.getTarget()) {
    configuration.target = target.getKind().str();
    configuration.targetFields = numbersOf(target.getFields());
  }
  return configuration;
}

void registerConfigurations(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, tile::TileDialect *dialect) {
    dialect->registerSchema(kernels::contractionSchema());
    dialect->registerSchema(kernels::attentionSchema());
    dialect->registerSchema(kernels::attentionGradientSchema());
    dialect->registerSchema(kernels::convolutionSchema());
    dialect->registerSchema(kernels::winogradWeightsSchema());
    dialect->registerSchema(loopSchema());
  });
}

} // namespace tw::conversion
