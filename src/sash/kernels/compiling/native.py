"""Object code made callable: llvmlite links it, ctypes calls it, Numba is not imported.

A kernel follows Numba's native convention: ``status f(result*, error**, arguments…)``, where an array
of one dimension is seven words. The call releases the GIL.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from operator import index
from typing import Any

import numpy as np

from sash.errors import SashError
from sash.kernels.compiling.room import LINKING, check_room

_engines: list[Any] = []  # code must outlive every function that points into it


class Unresolved(SashError):
    """Object code calls functions that are not to be had without Numba or the interpreter."""


@cache
def processor() -> tuple[str, str, str]:
    """The kind of this machine, and the name and the features of its processor, as LLVM sees them."""
    check_room(LINKING, "loading kernels")
    import llvmlite.binding as llvm

    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _machine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


def undefined(code: bytes) -> set[str]:
    """The symbols that an object file expects others to define."""
    import struct

    if code[:5] != b"\x7fELF\x02":  # only 64-bit ELF can be looked into
        return set()
    offset = struct.unpack_from("<Q", code, 40)[0]
    size, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, offset + i * size) for i in range(count)]
    names: set[str] = set()
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        strings = sections[section[6]][4]
        for at in range(section[4] + 24, section[4] + section[5], 24):
            name, _, _, index = struct.unpack_from("<IBBH", code, at)
            if index == 0:
                end = code.index(b"\0", strings + name)
                names.add(code[strings + name : end].decode())
    return names


def unresolved(code: bytes) -> list[str]:
    """Symbols that would not link, or that would run Python: a kernel must neither allocate nor raise."""
    process = ctypes.CDLL(None)
    barred = ("Py", "_Py", "NRT_", "numba_")
    return sorted(name for name in undefined(code) if name.startswith(barred) or not hasattr(process, name))


def load(code: bytes, name: str, words: int) -> Callable[..., tuple[int, int]]:
    """Link object code into the process; returns the kernel of this name.

    The kernel gives a status, which is not 0 where a function of the aggregate raised, and its result.
    """
    check_room(LINKING + len(code), "loading a kernel")
    import llvmlite.binding as llvm

    if missing := unresolved(code):  # LLVM would end the process
        raise Unresolved(f"it calls {', '.join(missing)}, which this process does not have")
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(""), _machine().create_target_machine(jit=True, codemodel="jitdefault")
    )
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    # Words are passed as pointers, which ctypes takes twice as fast as whole numbers.
    call = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * (2 + words))(engine.get_function_address(name))

    def kernel(*arguments: Any) -> tuple[int, int]:
        result_memory = _Given()
        result = ctypes.addressof(result_memory)
        status = call(result, result + 8, *_words(arguments))
        return status, result_memory[0]

    return kernel


_Given = ctypes.c_int64 * 2  # the result, and where an error is


_at = ctypes.c_int64.from_address


def _interface_address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _header_address(array: np.ndarray) -> int:
    """Where an array's data is, read behind its object header: NumPy's ABI has it first, for C code to read."""
    return _at(id(array) + object.__basicsize__).value


_probe = np.zeros(1)
_address = _header_address if _header_address(_probe) == _interface_address(_probe) else _interface_address


def _words(arguments: tuple[Any, ...]) -> list[int]:
    """Arguments as machine words; the arrays must stay alive until the call returns."""
    words: list[int] = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            if not argument.flags.c_contiguous or argument.ndim != 1:
                raise SashError("a kernel takes contiguous arrays of one dimension")
            size, width = argument.size, argument.itemsize
            words += (0, 0, size, width, _address(argument), size, width)
        elif isinstance(argument, tuple):
            words += _words(argument)
        else:
            words.append(index(argument))
    return words
