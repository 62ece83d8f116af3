"""What ctypes has to know about C++ objects as GCC's standard library lays them out.

A class that is not trivial to copy is returned through memory that the caller names, by a hidden
first argument on x86-64 and in a register of its own on aarch64 (Itanium C++ ABI; AAPCS64). libffi
does the same for any plain struct of more than 16 bytes, so results are declared as such structs.
ctypes then copies them: pointers of an object into itself are lost. A class that is passed by value
goes in by address.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Any

Address = ctypes.c_void_p
STRING = "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
_STREAM = "St7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE"
_STREAM_BYTES = 1024  # sizeof(std::ostringstream) is 376
# In a std::ostringstream: the begin and the end of what was written.
_WRITTEN, _WRITTEN_END = 40, 48


def function(library: ctypes.CDLL, symbol: str, result: Any, *arguments: Any) -> Any:
    """Return an exported function with its types declared.

    Raises:
        AttributeError: If the library does not export the symbol.
    """
    found = getattr(library, symbol)
    found.restype = result
    found.argtypes = arguments
    return found


def word_at(address: int) -> int:
    """Return the pointer that lies at an address; 0 for a null pointer."""
    return Address.from_address(address).value or 0


class Text(ctypes.Structure):
    """A std::string: address, length, and 16 bytes that hold a short text or a capacity."""

    _fields_ = (("at", Address), ("length", ctypes.c_size_t), ("local", ctypes.c_char * 16))


def text_of(content: str) -> tuple[Text, Any]:
    """Return a std::string for `const std::string&` parameters, and the memory it points to."""
    data = content.encode()
    memory = ctypes.create_string_buffer(data)
    text = Text(ctypes.addressof(memory), len(data))
    return text, memory


class Boxed(ctypes.Structure):
    """A class with one pointer, such as spot::formula, as it is returned."""

    pointer: int | None
    _fields_ = (("pointer", Address), ("_beyond", Address * 2))


class Shared(ctypes.Structure):
    """A std::shared_ptr: the object, and the block with its counts (none: not owned)."""

    object: int | None
    block: int | None
    _fields_ = (("object", Address), ("block", Address), ("_beyond", Address))

    def release(self) -> None:
        """Give up the reference, as the destructor does in a program with one thread."""
        block = self.block
        self.block = self.object = None
        if not block:
            return
        uses = ctypes.c_int.from_address(block + 8)
        uses.value -= 1
        if uses.value == 0:
            call_virtual(block, 2)
            weak = ctypes.c_int.from_address(block + 12)
            weak.value -= 1
            if weak.value == 0:
                call_virtual(block, 3)


_method = functools.cache(ctypes.CFUNCTYPE(None, Address))


def call_virtual(object_at: int, slot: int) -> None:
    """Call a virtual method without arguments by its place in the table."""
    _method(word_at(word_at(object_at) + slot * ctypes.sizeof(Address)))(object_at)


class StandardLibrary:
    """The few functions of libstdc++ in use, found through a library that is linked to it."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.delete = function(library, "_ZdlPv", None, Address)
        self._open = function(library, f"_ZN{_STREAM}C1Ev", None, Address)
        self._close = function(library, f"_ZN{_STREAM}D1Ev", None, Address)

    def printed(self, write: Callable[[int], Any]) -> str:
        """Return what a function writes to the std::ostream whose address it is given."""
        memory = ctypes.create_string_buffer(_STREAM_BYTES)
        stream = ctypes.addressof(memory)
        self._open(stream)
        write(stream)
        begin = word_at(stream + _WRITTEN)
        text = ctypes.string_at(begin, word_at(stream + _WRITTEN_END) - begin) if begin else b""
        self._close(stream)
        return text.decode()
