// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tuning specs are read as rules; what they mean is what the transform dialect's interpreter does
// with them.
#include "Driver/Register.h"
#include "Tune/Spec/TuningSpec.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Builders.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace tw::tune {
namespace {
using conversion::KernelFeatures;

constexpr const char *sizeNames[] = {"rows", "columns", "sum"};

/// Draws specs, and kernels that some of their matchers match.
class Drawn {
public:
  explicit Drawn(unsigned seed) : random(seed) {}

  KernelFeatures kernel() {
    KernelFeatures made{"contraction",      {"linear"}, {"f32", dtype(), "f32"},
                        below(2) == 1,      "",         0,
                        {{"batch", {1, 1}}}};
    made.number = below(2);
    for (const char *name : sizeNames) {
      int64_t least = below(4);
      made.sizes[name] = {least, below(2) ? least : least + below(3)};
    }
    return made;
  }

  std::string spec(int matchers) {
    std::string text =
        "module attributes {transform.with_named_sequence, tuning.version = 4 : i64, "
        "tuning.target = \"cpu\"} {\n";
    std::vector<std::string> pairs;
    for (int i = 0; i < matchers; ++i) {
      text += fmt::format(
          "transform.named_sequence @m{}(%k: !transform.any_op {{transform.readonly}}) -> "
          "(!transform.any_op, !transform.any_param) {{\n{}"
          "%c = transform.param.constant {{kind = \"contraction\", rows = {}}} -> "
          "!transform.any_param\n"
          "transform.yield %k, %c : !transform.any_op, !transform.any_param\n}}\n",
          i, conditions(), i + 1);
      pairs.push_back(fmt::format("@m{} -> @set", i));
    }
    return text +
           fmt::format(
               "transform.named_sequence @set(%k: !transform.any_op {{transform.readonly}}, "
               "%c: !transform.any_param {{transform.readonly}}) {{\n"
               "transform.annotate %k \"configuration\" = %c : !transform.any_op, "
               "!transform.any_param\ntransform.yield\n}}\n"
               "transform.named_sequence @__transform_main(%k: !transform.any_op "
               "{{transform.consumed}}) {{\n"
               "%m = transform.foreach_match in %k {} : (!transform.any_op) -> !transform.any_op\n"
               "transform.yield\n}}\n}}\n",
               fmt::join(pairs, ", "));
  }

private:
  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  const char *dtype() { return below(2) ? "f32" : "bf16"; }

  std::string conditions() {
    std::string features = "kind = \"contraction\"", text;
    if (below(2))
      features += fmt::format(", dtypes = [\"f32\", \"{}\", \"f32\"]", dtype());
    if (below(2))
      features += fmt::format(", weight = {}", below(2) == 1);
    if (below(3) == 0)
      features += fmt::format(", number = {} : i64", below(2));
    constexpr const char *asks[] = {"equals", "least", "most", "multiple_of"};
    for (int i = 0; i < 2; ++i)
      text += fmt::format("transform.tuning.match.size %k \"{}\" {} {} : !transform.any_op\n",
                          sizeNames[below(3)], asks[below(4)], 1 + below(3));
    return fmt::format("transform.tuning.match.kernel %k {{{}}} : !transform.any_op\n{}", features,
                       text);
  }

  std::mt19937 random;
};

/// The place of the configuration that the interpreter gives the kernel; empty: none.
std::string interpreted(const TuningSpec &spec, const KernelFeatures &kernel) {
  MLIRContext *context = spec.getModule().getContext();
  OwningOpRef<ModuleOp> payload = ModuleOp::create(UnknownLoc::get(context));
  OpBuilder b = OpBuilder::atBlockBegin(payload->getBody());
  auto strings = [&](const std::vector<std::string> &texts) {
    return b.getStrArrayAttr(SmallVector<StringRef>(texts.begin(), texts.end()));
  };
  NamedAttrList sizes;
  for (const auto &[name, range] : kernel.sizes)
    sizes.set(name, b.getDenseI64ArrayAttr({range.least, range.most}));
  auto seen = KernelOp::create(
      b, b.getUnknownLoc(),
      b.getDictionaryAttr({b.getNamedAttr("kind", b.getStringAttr(kernel.kind)),
                           b.getNamedAttr("operations", strings(kernel.operations)),
                           b.getNamedAttr("dtypes", strings(kernel.dtypes)),
                           b.getNamedAttr("weight", b.getBoolAttr(kernel.isRhsWeight)),
                           b.getNamedAttr("signature", b.getStringAttr(kernel.signature)),
                           b.getNamedAttr("number", b.getI64IntegerAttr(kernel.number))}),
      sizes.getDictionary(context));
  auto entry = spec.getModule().lookupSymbol<transform::TransformOpInterface>(
      transform::TransformDialect::kTransformEntryPointSymbolName);
  EXPECT_TRUE(succeeded(transform::applyTransformNamedSequence(
      *payload, entry, ModuleOp(), transform::TransformOptions().enableExpensiveChecks(false))));
  auto given = seen->getAttrOfType<DictionaryAttr>("configuration");
  return given ? given.getAs<StringAttr>("place").str() : "";
}

TEST(TuningSpec, RulesAreWhatTheInterpreterDoes) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Drawn drawn(1);
  std::set<std::string> places;
  for (int turn = 0; turn < 20; ++turn) {
    auto spec = TuningSpec::parse(&context, drawn.spec(8), "drawn.mlir", "cpu");
    ASSERT_TRUE(spec) << spec.error().render();
    for (int i = 0; i < 20; ++i) {
      KernelFeatures kernel = drawn.kernel();
      auto found = spec->find(kernel);
      EXPECT_EQ(found ? found->place : "", interpreted(*spec, kernel));
      places.insert(found ? found->place : "");
    }
  }
  EXPECT_GT(places.size(), 8u); // and some match nothing
  EXPECT_TRUE(places.contains(""));
}

} // namespace
} // namespace tw::tune
