# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs that are damaged or lie, made of one good archive (e2e/models/small_mlp)."""
import copy
import io
import json
import pathlib
import struct
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "e2e/models/small_mlp/small_mlp.pt2"
ROOT = "small_mlp/"
MODEL = ROOT + "models/model.json"
WEIGHTS = ROOT + "data/weights/model_weights_config.json"
FIRST = ROOT + "data/weights/weight_0"


def entries():
    with zipfile.ZipFile(SOURCE) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(files, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()


def without(*names):
    return pack({name: content for name, content in entries().items() if name not in names})


def with_entry(name, content):
    return pack({**entries(), name: content})


def edited(name, change):
    """The archive with a JSON entry changed in place by `change`."""
    files = entries()
    document = json.loads(files[name])
    change(document)
    files[name] = json.dumps(document).encode()
    return pack(files)


def graph(change):
    return edited(MODEL, lambda document: change(document["graph_module"]["graph"]))


def node(change, index=0):
    return graph(lambda g: change(g["nodes"][index]))


def signature(change):
    return edited(MODEL, lambda document: change(document["graph_module"]["signature"]))


def weight(change, name="first.weight"):
    return edited(WEIGHTS, lambda document: change(document["config"][name]))


def directory_lie(field_offset, fmt, value):
    """The good archive with a field changed in the directory's record of the first weight."""
    data = bytearray(SOURCE.read_bytes())
    position = data.index(FIRST.encode(), data.index(b"PK\x01\x02")) - 46
    struct.pack_into(fmt, data, position + field_offset, value)
    return bytes(data)


def archives():
    good = SOURCE.read_bytes()
    yield "empty", b""
    yield "text", b"this is not an archive\n"
    yield "cut_half", good[: len(good) // 2]
    yield "cut_end", good[:-30]
    yield "compressed", pack(entries(), zipfile.ZIP_DEFLATED)
    yield "lying_size", directory_lie(24, "<I", 1 << 30)
    yield "lying_stored_size", directory_lie(20, "<I", 1 << 20)
    yield "lying_offset", directory_lie(42, "<I", 1 << 30)
    yield "overlapping", directory_lie(42, "<I", good.index(b"PK\x03\x04", 100))
    yield "encrypted", directory_lie(8, "<H", 1)
    yield "parent_folder", with_entry("../../etc/evil", b"x")
    yield "no_entries", pack({})
    yield "another_zip", pack({"readme.txt": b"hello"})
    yield "no_model", without(MODEL)
    yield "no_weights_list", without(WEIGHTS)
    yield "no_weight_entry", without(FIRST)
    yield "old_format", pack({"serialized_exported_program.json": b"{}", "version": b"1"})
    yield "torchscript", pack({"m/data.pkl": b"\x80\x02.", "m/version": b"3", "m/code/x.py": b""})
    yield "archive_version", with_entry(ROOT + "archive_version", b"99")
    yield "archive_format", with_entry(ROOT + "archive_format", b"zzz")


def documents():
    yield "json_deep", with_entry(MODEL, b"[" * 100000)
    yield "json_cut", with_entry(MODEL, entries()[MODEL][:2000])
    yield "json_empty", with_entry(MODEL, b"")
    yield "json_list", with_entry(MODEL, b"[1, 2]")
    yield "json_not_utf8", with_entry(MODEL, b'{"\xff\xfe": 1}')
    yield "weights_not_json", with_entry(WEIGHTS, b"\x80\x04.")
    yield "no_graph", edited(MODEL, lambda d: d.pop("graph_module"))
    yield "schema_major", edited(MODEL, lambda d: d["schema_version"].update(major=99))
    yield "schema_absent", edited(MODEL, lambda d: d.pop("schema_version"))
    yield "schema_text", edited(MODEL, lambda d: d.update(schema_version="eight"))


def graphs():
    yield "nodes_object", graph(lambda g: g.update(nodes={"a": 1}))
    yield "undefined_name", node(lambda n: n["inputs"][0]["arg"]["as_tensor"].update(name="nowhere"))
    yield "cycle", node(lambda n: n["inputs"][0]["arg"]["as_tensor"].update(name="linear_1"))
    yield "defined_twice", node(lambda n: n["outputs"][0]["as_tensor"].update(name="linear"), 1)
    yield "unknown_tag", node(lambda n: n["inputs"][0].update(arg={"as_quaternion": 1}))
    yield "unknown_argument", node(lambda n: n["inputs"][0].update(name="inptu"))
    yield "missing_argument", node(lambda n: n["inputs"].pop(1))
    yield "argument_twice", node(lambda n: n["inputs"].append(copy.deepcopy(n["inputs"][0])))
    yield "argument_kind", node(lambda n: n["inputs"][0].update(arg={"as_string": "x"}))
    yield "no_results", node(lambda n: n.update(outputs=[]))
    yield "unknown_operators", graph(lambda g: [n.update(
        target=f"torch.ops.mylib.f{i}.default") for i, n in enumerate(g["nodes"])])
    yield "unknown_operator", node(lambda n: n.update(target="torch.ops.mylib.frobnicate.default"))
    yield "custom_without_results", graph(lambda g: g["nodes"].append(
        {**copy.deepcopy(g["nodes"][1]), "target": "torch.ops.mylib.add_one.default", "outputs": []}))
    yield "custom_string", node(lambda n: (n.update(target="torch.ops.mylib.join.default"), n["inputs"].append(
        {"name": "how", "arg": {"as_string": "fast"}, "kind": 1})))
    yield "not_an_operator", node(lambda n: n.update(target="os.system"))
    yield "target_number", node(lambda n: n.update(target=7))
    yield "no_meta", graph(lambda g: g["tensor_values"].pop("relu"))
    yield "dtype_complex", graph(lambda g: g["tensor_values"]["x"].update(dtype=10))
    yield "dtype_unknown", graph(lambda g: g["tensor_values"]["x"].update(dtype=77))
    yield "layout_sparse", graph(lambda g: g["tensor_values"]["x"].update(layout=1))
    yield "size_negative", graph(lambda g: g["tensor_values"]["x"]["sizes"][0].update(as_int=-5))
    yield "size_huge", graph(lambda g: g["tensor_values"]["x"].update(sizes=[{"as_int": 1 << 62}] * 2))
    yield "output_unknown", signature(
        lambda s: s["output_specs"][0]["user_output"]["arg"]["as_tensor"].update(name="gone"))
    yield "output_kind", signature(lambda s: s["output_specs"].__setitem__(0, {"riddle": {}}))
    yield "input_missing", signature(lambda s: s["input_specs"].pop())
    yield "parameter_unknown", signature(
        lambda s: s["input_specs"][0]["parameter"].update(parameter_name="third.weight"))


def weights():
    yield "pickled", weight(lambda w: w.update(use_pickle=True))
    yield "weight_shape", weight(lambda w: w["tensor_meta"].update(sizes=[{"as_int": 64}, {"as_int": 16}]))
    yield "weight_huge", weight(lambda w: w["tensor_meta"].update(sizes=[{"as_int": 1 << 40}] * 2))
    yield "weight_offset", weight(lambda w: w["tensor_meta"].update(storage_offset={"as_int": 4096}))
    yield "weight_strides", weight(
        lambda w: w["tensor_meta"].update(strides=[{"as_int": 1 << 40}, {"as_int": 1}]))
    yield "weight_stride_negative", weight(
        lambda w: w["tensor_meta"].update(strides=[{"as_int": -16}, {"as_int": 1}]))
    yield "weight_dtype", weight(lambda w: w["tensor_meta"].update(dtype=12))
    yield "weight_device", weight(lambda w: w["tensor_meta"].update(layout=2))
    yield "weight_path", weight(lambda w: w.update(path_name="../../../etc/passwd"))
    yield "weight_cut", with_entry(FIRST, bytes(100))


def pt2_files():
    """(file name, content) of every one."""
    for group in (archives, documents, graphs, weights):
        for name, content in group():
            yield f"{name}.pt2", content
    yield "model.onnx", b"onnx"
    yield "good.pt2", SOURCE.read_bytes()
