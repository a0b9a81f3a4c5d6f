"""Queries that take each row by itself, so that rows may come in any portions: columns and conditions of one table."""

from __future__ import annotations

PARTS = {"expressions", "from_", "where"}  # of a select


def rows_of(text: str) -> str | None:
    """The table whose rows a query takes one by one, or None where it is another query, or is not known to be one.

    >>> rows_of("select k, n + 1 as m from boards where n > 3"), rows_of("select max(n) from boards")
    ('boards', None)
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(text, read="spark")
    except (SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Select) or {name for name, part in tree.args.items() if part} - PARTS:
        return None
    source = tree.args.get("from_")
    table = source.this if source is not None else None
    if not isinstance(table, exp.Table) or {name for name, part in table.args.items() if part} - {"this", "alias"}:
        return None
    others = (exp.AggFunc, exp.Window, exp.Query, exp.SubqueryPredicate, exp.Anonymous, exp.Parameter, exp.Placeholder)
    if any(isinstance(node, others) for node in tree.walk() if node is not tree):
        return None
    return str(table.name)
