from collections.abc import Iterator

import hypothesis
import pytest
import spot_presence
from spot_presence import do_without, reason_without_spot

# A busy machine is no fault of the code: no test fails for the time that it takes.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("spot") and (reason := reason_without_spot()):
        do_without(reason)


@pytest.fixture(scope="session")
def need():
    """Return what gives what another function finds, or does without it."""
    return spot_presence.need


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests, and the commands that they run, out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYMSHIFT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
