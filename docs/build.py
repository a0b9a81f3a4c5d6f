"""Writes the tables in the docs that are made from the code; with --check, says whether they are up to date."""

from __future__ import annotations

import ast
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import sash.kernels
from sash.algebra import Aggregate, WindowFunction
from sash.algebra.catalogue import FUNCTIONS, builtin
from sash.algebra.catalogue.declaring import Function
from sash.kernels.fifo import ALGORITHMS
from sash.pipelines.connectors import CONNECTORS
from sash.planner.declared import OPERATIONS, listed

HERE = Path(__file__).parent
KERNELS = Path(sash.kernels.__file__).parent


def declared(kind: type) -> list[tuple[Function, Any]]:
    """The functions of sash.functions that are of a kind, and what they make."""
    made = [(each, builtin(each.name, *each.examples_of_constants)) for each in FUNCTIONS.values()]
    return [(each, thing) for each, thing in made if each.in_python and not each.spans and isinstance(thing, kind)]


def catalogue() -> str:
    """Every built-in aggregate with what it promises."""
    lines = ["| function | what it is | inverse | commutative | selective |", "|---|---|---|---|---|"]
    for each, aggregate in declared(Aggregate):
        if not each.base:
            flags = (aggregate.invertible, aggregate.commutative, aggregate.selective)
            lines.append(f"| `{each.name}` | {each.sentence} | {' | '.join('✓' if flag else '' for flag in flags)} |")
    return "\n".join(lines)


def algorithms() -> str:
    """Every window algorithm with its card."""
    lines = ["| `using=` | what it is | needs | combines | space | ranges |", "|---|---|---|---|---|---|"]
    for name, algorithm in ALGORITHMS.items():
        card = dict(re.findall(r"^(order|needs|time|space|paper)\s+(.*)$", algorithm.kernel.card, re.MULTILINE))
        title = (algorithm.kernel.make.__doc__ or algorithm.kernel.card).splitlines()[0].partition(": ")[2]
        marks = "✓" if algorithm.kernel.ranges else ""
        lines.append(f"| `{name}` | {title} | {card['needs']} | {card['time']} | {card['space']} | {marks} |")
    return "\n".join(lines)


def window_functions() -> str:
    """Every window function with what it can be told."""
    lines = ["| function | what it is | own order | ignore nulls | distinct |", "|---|---|---|---|---|"]
    for each, function in declared(WindowFunction):
        flags = (function.ordered, function.nulls, function.distinct)
        lines.append(f"| `{each.name}` | {each.sentence} | {' | '.join('✓' if flag else '' for flag in flags)} |")
    return "\n".join(lines)


def index_algorithms() -> str:
    """Every algorithm that answers frames, by the operation it answers."""
    lines = ["| operation | `using=` | what it is | for comparison |", "|---|---|---|---|"]
    for each in (each for operation in OPERATIONS for each in listed(operation)):
        lines.append(f"| {each.operation} | `{each.name}` | {each.words} | {'' if each.offered else '✓'} |")
    return "\n".join(lines)


def cards_of(algorithm: Any) -> list[str]:
    """The cards of an algorithm's kernels."""
    return [kernel.card.strip() for kernel in (algorithm.kernel, algorithm.of_size) if kernel is not None]


CARD = re.compile(r"^(order|needs|time|space|paper) +(.*(?:\n {4,}.*)*)$", re.MULTILINE)


def cards(room: str) -> str:
    """Every algorithm of a room with the card that its file begins with."""
    lines = ["| algorithm | what it is | order | needs | time | space | paper |", "|---|---|---|---|---|---|---|"]
    for file in sorted((KERNELS / room).glob("*.py")):
        text = ast.get_docstring(ast.parse(file.read_text())) or ""
        card = {name: " ".join(words.split()) for name, words in CARD.findall(text)}
        if "time" not in card and "paper" not in card:  # a helper
            continue
        names = [name for name, algorithm in ALGORITHMS.items() if text in cards_of(algorithm)] or [file.stem]
        words = [card.get(name, "") for name in ("order", "needs", "time", "space", "paper")]
        cells = [", ".join(f"`{name}`" for name in names), text.splitlines()[0], *words]
        lines.append("| " + " | ".join(re.sub(r"([|*])", r"\\\1", cell) for cell in cells) + " |")
    return "\n".join(lines)


def formats() -> str:
    """Every format that pipelines know by name, with where it can stand and what it needs."""
    lines = ["| `format` | source | sink | needs |", "|---|---|---|---|"]
    for each in sorted(CONNECTORS, key=lambda one: not one.keeps):
        if each.names and not each.in_catalogue and not each.url:
            reads = (each.reads_batches, "a batch"), (each.reads_streams, "a stream")
            source = " or ".join(words for is_so, words in reads if is_so) if each.is_source else ""
            needs = ["`path`"] * each.needs_path + [f"`options.{_quoted(name)}`" for name in each.needs]
            cells = [", ".join(f"`{name}`" for name in each.names), source, "✓" * each.is_sink, ", ".join(needs)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'


def sinks() -> str:
    """What each sink of a pipeline does with rows."""
    lines = ["| | as a batch | as a stream | as a stream, with other sinks of the same board |", "|---|---|---|---|"]
    speaking = (each for each in CONNECTORS if each.words)
    for each in sorted(speaking, key=lambda one: (not one.keeps, one.words[0][0].strip("`"))):
        lines += [f"| {' | '.join(words)} |" for words in each.words]
    return "\n".join(lines)


MADE = {
    "formats": formats,
    "sinks": sinks,
    "catalogue": catalogue,
    "algorithms": algorithms,
    "window functions": window_functions,
    "index algorithms": index_algorithms,
    **{
        f"cards of {room}": partial(cards, room)
        for room in ("fifo", "structures", "operations", "slices", "spans", "sorting")
    },
}


def rebuilt(text: str) -> str:
    """A page with everything between its marks made anew."""
    for name, make in MADE.items():
        mark = re.compile(rf"(<!-- made: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = mark.sub(lambda found, make=make: f"{found[1]}{make()}\n{found[2]}", text)
    return text


def main() -> int:
    stale = []
    for page in sorted(HERE.rglob("*.md")):
        before = page.read_text()
        after = rebuilt(before)
        if after != before:
            stale.append(str(page.relative_to(HERE)))
            if "--check" not in sys.argv:
                page.write_text(after)
    print(f"{', '.join(stale) or 'nothing'} {'is stale' if '--check' in sys.argv else 'written'}")
    return len(stale) if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
