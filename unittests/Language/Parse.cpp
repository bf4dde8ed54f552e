// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Parse.h"
#include "IR/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <regex>

namespace tw {

std::string parseErrors(const std::string &text) {
  mlir::DialectRegistry registry;
  registry.insert<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  std::string printed[2], from = text;
  for (std::string &now : printed) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(from, &context);
    if (!module)
      return errors.empty() ? "does not parse" : errors;
    llvm::raw_string_ostream stream(now);
    module->getOperation()->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
    from = now;
  }
  return printed[0] == printed[1] ? "" : "is read as another kernel than it was:\n" + printed[0];
}

std::string traced(const std::function<void()> &kernel,
                   const std::vector<kernel::Binding> &bindings) {
  kernel::TraceResult result = kernel::trace("k", kernel, bindings);
  if (result.error) {
    ADD_FAILURE() << result.error->line << ": " << result.error->message;
    return "";
  }
  std::string errors = parseErrors(result.text);
  EXPECT_EQ(errors, "") << result.text;
  std::string text = std::regex_replace(result.text, std::regex(R"( loc\("[^"]*":\d+:\d+\))"), "");
  return std::regex_replace(text, std::regex(R"(\n +)"), "\n");
}

} // namespace tw
