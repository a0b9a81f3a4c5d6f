"""What the docs show runs, the tables and pictures in them are those of the code, and the site is whole."""

import ast
import json
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

import pages
import sash

HOME = Path(__file__).parent.parent
TEXT = ("toml", "console", "sql")  # languages of blocks that are not Python
WRITERS = ("build.py", "pictures.py")


@pytest.mark.parametrize("page", pages.HERE, ids=pages.named)
def test_every_example_runs(page, tmp_path, monkeypatch):
    if "disk.clear()" in page.read_text():
        monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    pages.run(page)


def test_no_example_is_left_out():
    ran = {*pages.HERE, *pages.ON_SPARK, *pages.ELSEWHERE}
    for page in pages.PAGES:
        assert page in ran or not pages.examples(page), f"no test runs the examples of {pages.named(page)}"
        for block in pages.blocks(page):
            where = f"{pages.named(page)}, line {block.line}"
            assert block.language in ("", "python", *TEXT), f"{where}: write ```python, or add {block.language} to TEXT"
            assert block.language == "python" or not block.is_session, f"{where}: a session must be in ```python"
        fenced = "".join(block.text for block in pages.blocks(page))
        prompts = len(re.findall(r"^\s*>>> ", page.read_text(), re.MULTILINE))
        assert prompts == len(re.findall(r"^\s*>>> ", fenced, re.MULTILINE)), f"{pages.named(page)}: >>> out of a block"
    for page, test in pages.ELSEWHERE.items():
        assert page.name in (HOME / test).read_text()
        plain = [block.line for block in pages.examples(page) if not block.is_session]
        assert not plain, f"{test} runs sessions alone; {pages.named(page)} has other examples at lines {plain}"


@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_made_is_up_to_date(writer):
    run = subprocess.run([sys.executable, HOME / "docs" / writer, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_picture_is_shown():
    shown = set(re.findall(r"pictures/(\w+)\.svg\)", "".join(page.read_text() for page in pages.DOCS.rglob("*.md"))))
    drawn = runpy.run_path(str(HOME / "docs" / "pictures.py"))["all_pictures"]()
    assert shown == set(drawn) == {file.stem for file in (HOME / "docs" / "pictures").glob("*.svg")}


def messages():
    """Every text in the source, with … where something is filled in."""
    for file in (HOME / "src" / "sash").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_the_errors_that_operations_explains_are_those_of_the_code():
    page = (HOME / "docs" / "operations.md").read_text()
    told = re.findall(r"^\| `(.*?)` \|", page[page.index("## Errors") :], re.MULTILINE)
    assert len(told) >= 25
    known = "\n".join(messages())
    assert [each for each in told if each.strip("… ") not in known] == []


def test_paths_that_the_docs_name_are_there():
    for page in pages.PAGES:
        if page.parent.name in ("guides", "coming_from"):  # their paths are of the reader's own files
            continue
        for path in re.findall(r"`((?:src|tests|docs|bench|examples)/[\w./]+)`", page.read_text()):
            assert (HOME / path).exists() or "NAME" in path, f"{pages.named(page)} names {path}, which is not there"


def test_every_promise_has_a_test_that_is_there():
    page = (HOME / "docs" / "testing.md").read_text()
    section = page[page.index("## Promises") : page.index("## Documentation")]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.endswith("| test |")]
    named = [re.fullmatch(r"\| .+ \| `(tests/[\w/]+\.py)::(test_\w+)` \|", row) for row in rows]
    assert len(rows) > 150
    assert [row for row, found in zip(rows, named, strict=True) if found is None] == []
    defined = {}
    for row, (path, name) in zip(rows, (found.groups() for found in named), strict=True):
        if path not in defined:
            body = ast.parse((HOME / path).read_text()).body
            defined[path] = {each.name: each.decorator_list for each in body if isinstance(each, ast.FunctionDef)}
        assert name in defined[path], f"docs/testing.md names {path}::{name}, which is not there"
        long = "pytest.mark.long" in map(ast.unparse, defined[path][name])
        assert long == ("(L)" in row), f"docs/testing.md must say of {path}::{name} whether it is long: {row}"


def anchors(page):
    """The headings of a page, as links spell them."""
    prose = pages.FENCE.sub("", page.read_text())
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)", prose, re.M)}


def test_links_lead_somewhere_where_markdown_is_read_as_it_is():
    for page in pages.PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", pages.FENCE.sub("", page.read_text())):
            if target.startswith("https://"):
                continue
            path, _, anchor = target.partition("#")
            where = (page.parent / path).resolve() if path else page
            assert where.exists(), f"{pages.named(page)} links to {target}, which is not there"
            made = "." in anchor  # a name of the reference, which has no heading before the site is built
            assert not anchor or made or anchor in anchors(where), f"{pages.named(page)}: {target} has no such heading"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as strictly as it can be; with --quiet, warnings would not count."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    run = subprocess.run(command, cwd=HOME, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


class Loaded(HTMLParser):
    """What a page makes a browser load, and the names in it that links lead to."""

    def __init__(self, text):
        super().__init__()
        self.sources, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "link" and not {"canonical", "next", "prev"} & set(given.get("rel", "").split()):
            self.sources.append(given["href"])
        if tag not in ("a", "link"):
            self.sources += [given[name] for name in ("src", "srcset", "data", "poster") if given.get(name)]


def test_every_page_is_in_the_site(site):
    assert not [page for page in pages.DOCS.rglob("*.md") if not built(site, page).exists()]
    assert not list(site.rglob("*.py"))


def test_the_site_loads_nothing_from_outside(site):
    for page in site.rglob("*.html"):
        outside = [source for source in Loaded(page.read_text()).sources if re.match(r"(\w+:)?//", source)]
        assert not outside, f"{page.relative_to(site)} loads {outside}"
        inline = re.findall(r"<(?:style|script)[^>]*>(.*?)</(?:style|script)>", page.read_text(), re.DOTALL)
        assert not [text for text in inline if re.search(r"https?://", text)]
    for sheet in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        assert not re.search(r"""(?:url\(|@import|href=)\s*["']?(?:https?:)?//""", sheet.read_text()), sheet


def test_the_reference_has_every_public_name(site):
    known = set()
    for page in (site / "reference").glob("*.html"):
        known |= Loaded(page.read_text()).ids
    missing = {name for name in sash.__all__ if f"sash.{name}" not in known}
    assert missing == {"functions", "sql"}  # modules: a page of functions below, and one that can be called
    assert "sash.sql.entry.sql" in known
    functions = {name for name, thing in vars(sash.functions).items() if callable(thing) and is_public(name, thing)}
    assert {name for name in functions if f"sash.functions.{name}" not in known} == set()


def is_public(name, thing):
    return not name.startswith("_") and getattr(thing, "__module__", "") == "sash.functions"


def built(site, page):
    """Where a page of docs/ is in the site."""
    return site / page.relative_to(pages.DOCS).with_suffix(".html")


def test_the_site_lists_the_versions_that_stand_beside_each_other(tmp_path):
    hook = runpy.run_path(str(pages.DOCS / "versions.py"))
    for name in (hook["VERSION"], "0.1.0", "0.10.0.dev1", "0.9.0"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").touch()
    hook["on_post_build"](SimpleNamespace(site_dir=str(tmp_path / hook["VERSION"])))
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [each["version"] for each in listed] == ["0.10.0.dev1", "0.9.0", hook["VERSION"], "0.1.0"]
    assert [each["aliases"] for each in listed] == [[], ["latest"], [], []]
    assert 'url=0.9.0/index.html"' in (tmp_path / "index.html").read_text()
