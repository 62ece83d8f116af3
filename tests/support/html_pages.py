"""Pages as a browser would see them, for tests of what writes them."""

from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)></style>\u202e|`{{7*7}}"


class Page(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Mapping[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[Mapping[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.tags if "id" in attributes]

    @property
    def links(self) -> list[str]:
        return [unquote(a["href"] or "") for a in self.all("a")]


def pages_of(folder: Path) -> dict[str, Page]:
    """Return every page of a site by its file name."""
    return {path.name: Page(path.read_text("utf-8")) for path in sorted(folder.glob("*.html"))}
