"""Pages of documentation: their Python blocks, and how these are run.

A block with prompts is a doctest; any other is executed. Doctests share their names, in order, as the others do among
themselves; these see the names of the doctests before them as well.
"""

import doctest
import re
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).parent.parent
DOCS = HOME / "docs"
PAGES = sorted([HOME / "README.md", HOME / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
ELSEWHERE = {  # pages that another test runs
    DOCS / "sql.md": "tests/sql/test_page.py",
}
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: what language it says it is in, its text, and the line before it."""

    language: str
    text: str
    line: int

    @property
    def is_session(self) -> bool:
        return self.text.lstrip().startswith(">>>")


def blocks(page):
    """The fenced blocks of a page."""
    text = page.read_text()
    return [Block(found[2], found[3], text[: found.start(3)].count("\n")) for found in FENCE.finditer(text)]


def examples(page):
    """The Python blocks of a page."""
    return [block for block in blocks(page) if block.language == "python"]


def needs_spark(page):
    """Whether an example of a page says ``spark``, or asks in SQL, which needs a session."""
    return any(re.search(r"\bspark\b|\bsash\.sql\(", block.text) for block in examples(page))


HERE = [page for page in PAGES if examples(page) and not needs_spark(page)]
ON_SPARK = [page for page in PAGES if examples(page) and needs_spark(page) and page not in ELSEWHERE]


def named(page):
    """A page as a test is called."""
    return str(page.relative_to(HOME))


def run(page, **names):
    """Run every example of a page; fails with what the page says and what came instead."""
    globs, plain, told = {"__name__": "__main__", **names}, {}, []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for block in examples(page):
        if block.is_session:
            name = f"{page.stem}, line {block.line}"  # of its own, by which Python finds the source of a lambda
            test = doctest.DocTestParser().get_doctest(block.text, globs, name, str(page), block.line)
            test.globs = globs  # the parser copies them
            runner.run(test, out=told.append, clear_globs=False)
        else:
            names = globs | plain
            exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
            plain = {name: thing for name, thing in names.items() if globs.get(name) is not thing}
    assert not runner.summarize(verbose=False).failed, "".join(told)
    return globs
