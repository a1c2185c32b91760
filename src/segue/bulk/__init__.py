"""Corpora: many conversations in JSONL and Parquet files, checked, converted or measured on all cores.

``lint_batch``, ``convert_batch`` and ``stats_batch`` are pure functions on a batch of rows. ``run`` works on whole
files, as `segue bulk` does.
"""

from .batches import convert_batch, lint_batch, stats_batch
from .cores import count_cores as count_cores, on_all_cores as on_all_cores
from .lines import Block as Block, Part as Part, blocks_of as blocks_of, parts_of as parts_of
from .on_ray import on_ray
from .report import Line as Line, Report
from .run import Engine as Engine, Progress as Progress, on_this_machine, run
from .work import Command as Command, Settings

__all__ = ["Report", "Settings", "convert_batch", "lint_batch", "on_ray", "on_this_machine", "run", "stats_batch"]
