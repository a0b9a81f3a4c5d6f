"""Pipelines in TOML files: sources, steps and sinks, run as a batch or as a stream.

``load`` reads and checks a file, ``build`` plans it on a session, ``run`` runs it. Everything here but the model is
plain Python over the rooms below; Spark's readers and writers are in ``sash.spark``.
"""

from __future__ import annotations

from sash.pipelines.building import build
from sash.pipelines.loading import Loaded, PipelineError, load
from sash.pipelines.model import schema
from sash.pipelines.reporting import Progress, Reporter, Summary, Written
from sash.pipelines.running import Failed, run
from sash.spark.flowing import SHOWN

__all__ = ["SHOWN", "Failed", "Loaded", "PipelineError", "Progress", "Reporter", "Summary", "Written",
           "build", "load", "run", "schema"]  # fmt: skip
