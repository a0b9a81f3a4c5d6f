"""What the site needs beside Markdown: examples as Python sessions, and a page of CONTRIBUTING.md.

MkDocs calls the functions, and the class is for mkdocstrings (see mkdocs.yml).
"""

from __future__ import annotations

import re
from pathlib import Path

import griffe
from mkdocs.structure.files import File

HOME = Path(__file__).parent.parent
SESSION = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)
EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
TERM = re.compile(r"^(``\w+``)\n    (?=\w)", re.MULTILINE)
OUTSIDE = re.compile(r"\]\((?:\.\./)+(CONTRIBUTING|README)\.md")
PAGES = {"CONTRIBUTING": "contributing.md", "README": "index.md"}


def on_files(files, config):
    """Add CONTRIBUTING.md, which stands where repositories have it, as a page."""
    text = (HOME / "CONTRIBUTING.md").read_text().replace("](docs/", "](")
    files.append(File.generated(config, "contributing.md", content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Examples with prompts are coloured as sessions; links out of docs/ go to the page that stands for the file."""
    up = "../" * page.file.src_uri.count("/")
    markdown = OUTSIDE.sub(lambda found: f"]({up}{PAGES[found[1]]}", markdown)
    return SESSION.sub("```pycon\n", markdown)


class Doctests(griffe.Extension):
    """Examples in docstrings, which are not fenced there, as blocks of code; and no type where any will do."""

    def on_function(self, *, func, **kwargs):
        """Leave out what says nothing."""
        for parameter in func.parameters:
            if str(parameter.annotation) == "Any":
                parameter.annotation = None

    def on_object(self, *, obj, **kwargs):
        """Fence each run of prompts and answers, which ends with an empty line; make a list of terms."""
        if obj.docstring:
            text = EXAMPLE.sub(lambda found: f"\n```pycon\n{found[0]}\n```\n", obj.docstring.value)
            obj.docstring.value = TERM.sub(r"- \1: ", text)
