"""What a kept state says of the queries that made it, and whether other queries may go on with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from sash.engine.streams.filling import Fill
from sash.engine.streams.formats import PartialFormat, differences, refuse_odd
from sash.engine.streams.restoring import is_whole, refused
from sash.engine.streams.scheme import Scheme
from sash.errors import SashError
from sash.windows.slicers import edges_of

ADVICE = "change it back, or start with a new checkpointLocation"
SETTINGS = {"kind": "windows are by", "time": "time is", "key": "key is", "offset": "offset is", "emit": "emit is",
            "start": "spans start at", "zone": "zone is", "fill": "fill is",
            "lateness": "lateness is"}  # fmt: skip


def described(
    scheme: Scheme, emit: str, shards: int, computed: Mapping[str, str], fill: Fill = False
) -> dict[str, Any]:
    """All that kept state depends on; ``computed`` are columns that were computed, by the names they were given."""
    return {
        "shards": shards,
        "kind": scheme.kind,
        "time": f"{_shown(scheme.settings.time, computed)} of type {scheme.time_type}",
        "key": [f"{_shown(key, computed)} of type {dtype}"
                for key, dtype in zip(scheme.settings.key, scheme.key_types, strict=True)],
        "offset": str(scheme.settings.offset),
        "slices": repr(edges_of(scheme.cuts, "pairs")) if scheme.spans else None,
        "start": _shown(scheme.settings.spans.start, computed) if scheme.settings.spans else None,
        "emit": emit,
        "zone": scheme.settings.zone,
        "fill": fill or None,
        "lateness": None if scheme.settings.lateness is None else str(scheme.settings.lateness),
        "columns": {name: str(scheme.schema.field(name).type) for name in scheme.needed},
        "partials": [each.text for each in scheme.formats],
        "queries": [_query(scheme, k, computed) for k in range(len(scheme.queries))],
    }  # fmt: skip


def _query(scheme: Scheme, k: int, computed: Mapping[str, str]) -> dict[str, Any]:
    name, call, windows, _, meant = scheme.meaning[k]
    words = f"{_shown(call, computed)} over {_shown(windows, computed)}"
    return {"name": name, "told": words, "means": hashlib.sha256(repr(meant).encode()).hexdigest()[:16], "since": None}


def _shown(expression: Any, computed: Mapping[str, str]) -> str:
    text = str(expression)
    for name, column in computed.items():
        text = text.replace(name, column)
    return text


def continued(before: Mapping[str, Any], now: Mapping[str, Any], start: int) -> dict[str, Any]:
    """What is asked now, going on with state that was kept before; a query that is new answers from ``start`` on.

    Raises a sentence that says what changed, where that cannot be.
    """
    _refuse_odd(before)
    if before["shards"] != now["shards"]:
        raise SashError(
            f"the number of shards must stay what it was when the query first started, {before['shards']}, got "
            f"{now['shards']}: set sash.options.shards = {before['shards']} to go on; to have another number, let the "
            "query run out of open windows, and start it with a new checkpointLocation from there"
        )
    changes = [f"{words} {_list(now[name])} and was {_list(before.get(name))}"
               for name, words in SETTINGS.items() if before.get(name) != now[name]]  # fmt: skip
    changes += [
        f"column {name} is of type {now['columns'][name]} and was of type {dtype}"
        for name, dtype in before["columns"].items()
        if now["columns"].get(name, dtype) != dtype
    ]
    queries_now = {query["name"]: query for query in now["queries"]}
    for query in before["queries"]:
        same = queries_now.get(query["name"])
        if same is None:
            changes.append(f"query {query['name']} ({query['told']}) is gone")
        elif same["told"] != query["told"]:
            changes.append(f"query {query['name']} is {same['told']} and was {query['told']}")
        elif same["means"] != query["means"]:
            changes.append(f"the functions of {same['told']} in query {query['name']} changed")
    known = {query["name"]: query for query in before["queries"]}
    if not changes and list(queries_now)[: len(known)] != list(known):
        changes.append(
            f"the queries begin with {_list(list(queries_now)[: len(known)])} and began with {_list(list(known))}"
        )
    new = [name for name in queries_now if name not in known]
    if new and now["kind"] != "time":
        changes.append(f"query {new[0]} is new, which only boards of windows by time can take in later")
    if new and before.get("slices") != now["slices"]:
        changes.append(f"{_list(new)} cut slices elsewhere, which spans that are in them cannot follow")
    changes += [] if changes else differences(before["partials"], [PartialFormat(*each) for each in now["partials"]])
    if changes:
        raise SashError(f"the checkpoint is of other queries: {'; '.join(changes)}; {ADVICE}")
    queries = [
        query | {"since": known[name]["since"] if name in known else start} for name, query in queries_now.items()
    ]
    return {**now, "queries": queries}


def _refuse_odd(before: Any) -> None:
    """Refuse what does not describe queries."""
    good = isinstance(before, dict) and is_whole(before.get("shards"), 1)
    columns, queries = (before.get("columns"), before.get("queries")) if good else (None, None)
    good = isinstance(columns, dict) and all(isinstance(dtype, str) for dtype in columns.values())
    good &= isinstance(queries, list) and all(_is_query(query) for query in queries)
    if not good:
        raise refused("what it is of", "a description of queries", "another thing")
    refuse_odd(before.get("partials"))


def _is_query(query: Any) -> bool:
    texts = isinstance(query, dict) and all(isinstance(query.get(name), str) for name in ("name", "told", "means"))
    return texts and "since" in query and (query["since"] is None or is_whole(query["since"]))


def _list(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
