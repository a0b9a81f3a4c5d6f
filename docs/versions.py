"""The site of each version stands in a folder of its own, and the theme lists them, newest first.

A hook of MkDocs (see mkdocs.yml). What other versions left in the folder stays, so that the site is all of them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HOME = Path(__file__).parent.parent
VERSION = re.search(r'VERSION = "(.+)"', (HOME / "src/sash/version.py").read_text())[1]
ALL = HOME / "out" / "site"
MOVED = """<!doctype html><meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={0}/index.html"><a href="{0}/index.html">Sash {0}</a>
"""


def on_config(config):
    """Build into the folder of this version; ``mkdocs serve`` has one of its own."""
    if Path(config.site_dir) == ALL:
        config.site_dir = str(ALL / VERSION)
    return config


def on_post_build(config):
    """Tell the versions there are: the theme asks for this file, and the newest release is shown first."""
    folder = Path(config.site_dir).parent
    if Path(config.site_dir).name != VERSION:
        return
    versions = sorted((each.parent.name for each in folder.glob("*/index.html")), key=_order, reverse=True)
    latest = next((each for each in versions if ".dev" not in each), versions[0])
    listed = [{"version": each, "title": each, "aliases": ["latest"] * (each == latest)} for each in versions]
    (folder / "versions.json").write_text(json.dumps(listed, indent=2) + "\n")
    (folder / "index.html").write_text(MOVED.format(latest))


def _order(version):
    """The numbers of a version; one that is not released yet comes before the release."""
    numbers = [int(each) for each in re.findall(r"\d+", version.partition(".dev")[0])]
    return numbers, ".dev" not in version
