"""The same shards on Ray: a run survives a killed worker process and a killed node, and gives the same rows.

Ray is large, so it is not among the requirements for tests: these tests run where it is installed.
"""

import os
import random
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.corpora import IS_LARGE, TARGETS, write
from support.slow_work import Slow

import segue
from segue.bulk import Settings, on_ray, on_this_machine, run
from segue.bulk.inputs import Shard
from segue.bulk.shards import Done

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'segue[ray]'")
cluster_utils = pytest.importorskip("ray.cluster_utils")

COUNT = 20_000 if IS_LARGE else 400
SHARD_BYTES = 100_000 if IS_LARGE else 10_000
# Ray leaves sockets and files to the end of the process, and warns about defaults that will change.
pytestmark = pytest.mark.filterwarnings("ignore")


def files(out: Path) -> dict[str, bytes]:
    found = [file for file in sorted(out.rglob("*")) if file.is_file() and file.name != "manifest.json"]
    return {str(file.relative_to(out)): file.read_bytes() for file in found}


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two nodes on this machine."""
    nodes = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.add_node(num_cpus=1)
    here = str(Path(__file__).parents[1])
    ray.init(
        address=nodes.address,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": f"{here}:{os.environ.get('PYTHONPATH', '')}"}},
    )
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.mark.parametrize("victim", ["worker", "node"])
def test_what_is_killed_on_ray_is_done_again(victim: str, cluster: Any, tmp_path: Path) -> None:
    path, waiting = write(tmp_path / "corpus.jsonl", COUNT), tmp_path / "waiting"
    waiting.mkdir()
    settings = Settings(command="convert", model=segue.get_model(TARGETS[1]))
    run(settings, [str(path)], str(tmp_path / "once"), engine=on_this_machine(1), shard_bytes=SHARD_BYTES)

    def engine(work: Callable[[Shard], Done], shards: Iterable[Shard]) -> Iterator[Done]:
        from threading import Thread

        from support.waiting import until

        def kill() -> None:
            until(lambda: len(list(waiting.glob("*.pid"))) >= 2)  # both nodes work
            if victim == "node":
                cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)
            else:
                workers = sorted(int(file.stem) for file in waiting.glob("*.pid"))
                os.kill(random.Random(3).choice(workers), signal.SIGKILL)
            (waiting / "go").touch()

        killer = Thread(target=kill)
        killer.start()
        yield from on_ray()(Slow(work, waiting), shards)
        killer.join()

    run(settings, [str(path)], str(tmp_path / "out"), engine=engine, shard_bytes=SHARD_BYTES)
    assert files(tmp_path / "out") == files(tmp_path / "once")


def test_a_batch_function_works_in_ray_data(cluster: Any) -> None:
    import ray.data

    rows = [{"id": at, "messages": [{"role": "user", "content": f"hello {at}"}]} for at in range(20)]
    done = ray.data.from_items(rows).map_batches(segue.bulk.lint_batch, batch_size=5).take_all()
    assert sorted(row["id"] for row in done) == list(range(20))
    assert all(len(row["segue_findings"]) == 0 and row["segue_rejected"] is None for row in done)
