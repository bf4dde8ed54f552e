# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs: what a compiled model takes, gives, keeps and does."""
from __future__ import annotations

import os
import sys

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, BinaryIO, NoReturn


class Value:
    """An input, an output or a state tensor of a program.

    name: as the model calls it. kind: "tensor", or "int", "float", "bool" for a number; of an output that is
    the same in every call "None" or "str", and then `value` is that, None or the text.
    dtype: "f32", "bf16", "i64", ... sizes: ints, and texts for dynamic sizes ("s0", "s0*2").
    mutated: an input that a call writes to. trainable: state that gradients refer to.
    """

    __slots__ = ("dtype", "kind", "mutated", "name", "sizes", "trainable", "value")

    name: str
    kind: str
    dtype: str
    sizes: tuple[int | str, ...]
    mutated: bool
    trainable: bool
    value: str | None

    def __init__(self, facts: dict[str, Any]) -> None:
        for slot in self.__slots__:
            setattr(self, slot, facts[slot])

    def __repr__(self) -> str:
        what = f"{self.dtype}[{', '.join(map(str, self.sizes))}]" if self.kind == "tensor" \
            else repr(self.value) if self.kind == "str" else self.kind
        return f"{self.name}: {what}"


class State:
    """What a program keeps between calls (a cache, running statistics), by name.

    state["name"] is a copy as an array of the program's library; state["name"] = array sets it, of
    exactly its dtype and sizes; state.reset("name") sets it back to the initial values, and
    state.reset() all of it. An unknown name raises InputError TW-RUNTIME-0015, an array that does not
    fit TW-RUNTIME-0014.
    """

    __slots__ = ("_program",)

    def __init__(self, program: Program) -> None:
        self._program = program

    def __getitem__(self, name: str) -> Any:
        return self._program._get_state(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._program._set_state(name, value)

    def reset(self, name: str | None = None) -> None:
        """Sets one, or all, back to the initial values. Errors: TW-RUNTIME-0015 where there is no such name."""
        self._program._reset_state(name)

    def values(self) -> list[Value]:
        """The names, dtypes and sizes."""
        return [Value(facts) for facts in self._program._facts["state"]]

    def __iter__(self) -> Iterator[str]:
        return iter([facts["name"] for facts in self._program._facts["state"]])

    def __len__(self) -> int:
        return len(self._program._facts["state"])

    def __contains__(self, name: object) -> bool:
        return any(facts["name"] == name for facts in self._program._facts["state"])

    def __repr__(self) -> str:
        return f"State({', '.join(map(repr, self.values()))})"


class Report:
    """What a model became: its dispatches, and what was fused and why.

    dispatches: one dict for each kernel with name, kernel, ops, source, and, where the program was
    compiled here, calls, target ("cpu" or "reference") and variants (the sizes up to which there are
    kernels of their own). remarks: (place, text) of each decision; a loaded program has none. str()
    is a text for people.
    """

    __slots__ = ("dispatches", "remarks")

    def __init__(self, dispatches: list[dict[str, Any]], remarks: list[tuple[str, str]]) -> None:
        self.dispatches, self.remarks = dispatches, remarks

    def __str__(self) -> str:
        slow = sum(dispatch.get("target") == "reference" for dispatch in self.dispatches)
        lines = [f"kernels {len(self.dispatches)}, on the reference target {slow}"]
        for dispatch in self.dispatches:
            lines.append(f"  {dispatch['name']:<24} {dispatch['ops']}")
            if dispatch["source"]:
                lines.append(f"  {'':<24} {dispatch['source']}")
        if self.remarks:
            lines.append("remarks")
        lines += [f"  {place}{': ' if place else ''}{text}" for place, text in self.remarks]
        return "\n".join(lines)

    __repr__ = __str__


def read_report(text: str) -> Report:
    """What the compiler says of a program, in JSON."""
    import json

    said = json.loads(text)
    return Report(said["dispatches"], [(remark["place"], remark["text"]) for remark in said["remarks"]])


class Profile:
    """Where the time of calls goes; see Program.profile.

    rows: for each dispatch that ran a dict with name, ops, source, calls, total_us, min_us, max_us and
    percent, the longest first. str() is a table. save_trace(path) writes a file for
    chrome://tracing or https://ui.perfetto.dev.
    """

    __slots__ = ("_events", "_program")

    def __init__(self, program: Program) -> None:
        self._program = program
        self._events: list[tuple[int, int, int]] = []

    def __enter__(self) -> Profile:
        self._check(False, "begins that has begun")
        self._gather()
        self._program._profiles.append(self)
        self._program._start_profile()
        return self

    def __exit__(self, *_: object) -> None:
        self._check(True, "ends that has not begun")
        self._gather()
        self._program._profiles.remove(self)
        if self._program._profiles:
            self._program._start_profile()

    def _check(self, wanted: bool, what: str) -> None:
        if any(each is self for each in self._program._profiles) is not wanted:
            _native.refuse("TW-PYTHON-0003", f"a profile of {self._program!r} {what}",
                           "use each in one block: with program.profile() as profile")

    def _gather(self) -> None:
        """Gives what has happened to all who watch: a program has one record, and blocks may be inside each other."""
        if self._program._profiles:
            events = self._program._stop_profile()
            for each in self._program._profiles:
                each._events += events

    @property
    def rows(self) -> list[dict[str, Any]]:
        """For each dispatch, the longest first, what it is, how often it ran, its times in microseconds and its share."""
        spans: dict[int, list[int]] = {}
        for dispatch, begin, end in self._events:
            spans.setdefault(dispatch, []).append(end - begin)
        total = sum(map(sum, spans.values())) or 1
        rows = []
        for dispatch, times in spans.items():
            facts = self._program._facts["dispatches"][dispatch]
            rows.append({**{key: facts[key] for key in ("name", "ops", "source")}, "calls": len(times),
                         "total_us": sum(times) / 1e3, "min_us": min(times) / 1e3, "max_us": max(times) / 1e3,
                         "percent": 100 * sum(times) / total})
        return sorted(rows, key=lambda row: -row["total_us"])

    def __str__(self) -> str:
        lines = [f"{'dispatch':<28} {'calls':>7} {'total us':>11} {'min us':>9} {'max us':>9} {'%':>6}"]
        lines += [f"{row['name']:<28} {row['calls']:>7} {row['total_us']:>11.1f} {row['min_us']:>9.1f} "
                  f"{row['max_us']:>9.1f} {row['percent']:>6.1f}" for row in self.rows]
        return "\n".join(lines)

    __repr__ = __str__

    def save_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the events as a trace for chrome://tracing and Perfetto, in one step as Program.save. Errors:
        TW-IO-0002 (it cannot be written), TW-PYTHON-0005 (no path)."""
        import json

        dispatches = self._program._facts["dispatches"]
        events = [{"name": dispatches[dispatch]["name"], "ph": "X", "pid": os.getpid(), "tid": 0,
                   "ts": begin / 1e3, "dur": (end - begin) / 1e3,
                   "args": {key: dispatches[dispatch][key] for key in ("ops", "source", "kernel")}}
                  for dispatch, begin, end in self._events]
        text = json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})
        _write_whole(os.path.realpath(path_text("the path", path)), 0o644, lambda file: file.write(text.encode()))


def _identity(path: str) -> tuple[int, ...] | None:
    """What tells a file from another one that takes its place; None where there is none."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _external_weights(artifact: str) -> str | None:
    """The file of weights that names the artifact by its seal (docs/artifact.md); None: it holds them itself."""
    import mmap

    for path in (f"{artifact}.weights", f"{os.path.realpath(artifact)}.weights"):
        try:
            with open(path, "rb") as file:
                seal = file.read(32)[24:]
        except OSError:
            continue
        with open(artifact, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if len(seal) == 8 and data.find(seal) >= 0:
                return path
    return None


def _umask() -> int:
    """What this process withholds from others; os.umask() could be asked only by changing it, for other threads, too."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return int(next(line for line in file if line.startswith("Umask:")).split()[1], 8)


def _write_whole(path: str, mode: int, write: Callable[[BinaryIO], object]) -> None:
    """Writes a file in one step: what was there is replaced whole or not at all. Errors: TW-IO-0002."""
    try:
        _put_in_place(path, mode, write)
    except OSError as error:
        _native.refuse("TW-IO-0002", f"cannot write {path}: {error.strerror or error}", "give another place for it")


def _put_in_place(path: str, mode: int, write: Callable[[BinaryIO], object]) -> None:
    """Until it is whole, the file has the hidden name that the compiler uses, too: whoever works on it holds its lock, and
    what a killed process left is written over. What is no file, such as /dev/stdout, is written to."""
    import fcntl

    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            write(file)
        return
    folder, name = os.path.split(path)
    hidden = os.path.join(folder, os.fsdecode(b"." + os.fsencode(name)[:200] + b".tilewright"))
    while True:
        with os.fdopen(os.open(hidden, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                if not os.path.samestat(os.fstat(file.fileno()), os.stat(hidden)):
                    continue
            except FileNotFoundError:
                continue  # another has put it in place
            try:
                file.truncate(0)
                write(file)
                file.flush()
                os.fchmod(file.fileno(), mode & ~_umask())
                os.fsync(file.fileno())
                os.replace(hidden, path)
            except BaseException:
                os.unlink(hidden)
                raise
            return


def _replace(source: str, path: str, mode: int) -> None:
    """Copies a file to a path, as _write_whole writes it."""
    with open(source, "rb") as given:
        def copy(file: BinaryIO) -> None:
            offset, size = 0, os.fstat(given.fileno()).st_size
            while offset < size:
                copied = os.sendfile(file.fileno(), given.fileno(), offset, size - offset)
                if copied == 0:
                    raise OSError(f"{source} became shorter while it was copied")
                offset += copied

        _write_whole(path, mode, copy)


class Program(_native.Program):
    """A compiled model, made by tilewright.compile or tilewright.load.

    Call it with its inputs in order, or by name: program(x, mask=m). Tensors may be torch tensors,
    NumPy arrays, or anything with __dlpack__, of exactly the dtypes and sizes that `inputs` says; where a
    size is dynamic, any that the model was exported for. They are all in main memory or, of a program on a
    GPU, all on that: such calls are put on PyTorch's current stream (without PyTorch on the default one) and
    not waited for, unless kernels check indices; what is in main memory is copied there and back. Contiguous memory is
    read in place (copied when not aligned to 64 bytes); other arrays are copied. Numbers are Python
    numbers. Results are new arrays of the same library as the first tensor given: one of them alone,
    several as a tuple; they have no gradients. An input with `mutated` gets its new value when the call
    has succeeded: it must be contiguous, writable, and overlap no other; autograd is notified, as it is of memory
    that is given for results, and what requires a gradient is refused outside torch.no_grad().

    Calls from several threads run at the same time and share the weights; a program with state runs one
    at a time (TW-RUNTIME-0016). The GIL is released while it computes. After os.fork() the child may
    call it too.

    Errors: TW-PYTHON-0001 to 0004 (what is given cannot be read or written), TW-RUNTIME-0010 to 0012
    (dtype, shape, range), TW-RUNTIME-0013 (an assertion of the model), TW-RUNTIME-0017 (memory).
    """

    def __init__(self, path: str, descriptor: int = -1, *, threads: int = 0, library: str = "numpy",
                 report: str | None = None, compiled_from: Iterable[str] = (), device: str | None = None) -> None:
        check_library(library)
        check_threads(threads, follow=True)
        if type(descriptor) is not int or not -1 <= descriptor < 2**31:
            _native.refuse("TW-PYTHON-0005", f"descriptor is {_native.shown(descriptor)}", "leave it out")
        if device is not None:
            check_text("device", device)
        super().__init__(path_text("the path", path), descriptor, threads, library, device or "")
        self._compiled_from = tuple(compiled_from)
        self._loaded_from = _identity(self._path)
        self._facts: dict[str, Any] = self._describe()
        self._report = report
        self._profiles: list[Profile] = []  # that are being made

    @property
    def inputs(self) -> list[Value]:
        """What a call takes, in order."""
        return [Value(facts) for facts in self._facts["inputs"]]

    @property
    def outputs(self) -> list[Value]:
        """What a call gives, in order: nested results of the model are flattened, with None and texts in their
        places."""
        return [Value(facts) for facts in self._facts["outputs"]]

    @property
    def symbols(self) -> dict[str, tuple[int, int]]:
        """The ranges of dynamic sizes, both ends included."""
        return {name: (least, most) for name, least, most in self._facts["symbols"]}

    @property
    def state(self) -> State:
        """What is kept between calls."""
        return State(self)

    @property
    def target(self) -> str:
        """What it was compiled for, as `compile` calls it."""
        return self._facts["target"]

    @property
    def device(self) -> str:
        """Where it runs: "cpu" or "cuda:0"."""
        return self._facts["device"]

    @property
    def report(self) -> Report:
        """What the model became."""
        if self._report is None:
            return Report([dict(dispatch) for dispatch in self._facts["dispatches"]], [])
        return read_report(self._report)

    def profile(self) -> Profile:
        """Times each dispatch of the calls made inside a with-block.

            with program.profile() as p:
                program(x)
            print(p); p.save_trace("trace.json")
        """
        return Profile(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the artifact, weights included, in one step: what was there is replaced whole or not at all, and a
        symbolic link is followed. A program that was loaded with its weights in a file of their own is saved as
        such a pair.

        It runs without Python, too (docs/embedding.md). Errors: TW-IO-0002 (it cannot be written), TW-PYTHON-0005
        (no path), TW-IO-0018 when the program was compiled from that file, TW-IO-0001 when the file that it was loaded
        from is not there any more.
        """
        path = os.path.realpath(path_text("the path", path))
        if _identity(self._path) != self._loaded_from:
            _native.refuse("TW-IO-0001", f"cannot save the program: {self._path}, which it was loaded from, is gone or another file",
                           "load the program again, and keep its file until it is saved")
        weights = _external_weights(self._path)
        for given in self._compiled_from:
            for written in (path, f"{path}.weights") if weights else (path,):
                if os.path.exists(written) and os.path.exists(given) and os.path.samefile(written, given):
                    _native.refuse("TW-IO-0018", f"cannot write {written}: the program was compiled from that file",
                                   "write to another file")
        if weights:
            _replace(weights, f"{path}.weights", 0o644)
        _replace(self._path, path, 0o755)

    def __reduce__(self) -> NoReturn:
        _native.refuse("TW-PYTHON-0003", "a program is copied or pickled, but holds native code and weights in memory",
                       "program.save(path) writes it, and tilewright.load(path) makes another one")
        raise AssertionError

    def __repr__(self) -> str:
        takes, gives = (", ".join(map(repr, values)) for values in (self.inputs, self.outputs))
        return f"<tilewright.Program {self._facts['model']}({takes}) -> ({gives})>"


def in_memory(descriptor: int, **options: Any) -> Program:
    """The program in a file without a name, which has just been compiled. Errors: as of compiled."""
    return compiled(f"/proc/self/fd/{descriptor}", descriptor=descriptor, **options)


def compiled(path: str, **options: Any) -> Program:
    """The program that has just been compiled to a file of which the user does not know. Errors: as of load, but they speak
    of the program."""
    try:
        return Program(path, **options)
    except _native.Error as error:
        advice = error.help
        if error.code == "TW-RUNTIME-0005":
            advice = ("leave out the target: it is then this machine's; tilewright.compile_to_file writes a program for "
                      "another machine, and does not load it")
        _native.refuse(error.code, error.message.replace(path, "the program"), advice)
        raise AssertionError from None


def load(path: str | os.PathLike[str], *, threads: int = 0, library: str = "numpy",
         device: str | None = None) -> Program:
    """Loads an artifact that Program.save or `tilewright compile` wrote. It is native code: load only
    what you trust.

    threads: of each call; 0 for all cores. library: "numpy" or "torch", of arrays that do not come from
    a call's tensors: state, and results of programs that take none. device: "cpu", "cuda" (the first GPU)
    or "cuda:N"; None for what the artifact was compiled for. Errors: TW-RUNTIME-0001 to 0008 (the
    file is missing, damaged, or for another machine or device), 0020 (for another GPU), TW-PYTHON-0005 (the options).
    """
    check_threads(threads)
    return Program(os.path.abspath(path_text("the path", path)), threads=threads, library=library, device=device)


def path_text(what: str, path: object) -> str:
    """A path as the runtime takes it. Errors: TW-PYTHON-0005."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        _native.refuse("TW-PYTHON-0005", f"{what} is {_native.described(path)}", "give a str or a pathlib.Path")
    text = os.fsdecode(path)
    if is_odd(text):
        _native.refuse("TW-PYTHON-0005", f"{what} {_native.shown(text)} is not UTF-8, or has a zero in it",
                       "link or move the file to a path that is")
    return text


def check_text(what: str, text: object) -> None:
    """Errors: TW-PYTHON-0005."""
    if not isinstance(text, str) or is_odd(text):
        _native.refuse("TW-PYTHON-0005", f"{what} is {_native.shown(text)}", "give a text in UTF-8 without a zero")


def is_odd(text: str) -> bool:
    """Whether it cannot be a text of programs and files, which are in UTF-8 and end with a zero."""
    return "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)


def check_library(library: str) -> None:
    """Errors: TW-PYTHON-0005. PyTorch is imported for what is asked of it."""
    if library not in ("numpy", "torch"):
        _native.refuse("TW-PYTHON-0005", f"library is {_native.shown(library)}", 'it is "numpy" or "torch"')
    if library == "torch" and "torch" not in sys.modules:
        try:
            import torch  # noqa: F401
        except ImportError as error:
            _native.refuse("TW-PYTHON-0005", f"library is \"torch\", but {error}", 'install PyTorch, or say library="numpy"')


def check_precision(precision: str) -> None:
    """Errors: TW-PYTHON-0005. Whether the target has it says the compiler."""
    if precision not in ("f32", "bf16", "tf32"):
        _native.refuse("TW-PYTHON-0005", f"precision is {_native.shown(precision)}", 'it is "f32", "bf16" or "tf32"')


def check_threads(threads: int, follow: bool = False) -> None:
    """follow: whether -1 stands for PyTorch's number."""
    if not isinstance(threads, int) or isinstance(threads, bool) or not -follow <= threads <= 1024:
        _native.refuse("TW-PYTHON-0005", f"threads is {_native.shown(threads)}", "give a number from 0 (all cores) to 1024")
