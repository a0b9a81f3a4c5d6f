"""``${name}`` in a pipeline file: from --set, its [variables], or the environment, whose values are never printed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from sash.errors import SashError

SHORTEST = 4  # letters of a secret: fewer are in words, too
VARIABLE = re.compile(r"\$(\$|\{([^}]*)\})")


class Variables:
    """Values by their names; those of the environment are secrets.

    >>> variables = Variables({"day": 1}, environment={"PASSWORD": "swordfish"})
    >>> variables.filled("${day}: ${PASSWORD}, $${day}")
    '1: swordfish, ${day}'
    >>> variables.masked("wrong password: swordfish")
    'wrong password: ${PASSWORD}'
    """

    def __init__(self, values: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> None:
        self._values = dict(values)
        self._environment = os.environ if environment is None else environment
        self._secrets: dict[str, str] = {}
        self.used: set[str] = set()

    def add(self, values: Mapping[str, Any]) -> None:
        """Know more values, unless there are some of these names."""
        self._values = {**values, **self._values}

    def filled(self, text: str) -> str:
        """A text with its variables replaced."""
        return VARIABLE.sub(self._value, text)

    def masked(self, text: str) -> str:
        """A text without what came from the environment; the longest first, since one may hold another."""
        for name in sorted(self._secrets, key=lambda each: -len(self._secrets[each])):
            for piece in (self._secrets[name], *self._secrets[name].splitlines()):
                text = text.replace(piece, f"${{{name}}}") if len(piece.strip()) >= SHORTEST else text
        return text

    def _value(self, match: re.Match[str]) -> str:
        if match[1] == "$":
            return "$"
        name = match[2]
        self.used.add(name)
        if name in self._values:
            value = self._values[name]
            return str(value).lower() if isinstance(value, bool) else str(value)
        if name not in self._environment:
            raise SashError(
                f"${{{name}}} has no value: set it in the environment, in [variables], or with --set {name}=…"
            )
        if self._environment[name]:
            self._secrets[name] = self._environment[name]
        return self._environment[name]
