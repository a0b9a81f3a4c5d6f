"""Sketches."""

from __future__ import annotations

from sash.algebra.catalogue.declaring import Table

AGGREGATES: Table = {}
