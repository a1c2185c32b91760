"""For people who keep their SDK: an HTTP client that repairs and heals the requests which pass through it.

``client()`` and ``async_client()`` go into the SDK of OpenAI, Anthropic, Mistral or Google; ``repair_bedrock``
registers hooks with a client of boto3; ``patch()`` is for debugging.
"""

from collections.abc import Mapping
from typing import Any, Unpack

from . import boto
from .conversations import FRAMES as FRAMES, Body as Body, begins_answer as begins_answer, read_body as read_body
from .http import library, make_client
from .ledger import ledger_file
from .patch import Patch
from .repair import OnChanges as OnChanges, Repaired, Repairer, Repairs, Trust as Trust

__all__ = ["Patch", "Repaired", "async_client", "client", "ledger_file", "patch", "repair_bedrock"]


def client(*, httpx: bool = False, http: Mapping[str, Any] | None = None, **repairs: Unpack[Repairs]) -> Any:
    """Make an ``httpx2.Client`` whose requests to models are repaired, for the ``http_client`` of an SDK.

    ``repairs`` are described at ``Repairs``. With ``httpx=True`` it is an ``httpx.Client``, for older SDKs. ``http``
    are settings of that client, such as ``verify``.
    """
    return make_client(Repairer(**repairs), library(httpx), is_async=False, settings=dict(http or {}))


def async_client(*, httpx: bool = False, http: Mapping[str, Any] | None = None, **repairs: Unpack[Repairs]) -> Any:
    """Make an ``httpx2.AsyncClient`` whose requests to models are repaired. The arguments are those of ``client``."""
    return make_client(Repairer(**repairs), library(httpx), is_async=True, settings=dict(http or {}))


def patch(**repairs: Unpack[Repairs]) -> Patch:
    """Repair the requests of every HTTP client in this process, until ``undo()`` or the end of a ``with`` statement.

    For debugging. Requests of segue's own client are left alone. The arguments are those of ``client``.
    """
    return Patch(Repairer(**repairs))


def repair_bedrock(client: Any, **repairs: Unpack[Repairs]) -> None:
    """Repair what ``converse`` and ``converse_stream`` of a boto3 client send. Signed requests do not heal."""
    boto.register(client, Repairer(**repairs))
