"""What a kept state says of the queries that made it, and whether other queries may go on with it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sash.engine.streams.filling import Fill
from sash.engine.streams.formats import PartialFormat, differences, refuse_odd
from sash.engine.streams.restoring import is_whole, refused
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.sharding import HASH
from sash.errors import SashError
from sash.windows.slicers import edges_of

ADVICE = "change it back, or start with a new checkpointLocation"
BY_QUERY = re.compile(r"(last key|last|told|touched) (\d+)")  # parts of answers that were given
ONLY = "which only boards of windows by time, but for sessions, can"
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
        "merging": bool(scheme.merging),
        "hash": HASH,
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
    means = hashlib.sha256(repr(meant).encode()).hexdigest()[:16]
    partials = [scheme.formats[source].meaning for source in scheme.foldings[k].sources] if k in scheme.folded else []
    was = scheme.queries[k].was
    return {"name": name, "told": words, "means": means, "since": None, "was": was, "partials": partials}


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
    refuse_other_shards(before, now)
    changes = [f"{words} {_list(now[name])} and was {_list(before.get(name))}"
               for name, words in SETTINGS.items() if before.get(name) != now[name]]  # fmt: skip
    changes += [
        f"column {name} is of type {now['columns'][name]} and was of type {dtype}"
        for name, dtype in before["columns"].items()
        if now["columns"].get(name, dtype) != dtype
    ]
    former = former_names(before, now)
    changes += _changes_of_queries(before, now, former)
    changes += [] if changes else _changes_of_partials(before, now, former)
    if changes:
        raise SashError(f"the checkpoint is of other queries: {'; '.join(changes)}; {ADVICE}")
    known = {query["name"]: query for query in before["queries"]}
    queries = [
        query | {"since": known[former[query["name"]]]["since"] if query["name"] in former else start}
        for query in now["queries"]
    ]
    return {**now, "queries": queries}


def former_names(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, str]:
    """The names by which kept state knows queries that are asked now, by their names now; not of those that begin."""
    known, former = {query["name"]: query for query in before["queries"]}, {}
    for query in now["queries"]:
        name, was = query["name"], query.get("was")
        if name in known:
            if not (_follows(before, now) and now["slices"] is None and _is_over_others(query, known[name])):
                former[name] = name
        elif was is not None:
            if any(each["name"] == was for each in now["queries"]):
                raise SashError(f"was must be a name that no query has any more, got {was!r} in query {name}")
            if was not in known:
                has = _list(list(known))
                raise SashError(f"was of query {name} must be a query of the checkpoint, which has {has}, got {was!r}")
            former[name] = was
    return former


def former_places(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[int | None]:
    """The place that each query has in kept state; None for one that is new."""
    former, known = former_names(before, now), [query["name"] for query in before["queries"]]
    return [known.index(former[query["name"]]) if query["name"] in former else None for query in now["queries"]]


def placed_parts(parts: Mapping[str, Any], places: Sequence[int | None]) -> dict[str, Any]:
    """Parts of which some are of a query by its place, given the place that each query had.

    >>> placed_parts({"watermark": 5, "last 0": "a", "last 1": "b"}, [1, None])
    {'watermark': 5, 'last 0': 'b'}
    """
    by_query = {name: match for name in parts if (match := BY_QUERY.fullmatch(name))}
    placed = {name: part for name, part in parts.items() if name not in by_query}
    for name, match in by_query.items():
        if int(match[2]) in places:
            placed[f"{match[1]} {places.index(int(match[2]))}"] = parts[name]
    return placed


def _changes_of_queries(before: Mapping[str, Any], now: Mapping[str, Any], former: Mapping[str, str]) -> list[str]:
    """What of the queries, in words, does not let state go on."""
    asked = {former[query["name"]]: query for query in now["queries"] if query["name"] in former}
    new = [query for query in now["queries"] if query["name"] not in former]
    gone = [query for query in before["queries"] if query["name"] not in asked]
    changes = []
    for query in before["queries"]:
        same = asked.get(query["name"], query)
        if same["told"] != query["told"]:
            changes.append(f"query {same['name']} is {same['told']} and was {query['told']}")
        elif same["means"] != query["means"]:
            changes.append(f"the functions of {same['told']} in query {same['name']} changed")
    for query in gone:
        twin = next(
            (each["name"] for each in new if (each["told"], each["means"]) == (query["told"], query["means"])), None
        )
        if twin is not None:
            changes.append(
                f"query {query['name']} ({query['told']}) is gone, and {twin} asks the same: to go on with it, say "
                f"was={query['name']!r}"
            )
    if not _follows(before, now):
        names, known = list(asked), [query["name"] for query in before["queries"]]
        if gone:
            changes.append(f"query {gone[0]['name']} ({gone[0]['told']}) is gone, {ONLY} let go of")
        elif not changes and names != known:
            begin = [query["name"] for query in now["queries"]][: len(known)]
            changes.append(f"the queries begin with {_list(begin)} and began with {_list(known)}, {ONLY} change")
        if new:
            changes.append(f"query {new[0]['name']} is new, {ONLY} take in later")
    if (new or gone) and before.get("slices") != now["slices"]:
        names = [query["name"] for query in new or gone]
        changes.append(f"{_list(names)} cut slices elsewhere, which spans that are in them cannot follow")
    return changes


def _is_over_others(query: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a query asks what it did of other windows."""
    calls = [each["told"].rpartition(" over ")[0] for each in (query, before)]
    return query["told"] != before["told"] and calls[0] == calls[1] and query["means"] == before["means"]


def _follows(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether state knows queries by what they are, not by their place."""
    return now["kind"] == "time" and not now["merging"] and not before.get("merging")


def _changes_of_partials(before: Mapping[str, Any], now: Mapping[str, Any], former: Mapping[str, str]) -> list[str]:
    """What of the partials, in words, does not let state go on; those of queries that are gone are of no use."""
    mine, formats = {each[0] for each in now["partials"]}, [PartialFormat(*each) for each in now["partials"]]
    if len(former) == len(before["queries"]):
        return differences(before["partials"], formats)
    theirs = {each[0] for each in before["partials"]}
    changes = differences([each for each in before["partials"] if each[0] in mine], formats)
    for query in now["queries"]:
        if query["name"] in former and not theirs.issuperset(query["partials"]):
            changes.append(
                f"partials of {query['told']} are made otherwise, by another version of Sash or of a function"
            )
    return changes


def refuse_other_shards(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with another number of shards: keys would be looked for elsewhere."""
    if before["shards"] != now["shards"]:
        raise SashError(
            f"the number of shards must stay what it was when the query first started, {before['shards']}, got "
            f"{now['shards']}: set sash.options.shards = {before['shards']} to go on; to have another number, let the "
            "query run out of open windows, and start it with a new checkpointLocation from there"
        )
    if before.get("hash", 1) != now["hash"]:
        raise SashError(
            f"the checkpoint has keys by hash {before.get('hash', 1)}, and this Sash by hash {now['hash']}; {ADVICE}"
        )


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
