"""What a notebook shows of a thing that says itself in words."""

from __future__ import annotations


class InWords:
    """Something that ``str`` says in several lines, which a notebook shows as they are."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def preformatted(text: str) -> str:
    """Lines as HTML.

    >>> preformatted("a < b")
    '<pre>a &lt; b</pre>'
    """
    from html import escape

    return f"<pre>{escape(text, quote=False)}</pre>"
