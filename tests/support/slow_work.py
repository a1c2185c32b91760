"""Work on shards that other processes must be able to import."""

import os
from collections.abc import Callable
from pathlib import Path

from segue.bulk.inputs import Shard
from segue.bulk.shards import Done
from support.waiting import until


class Slow:
    """Work that ends only when it may: it notes its process, and waits for a file."""

    def __init__(self, work: Callable[[Shard], Done], folder: Path) -> None:
        self.work, self.folder = work, folder

    def __call__(self, shard: Shard) -> Done:
        (self.folder / f"{os.getpid()}.pid").touch()
        until((self.folder / "go").exists)
        return self.work(shard)
