"""What will be done, in words: what ``explain`` returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from sash.planner.choosing import Choice
from sash.planner.in_words import InWords


@dataclass(frozen=True)
class Step:
    """One column: its expression, what its frames are like, and the algorithms that answer it."""

    column: str
    expression: str
    frames: str
    choices: tuple[Choice, ...]
    shares: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sorting:
    """One way the rows are sorted, and the columns that are answered there."""

    words: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Composed:
    """A column that is computed of answers: its expression, and the steps that give them."""

    column: str
    expression: str
    parts: tuple[str, ...]

    @property
    def words(self) -> str:
        """The expression, and the names under which its answers are above."""
        return f"{self.expression}, of {', '.join(self.parts)}" if self.parts else self.expression


@dataclass(frozen=True, repr=False)
class Plan(InWords):
    """A plan: ``str`` says it in words, ``chosen`` maps each column to its algorithm."""

    rows: int
    threads: int
    sortings: tuple[Sorting, ...] = field(default=())
    place: str = ""  # where it runs, if not in this process
    moves: tuple[str, ...] = ()  # how rows come together there
    composed: tuple[Composed, ...] = ()  # columns, where they are more than one answer each

    @property
    def chosen(self) -> dict[str, str]:
        """The algorithm that answers each column; of an expression, those of its answers."""
        steps = {step.column: step.choices[-1].name for sorting in self.sortings for step in sorting.steps}
        if not self.composed:
            return steps
        names = {each.column: dict.fromkeys(steps[part] for part in each.parts) for each in self.composed}
        return {column: ", ".join(each) for column, each in names.items() if each}

    def __str__(self) -> str:
        rows = f"{self.rows:,} rows"
        lines = [f"{self.place} {rows}" if self.place else f"{rows}, {self.threads} thread{'s' * (self.threads != 1)}"]
        lines += self.moves
        for sorting in self.sortings:
            lines.append(sorting.words)
            for step in sorting.steps:
                lines += [f"  {step.column} = {step.expression}", f"    frames: {step.frames}"]
                lines += [f"    {choice}" for choice in step.choices]
                lines += [f"    taken from the columns above: {', '.join(step.shares)}"] if step.shares else []
        lines += [f"{each.column} = {each.words}" for each in self.composed]
        return "\n".join(lines)
