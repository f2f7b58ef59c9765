"""Reads what one invocation does on the device from the compiler's own IR after its `hal` phase.

At that phase (`iree-compile --compile-to=hal`) workgroup counts are resolved, bindings are fused and transient buffers
have their places. The function is evaluated as IREE's VM would: constants are folded, buffers are named, and command
buffers, memoised or not, with indirect bindings or not, are flattened to a list of commands. Globals get their values
from the module's own initializers: so a constant's bytes, and where in its buffer a binding lies, are the compiler's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ireebench.isa.emulate.constants import constant_bytes
from ireebench.isa.emulate.errors import Unsupported
from ireebench.isa.emulate.schedule import (
    Command,
    CopyCommand,
    DispatchCommand,
    FillCommand,
    HostBuffer,
    OutputView,
    Schedule,
    Slice,
)


@dataclass(frozen=True, slots=True)
class _View:
    """A buffer view argument or a subspan: buffer number, offset and length (-1: to the end)."""

    buffer: int
    offset: int = 0
    length: int = -1


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A command in a command buffer, before its bindings are known: slots of the table are integers."""

    kind: str
    kernel: str
    numbers: tuple[int, ...]
    constants: tuple[int, ...]
    places: tuple[tuple[Any, int, int], ...]
    pattern: bytes = b""


@dataclass(slots=True)
class _CommandBuffer:
    recorded: list[_Recorded] = field(default_factory=list)


_IGNORED = frozenset(
    (
        "hal.memory_type", "hal.buffer_usage", "hal.encoding_type", "hal.buffer_view.assert", "hal.device.allocator",
        "hal.buffer.assert", "hal.fence.create", "hal.fence.join", "hal.fence.await", "hal.device.queue.dealloca",
        "util.status.check_ok", "util.null", "hal.command_buffer.execution_barrier", "hal.command_buffer.finalize",
        "hal.command_buffer.begin_debug_group", "hal.command_buffer.end_debug_group", "hal.device.queue.barrier",
        "hal.device.queue.flush", "hal.fence.signal", "hal.command_buffer.advise_buffer", "hal.device.resolve",
        "hal.fence.query",
    )
)  # fmt: skip

_ARITHMETIC: Mapping[str, Callable[..., int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divui": lambda a, b: a // b,
    "arith.divsi": lambda a, b: a // b,
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.remui": lambda a, b: a % b,
    "arith.maxui": max,
    "arith.minui": min,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.index_cast": lambda a: a,
    "arith.index_castui": lambda a: a,
    "arith.extui": lambda a: a,
    "arith.trunci": lambda a: a & 0xFFFFFFFF,
    "arith.select": lambda c, a, b: a if c else b,
    "arith.shrui": lambda a, b: a >> b,
    "arith.shli": lambda a, b: a << b,
    "util.align": lambda a, b: -(-a // b) * b,
}


def read_schedule(hal_ir: str, function: str) -> Schedule:
    """The commands of `function`; raises Unsupported for IR that it does not know, or a function that is not there."""
    from iree.compiler import ir

    with ir.Context():
        try:
            module = ir.Module.parse(hal_ir)
        except Exception as e:
            raise Unsupported(f"the compiler's hal IR does not parse: {str(e).splitlines()[0]}") from e
        return _Reader(module).read(function)


@dataclass(slots=True)
class _Reader:
    module: Any
    buffers: list[HostBuffer] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    globals: dict[str, Any] = field(default_factory=dict)

    def read(self, function: str) -> Schedule:
        op = self._symbol("util.func", function)
        if op is None:
            raise Unsupported(f"function '{function}': the compiled module has none of that name")
        block = op.regions[0].blocks[0]
        values: dict[Any, Any] = {}
        for i, argument in enumerate(block.arguments):
            if "buffer_view" not in str(argument.type) and "hal.buffer" not in str(argument.type):
                continue  # fences of the asynchronous model
            values[argument] = _View(len(self.buffers))
            self.buffers.append(HostBuffer("input", 0, i))
        results = self._run(block, values)
        outputs = tuple(r for r in results if isinstance(r, OutputView))
        return Schedule(function, tuple(self.buffers), tuple(self.commands), outputs)

    def _symbol(self, kind: str, name: str) -> Any:
        for op in self.module.body.operations:
            o = op.operation
            if o.name == kind and _text(o, "sym_name") == name:
                return o
        return None

    def _run(self, block: Any, values: dict[Any, Any]) -> list[Any]:
        """Evaluates a block and those that it branches to; gives what is returned."""
        seen: list[Any] = []
        while block not in seen:
            seen.append(block)
            *line, last = (op.operation for op in block.operations)
            for o in line:
                self._evaluate(o, values)
            if last.name in ("util.return", "util.initializer.return"):
                return [values.get(v) for v in last.operands]
            block = self._branch(last, values)
        raise Unsupported("a loop in host code")

    def _evaluate(self, o: Any, values: dict[Any, Any]) -> None:
        if o.name in _IGNORED:
            return
        if o.name in _ARITHMETIC:
            values[o.results[0]] = _ARITHMETIC[o.name](*(values[v] for v in o.operands))
            return
        handler = _HANDLERS.get(o.name)
        if handler is None:
            raise Unsupported(f"host operation {o.name}")
        handler(self, o, values)

    def _branch(self, o: Any, values: dict[Any, Any]) -> Any:
        """The block that a terminator goes to, its arguments given."""
        if o.name == "cf.br":
            target, given = o.successors[0], [values.get(v) for v in o.operands]
        elif o.name == "cf.cond_br":
            (condition,), ways = _segments(o, values)
            if condition is None:
                raise Unsupported("a branch of host code whose condition is not known")
            taken = 0 if condition else 1
            target, given = o.successors[taken], ways[taken]
        else:
            raise Unsupported(f"host operation {o.name}")
        values.update(zip(target.arguments, given, strict=True))
        return target

    # --- Values -------------------------------------------------------------------------------------------------------

    def constant(self, o: Any, values: dict[Any, Any]) -> None:
        values[o.results[0]] = _integer(str(o.attributes["value"]))

    def element_type(self, o: Any, values: dict[Any, Any]) -> None:
        values[o.results[0]] = str(o.attributes["type"])

    def load_global(self, o: Any, values: dict[Any, Any]) -> None:
        kind = str(o.results[0].type)
        if "command_buffer" in kind or kind == "!hal.buffer":
            values[o.results[0]] = self._value_of(_global(o))
        elif any(known in kind for known in ("hal.device", "hal.executable")):
            values[o.results[0]] = None
        else:
            raise Unsupported(f"a global of type {kind}")

    def store_global(self, o: Any, values: dict[Any, Any]) -> None:
        self.globals[_global(o)] = values.get(o.operands[0])

    def _value_of(self, name: str) -> Any:
        """A global's value; the initializer that stores it runs first."""
        for op in self.module.body.operations:
            if name not in self.globals and op.operation.name == "util.initializer":
                blocks = op.operation.regions[0].blocks
                inner = (i.operation for b in blocks for i in b.operations)
                if any(i.name == "util.global.store" and _global(i) == name for i in inner):
                    self._run(blocks[0], {})
        if name not in self.globals:
            raise Unsupported(f"global '{name}', which nothing initialises")
        return self.globals[name]

    def pass_on(self, o: Any, values: dict[Any, Any]) -> None:
        for result, v in zip(o.results, o.operands, strict=True):
            values[result] = values.get(v)

    def call(self, o: Any, values: dict[Any, Any]) -> None:
        callee = str(o.attributes["callee"]).lstrip("@").strip('"')
        target = self._symbol("util.func", callee)
        if target is None or not target.regions[0].blocks:
            raise Unsupported(f"call of '{callee}'")
        block = target.regions[0].blocks[0]
        inner = {a: values.get(v) for a, v in zip(block.arguments, o.operands, strict=True)}
        for result, value in zip(o.results, self._run(block, inner), strict=True):
            values[result] = value

    # --- Buffers ------------------------------------------------------------------------------------------------------

    def view_buffer(self, o: Any, values: dict[Any, Any]) -> None:
        values[o.results[0]] = values[o.operands[0]]

    def allocate(self, o: Any, values: dict[Any, Any]) -> None:
        values[o.results[0]] = _View(len(self.buffers))
        self.buffers.append(HostBuffer("allocation", int(values[o.operands[len(o.operands) - 1]])))

    def buffer_constant(self, o: Any, values: dict[Any, Any]) -> None:
        values[o.results[0]] = constant_bytes(o.attributes["value"])

    def import_buffer(self, o: Any, values: dict[Any, Any]) -> None:
        """Constants become a buffer. Devices that can't import copy the same bytes in the branch not taken."""
        data, offset, length = (values[v] for v in list(o.operands)[-3:])
        if not isinstance(data, bytes) or not 0 <= offset <= offset + length <= len(data):
            raise Unsupported("import of what is no constant of the module")
        values[o.results[0]], values[o.results[1]] = 1, _View(len(self.buffers))
        self.buffers.append(HostBuffer("constant", length, data=data[offset : offset + length]))

    def subspan(self, o: Any, values: dict[Any, Any]) -> None:
        view: _View = values[o.operands[0]]
        values[o.results[0]] = _View(view.buffer, view.offset + values[o.operands[1]], values[o.operands[2]])

    def create_view(self, o: Any, values: dict[Any, Any]) -> None:
        operands = [values.get(v) for v in o.operands]
        view, offset, length, dtype = operands[0], operands[1], operands[2], operands[3]
        assert isinstance(view, _View)
        place = Slice(view.buffer, view.offset + int(offset or 0), int(length or 0))
        shape = tuple(int(d or 0) for d in operands[5:])
        values[o.results[0]] = OutputView(place, shape, str(dtype))

    def _slice(self, view: _View, offset: int, length: int) -> Slice:
        if self.buffers[view.buffer].kind == "input":
            size = max(self.buffers[view.buffer].size, view.offset + offset + length)
            self.buffers[view.buffer] = HostBuffer("input", size, self.buffers[view.buffer].argument)
        return Slice(view.buffer, view.offset + offset, length)

    # --- Command buffers ----------------------------------------------------------------------------------------------

    def create_commands(self, o: Any, values: dict[Any, Any]) -> None:
        values[o.results[0]] = _CommandBuffer()

    def lookup(self, o: Any, values: dict[Any, Any]) -> None:
        values[o.results[0]] = str(o.attributes["entry_point"]).split("::@")[-1].strip('"')

    def dispatch(self, o: Any, values: dict[Any, Any]) -> None:
        commands, (_, entry, x, y, z, constants, places, offsets, lengths) = _segments(o, values)
        target: _CommandBuffer = commands[0]
        triple = tuple(zip(places, offsets, lengths, strict=True))
        numbers = (int(x[0]), int(y[0]), int(z[0]))
        target.recorded.append(_Recorded("dispatch", str(entry[0]), numbers, tuple(int(c) for c in constants), triple))

    def fill(self, o: Any, values: dict[Any, Any]) -> None:
        operands: list[Any] = [values.get(v) for v in o.operands]
        target, place, offset, length, pattern = operands
        width = int(str(o.operands[4].type).removeprefix("i")) // 8
        raw = (int(pattern) & ((1 << (8 * width)) - 1)).to_bytes(width, "little")
        target.recorded.append(_Recorded("fill", "", (), (), ((place, offset, length),), raw))

    def copy(self, o: Any, values: dict[Any, Any]) -> None:
        operands: list[Any] = [values.get(v) for v in o.operands]
        target, source, source_at, place, place_at, length = operands
        places = ((source, source_at, length), (place, place_at, length))
        target.recorded.append(_Recorded("copy", "", (), (), places))

    def execute_indirect(self, o: Any, values: dict[Any, Any]) -> None:
        operands = [values.get(v) for v in o.operands]
        n = (len(operands) - 5) // 3
        table = [(operands[5 + i], int(operands[5 + n + i] or 0), int(operands[5 + 2 * n + i] or 0)) for i in range(n)]
        self._flatten(operands[4], table)

    def execute(self, o: Any, values: dict[Any, Any]) -> None:
        for v in o.operands:
            if isinstance(values.get(v), _CommandBuffer):
                self._flatten(values[v], [])

    def _flatten(self, commands: Any, table: Sequence[tuple[Any, int, int]]) -> None:
        if not isinstance(commands, _CommandBuffer):
            raise Unsupported("a command buffer whose contents are not in the module")
        for r in commands.recorded:
            places = [self._bound(p, table) for p in r.places]
            match r.kind:
                case "dispatch":
                    x, y, z = r.numbers
                    self.commands.append(DispatchCommand(r.kernel, (x, y, z), r.constants, tuple(places)))
                case "fill":
                    self.commands.append(FillCommand(places[0], r.pattern))
                case _:
                    self.commands.append(CopyCommand(places[0], places[1]))

    def _bound(self, place: tuple[Any, int, int], table: Sequence[tuple[Any, int, int]]) -> Slice:
        what, offset, length = place
        if isinstance(what, _View):
            return self._slice(what, int(offset), int(length))
        view, start, _ = table[int(what)]
        if not isinstance(view, _View):
            raise Unsupported("a binding that is no buffer")
        return self._slice(view, start + int(offset), int(length))

    def queue_fill(self, o: Any, values: dict[Any, Any]) -> None:
        operands = [values.get(v) for v in o.operands]
        view = next(p for p in operands if isinstance(p, _View))
        at = operands.index(view)
        width = int(str(o.operands[at + 3].type).removeprefix("i")) // 8
        raw = (int(operands[at + 3] or 0) & ((1 << (8 * width)) - 1)).to_bytes(width, "little")
        place = self._slice(view, int(operands[at + 1] or 0), int(operands[at + 2] or 0))
        self.commands.append(FillCommand(place, raw))

    def queue_copy(self, o: Any, values: dict[Any, Any]) -> None:
        operands = [values.get(v) for v in o.operands]
        first, second = (i for i, p in enumerate(operands) if isinstance(p, _View))
        length = int(operands[second + 2] or 0)
        source, target = operands[first], operands[second]
        assert isinstance(source, _View)
        assert isinstance(target, _View)
        self.commands.append(
            CopyCommand(
                self._slice(source, int(operands[first + 1] or 0), length),
                self._slice(target, int(operands[second + 1] or 0), length),
            )
        )


_HANDLERS: Mapping[str, Callable[[_Reader, Any, dict[Any, Any]], None]] = {
    "arith.constant": _Reader.constant,
    "hal.element_type": _Reader.element_type,
    "util.global.load": _Reader.load_global,
    "util.global.store": _Reader.store_global,
    "util.optimization_barrier": _Reader.pass_on,
    "util.buffer.constant": _Reader.buffer_constant,
    "util.call": _Reader.call,
    "hal.buffer_view.buffer": _Reader.view_buffer,
    "hal.device.queue.alloca": _Reader.allocate,
    "hal.allocator.import": _Reader.import_buffer,
    "hal.buffer.subspan": _Reader.subspan,
    "hal.buffer_view.create": _Reader.create_view,
    "hal.command_buffer.create": _Reader.create_commands,
    "hal.executable.lookup.function": _Reader.lookup,
    "hal.command_buffer.dispatch": _Reader.dispatch,
    "hal.command_buffer.fill_buffer": _Reader.fill,
    "hal.command_buffer.copy_buffer": _Reader.copy,
    "hal.device.queue.execute.indirect": _Reader.execute_indirect,
    "hal.device.queue.execute": _Reader.execute,
    "hal.device.queue.fill": _Reader.queue_fill,
    "hal.device.queue.copy": _Reader.queue_copy,
}


def _text(o: Any, name: str) -> str:
    return str(o.attributes[name]).strip('"') if name in o.attributes else ""


def _global(o: Any) -> str:
    """The name of the global that a load or a store names."""
    return str(o.attributes["global"]).lstrip("@").strip('"')


def _integer(text: str) -> int | None:
    """The value of an integer attribute: "16 : index", "true"; None for anything else."""
    word = text.partition(":")[0].strip()
    if word in ("true", "false"):
        return int(word == "true")
    try:
        return int(word, 0)
    except ValueError:
        return None


def _segments(o: Any, values: dict[Any, Any]) -> tuple[list[Any], list[list[Any]]]:
    """The operands in the groups that `operandSegmentSizes` gives; the first group apart."""
    from iree.compiler import ir

    sizes = list(ir.DenseI32ArrayAttr(o.attributes["operandSegmentSizes"]))
    operands = [values.get(v) for v in o.operands]
    groups: list[list[Any]] = []
    at = 0
    for size in sizes:
        groups.append(operands[at : at + size])
        at += size
    return groups[0], groups[1:]
