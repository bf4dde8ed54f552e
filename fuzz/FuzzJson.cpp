// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON documents: reads every value with every getter.
#include "IO/Formats/Json.h"

using namespace tw;

static void visit(Json value) {
  (void)value.boolean().ok();
  (void)value.integer().ok();
  (void)value.number().ok();
  (void)value.string().ok();
  (void)value.get("config").ok();
  (void)value.path();
  (void)value
      .forEach([](Json element) -> Status {
        visit(element);
        return {};
      })
      .ok();
  (void)value
      .forEachMember([](std::string_view, Json member) -> Status {
        visit(member);
        return {};
      })
      .ok();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto document = JsonDocument::parse({reinterpret_cast<const char *>(data), size}, "fuzz.json");
  if (document)
    visit(document->root());
  return 0;
}
