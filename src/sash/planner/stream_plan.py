"""The plan of a stream, in words and as a drawing: what ``board.explain()`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sash.planner.choosing import Choice
from sash.planner.in_words import InWords, preformatted
from sash.planner.plan_diagram import diagram

WIDTH = 64  # characters of the drawing


@dataclass(frozen=True)
class QueryStep:
    """One query: what it computes of which windows, what answers it, and how many slices a window has.

    ``between`` says what is kept of its windows from one push to the next.
    """

    name: str
    expression: str
    windows: str
    choices: tuple[Choice, ...]
    slices: int = 0
    source: str = ""
    between: str = ""


@dataclass(frozen=True, repr=False)
class StreamPlan(InWords):
    """A plan: ``str`` says it in words, ``chosen`` maps each query to its algorithm, ``slicer`` is how it is cut."""

    slicer: str
    lines: tuple[str, ...]
    steps: tuple[QueryStep, ...]
    drawing: tuple[str, ...] = ()

    @property
    def chosen(self) -> dict[str, str]:
        """The algorithm that answers each query."""
        return {step.name: step.choices[-1].name for step in self.steps}

    def renamed(self, names: Mapping[str, str]) -> StreamPlan:
        """The plan with other names of columns."""

        def shown(text: str) -> str:
            for old, new in names.items():
                text = text.replace(old, new)
            return text

        steps = tuple(replace(step, expression=shown(step.expression), windows=shown(step.windows),
                              source=shown(step.source)) for step in self.steps)  # fmt: skip
        return replace(self, lines=tuple(map(shown, self.lines)), steps=steps)

    def diagram(self) -> str:
        """The plan as a drawing, an SVG element: what notebooks and the page of ``board.watch()`` show.

        >>> StreamPlan("panes", (), (QueryStep("peak", "max(load)", "range 1 hour", (), 60),)).diagram()[:4]
        '<svg'
        """
        sliced = any(step.slices for step in self.steps)
        store = ["slices", f"cut by {self.slicer}"] if sliced else ["rows that are held", "for whole windows"]
        queries = [
            [
                f"{step.name} = {step.expression}",
                f"windows: {step.windows}" + (f", {step.slices:,} slices each" if step.slices else ""),
                "by " + " and ".join(choice.name for choice in step.choices),
            ]
            for step in self.steps
        ]
        return diagram(store, queries)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return self.diagram() + preformatted(str(self))

    def __str__(self) -> str:
        lines = list(self.lines)
        for step in self.steps:
            slices = f"; {step.slices:,} slice{'s' * (step.slices != 1)} a window" if step.slices else ""
            lines += [f"  {step.name} = {step.expression}", f"    windows: {step.windows}{slices}"]
            lines += [f"    {step.source}"] if step.source else []
            lines += [f"    {choice.name}: {choice.words}" + (" (as asked)" if choice.by_using else "")
                      for choice in step.choices]  # fmt: skip
            lines += [f"    between pushes: {step.between}"] if step.between else []
        return "\n".join([*lines, *self.drawing])


def drawn(marks: dict[str, list[int]], span: int, scale: str) -> tuple[str, ...]:
    """Lines with a stroke at each mark, by name; marks are from 0 to the span.

    >>> for line in drawn({"q": [0, 5, 10]}, 10, "10 rows"):
    ...     print(line)
      q |                               |                               |
        0                                                         10 rows
    """
    wide = max(map(len, marks), default=0)
    lines = []
    for name, places in marks.items():
        line = [" "] * (WIDTH + 1)
        for place in places:
            line[place * WIDTH // span] = "|"
        lines.append(f"  {name.rjust(wide)} {''.join(line).rstrip()}")
    return (*lines, f"  {' ' * wide} 0{scale.rjust(WIDTH)}")
