"""The board of queries over one stream: what a user adds queries to, and asks for results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

import pyarrow as pa

from sash.engine.streams.emitting import EMITS
from sash.engine.streams.operator import Operator
from sash.engine.streams.queries import Query, Settings
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.settings import check, queries_of, slicer_of
from sash.engine.streams.slice_partials import PARTIALS
from sash.engine.streams.sources import Source
from sash.engine.streams.warm_start import begin_with, check_history
from sash.errors import SashError
from sash.planner.in_words import preformatted
from sash.planner.stream_plan import StreamPlan
from sash.watching.samples import Wanted
from sash.watching.sight import Sight
from sash.watching.watch import BoardWatch


@dataclass(frozen=True, eq=False)
class Board:
    """Queries over one stream; ``query`` gives a board with one more."""

    _source: Source
    _settings: Settings
    _queries: tuple[Query, ...] = ()
    _before: Scheme | None = None  # that of the board without its last queries
    _history: tuple[Any, ...] = ()  # partials that the stream goes on with
    _sampled: bool = False  # whether a stream's batches tell some answers, for a page

    def __post_init__(self) -> None:
        if self._scheme.queries:  # whatever is wrong is said now
            check(self._scheme)
            check_history(self._scheme, self._history)

    def query(
        self,
        name: str | Mapping[str, Any],
        aggregate: Any = None,
        *,
        range: Any,
        slide: Any = None,
        using: str | None = None,
        was: str | Mapping[str, str] | None = None,
    ) -> Board:
        """The board with a query more, or with several over the same windows.

        Args:
            name: the name of its column, or names and aggregates: ``{"peak": sf.max("load"), …}``.
            aggregate: what is computed, such as ``sf.max("load")``.
            range: how long a window is: an interval by time, a number of rows, ``sash.session``,
                ``sash.cumulate``, ``sash.delta`` or ``sash.punctuation``.
            slide: how far apart windows are, of the same kind; without one they tumble.
            using: the name of the algorithm that folds windows, for the curious.
            was: the name that it had before, where a checkpoint of Spark knows it by that; names by names of several.

        """
        taken = {*self._settings.own_columns, *self._scheme.key_names, *map(attrgetter("name"), self._queries)}
        more = queries_of(name, aggregate, range, slide, using, taken, self._settings.time, was)
        return replace(self, _queries=(*self._queries, *more), _before=self._scheme)

    def results(
        self, emit: str = "final", starts: bool = False, late: bool = False, fill: bool | Literal["previous"] = False
    ) -> Any:
        """The answers: one row for each key and edge, a column for each query, NULL where it is not due.

        Args:
            emit: ``"final"``: each window once, when it has ended; ``"changes"``: only answers that differ from
                the key's last; ``"updates"``: early answers, too, each time that of an open window changes.
            starts: add the start of each query's window.
            late: add rows for what was set aside, with the reason, in a column ``late``.
            fill: add rows for windows without events, between the first and the last of a key that hold one:
                ``True``: with the answers that there are to no rows, 0 for counts, NULL for most; ``"previous"``:
                such windows repeat the last answer of their query.

        """
        _check_flags(starts=starts, late=late)
        _check_emit(emit)
        self._check_queries()
        return self._source.results(self, emit, starts, late, fill)

    def partials(self) -> Any:
        """The partials of slices, to be kept: one row for each key and slice that held a row.

        The columns are the key's, ``slice_start``, ``slice_end``, and one for each partial, of plain types; holistic
        queries have lists of values. ``answer`` answers any collection of such frames.

        >>> import pyarrow as pa
        >>> from datetime import datetime
        >>> from sash import functions as sf
        >>> from sash.streams import stream
        >>> loads = pa.table({"ts": [datetime(2026, 1, 1, 0, m) for m in (0, 1, 3)], "load": [5, 9, 7]})
        >>> board = stream(loads, time="ts").query("peak", sf.max("load"), range="2 minutes", slide="1 minute")
        >>> board.answer(board.partials()).equals(board.results())
        True
        """
        self._check_queries()
        return self._source.results(self, PARTIALS, False, False)

    def answer(
        self, partials: Any, emit: str = "final", starts: bool = False, fill: bool | Literal["previous"] = False
    ) -> Any:
        """The results, from partials in the place of rows; a frame of the kind that they are.

        Args:
            partials: what ``partials`` of this board gave, or of another with the same functions and windows no finer:
                a frame, or several, such as a day's each. They may be of the same slices, but not of the same rows.
                A board of a Spark DataFrame takes those of Spark, too, and gives one.
            emit: as for ``results``.
            starts: as for ``results``.
            fill: as for ``results``.

        """
        _check_flags(starts=starts)
        _check_emit(emit)
        self._check_queries()
        return self._source.answered(self, partials, self._cold(emit, starts, fill))

    def late(self) -> Any:
        """What came too late, or has no place in any window, with the reason.

        Of an iterator, as far as its results have been read.
        """
        return self._source.late(self)

    def explain(self) -> StreamPlan:
        """The shared plan: slices, edges, who shares what, which algorithm folds each query, and why."""
        self._check_queries()
        return self._source.explain(self)

    def watch(self, query: Any = None, *, port: int = 0) -> BoardWatch:
        """Run the board to look at it: a page on this machine with its answers, watermark, late rows, state and plan.

        The page is on 127.0.0.1 alone, can change nothing, and is found by whoever knows the address, which has a
        token in it. Answers go to the page and nowhere else; ``results`` gives them to a program. It needs the package
        bokeh: ``pip install 'sash[watch]'``.

        Args:
            query: a streaming query of Spark that writes results of this board: the page then follows that one, by what
                Spark tells of its batches, which is all but the answers. Without one, the board is run for the page.
            port: where to listen; 0 takes any port that is free.

        Returns:
            The page: ``address``, ``state``, ``wait`` for the end of the board, and ``stop``, which is also what the
            end of a ``with`` block does.

        >>> import pyarrow as pa
        >>> from datetime import datetime
        >>> from sash import functions as sf
        >>> from sash.streams import stream
        >>> loads = pa.table({"ts": [datetime(2026, 1, 1, 0, m) for m in (0, 1, 3)], "load": [5, 9, 7]})
        >>> board = stream(loads, time="ts").query("peak", sf.max("load"), range="2 minutes")
        >>> with board.watch() as page:
        ...     page.address.startswith("http://127.0.0.1:"), page.wait(60), page.state
        (True, True, 'ended')

        """
        self._check_queries()
        sight = self._sight("board")
        return BoardWatch(sight, lambda: self._source.watched(self, sight, query), port)

    def _seen(self) -> Board:
        """The board, of whose answers a stream's batches tell some."""
        return replace(self, _sampled=True)

    def _sight(self, name: str) -> Sight:
        """What a page shows of the board."""
        wanted = Wanted(tuple(self._scheme.key_names), tuple(each.name for each in self._queries))
        return Sight(name, self.explain(), wanted, pa.types.is_temporal(self._scheme.end_type))

    def open(self, emit: str = "final", starts: bool = False, fill: bool | Literal["previous"] = False) -> Operator:
        """An operator to push batches through by hand; the arguments are those of ``results``.

        >>> import pyarrow as pa
        >>> from sash import functions as sf
        >>> from sash.streams import stream
        >>> board = stream(pa.schema({"load": pa.int64()})).query("peak", sf.max("load"), range=2, slide=1)
        >>> operator = board.open()
        >>> operator.push(pa.table({"load": [3, 9, 4]})).to_pylist()[-1]
        {'window_end': 3, 'peak': 9}
        """
        _check_flags(starts=starts)
        _check_emit(emit)
        self._check_queries()
        return self._opened(emit, starts, fill)

    def _opened(self, emit: str, starts: bool = False, fill: bool | Literal["previous"] = False) -> Operator:
        operator = self._cold(emit, starts, fill)
        if self._history:
            begin_with(operator, self._history)
        return operator

    def _cold(self, emit: str, starts: bool = False, fill: bool | Literal["previous"] = False) -> Operator:
        """An operator that knows of no history."""
        return Operator(self._scheme, self._slicer, emit=emit, starts=starts, fill=fill)

    @cached_property
    def _scheme(self) -> Scheme:
        return self._source.scheme(self._settings, self._queries, self._before)

    @property
    def _slicer(self) -> str:
        return slicer_of(self._scheme)

    def _check_queries(self) -> None:
        if not self._queries:
            raise SashError('the board has no query; add one: board.query("peak", sf.max("load"), range="15 minutes")')

    def __repr__(self) -> str:
        queries = "".join(f"\n  {query.name} = {query.call}, {query.extent}" for query in self._queries)
        return f"<board of {len(self._queries)} quer{'y' if len(self._queries) == 1 else 'ies'}>{queries}"

    def _repr_html_(self) -> str:
        return preformatted(repr(self))


def _check_emit(emit: str) -> None:
    """Refuse a way of giving answers that there is not, and the one that ``partials`` alone has."""
    if emit not in EMITS:
        raise SashError(f"emit must be one of {', '.join(EMITS)}, got {emit!r}")


def _check_flags(**flags: Any) -> None:
    """Refuse what is neither True nor False: "no" would be taken for yes."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise SashError(f"{name} must be True or False, got {value!r}")
