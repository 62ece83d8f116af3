import os
import signal
from collections.abc import Callable, Mapping

import pytest

from symshift.models.training.trainer import Trainer

SETTINGS: Mapping[str, Mapping[str, str]] = {
    "interchangeable": {"symbol_dim": "6"},
    "forgetting": {"every": "4"},
}


@pytest.fixture
def settings_of(tiny_settings: dict[str, str]) -> Callable[..., dict[str, str]]:
    """Return the texts of settings that a method trains with in a second."""

    def settings(method: str, **changes: str) -> dict[str, str]:
        return {**tiny_settings, **SETTINGS.get(method, {}), **changes}

    return settings


@pytest.fixture
def stopping_after() -> Callable[..., type[Trainer]]:
    """Return what makes a trainer that gets a signal in the middle of a step."""

    def build(step: int, number: signal.Signals = signal.SIGTERM) -> type[Trainer]:
        class Stopping(Trainer):
            def step(self) -> None:
                if self.step_done + 1 == step:
                    os.kill(os.getpid(), number)
                super().step()

        return Stopping

    return build
