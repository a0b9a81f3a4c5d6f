"""The only file that imports Numba: types a kernel for an aggregate and compiles it to object code."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import CellType, FunctionType, SimpleNamespace
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import errors
from numba.core.dispatcher import Dispatcher
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.np import arrayobj

from sash.algebra import Aggregate
from sash.algebra.tuples import replaced
from sash.errors import NotCompilable
from sash.kernels.compiling import accessors, instructions, meaning
from sash.kernels.compiling.frame_of import frame_of
from sash.kernels.compiling.registry import parameters

# No memory manager and no wrappers: what is left neither allocates nor touches the interpreter.
OPTIONS = {
    "_nrt": False,
    "error_model": "numpy",
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

# SASH_BOUNDSCHECK=1, for tests: a kernel that would read or write outside of an array raises, before its first as after
# its last entry.
if os.environ.get("SASH_BOUNDSCHECK") == "1":
    OPTIONS["boundscheck"] = True
    arrayobj.fix_integer_index = lambda context, builder, typing, index, size: context.cast(
        builder, index, typing, types.intp
    )

UNCOMPILABLE = (errors.NumbaError, errors.UnsupportedBytecodeError, NotImplementedError, TypeError)
KNOWN = ("numpy", "numba", "math")  # modules whose Python functions Numba has its own versions of


@numba.extending.overload(replaced)
def _replaced(state, index, value):  # type: ignore[no-untyped-def]
    return lambda state, index, value: tuple_setitem(state, index, value)


@numba.extending.intrinsic
def _surely(context, value):  # type: ignore[no-untyped-def]
    """An optional value known not to be None."""
    typing = value.type if isinstance(value, types.Optional) else value
    return typing(value), lambda target, builder, _, arguments: target.cast(builder, arguments[0], value, typing)


def _instruction(emit: Callable[..., Any]) -> Any:
    """A function of a 64-bit word that is one LLVM instruction."""

    @numba.extending.intrinsic
    def instruction(context, word):  # type: ignore[no-untyped-def]
        def generate(target, builder, _, arguments):  # type: ignore[no-untyped-def]
            return emit(builder, target.cast(builder, arguments[0], word, types.uint64))

        return types.int64(word), generate

    return instruction


_DEFINED = ir.Constant(ir.IntType(1), 0)  # a word of 0 has an answer, too
_popcount = _instruction(lambda builder, word: builder.ctpop(word))
_trailing = _instruction(lambda builder, word: builder.cttz(word, _DEFINED))
_leading = _instruction(lambda builder, word: builder.ctlz(word, _DEFINED))


def _address(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Where a word of an array stands, the first two arguments being the array and the word's place in it."""
    data = numba.core.cgutils.create_struct_proxy(signature.args[0])(target, builder, arguments[0]).data
    return builder.gep(data, [target.cast(builder, arguments[1], signature.args[1], types.int64)])


@numba.extending.intrinsic
def _hint(context, array, index):  # type: ignore[no-untyped-def]
    def generate(target, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = _address(target, builder, signature, arguments)
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind_of = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = numba.core.cgutils.get_or_insert_function(builder.module, kind_of, "llvm.prefetch.p0i8")
        builder.call(function, [builder.bitcast(place, byte), word(0), word(3), word(1)])
        return target.get_dummy_value()

    return types.void(array, index), generate


@numba.extending.intrinsic
def _acquire(context, array, index):  # type: ignore[no-untyped-def]
    def generate(target, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.load_atomic(_address(target, builder, signature, arguments), "acquire", 8)

    return types.int64(array, index), generate


@numba.extending.intrinsic
def _release(context, array, index, word):  # type: ignore[no-untyped-def]
    def generate(target, builder, signature, arguments):  # type: ignore[no-untyped-def]
        value = target.cast(builder, arguments[2], signature.args[2], types.int64)
        builder.store_atomic(value, _address(target, builder, signature, arguments), "release", 8)
        return target.get_dummy_value()

    return types.void(array, index, word), generate


@numba.extending.intrinsic
def _claim(context, array, index, before, after):  # type: ignore[no-untyped-def]
    def generate(target, builder, signature, arguments):  # type: ignore[no-untyped-def]
        words = [target.cast(builder, arguments[k], signature.args[k], types.int64) for k in (2, 3)]
        swapped = builder.cmpxchg(_address(target, builder, signature, arguments), *words, "acq_rel", "acquire")
        return builder.extract_value(swapped, 1)

    return types.boolean(array, index, before, after), generate


@numba.extending.intrinsic
def _doze(context, microseconds):  # type: ignore[no-untyped-def]
    def generate(target, builder, signature, arguments):  # type: ignore[no-untyped-def]
        word = ir.IntType(32)
        usleep = numba.core.cgutils.get_or_insert_function(builder.module, ir.FunctionType(word, [word]), "usleep")
        builder.call(usleep, [target.cast(builder, arguments[0], signature.args[0], types.int32)])
        return target.get_dummy_value()

    return types.void(microseconds), generate


@numba.extending.overload(instructions.popcount)
def _overload_popcount(word):  # type: ignore[no-untyped-def]
    return lambda word: _popcount(word)


@numba.extending.overload(instructions.trailing_zeros)
def _overload_trailing(word):  # type: ignore[no-untyped-def]
    return lambda word: _trailing(word)


@numba.extending.overload(instructions.leading_zeros)
def _overload_leading(word):  # type: ignore[no-untyped-def]
    return lambda word: _leading(word)


@numba.extending.overload(instructions.prefetch)
def _overload_prefetch(array, index):  # type: ignore[no-untyped-def]
    return lambda array, index: _hint(array, index)


@numba.extending.overload(instructions.acquire)
def _overload_acquire(array, index):  # type: ignore[no-untyped-def]
    return lambda array, index: _acquire(array, index)


@numba.extending.overload(instructions.release)
def _overload_release(array, index, word):  # type: ignore[no-untyped-def]
    return lambda array, index, word: _release(array, index, word)


@numba.extending.overload(instructions.claim)
def _overload_claim(array, index, before, after):  # type: ignore[no-untyped-def]
    return lambda array, index, before, after: _claim(array, index, before, after)


@numba.extending.overload(instructions.doze)
def _overload_doze(microseconds):  # type: ignore[no-untyped-def]
    return lambda microseconds: _doze(microseconds)


OVERLOADED = (replaced, *instructions.INSTRUCTIONS)  # Numba has our own versions of these


@dataclass(frozen=True)
class Typed:
    """An aggregate with the types of its states and answers, and its functions compiled for them."""

    state: Any
    answer: Any
    functions: SimpleNamespace


def typed(aggregate: Aggregate, inputs: tuple[np.dtype, ...], frames: str) -> Typed:
    """Infer the types of an aggregate's states and answers for these input types."""
    arguments = tuple(numba.from_dtype(dtype) for dtype in inputs)
    if aggregate.rows:
        arguments = (types.int64, *arguments)
    state = _state_type(aggregate, arguments)
    lift = _compile(aggregate, "lift", state, *arguments)
    combine = _compile(aggregate, "combine", state, state, state)
    inverse = _compile(aggregate, "inverse", state, state, state) if aggregate.inverse else None
    answer = _result(aggregate, "lower", state)
    optional = isinstance(answer, types.Optional)
    answer = _plain(aggregate, "lower", answer.type if optional else answer)
    lower = _jit(aggregate.lower)
    shape = _shape(state)
    functions = SimpleNamespace(
        lift=_jit(accessors.lifting(len(inputs), aggregate.rows, lift)),
        combine=combine,
        inverse=inverse,
        combine_without_nan=_compile(aggregate, "combine_without_nan", state, state, state)
        if aggregate.combine_without_nan
        else None,
        moment=_moment(aggregate, arguments, answer),
        has_nan=_jit(accessors.looking([k for k, dtype in enumerate(inputs) if dtype.kind == "f"])),
        divides=" fdiv " in "".join(combine.inspect_llvm().values()),
        load=_jit(accessors.loading(shape)),
        store=_jit(accessors.storing(shape)),
        same=_jit(accessors.comparing(shape)),
        answer=_jit(accessors.answering(_shape(answer), optional, lower, _surely)),
        absent=_jit(accessors.leaving(_shape(answer))),
        frame=_jit(frame_of(frames)),
        function=_jit,
        commutative=aggregate.commutative,
        constant=frames == "size",
    )
    return Typed(state, answer, functions)


def _moment(aggregate: Aggregate, inputs: tuple[Any, ...], answer: Any) -> Any:
    """Which moment answers the aggregate, and how; None where columns or answers are no doubles."""
    if aggregate.moment is None or (*inputs, answer) != (types.float64,) * 2:
        return None
    return aggregate.moment[0], _jit(aggregate.moment[1])


def build(
    make: Callable[..., Any], aggregate: Aggregate, inputs: tuple[np.dtype, ...], frames: str
) -> tuple[dict[str, Any], bytes]:
    """Compile a kernel for an aggregate; returns what a caller must know of it, and its object code."""
    typings = typed(aggregate, inputs, frames)
    kernel = make(typings.functions)
    state, answer = _dtype(typings.state), _dtype(typings.answer)
    vocabulary = {
        "Values": types.Tuple(tuple(_array(numba.from_dtype(dtype)) for dtype in inputs)),
        "Frames": types.Tuple((_array(types.int64),) * 2 if frames == "bounds" else (types.int64,)),
        "States": _array(numba.from_dtype(state)),
        "Marks": _array(types.int64),
        "Flags": _array(types.uint8),
        "Floats": _array(types.float64),
        "Answers": types.Tuple((_array(numba.from_dtype(answer)), _array(types.bool_))),
        "int": types.int64,
    }
    taken = parameters(kernel)
    description, code = _built(kernel, aggregate.name, tuple(vocabulary[typing] for typing in taken.values()))
    types_of = {"state": _describe(state), "shape": _shape(typings.state), "answer": _describe(answer)}
    return {**description, "parameters": taken, **types_of}, code


def build_routine(function: Callable[..., Any], typings: tuple[str, ...]) -> tuple[dict[str, Any], bytes]:
    """Compile a function of arrays and whole numbers; ``kinds`` are NumPy types, or ``"int"``."""
    signature = tuple(
        types.int64 if typing == "int" else _array(numba.from_dtype(np.dtype(typing))) for typing in typings
    )
    return _built(function, function.__name__, signature)


def _built(function: Callable[..., Any], name: str, signature: tuple[Any, ...]) -> tuple[dict[str, Any], bytes]:
    try:
        result = _jit(function, types.int64(*signature)).overloads[signature]
    except UNCOMPILABLE as error:
        raise NotCompilable(f"{name} cannot be compiled: {_first(error)}; {ADVICE}") from None
    if result.library.has_dynamic_globals:
        raise NotCompilable(f"{name} cannot be compiled: it reads something by its address; {ADVICE}")
    words = sum(_words(argument) for argument in signature)
    return {"name": result.fndesc.llvm_func_name, "words": words}, result.library._get_compiled_object()


ADVICE = "write it with numbers and tuples, or pass compiled=False to run it, slowly, as plain Python"


def _jit(function: Callable[..., Any], *signature: Any) -> Any:
    return _with_helpers(function, {}, *signature)


def _with_helpers(function: Callable[..., Any], done: dict[Any, Any], *signature: Any) -> Any:
    """The function compiled, and so the plain Python functions that it calls, all the way down."""
    function = _plainly(function)
    if not isinstance(function, FunctionType):
        return numba.njit(*signature, **OPTIONS)(function)
    cells = tuple(CellType() for _ in function.__closure__ or ())
    function_copy = FunctionType(
        function.__code__, {**function.__globals__}, function.__name__, function.__defaults__, cells
    )
    function_copy.__kwdefaults__, function_copy.__annotations__ = function.__kwdefaults__, function.__annotations__
    function_copy.__qualname__, function_copy.__module__ = function.__qualname__, function.__module__
    done[function] = numba.njit(**OPTIONS)(function_copy)  # known before it is filled: it may call itself

    def ready(thing: Any) -> Any:
        thing = _plainly(thing)
        if not isinstance(thing, FunctionType) or thing in OVERLOADED or thing.__module__.split(".")[0] in KNOWN:
            return thing
        return done.get(thing) or _with_helpers(thing, done)

    for name in meaning.names(function) & function.__globals__.keys():
        function_copy.__globals__[name] = ready(function.__globals__[name])
    for cell, filled in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = ready(filled.cell_contents)
    return numba.njit(*signature, **OPTIONS)(function_copy) if signature else done[function]


def _plainly(thing: Any) -> Any:
    """A function that the user jitted, as it was: whether it was called before, and what it froze, must not matter."""
    bare = (
        isinstance(thing, Dispatcher) and getattr(thing, "_can_compile", False) and thing.targetoptions == meaning.IDLE
    )
    return thing.py_func if bare else thing


def _compile(aggregate: Aggregate, part: str, result: Any, *arguments: Any) -> Any:
    """One function of the aggregate, of exactly these types; an error names it and its line."""
    try:
        return _jit(getattr(aggregate, part), result(*arguments))
    except UNCOMPILABLE as error:
        raise _refusal(aggregate, part, error) from None


def _result(aggregate: Aggregate, part: str, *arguments: Any) -> Any:
    """The type that a function of the aggregate returns for these argument types."""
    function = getattr(aggregate, part)
    try:
        dispatcher = _jit(function)
        dispatcher.compile(arguments)
    except UNCOMPILABLE as error:
        raise _refusal(aggregate, part, error) from None
    return types.unliteral(dispatcher.overloads[arguments].signature.return_type)


def _state_type(aggregate: Aggregate, arguments: tuple[Any, ...]) -> Any:
    """The smallest type that lift and combine agree on."""
    state = _plain(aggregate, "lift", _result(aggregate, "lift", *arguments))
    for _ in range(4):
        combined = _plain(aggregate, "combine", _result(aggregate, "combine", state, state))
        wider = _unify(state, combined)
        if wider is None:
            raise _mismatch(aggregate, f"got {_says(combined)} where lift gives {_says(state)}")
        if wider == state:
            return state
        state = wider
    raise _mismatch(aggregate, f"got a type that grows with every combine, to {_says(state)}")


def _unify(a: Any, b: Any) -> Any:
    if isinstance(a, types.BaseTuple) and isinstance(b, types.BaseTuple) and len(a) == len(b):
        parts = [_unify(x, y) for x, y in zip(a, b, strict=True)]
        return None if None in parts else types.Tuple(tuple(parts))
    if isinstance(a, types.BaseTuple) or isinstance(b, types.BaseTuple):
        return None
    return numba.core.registry.cpu_target.typing_context.unify_types(a, b)


def _plain(aggregate: Aggregate, part: str, typing: Any) -> Any:
    """Check that a type is a scalar or a nested tuple of scalars, with literals made plain."""
    typing = types.unliteral(typing)
    if isinstance(typing, types.BaseTuple) and len(typing):
        return types.Tuple(tuple(_plain(aggregate, part, item) for item in typing))
    if isinstance(typing, (types.Integer, types.Float, types.Boolean)):
        return typing
    raise NotCompilable(
        f"{aggregate.name}: {part} ({_place(getattr(aggregate, part))}) must return a number or a tuple of numbers, "
        f"got {_says(typing)}; {ADVICE}"
    )


def _mismatch(aggregate: Aggregate, got: str) -> NotCompilable:
    place = _place(aggregate.combine)
    return NotCompilable(f"{aggregate.name}: combine ({place}) must return a state like lift's, {got}; {ADVICE}")


def _refusal(aggregate: Aggregate, part: str, error: Exception) -> NotCompilable:
    function = getattr(aggregate, part)
    place = _place(function, error)
    return NotCompilable(f"{aggregate.name}: {part} ({place}) cannot be compiled: {_first(error)}; {ADVICE}")


def _place(function: Any, error: Exception | None = None) -> str:
    """The file of a function, and the line in it that an error names last, or the function's first."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(function)
    named = re.findall(rf"{re.escape(code.co_filename)} \((\d+)\)", f"{error} {getattr(error, 'loc', None)}")
    return f"{code.co_filename.rpartition('/')[2]}, line {named[-1] if named else code.co_firstlineno}"


def _says(typing: Any) -> str:
    """A type as a user would write it."""
    if isinstance(typing, types.BaseTuple):
        return f"({', '.join(map(_says, typing))})"
    return {"unicode_type": "a string", "none": "None"}.get(str(types.unliteral(typing)), str(types.unliteral(typing)))


NEEDS_MEMORY = ("NRT required", "Only accept returning of array passed")
REWORDED = {  # what Numba says, and what that means to the author of an aggregate
    r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'.*": r"Numba does not know \2.\1",
    r"Untyped global name '(\w+)': Cannot determine Numba type.*": r"Numba does not know \1",
    r"No implementation of function Function\(<.*?(\w+)(?: at 0x\w+|'?)>\).*": r"Numba has no \1 for these arguments",
    r"(Cannot unify|No conversion from) (.*) for '.*": r"\1 \2",
}


def _first(error: Exception) -> str:
    """The one line of Numba's report that says what is wrong."""
    if any(sign in str(error) for sign in NEEDS_MEMORY):
        return "it makes a list, a dictionary, a string, an array or another object, which needs memory of its own"
    noise = ("Failed in", "During", "File", "This error", "To find", "If you", "raised from", "There ", ">>>", "-")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # Numba colours it where colorama is installed
    lines = [line.strip() for line in plain.splitlines()]
    for line in lines:
        if line and not line.startswith(noise):
            for pattern, words in REWORDED.items():
                line = re.sub(pattern, words, line)
            return line.rstrip(".")
    return traceback.format_exception_only(error)[-1].strip()


def _shape(typing: Any) -> accessors.Shape:
    return tuple(map(_shape, typing)) if isinstance(typing, types.BaseTuple) else None


def _scalars(typing: Any) -> list[Any]:
    return [s for item in typing for s in _scalars(item)] if isinstance(typing, types.BaseTuple) else [typing]


def _dtype(typing: Any) -> np.dtype:
    """The NumPy type that stores a state: a scalar, or a record of all its scalars."""
    if not isinstance(typing, types.BaseTuple):
        return numba.np.numpy_support.as_dtype(typing)
    fields = [(f"f{k}", numba.np.numpy_support.as_dtype(scalar)) for k, scalar in enumerate(_scalars(typing))]
    return np.dtype(fields, align=True)


def _describe(dtype: np.dtype) -> Any:
    return dtype.str if dtype.names is None else [dtype[name].str for name in dtype.names]


def _array(typing: Any) -> Any:
    return types.Array(typing, 1, "C")


def _words(typing: Any) -> int:
    if isinstance(typing, types.BaseTuple):
        return sum(map(_words, typing))
    return 7 if isinstance(typing, types.Array) else 1
