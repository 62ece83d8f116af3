import pytest


class SerialEngine:
    """An engine in this process that can be interrupted at a chunk of one's choice."""

    def __init__(self, stop_after=None, error=KeyboardInterrupt):
        self.stop_after = stop_after
        self.error = error

    def map(self, function, chunks):
        for number, chunk in enumerate(chunks):
            if number == self.stop_after:
                raise self.error
            yield [function(chunk.context, item) for item in chunk.items]


@pytest.fixture
def Serial():  # noqa: N802 - a class
    return SerialEngine


@pytest.fixture
def contents():
    """Return the bytes of every file below a folder that is not hidden."""

    def read(folder):
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }

    return read
