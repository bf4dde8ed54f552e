# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as MLIR text that are wrong in one way each."""

GOOD = """module {
  func.func @main(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
    %0 = torch.aten.relu %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
    return %0 : !torch.vtensor<[2,3],f32>
  }
}
"""


def changed(old, new):
    assert old in GOOD, old
    return GOOD.replace(old, new)


def function(body, arguments="", results=""):
    return f"func.func @main({arguments}){results} {{\n{body}\n}}\n"


def text_files():
    """(file name, content) of every one."""
    texts = {
        "empty": "",
        "not_mlir": "import torch\n",
        "cut": GOOD[:120],
        "deep": "module {\n" * 100000,
        "no_function": "module {}\n",
        "two_functions": "func.func @f() { return }\nfunc.func @g() { return }\n",
        "undefined_value": changed("relu %x", "relu %y"),
        "unknown_operator": changed("torch.aten.relu", "torch.aten.frobnicate"),
        "unknown_dialect": function('"mine.op"() : () -> ()\nreturn'),
        "wrong_type": changed("relu %x : !torch.vtensor<[2,3],f32>", "relu %x : !torch.vtensor<[2,4],f32>"),
        "rank_unknown": GOOD.replace("!torch.vtensor<[2,3],f32>", "!torch.vtensor"),
        "dtype_unknown": GOOD.replace("[2,3],f32", "[2,3],complex<f32>"),
        "argument_count": changed("relu %x :", "relu %x, %x :"),
        "memref": function("return", "%x: memref<4xf32>"),
        "recursive": "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                     "  %0 = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
                     "  return %0 : tensor<4xf32>\n}\n",
        "symbol_twice": changed("    %0", '    %n = torch.symbolic_int "n" {min_val = 1, max_val = 8} : !torch.int\n'
                                          '    %m = torch.symbolic_int "n" {min_val = 2, max_val = 4} : !torch.int\n'
                                          "    %0"),
        "declaration": "func.func private @main(%x: tensor<4xf32>) -> tensor<4xf32>\n",
        "result_dtype": changed("-> !torch.vtensor<[2,3],f32>\n    return", "-> !torch.vtensor<[2,3],i64>\n    return"),
    }
    for name, text in texts.items():
        yield f"{name}.mlir", text.encode()
    yield "binary.mlir", bytes(range(256)) * 10
