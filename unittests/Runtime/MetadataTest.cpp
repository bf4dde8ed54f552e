// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/Metadata.h"
#include "runtime/Artifact/Seal.h"
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::rt;

/// Behind "where" and "offset": 128 bytes of weights, in one block whose hash is 255.
static std::string weightsFields() {
  uint64_t blocks[] = {255}, content[] = {contentHash(blocks)};
  return R"("bytes": 128, "block_bytes": 1048576, "hash": ")" + hashText(content) +
         R"(", "blocks": ")" + hashText(blocks) + "\"}";
}

/// Metadata with the given further fields.
static Result<Metadata> parse(const std::string &fields) {
  return parseMetadata(R"({"format": 4, "abi": 2, "target": "cpu")" +
                       (fields.empty() ? "" : ", " + fields) + "}");
}

TEST(Metadata, ReadsEveryField) {
  auto m = parse(R"("compiler": "c", "model": "m", "cpu_features": ["avx2"],
    "symbols": [{"name": "s0", "min": 2, "max": null}],
    "inputs": [{"name": "x", "kind": "tensor", "dtype": "bf16", "sizes": [2, "s0*2"]},
               {"name": "n", "kind": "int", "symbol": "s0"}, {"name": "p", "kind": "float"}],
    "outputs": [{"name": "y", "dtype": "u8", "sizes": [null], "hidden": true},
                {"name": "b", "kind": "bool"}],
    "fixed_outputs": [{"name": "o", "position": 0, "value": null},
                      {"name": "p", "position": 2, "value": "text"}],
    "state": [{"name": "w", "dtype": "f32", "sizes": [4], "offset": 64, "trainable": true}],
    "static": false, "buffers": [{"begin": 0, "end": 3, "bytes": null, "offset": null}],
    "dispatches": [{"name": "d", "kernel": "k", "source": "s", "ops": "o", "step": 3,
                    "configuration": "c", "arithmetic": "f32", "flops": "s0*8", "weight_bytes": 16}],
    "weights": {"where": "external", "offset": 4096, )" +
                 weightsFields() + R"(,
    "source_files": ["net.py"], "later": {"unknown": [1]})");
  ASSERT_TRUE(m.ok()) << m.error().render();
  EXPECT_EQ(m->cpuFeatures, std::vector<std::string>{"avx2"});
  EXPECT_EQ(m->inputs[0].sizes[0].fixed, 2);
  EXPECT_EQ(m->inputs[0].sizes[1].text(), "s0*2");
  EXPECT_EQ(m->inputs[1].symbol, 0);
  EXPECT_EQ(m->inputs[2].dtype, DType::F64);
  EXPECT_TRUE(m->outputs[0].hidden);
  EXPECT_EQ(m->outputs[0].sizes[0].text(), "?");
  EXPECT_EQ(m->outputs[1].dtype, DType::Bool);
  EXPECT_FALSE(m->fixedOutputs[0].text);
  EXPECT_EQ(m->fixedOutputs[1].text, "text");
  EXPECT_EQ(m->fixedOutputs[1].position, 2);
  EXPECT_EQ(m->state[0].bytes, 16);
  EXPECT_EQ(m->symbols[0].max, INT64_MAX);
  EXPECT_FALSE(m->buffers[0].bytes);
  EXPECT_EQ(m->dispatches[0].kernel, "k");
  EXPECT_TRUE(m->weights.isExternal);
  EXPECT_EQ(m->weights.blocks, std::vector<uint64_t>{255});
}

TEST(Metadata, ReadsWhatKernelsAreCalledWith) {
  auto withOrder = [](const std::string &order) {
    return parse(R"("dispatches": [{"name": "d", "buffers": [
        {"dtype": "f32", "sizes": [4, null], "slots": [-1, 0], "result": true,
         "values": [{"number": 17, "sizes": [2, null, 2], "order": )" +
                 order + R"(}]}]}],
        "programs": [{"kernel": "k", "text": "t"}])");
  };
  auto m = withOrder("[1, 0, 2]");
  ASSERT_TRUE(m.ok()) << m.error().render();
  const CallBuffer &buffer = m->dispatches[0].buffers[0];
  EXPECT_TRUE(buffer.isResult);
  EXPECT_EQ(buffer.slots, (std::vector<int>{-1, 0}));
  EXPECT_EQ(buffer.values[0].number, 17);
  EXPECT_EQ(buffer.values[0].order, (std::vector<int>{1, 0, 2}));
  for (const char *wrong : {"[0, 1]", "[0, 1, 1]", "[0, 1, 3]"})
    EXPECT_FALSE(withOrder(wrong).ok()) << wrong;
}

TEST(Metadata, ReadsOfWhichPartATensorIsAValue) {
  auto withPart = [](const std::string &part) {
    return parse(R"("dispatches": [{"name": "d", "buffers": [
        {"dtype": "f32", "sizes": [4, 24], "slots": [-1, -1], "result": true,
         "values": [{"number": 17, "sizes": [4, 8], "part": )" +
                 part + "}]}]}]");
  };
  auto m = withPart("[16, 8, 24]");
  ASSERT_TRUE(m.ok()) << m.error().render();
  PartOfTensor part = m->dispatches[0].buffers[0].values[0].part;
  EXPECT_EQ((std::vector{part.begin, part.count, part.whole}), (std::vector<int64_t>{16, 8, 24}));
  part = withPart("[]")->dispatches[0].buffers[0].values[0].part;
  EXPECT_EQ(part.count, part.whole);
  for (const char *wrong : {"[0, 8]", "[0, 0, 24]", "[17, 8, 24]", "[-1, 8, 24]"})
    EXPECT_FALSE(withPart(wrong).ok()) << wrong;
}

TEST(Metadata, RefusesOtherVersions) {
  auto m = parseMetadata(R"({"format": 5, "abi": 2, "compiler": "tilewright 9", "inputs": 7})");
  ASSERT_FALSE(m.ok());
  EXPECT_EQ(m.error().code, Code::RUNTIME_4);
  EXPECT_EQ(m.error().message,
            "the artifact has format 5 and ABI 2, but this runtime reads format 4 and ABIs 2 to 5");
}

struct Bad {
  const char *fields, *message;
};
static const Bad bad[] = {
    {R"("inputs": 3)", R"("inputs" is an integer, but an array is expected)"},
    {R"("inputs": [3])", R"("inputs[0]." is an integer, but an object is expected)"},
    {R"("inputs": [{"dtype": "f32", "sizes": []}])", R"("inputs[0].name" is missing)"},
    {R"("inputs": [{"name": "x", "sizes": []}])", R"("inputs[0].dtype" is missing)"},
    {R"("inputs": [{"name": "x", "dtype": "f128", "sizes": []}])",
     R"("inputs[0].dtype" is "f128", which is not a dtype)"},
    {R"("inputs": [{"name": "x", "dtype": "f32"}])", R"("inputs[0].sizes" is missing)"},
    {R"("inputs": [{"name": "x", "dtype": "f32", "sizes": [-1]}])",
     R"("inputs[0].sizes" has the negative size -1)"},
    {R"("inputs": [{"name": "x", "dtype": "f32", "sizes": [null]}])",
     R"("inputs[0].sizes" is null, but an integer or an expression in it is expected)"},
    {R"("inputs": [{"name": "x", "dtype": "f32", "sizes": ["s9"]}])", "symbol s9 is not among"},
    {R"("inputs": [{"name": "x", "kind": "list"}])", R"("inputs[0].kind" is "list")"},
    {R"("inputs": [{"name": "x\u0000", "kind": "int"}])", "contains a NUL character"},
    {R"("inputs": [{"name": "x", "kind": "int", "symbol": "q"}])", R"("inputs[0].symbol" is "q")"},
    {R"("mutated_inputs": [{"input": 0, "output": 0}])", R"("mutated_inputs[0].input" is 0)"},
    {R"("fixed_outputs": [{"name": "n", "position": 1}])",
     R"(fixed output "n" is number 1 of 1, and 0 are before it)"},
    {R"("outputs": [{"name": "y", "kind": "int"}],
        "fixed_outputs": [{"name": "a", "position": 1}, {"name": "b", "position": 1}])",
     R"(fixed output "b" is number 1 of 3, and 2 are before it)"},
    {R"("fixed_outputs": [{"name": "n", "position": 0, "value": 3}])",
     R"("fixed_outputs[0].value" is an integer, but a string is expected)"},
    {R"("inputs": [{"name": "x", "kind": "int"}], "outputs": [{"name": "y", "kind": "float"}],
        "mutated_inputs": [{"input": 0, "output": 0}])",
     R"(output "y" is written back to input "x" of another type)"},
    {R"("inputs": [{"name": "x", "kind": "int"}], "outputs": [{"name": "y", "kind": "int"}],
        "mutated_inputs": [{"input": 0, "output": 0, "in_place": true}])",
     R"(output "y" is written in the place of input "x", but callers see it)"},
    {R"("state": [{"name": "s", "dtype": "f32", "sizes": [1073741824, 1073741824, 1073741824]}])",
     R"("state[0].sizes" multiply to more than any memory)"},
    {R"("state": [{"name": "s", "dtype": "f32", "sizes": [4], "offset": 64}])",
     R"(state "s" has 16 bytes at offset 64 of a payload of 0 bytes)"},
    {R"("state": [{"name": "s", "dtype": "f32", "sizes": [4], "offset": 4}],
        "weights": {"where": "external", "offset": 4096, "bytes": 1, "block_bytes": 1048576})",
     R"("weights.hash" is missing)"},
    {R"("state": [{"name": "s", "dtype": "f32", "sizes": [4], "offset": 4}])",
     R"(state "s" has 16 bytes at offset 4 )"},
    {R"("weights": {"where": "elsewhere", "bytes": 1})", R"("weights.where" is "elsewhere")"},
    {R"("weights": {"where": "embedded", "bytes": -1})", R"("weights.bytes" is -1)"},
    {R"("weights": {"where": "embedded", "bytes": 1, "block_bytes": 4096, "hash": "", "blocks": ""})",
     R"("weights.block_bytes" is 4096, not 1048576)"},
    {R"("weights": {"where": "embedded", "bytes": 1, "block_bytes": 1048576, "hash": "00",
        "blocks": "00"})",
     R"("weights.blocks" does not have the 1 hashes of 1 bytes)"},
    {R"("weights": {"where": "embedded", "bytes": 1, "block_bytes": 1048576, "hash": "00",
        "blocks": "0000000000000000"})",
     R"("weights.hash" is not the hash of the blocks' hashes)"},
    {R"("arena_bytes": -5)", R"("arena_bytes" is -5)"},
    {R"("workspace_bytes": 63)", R"("workspace_bytes" is 63, not a multiple of 64)"},
    {R"("buffers": [{"begin": 3, "end": 2}])", R"("buffers[0].end" is 2)"},
    {R"("static": true, "buffers": [{"begin": 0, "end": 0}])",
     R"("buffers[0]" has no place in an arena of 0 bytes)"},
    {R"("static": true, "arena_bytes": 128,
        "buffers": [{"begin": 0, "end": 0, "bytes": 65, "offset": 64}])",
     R"("buffers[0]" has no place in an arena of 128 bytes)"},
    {R"("static": true, "symbols": [{"name": "s"}],
        "inputs": [{"name": "x", "dtype": "f32", "sizes": ["s"]}])",
     R"(the program is static, but "x" has the size s)"},
    {R"("static": 1)", R"("static" is an integer, but a boolean is expected)"},
    {R"("cpu_features": [1])", R"("cpu_features" is an integer, but a string is expected)"},
};

TEST(Metadata, NamesWhatIsWrong) {
  for (const Bad &b : bad) {
    auto m = parse(b.fields);
    ASSERT_FALSE(m.ok()) << b.fields;
    EXPECT_EQ(m.error().code, Code::RUNTIME_3) << b.fields;
    EXPECT_NE(m.error().message.find(b.message), std::string::npos) << b.fields << "\n"
                                                                    << m.error().message;
  }
}

TEST(Metadata, RefusesWhatIsNoObject) {
  for (const char *text : {"", "[]", "3", "null", "{}", "{\"format\": 2, \"abi\": 2}"})
    EXPECT_FALSE(parseMetadata(text).ok()) << text;
}
