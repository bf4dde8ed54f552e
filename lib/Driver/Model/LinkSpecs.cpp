// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright_link_tuning_specs: one tuning spec of several.
#include "Tune/Spec/LinkSpecs.h"
#include "Driver/CApi/Session.h"
#include "Driver/Register.h"
#include "mlir/IR/MLIRContext.h"
#include "tilewright/Compiler.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw {

static Result<std::string> link(MLIRContext &context, const tilewright_link_options &options) {
  std::vector<tune::TuningSpec> specs;
  for (size_t i = 0; i < options.tuning_spec_count; ++i) {
    std::string target = specs.empty() ? "" : specs.front().getTarget().str();
    TW_ASSIGN(tune::TuningSpec spec,
              tune::TuningSpec::read(&context, options.tuning_specs[i], target));
    specs.push_back(std::move(spec));
  }
  return tune::linkSpecs(specs);
}

static void linkSpecs(Session &session, const tilewright_link_options &options) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto text = link(context, options);
  return text ? session.report(*text) : session.error(text.error());
}

} // namespace tw

extern "C" tilewright_outcome tilewright_link_tuning_specs(const tilewright_link_options *options,
                                                           const tilewright_sink *sink,
                                                           void *user) {
  return tw::Session::perform(sink, user, [&](tw::Session &session) {
    if (options && options->struct_size == sizeof(*options) && options->tuning_spec_count > 0)
      tw::linkSpecs(session, *options);
    else
      session.error({tw::Code::DRIVER_1,
                     "tilewright_link_tuning_specs: options is NULL, of another version, or names "
                     "no spec",
                     {},
                     {},
                     "set options.struct_size and options.tuning_specs"});
  });
}
