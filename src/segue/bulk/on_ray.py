"""Shards on Ray: a cluster that exists, or one that is started on this machine.

Every task writes its shard under a temporary name and renames it, as on one machine, so Ray may run a task again on
another node. All nodes must see the input and the output directory under the same names.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from ..errors import SettingError

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2
"""Tasks per core of the cluster that are submitted at a time."""
RETRIES = 20
"""How often a task is started again after its process or node has ended."""


def on_ray(address: str | None = None) -> Callable[[Callable[[T], R], Iterable[T]], Iterator[R]]:
    """Shards run as tasks of the Ray cluster at ``address``. Without an address, Ray uses the cluster that this process
    is connected to, the one that ``RAY_ADDRESS`` names, or starts one on this machine."""
    return partial(_run, address)


def _run(address: str | None, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
    ray = _connected(address)
    remote = ray.remote(max_retries=RETRIES)(_call)
    shared = ray.put(work)
    window = max(int(ray.cluster_resources().get("CPU", 1)), 1) * AHEAD
    waiting: list[Any] = []
    for task in tasks:
        waiting.append(remote.remote(shared, task))
        if len(waiting) >= window:
            yield _next(ray, waiting)
    while waiting:
        yield _next(ray, waiting)


def _call(work: Callable[[T], R], task: T) -> R:
    return work(task)


def _next(ray: Any, waiting: list[Any]) -> Any:
    [ready], _ = ray.wait(waiting, num_returns=1)
    waiting.remove(ready)
    return ray.get(ready)


def _connected(address: str | None) -> Any:
    try:
        import ray
    except ImportError:
        raise SettingError("Ray is not installed: pip install 'segue[ray]'") from None
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False)
        except ConnectionError as error:
            raise SettingError(f"the Ray cluster does not answer: {error}") from None
    return ray
