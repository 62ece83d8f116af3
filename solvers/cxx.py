"""What ctypes has to know about C++ objects as GCC's standard library lays them out.

Itanium C++ ABI and libstdc++ (the new std::string): a class that is returned by value and is not
trivial to copy comes back in memory that the caller passes as a hidden first argument; a class
that is passed by value goes in by address.
"""

import ctypes
import functools
from collections.abc import Callable
from typing import Any

Address = ctypes.c_void_p
STRING = "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
_OSTREAM = "St7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE"
_OSTREAM_BYTES = 1024  # sizeof(std::ostringstream) is 376 on x86-64 and on aarch64


def function(library: ctypes.CDLL, symbol: str, result: Any, *arguments: Any) -> Any:
    """Return an exported function with its types declared.

    Raises:
        AttributeError: If the library does not export the symbol.
    """
    found = getattr(library, symbol)
    found.restype = result
    found.argtypes = arguments
    return found


class Text(ctypes.Structure):
    """A std::string: address, length, and 16 bytes that hold a short text or a capacity."""

    _fields_ = (("at", Address), ("length", ctypes.c_size_t), ("local", ctypes.c_char * 16))

    @property
    def is_local(self) -> bool:
        """Whether the characters lie inside the object, so that nothing has to be freed."""
        return bool(self.at == ctypes.addressof(self) + Text.local.offset)

    def decode(self) -> str:
        """Return the text."""
        return ctypes.string_at(self.at, self.length).decode()


def text_of(content: str) -> tuple[Text, Any]:
    """Return a std::string for `const std::string&` parameters, and the memory it points to."""
    data = content.encode()
    memory = ctypes.create_string_buffer(data)
    text = Text(ctypes.addressof(memory), len(data))
    return text, memory


class Shared(ctypes.Structure):
    """A std::shared_ptr: the object, and the block with its counts (none: not owned)."""

    object: int | None
    block: int | None
    _fields_ = (("object", Address), ("block", Address))

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
    table = Address.from_address(object_at).value
    assert table is not None
    _method(Address.from_address(table + slot * ctypes.sizeof(Address)).value)(object_at)


class StandardLibrary:
    """The few functions of libstdc++ in use, found through a library that is linked to it."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.delete = function(library, "_ZdlPv", None, Address)
        self._open = function(library, f"_ZN{_OSTREAM}C1Ev", None, Address)
        self._close = function(library, f"_ZN{_OSTREAM}D1Ev", None, Address)
        self._read = function(library, f"_ZNK{_OSTREAM}3strEv", None, Address, Address)

    def free(self, text: Text) -> None:
        """Free what a std::string owns."""
        if not text.is_local:
            self.delete(text.at)

    def take(self, text: Text) -> str:
        """Return the content of a std::string that was returned by value, and free it."""
        content = text.decode()
        self.free(text)
        return content

    def printed(self, write: Callable[[int], Any]) -> str:
        """Return what a function writes to the std::ostream whose address it is given."""
        memory = ctypes.create_string_buffer(_OSTREAM_BYTES)
        stream = ctypes.addressof(memory)
        self._open(stream)
        write(stream)
        text = Text()
        self._read(ctypes.addressof(text), stream)
        self._close(stream)
        return self.take(text)
