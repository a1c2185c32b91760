"""Stored responses of OpenAI's protocol: ``previous_response_id`` and ``store``, for any model.

A row has the items that a request added, and its response. A request that continues one is read with the items of all
before it, so a stored conversation can move between accounts and vendors.
"""

import time
from typing import Any

import msgspec
from msgspec import Raw

from ..errors import InvalidRequestError
from ..render import AnswerSettings, write_answer, write_error
from ..transport import Body
from ..types import AssistantMessage
from .clients import RESPONSES
from .recall import KEEP
from .store import Store, StoredResponse

LONGEST = 1_000
"""Responses that a request may continue, one after the other."""
_UNSUPPORTED = {"background": (None, False), "conversation": (None,)}
"""Fields that are refused, with the values that say nothing."""


class Refused(Exception):
    """A request that is refused in OpenAI's words."""

    def __init__(self, status: int, text: str, code: str, param: str) -> None:
        super().__init__(text)
        body: dict[str, Any] = write_error(InvalidRequestError(text), RESPONSES, status).body
        body["error"] |= {"code": code, "param": param}
        self.status, self.body = status, body


class StoredResponses:
    """The responses of all tenants."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def expanded(self, body: Body, tenant: str) -> tuple[Body, str]:
        """The body with the items that it continues, and the id of the response before it."""
        for name, harmless in _UNSUPPORTED.items():
            if body.value(name) not in harmless:
                raise Refused(
                    400, f"Unsupported parameter: '{name}' is not supported here.", "unsupported_parameter", name
                )
        parent = body.value("previous_response_id")
        fields: dict[str, Any] = dict(body.fields)
        fields.pop("previous_response_id", None)
        if body.value("store") is True:
            del fields["store"]
        if parent is None:
            return (body if len(fields) == len(body.fields) else Body(msgspec.json.encode(fields))), ""
        if not isinstance(parent, str):
            raise Refused(400, "Invalid type for 'previous_response_id'.", "invalid_type", "previous_response_id")
        fields["input"] = [*await self._history(parent, tenant), *new_items(body)]
        return Body(msgspec.json.encode(fields)), parent

    async def _history(self, response_id: str, tenant: str) -> list[Any]:
        """The items of a response and of all before it."""
        found: list[list[Any]] = []
        following = response_id
        while following and len(found) < LONGEST:
            row = await self._find(tenant, following)
            if row is None:
                text = f"Previous response with id '{response_id}' not found."
                raise Refused(400, text, "previous_response_not_found", "previous_response_id")
            output = msgspec.json.decode(row.body)["output"]
            found.append([*msgspec.json.decode(row.input, type=list[Raw]), *output])
            following = row.parent
        return [item for items in reversed(found) for item in items]

    async def _find(self, tenant: str, response_id: str) -> StoredResponse | None:
        """The response of an id. Databases refuse some characters, which no id has."""
        return await self._store.response(tenant, response_id) if response_id.isprintable() else None

    async def keep(
        self, body: Body, parent: str, tenant: str, message: AssistantMessage, settings: AnswerSettings
    ) -> None:
        """Keep a response, unless the request says otherwise."""
        if body.value("store") is False:
            return
        written = write_answer(message, RESPONSES, settings)
        response = StoredResponse(
            written.body["id"], parent, settings.model or "", msgspec.json.encode(new_items(body)), written.json()
        )
        await self._store.add_response(tenant, response, int(time.time()) + KEEP)

    async def get(self, response_id: str, tenant: str) -> bytes:
        """The body of a response."""
        row = await self._find(tenant, response_id)
        if row is None:
            raise Refused(404, f"Response with id '{response_id}' not found.", "response_not_found", "response_id")
        return row.body

    async def delete(self, response_id: str, tenant: str) -> bytes:
        """Delete a response, and return what OpenAI answers."""
        await self.get(response_id, tenant)
        await self._store.delete_response(tenant, response_id)
        return msgspec.json.encode({"id": response_id, "object": "response", "deleted": True})


def new_items(body: Body) -> list[Any]:
    """The items of a request itself."""
    value = body.value("input")
    if isinstance(value, str):
        return [{"type": "message", "role": "user", "content": value}]
    return msgspec.json.decode(body.fields["input"], type=list[Raw]) if isinstance(value, list) else []
