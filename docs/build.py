"""Writes the tables in the docs that are made from the code; with --check, says whether they are up to date."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sash.algebra.catalogue import CATALOGUE, builtin
from sash.kernels.fifo import ALGORITHMS
from sash.planner.algorithms import ALGORITHMS as PLANNED

HERE = Path(__file__).parent
PARAMETERS = {"first_n": (3,), "last_n": (3,), "ith_youngest": (2,), "ith_smallest": (2,), "top_k": (3,),
              "moment_quantile": (0.5,), "kll_percentile": (0.5,), "frequent_items": (3,)}  # fmt: skip


def catalogue() -> str:
    """Every built-in with what it promises."""
    from sash import functions as sf

    lines = ["| function | what it is | inverse | commutative | selective |", "|---|---|---|---|---|"]
    for name in CATALOGUE:
        aggregate, function = builtin(name, *PARAMETERS.get(name, ())), getattr(sf, name, None)
        if function is None:
            continue
        sentence = function.__doc__.strip().splitlines()[0]
        marks = ["✓" if flag else "" for flag in (aggregate.invertible, aggregate.commutative, aggregate.selective)]
        lines.append(f"| `{name}` | {sentence} | {' | '.join(marks)} |")
    return "\n".join(lines)


def algorithms() -> str:
    """Every window algorithm with its card."""
    lines = ["| `using=` | what it is | needs | combines | space | ranges |", "|---|---|---|---|---|---|"]
    for name, algorithm in ALGORITHMS.items():
        card = dict(re.findall(r"^(order|needs|time|space|paper)\s+(.*)$", algorithm.card, re.MULTILINE))
        title = (algorithm.make.__doc__ or algorithm.card).splitlines()[0].partition(": ")[2]
        marks = "✓" if algorithm.ranges else ""
        lines.append(f"| `{name}` | {title} | {card['needs']} | {card['time']} | {card['space']} | {marks} |")
    return "\n".join(lines)


def window_functions() -> str:
    """Every window function with what it can be told."""
    from sash import functions as sf
    from sash.algebra import WINDOW_FUNCTIONS

    lines = ["| function | what it is | own order | ignore nulls | distinct |", "|---|---|---|---|---|"]
    for name, function in WINDOW_FUNCTIONS.items():
        sentence = getattr(sf, name).__doc__.strip().splitlines()[0]
        marks = ["✓" if flag else "" for flag in (function.ordered, function.nulls, function.distinct)]
        lines.append(f"| `{name}` | {sentence} | {' | '.join(marks)} |")
    return "\n".join(lines)


def index_algorithms() -> str:
    """Every algorithm that answers frames, by the question it answers."""
    lines = ["| question | `using=` | what it is | for comparison |", "|---|---|---|---|"]
    for each in PLANNED:
        lines.append(f"| {each.question} | `{each.name}` | {each.words} | {'' if each.offered else '✓'} |")
    return "\n".join(lines)


MADE = {
    "catalogue": catalogue,
    "algorithms": algorithms,
    "window functions": window_functions,
    "index algorithms": index_algorithms,
}


def rebuilt(text: str) -> str:
    """A page with everything between its marks made anew."""
    for name, make in MADE.items():
        mark = re.compile(rf"(<!-- made: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = mark.sub(lambda found, make=make: f"{found[1]}{make()}\n{found[2]}", text)
    return text


def main() -> int:
    stale = []
    for page in sorted(HERE.glob("*.md")):
        before = page.read_text()
        after = rebuilt(before)
        if after != before:
            stale.append(page.name)
            if "--check" not in sys.argv:
                page.write_text(after)
    print(f"{', '.join(stale) or 'nothing'} {'is stale' if '--check' in sys.argv else 'written'}")
    return len(stale) if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
