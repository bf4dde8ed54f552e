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
using kernels::Fields;

static DictionaryAttr fieldsAttribute(Builder &b, const Fields &fields,
                                      const ConfigurationSchema &schema) {
  NamedAttrList attributes;
  for (const auto &[name, number] : fields.numbers) {
    const ConfigurationField *known = schema.find(name);
    bool isFlag = known && known->kind == ConfigurationField::Flag && (number == 0 || number == 1);
    attributes.append(name,
                      isFlag ? Attribute(b.getBoolAttr(number != 0)) : b.getI64IntegerAttr(number));
  }
  for (const auto &[name, list] : fields.lists)
    attributes.append(name, b.getDenseI64ArrayAttr(list));
  // A list of a program without dimensions has no elements.
  for (const ConfigurationField &field : schema.fields)
    if (field.kind == ConfigurationField::List && !fields.lists.contains(field.name))
      attributes.append(field.name, b.getDenseI64ArrayAttr({}));
  return attributes.getDictionary(b.getContext());
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
                                    const Fields &values, tile::ConfigurationAttr target,
                                    std::string &why) {
  auto *dialect = context->getLoadedDialect<tile::TileDialect>();
  const ConfigurationSchema *schema = dialect ? dialect->getSchema(kind) : nullptr;
  if (!schema)
    return why = "there is no kind of configurations called \"" + kind + "\"",
           tile::ConfigurationAttr();
  Builder b(context);
  DictionaryAttr fields = fieldsAttribute(b, values, *schema);
  return checked(context, why, [&](function_ref<InFlightDiagnostic()> emit) {
    auto made = tile::ConfigurationAttr::getChecked(emit, context, StringRef(kind), fields, target);
    return made && succeeded(made.verifyFields(emit)) ? made : tile::ConfigurationAttr();
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

static Fields fieldsOf(DictionaryAttr attributes) {
  Fields fields;
  for (NamedAttribute attribute : attributes) {
    std::string name = attribute.getName().str();
    if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
      fields.lists[name] = list.asArrayRef();
    else if (auto flag = dyn_cast<BoolAttr>(attribute.getValue()))
      fields.numbers[name] = flag.getValue();
    else
      fields.numbers[name] = cast<IntegerAttr>(attribute.getValue()).getInt();
  }
  return fields;
}

Configuration fromAttribute(tile::ConfigurationAttr attribute) {
  Configuration configuration{attribute.getKind().str(), fieldsOf(attribute.getFields()), {}, {}};
  if (auto target = attribute.getTarget()) {
    configuration.target = target.getKind().str();
    configuration.targetFields = fieldsOf(target.getFields());
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
