# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong with the code that the compiler and ptxas made of a case's kernels: values that are kept in memory,
products that wait for each other or are not on tensor cores, and instructions of Hopper that are not there, in PTX or in
what ptxas made of it."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

# Cases with kernels that spill registers, and why. One that spills none any more is wrong here.
SPILLING = {
    "operators/fractional_pools": "one thread's share of a pool needs more than the 255 registers that there are",
    "operators/sampling_gradients": "32 bytes beside 96 registers leave 21 warps; none, beside 160, would leave 12, which hide too little",
}
# Models and kernels by themselves that multiply 16-bit floats by the plain lowering: what the remark of each kernel says. One
# that does not is wrong here, too. Of operators, whose sizes are odd on purpose, there must be a remark for each.
WITHOUT_TENSOR_CORES = {
    "models/mixer_bf16": ["rows of 8 elements have no layout in shared memory"],
    "models/mlp_bf16": ["its block has 1 x 8 elements", "its block has 1 x 8 elements"],  # one row: no product
    "models/pixel_heads": ["rows of 12 bytes are no multiples of the 16 that TMA wants"],
    "models/sdxl_block_f16": ["an operand is not computed element by element from one load"],  # a gate: two loads
}
# The remark on products that ptxas does not overlap (its notes C7508 to C7519).
SERIALIZED = "cannot overlap products"
# The remark on those that are not on tensor cores.
WITHOUT = "multiplies without tensor cores"
# What ptxas makes of instructions of PTX: as expressions, of which a kernel that has the one has the other.
ASSEMBLED = {
    r"wgmma\.mma_async": "HGMMA",
    r"cp\.async\.bulk\.tensor\.\dd\.shared": "UTMALDG",
    r"cp\.async\.bulk\.tensor\.\dd\.global": "UTMASTG",
    r"cp\.async\.bulk\.shared": "UBLKCP",
    r"stmatrix": "STSM",
    r"setmaxnreg": "USETMAXREG",
    r"griddepcontrol\.wait": "ACQBULK",
    r"griddepcontrol\.launch_dependents": "PREEXIT",
}
WGMMA, LOADS, STORES, COPIES, MATRICES = list(ASSEMBLED)[:5]
METADATA_MAGIC, METADATA_PREFIX = b"TWPROG02", 24  # of an artifact's metadata (docs/artifact.md), and what is before the JSON
TMA_BYTES = 16  # of which rows are a multiple that TMA stores


def has_ptxas() -> bool:
    """As the compiler looks for it (docs/nvidia-target.md)."""
    return bool(os.environ["TILEWRIGHT_PTXAS"] if "TILEWRIGHT_PTXAS" in os.environ else shutil.which("ptxas"))


def has_disassembler() -> bool:
    return shutil.which("nvdisasm") is not None


def serialized(report: dict) -> list[str]:
    """What `compile --report=json` says of products that wait for each other."""
    return [f"{remark['place']}: {remark['text']}" for remark in report["remarks"] if SERIALIZED in remark["text"]]


def spilled(described: dict) -> dict[str, int]:
    """The bytes that kernels spill, by what `inspect --json` says of an artifact."""
    kernels = (described.get("device") or {}).get("kernels", [])
    return {kernel["name"]: kernel["spill_bytes"] for kernel in kernels if kernel["spill_bytes"]}


def spill_faults(case: str, spills: dict[str, int]) -> list[str]:
    if case in SPILLING:
        return [] if spills else [f"no kernel spills registers any more: take {case} out of SPILLING (e2e/device_code.py)"]
    return [f"kernel {name} spills {size} bytes" for name, size in spills.items()]


def may_use_tensor_cores(description: dict, report: dict) -> bool:
    """Whether it is worth looking at what becomes of products in a model: it has 16-bit floats, as far as its description
    says, a configuration for tensor cores, or a remark on them."""
    configured = any("target" in kernel for dispatch in report["configurations"] for kernel in dispatch["kernels"])
    remarked = any("tensor cores" in remark["text"] for remark in report["remarks"])
    return configured or remarked or re.search(r'"b?f16"', json.dumps(description)) is not None


@dataclasses.dataclass
class Product:
    """What must be there beside wgmma and loads by TMA: results of 16 bits go through shared memory as matrices, from which
    TMA stores them where their rows are multiples of 16 bytes."""

    stores_matrices: bool
    stores_by_tma: bool

    def wanted(self) -> list[str]:
        return [WGMMA, LOADS] + [MATRICES] * self.stores_matrices + [STORES] * self.stores_by_tma


def products(tiles: str) -> dict[str, Product]:
    """The kernels with a `dot` of f16 or bf16, by the text of tile programs."""
    found = {}
    for _, name, arguments, text in re.findall(r"^( *)tile\.kernel @(\w+)\((.*?)\) (.*?)^\1\}$", tiles, re.M | re.S):
        if not re.search(r"tile\.dot [^\n]*: tensor<[\dx]*x(b?f16)>, tensor<[\dx]*x\1>", text):
            continue
        halves = re.findall(r"(?:in)?out %\w+: !tile\.buffer<\[([^\]]*)\], b?f16>", arguments)
        rows = [sizes.split(", ")[-1] for sizes in halves]
        found[name] = Product(bool(halves), any(size.isdigit() and 2 * int(size) % TMA_BYTES == 0 for size in rows))
    return found


def entries(ptx: str) -> dict[str, str]:
    """The text of each kernel in some PTX."""
    parts = re.split(r"\.entry (\w+)\(", ptx)
    return dict(zip(parts[1::2], parts[2::2]))


def product_faults(case: str, wanted: dict[str, Product], ptx: dict[str, str], remarks: list[str]) -> list[str]:
    """Of kernels that should multiply on tensor cores, as PTX has them. A kernel with variants has code for these alone."""
    plain = [name for name in wanted if name in ptx and not re.search(WGMMA, ptx[name])]
    reasons = WITHOUT_TENSOR_CORES.get(case, [])
    wrong = [f"the remark that is expected is not there: {reason}" for reason in reasons
             if not any(reason in remark for remark in remarks)]
    told = sum(WITHOUT in remark for remark in remarks)
    if case.startswith("operators/"):
        wrong += [f"{len(plain)} kernels multiply 16-bit floats without tensor cores, of which {told} remarks tell: "
                  + ", ".join(plain)] * (len(plain) > told)
    elif len(plain) != len(reasons):
        wrong.append(f"{len(plain)} kernels multiply 16-bit floats without tensor cores, not {len(reasons)} "
                     f"(WITHOUT_TENSOR_CORES in e2e/device_code.py): {', '.join(plain) or 'none'}")
    wrong += [f"kernel {name} has no {pattern} in PTX" for name, product in wanted.items()
              if name in ptx and name not in plain for pattern in product.wanted() if not re.search(pattern, ptx[name])]
    return wrong


def device_section(artifact: bytes) -> bytes:
    """The code for the device in an artifact, which is an ELF library."""
    (headers,) = struct.unpack_from("<Q", artifact, 40)
    size, count, names = struct.unpack_from("<HHH", artifact, 58)
    sections = [struct.unpack_from("<IIQQQQ", artifact, headers + i * size) for i in range(count)]
    for name, _, _, _, offset, length in sections:
        begin = sections[names][4] + name
        if artifact[begin:artifact.index(b"\0", begin)] == b".tilewright.device":
            return artifact[offset:offset + length]
    return b""


def images(artifact: bytes) -> list[bytes]:
    """The images in it, where its metadata says: cubins, or PTX."""
    section = device_section(artifact)
    prefix = artifact.index(METADATA_MAGIC) + len(METADATA_MAGIC)
    (length,) = struct.unpack_from("<Q", artifact, prefix)
    begin = prefix + METADATA_PREFIX
    metadata = json.loads(artifact[begin:begin + length])
    places = (metadata.get("device") or {}).get("images", [])
    return [section[place["offset"]:place["offset"] + place["bytes"]] for place in places]


def disassembled(cubin: bytes) -> dict[str, str]:
    """The instructions of each kernel in it."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        said = subprocess.run(["nvdisasm", file.name], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"\.section\s+\.text\.(\w+)", said)
    return dict(zip(parts[1::2], parts[2::2]))


def assembly_faults(ptx: dict[str, str], sass: dict[str, str]) -> list[str]:
    """What kernels have in PTX must be there behind ptxas, too, and nothing in local memory."""
    wrong = []
    for name, code in sass.items():
        for pattern, instruction in ASSEMBLED.items():
            has = re.search(rf"\b{instruction}\b", code) is not None
            if has != (re.search(pattern, ptx[name]) is not None):
                wrong.append(f"kernel {name} has {'' if has else 'no '}{instruction} in SASS, "
                             f"{'but no' if has else 'for'} {pattern} in PTX")
        if re.search(r"\b(LDL|STL)\b", code):
            wrong.append(f"kernel {name} keeps values in local memory")
    return wrong


def is_asynchronous(text: str) -> bool:
    """Whether a kernel, in PTX, is worth disassembling: it multiplies on tensor cores, or copies by TMA."""
    return any(re.search(pattern, text) for pattern in (WGMMA, LOADS, COPIES))


def code_faults(artifact: pathlib.Path, ptx: dict[str, str]) -> list[str]:
    """Of an artifact's kernels whose PTX this is."""
    wanted = {name for name, text in ptx.items() if is_asynchronous(text)}
    wrong, found = [], set()
    for cubin in images(artifact.read_bytes()) if wanted else []:
        if not any(f".text.{name}\0".encode() in cubin for name in wanted):
            continue
        sass = disassembled(cubin)
        found |= set(sass)
        wrong += assembly_faults(ptx, sass)
    return wrong + [f"kernel {name} has no code in the artifact" for name in sorted(wanted - found)]
