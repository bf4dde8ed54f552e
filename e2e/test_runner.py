# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the runner itself: `python3 -m unittest e2e/test_runner.py`."""

import array
import math
import pathlib
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import bitwise
import compare
import device_code
import imports
import kernel_cases
import npy
import run


def npy_bytes(descr: str, shape: tuple, body: bytes, order: bool = False) -> bytes:
    header = str({"descr": descr, "fortran_order": order, "shape": shape}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


class Npy(unittest.TestCase):
    def test_f32(self):
        data = npy_bytes("<f4", (2, 1), array.array("f", [1.5, -2.0]).tobytes())
        self.assertEqual(npy.parse(data), ((2, 1), "f4", [1.5, -2.0]))

    def test_f16_and_scalar(self):
        self.assertEqual(npy.parse(npy_bytes("<f2", (), struct.pack("<e", 0.5)))[2], [0.5])

    def test_column_major_is_refused(self):
        with self.assertRaises(ValueError):
            npy.parse(npy_bytes("<f4", (2, 2), bytes(16), order=True))

    def test_bf16(self):
        self.assertEqual(npy.widen_bf16([0x3F80, 0xC000]), [1.0, -2.0])


class Imports(unittest.TestCase):
    def symbol(self, index: str, name: str) -> str:
        return f"     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  {index:>3} {name}\n"

    def needed(self, name: str) -> str:
        return f" 0x0000000000000001 (NEEDED)             Shared library: [{name}]\n"

    def test_few_functions_of_libc_and_libm(self):
        text = self.needed("libm.so.6") + self.symbol("UND", "expf@GLIBC_2.27 (3)")
        self.assertEqual(imports.judge(text + self.symbol("10", "tilewright_program")), [])

    def test_anything_else_is_named(self):
        text = self.needed("libtilewright.so") + self.symbol("UND", "malloc@GLIBC_2.2.5 (2)") + self.symbol("10", "k0")
        self.assertEqual(imports.judge(text), ["needs libtilewright.so", "imports malloc",
                                               "exports k0, not tilewright_program alone"])


class Compare(unittest.TestCase):
    def test_what_cancels_is_compared_as_rounding_errors(self):
        want, exact = [1e-12, -2e-12], [1e-22, 0.0]
        self.assertTrue(compare.is_noise(want, exact))
        self.assertFalse(compare.is_noise([1.0, 2.0], [1.1, 2.0]))
        self.assertFalse(compare.is_noise([0.0, 0.0], [0.0, 0.0]))
        self.assertIsNone(compare.noise([2e-11, 0.0], want, exact))
        self.assertIn("rounding errors", compare.noise([1e-10, 0.0], want, exact))

    def test_tolerance_grows_with_length_and_scale(self):
        short, long = compare.tolerance("f32", 1, 1.0)[1], compare.tolerance("f32", 100, 2.0)[1]
        self.assertAlmostEqual(long, 20 * short)

    def test_integers_are_equal_or_wrong(self):
        self.assertIsNone(compare.difference([1, 2], [1, 2], "i64", 100))
        self.assertIn("1 of 2 values differ", compare.difference([1, 3], [1, 2], "i64", 100))

    def test_special_values(self):
        special = [math.inf, -math.inf, math.nan]
        self.assertIsNone(compare.difference(special, special, "f32", 1))
        self.assertIsNotNone(compare.difference([math.nan], [1.0], "f32", 1))
        self.assertIsNotNone(compare.difference([1e30], [math.inf], "f32", 1))

    def test_distance_from_double_precision(self):
        self.assertIsNone(compare.inaccuracy([1 + 2e-7], [1 + 1e-7], [1.0], "f32", 0.0))
        self.assertIsNotNone(compare.inaccuracy([1 + 9e-7], [1 + 1e-7], [1.0], "f32", 0.0))
        self.assertIsNone(compare.inaccuracy([1 + 9e-7], [1 + 1e-7], [1.0], "f32", 5e-7))
        self.assertIsNone(compare.inaccuracy([1 + 9e-7], [1 + 1e-7], [1.0], "f32", 0.0, reduction=64))
        self.assertIsNotNone(compare.inaccuracy([1 + 2e-6], [1 + 1e-7], [1.0], "f32", 0.0, reduction=64))


class Bitwise(unittest.TestCase):
    """Runs of two calls, the second of which has two results."""

    INPUTS, LABELS = [["f32=1"], ["f32=2", "f32=3"]], [["y of call 0"], ["y of call 1", "z of call 1"]]

    def run_them(self, count: int, other: int | None = None) -> tuple[list[str], list[int]]:
        """What is found, and how many results each process wrote; the one of number `other` has another last byte."""
        processes, written = [], 0

        def execute(arguments: list[str]) -> None:
            nonlocal written
            files = [word.removeprefix("--output=@") for word in arguments if word.startswith("--output=@")]
            for file in files:
                pathlib.Path(file).write_bytes(b"abcd" if written == other else b"abcx")
                written += 1
            processes.append(len(files))

        return bitwise.problems(self.INPUTS, self.LABELS, count, execute, {}), processes

    def test_one_process(self):
        self.assertEqual(self.run_them(7), ([], [21]))

    def test_calls_are_apart(self):
        arguments = bitwise.arguments_of(self.INPUTS, self.LABELS, range(2), pathlib.Path("folder"))
        self.assertEqual([word.split("=")[0] for word in arguments[:7]],
                         ["--reset-state", "--input", "--output", "--next", "--input", "--input", "--output"])
        self.assertEqual(arguments.count("--reset-state"), 2)
        self.assertEqual(arguments.count("--next"), 3)

    def test_first_difference_is_named(self):
        found, _ = self.run_them(5, other=8)
        self.assertEqual(found, ["z of call 1: run 3 differs from the first one, from byte 3 of the file on"])

    def test_other_threads_are_compared_with_the_first(self):
        def execute(content: bytes):
            def write(arguments: list[str]) -> None:
                for word in arguments:
                    if word.startswith("--output=@"):
                        pathlib.Path(word.removeprefix("--output=@")).write_bytes(content)
            return write

        first = {}
        self.assertEqual(bitwise.problems(self.INPUTS, self.LABELS, 2, execute(b"abc"), first), [])
        self.assertEqual(bitwise.problems(self.INPUTS, self.LABELS, 2, execute(b"abc"), first), [])
        self.assertEqual(len(bitwise.problems(self.INPUTS, self.LABELS, 2, execute(b"abd"), first)), 1)

    def test_failure_is_told(self):
        self.assertEqual(bitwise.problems(self.INPUTS, self.LABELS, 5, lambda _: "exit status 1", {}),
                         ["runs 1 to 5: exit status 1"])

    def test_long_commands_are_cut(self):
        inputs = [["@" + "x" * (bitwise.MOST_ARGUMENTS // 3)]]
        self.assertLess(bitwise.runs_at_once(inputs, [["y"]], pathlib.Path("folder")), 3)


class Plans(unittest.TestCase):
    def test_temporaries_beyond_their_bound_are_told(self):
        found = [run.plan_problems({"planned_peak_bytes": peak, "planned_bound_bytes": 6400}) for peak in (6400, 6528, 6592)]
        self.assertEqual(found, [[], [], ["temporaries take 6592 bytes, more than 1.02 times the 6400 that live together"]])
        self.assertEqual(run.plan_problems({"planned_peak_bytes": 0, "planned_bound_bytes": 0}), [])


class DeviceCode(unittest.TestCase):
    TILES = """module {
  tile.kernel @k0(in %a: !tile.buffer<[16, 64], f16>, in %b: !tile.buffer<[64, 24], f16>, out %c: !tile.buffer<[16, 24], f16>) grid [1] {
    %d = tile.dot %x, %y, %z : tensor<16x64xf16>, tensor<64x24xf16>, tensor<16x24xf32>
  }
  tile.kernel @k1(in %a: !tile.buffer<[16, 64], f32>, out %c: !tile.buffer<[16, 24], f32>) grid [1] {
    %d = tile.dot %x, %y, %z : tensor<16x64xf32>, tensor<64x24xf32>, tensor<16x24xf32>
  }
  tile.kernel @k2(in %a: !tile.buffer<[16, 64], bf16>, out %c: !tile.buffer<[16, N], bf16>) grid [1] {
    %d = tile.dot %x, %y, %z : tensor<16x64xbf16>, tensor<64x24xbf16>, tensor<16x24xf32>
  }
  func.func @entry() {
  }
}
"""
    BODY = "wgmma.mma_async.sync\ncp.async.bulk.tensor.2d.shared::cluster.global\nstmatrix.sync\n"
    STORE = "cp.async.bulk.tensor.2d.global.shared::cta\n"
    CODE = "HGMMA.64x24x16.F32\nUTMALDG.2D\nSTSM.16\n"

    @staticmethod
    def ptx(**kernels):
        return device_code.entries("".join(f".visible .entry {name}(\n)\n{{\n{body}}}\n" for name, body in kernels.items()))

    def test_spills_are_told(self):
        kernels = [{"name": "k0", "spill_bytes": 0}, {"name": "k1", "spill_bytes": 8}]
        self.assertEqual(device_code.spilled({"device": {"kernels": kernels}}), {"k1": 8})
        self.assertEqual(device_code.spilled({"device": None}), {})
        self.assertEqual(device_code.spill_faults("models/m", {}), [])
        self.assertEqual(device_code.spill_faults("models/m", {"k1": 8}), ["kernel k1 spills 8 bytes"])

    def test_expected_failures_are_of_cases_and_must_be_there(self):
        for case in [*device_code.SPILLING, *device_code.WITHOUT_TENSOR_CORES]:
            self.assertTrue((run.HERE / case / "case.json").exists(), case)
        for case in device_code.SPILLING:
            self.assertEqual(device_code.spill_faults(case, {"k1": 800}), [])
            self.assertIn("any more", device_code.spill_faults(case, {})[0])
        for case, reasons in device_code.WITHOUT_TENSOR_CORES.items():
            plain = {f"k{i}": device_code.Product(True, True) for i in range(len(reasons))}
            ptx = self.ptx(**dict.fromkeys(plain, "ret;"))
            self.assertEqual(device_code.product_faults(case, plain, ptx, reasons), [])
            self.assertEqual(len(device_code.product_faults(case, plain, ptx, [])), len(reasons))
            fast = self.ptx(**dict.fromkeys(plain, self.BODY + self.STORE))
            self.assertIn("0 kernels multiply", device_code.product_faults(case, plain, fast, reasons)[0])

    def test_products_are_found_in_tile_programs(self):
        self.assertEqual(device_code.products(self.TILES),
                         {"k0": device_code.Product(True, True), "k2": device_code.Product(True, False)})

    def test_products_want_their_instructions(self):
        wanted = device_code.products(self.TILES)
        self.assertEqual(device_code.product_faults("models/m", wanted, self.ptx(k0=self.BODY + self.STORE, k2=self.BODY), []), [])
        self.assertEqual(device_code.product_faults("models/m", wanted, self.ptx(k0=self.BODY), []),
                         [f"kernel k0 has no {device_code.STORES} in PTX"])
        self.assertIn("1 kernels multiply 16-bit floats without tensor cores, not 0",
                      device_code.product_faults("models/m", wanted, self.ptx(k0="ret;"), ["why"])[0])

    def test_operators_without_tensor_cores_have_remarks(self):
        wanted, ptx = {"k0": device_code.Product(True, True)}, self.ptx(k0="ret;")
        remark = f"{device_code.WITHOUT}: rows of 12 bytes"
        self.assertEqual(device_code.product_faults("operators/o", wanted, ptx, [remark]), [])
        self.assertEqual(len(device_code.product_faults("operators/o", wanted, ptx, [])), 1)

    def test_ptxas_must_keep_instructions(self):
        ptx = self.ptx(k0=self.BODY)
        self.assertEqual(device_code.assembly_faults(ptx, {"k0": self.CODE}), [])
        self.assertEqual(device_code.assembly_faults(ptx, {"k0": self.CODE.replace("HGMMA", "HMMA")}),
                         [f"kernel k0 has no HGMMA in SASS, for {device_code.WGMMA} in PTX"])
        self.assertEqual(device_code.assembly_faults(ptx, {"k0": self.CODE + "UBLKCP\n"}),
                         [f"kernel k0 has UBLKCP in SASS, but no {device_code.COPIES} in PTX"])
        self.assertEqual(device_code.assembly_faults(ptx, {"k0": self.CODE + "STL [R1], R2\n"}),
                         ["kernel k0 keeps values in local memory"])

    def test_models_with_nothing_for_tensor_cores_are_left_alone(self):
        report = {"configurations": [{"kernels": [{"kernel": "k0"}]}], "remarks": [{"text": "merged"}]}
        self.assertFalse(device_code.may_use_tensor_cores({"inputs": [{"dtype": "f32"}]}, report))
        self.assertTrue(device_code.may_use_tensor_cores({"inputs": [{"dtype": "bf16"}]}, report))
        report["remarks"].append({"text": "multiplies without tensor cores: rows of 12 bytes"})
        self.assertTrue(device_code.may_use_tensor_cores({}, report))
        configured = {"configurations": [{"kernels": [{"kernel": "k0", "target": {"stages": 4}}]}], "remarks": []}
        self.assertTrue(device_code.may_use_tensor_cores({}, configured))

    def test_serialized_products_are_told(self):
        remarks = [{"place": "linear", "text": "multiplies without tensor cores: ptxas cannot overlap products: (C7512)"},
                   {"place": "other", "text": "multiplies without tensor cores: rows of 12 bytes"}]
        self.assertEqual(device_code.serialized({"remarks": remarks}),
                         ["linear: multiplies without tensor cores: ptxas cannot overlap products: (C7512)"])

    def test_the_compiler_has_the_words_that_are_looked_for(self):
        source = run.HERE.parent / "lib" / "Target" / "NVIDIA" / "Code" / "Ptxas.cpp"
        self.assertIn(device_code.SERIALIZED, source.read_text())
        self.assertIn(f'"{device_code.WITHOUT}: "', (source.parent.parent / "Kernel.cpp").read_text())


class KernelCases(unittest.TestCase):
    def test_kernels_are_in_their_files(self):
        for case, kernel in kernel_cases.KERNELS.items():
            source = (kernel_cases.ROOT / kernel.file).read_text()
            self.assertTrue(f"@{kernel.name}(" in source or f"TILEWRIGHT_KERNEL({kernel.name}," in source, case)

    def test_inputs_are_drawn_by_the_tool(self):
        kernel = kernel_cases.Kernel("k", "k.mlir", [], 1, "f16")
        self.assertEqual(kernel.inputs("2x3 f64=0.5 4"), ["2x3xf16=random:1", "f64=0.5", "4xf16=random:3"])

    def test_case_has_what_the_interpreter_gives(self):
        def execute(command: list[str]) -> None:
            result = next(word for word in command if word.startswith("--output=@")).removeprefix("--output=@")
            pathlib.Path(result).write_bytes(npy_bytes("<f2", (1,), struct.pack("<e", 0.5)))

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "kernels" / "k"
            kernel = kernel_cases.Kernel("k", "k.mlir", ["1", "2"], 7, "f16")
            self.assertIsNone(kernel_cases.write(kernel, "tool", folder, execute))
            case = run.Case(folder)
            self.assertEqual((case.name, case.description["reduction"]), ("kernels/k", 7))
            self.assertEqual(case.description["cases"][1]["calls"],
                             [{"inputs": ["2xf16=random:1"], "outputs": [{"dtype": "f16", "expected": "1.npy"}]}])
            self.assertEqual(kernel_cases.write(kernel, "tool", folder, lambda _: "exit status 1"), "exit status 1")


class Cases(unittest.TestCase):
    def test_every_case_has_its_files(self):
        cases = run.find_cases([])
        self.assertGreater(len(cases), 150)
        for case in cases:
            self.assertTrue((case.folder / case.description["model"]).exists(), case.name)

    def test_options_stand_before_the_calls(self):
        (case,) = run.find_cases(["models/counter"])
        calls = case.description["cases"][0]["calls"]
        words = run.call_arguments(case, calls, pathlib.Path("scratch"), "out")
        self.assertEqual(words.count("--next"), len(calls) - 1)
        self.assertFalse([word for word in words if not word.startswith(("--next", "--input", "--output", "--expected"))])


if __name__ == "__main__":
    unittest.main()
