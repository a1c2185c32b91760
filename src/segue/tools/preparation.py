"""What happens to a call before it runs: its arguments are checked, and the user is asked where that is required."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never

import msgspec

from ..errors import SettingError
from ..types import ToolCall
from ..types.text import copy_json
from . import call_texts
from .approval import Allow, AllowAlways, ApprovalRequest, Deny, Edit
from .arguments import InvalidArguments
from .ask_approval import NoAnswer, ask_approval
from .batch_call import BatchCall
from .states import State
from .tool import Tool

if TYPE_CHECKING:
    from .scheduler import Scheduler


class Preparation:
    """Prepares the calls of a batch. ``closing`` is done when the scheduler is closed."""

    def __init__(
        self, scheduler: "Scheduler", closing: "asyncio.Future[None]", emit: Callable[[BatchCall, State], None]
    ) -> None:
        self._scheduler, self._closing, self._emit = scheduler, closing, emit

    def check(self, item: BatchCall) -> None:
        """Find the tool of a call and check the arguments; fail the call if that is not possible."""
        self._emit(item, "validating")
        item.tool = self._scheduler.tools.get(item.call.name)
        if item.tool is None:
            item.fail(call_texts.unknown_tool(item.call.name, list(self._scheduler.tools)))
            return
        try:
            item.arguments = self._scheduler.checker(item.tool).check(item.call.arguments)
        except InvalidArguments as error:
            item.fail(call_texts.TRY_AGAIN.format(call_texts.INVALID_ARGUMENTS.format(error)))
        except SettingError as error:  # a tool that was added later, with an invalid schema
            item.fail(call_texts.NOT_RUN.format(error))

    async def approve(self, item: BatchCall) -> None:
        """Ask the user if the tool needs approval; then the call is scheduled or ended."""
        assert item.tool is not None
        must_ask = item.tool.approval and item.tool.name not in self._scheduler.always
        refusal = await self._ask(item, item.tool) if must_ask and not self.is_closed(item) else None
        if refusal is not None:
            item.fail(refusal)
        elif item.final is None:
            self._emit(item, "scheduled")

    def is_closed(self, item: BatchCall) -> bool:
        """Whether the scheduler is closed. If it is, the call is cancelled."""
        if self._scheduler.closed:
            item.cancel(call_texts.CLOSED)
        return self._scheduler.closed

    async def _ask(self, item: BatchCall, tool: Tool) -> str | None:
        """Ask the user. Returns the text for the model if the call must not run."""
        assert item.arguments is not None
        self._emit(item, "awaiting approval")
        if self._scheduler.approve is None:
            return call_texts.NOT_RUN.format(call_texts.NO_APPROVE)
        call = ToolCall(item.call.id, item.call.name, copy_json(item.arguments.json), item.call.thought_signature)
        request = ApprovalRequest(call, tool)
        try:
            answer = await ask_approval(self._scheduler.approve, request, self._closing, self._scheduler.limits.grace)
        except NoAnswer as error:
            return call_texts.NOT_RUN.format(call_texts.NO_ANSWER.format(error))
        match answer:
            case Allow():
                return None
            case AllowAlways():
                self._scheduler.always.add(tool.name)
                return None
            case Deny():
                return call_texts.denied(answer.reason)
            case Edit():
                return self._use_edited(item, tool, answer)
            case _:
                assert_never(answer)

    def _use_edited(self, item: BatchCall, tool: Tool, edit: Edit) -> str | None:
        try:
            item.arguments = self._scheduler.checker(tool).check(edit.arguments)
        except InvalidArguments as error:
            return call_texts.NOT_RUN.format(call_texts.INVALID_EDIT.format(error))
        item.note = call_texts.EDITED.format(msgspec.json.encode(item.arguments.json).decode())
        return None
