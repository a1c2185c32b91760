"""A clock in the settings may return anything."""

import math

import pytest
from support.providers import MODELS
from support.sessions import Providers, run

from segue import Session, SettingError, Settings
from segue.session import Store

ODD = [math.nan, math.inf, -math.inf, 1e300]


@pytest.mark.parametrize("odd", ODD)
def test_a_clock_without_a_valid_time_is_a_setting_error(providers: Providers, store: Store, odd: float) -> None:
    with pytest.raises(SettingError, match=r"the clock of session .* returned"):
        Session.create(MODELS["mistral-chat"], store=store, settings=Settings(clock=lambda: odd))
    assert store.sessions() == []


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("good", range(1, 8))
def test_a_clock_that_fails_during_a_turn_is_a_setting_error_and_the_session_can_continue(
    providers: Providers, store: Store, odd: float, good: int
) -> None:
    """After any number of valid times."""
    times = iter([1.7e9] * good)
    session = providers.session(MODELS["mistral-chat"], store)
    session.log.clock = lambda: next(times, odd)
    with pytest.raises(SettingError, match="it must return seconds since 1970"):
        run(_asked_often(session))
    session.log.clock = lambda: 1.7e9
    assert run(_asked(session)) == "stop"


async def _asked_often(session: Session) -> None:
    for _ in range(8):
        await session.ask("Weather?")


async def _asked(session: Session) -> str:
    return (await session.ask("Weather?")).stop_reason
