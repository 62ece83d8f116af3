import pytest
import spot_presence
from spot_presence import do_without, is_due, need

from symshift.data.errors import MissingToolError

LINUX = {
    "sys_platform": "linux",
    "platform_machine": "x86_64",
    "implementation_name": "cpython",
    "python_version": "3.12",
}


def nothing():
    raise MissingToolError("no Spot")


def test_a_missing_spot_fails_where_it_is_installed_along(monkeypatch):
    monkeypatch.setattr(spot_presence, "is_due", lambda: True)
    with pytest.raises(pytest.fail.Exception, match="has to be here: no Spot"):
        need(nothing)


def test_a_missing_spot_skips_with_the_reason_elsewhere(monkeypatch):
    monkeypatch.setattr(spot_presence, "is_due", lambda: False)
    with pytest.raises(pytest.skip.Exception, match="no Spot"):
        do_without("no Spot")


@pytest.mark.parametrize(
    ("difference", "due"),
    [
        ({}, True),
        ({"platform_machine": "aarch64"}, True),
        ({"python_version": "3.14"}, True),
        ({"python_version": "3.15"}, False),
        ({"sys_platform": "win32", "platform_machine": "AMD64"}, False),
        ({"sys_platform": "darwin", "platform_machine": "arm64"}, False),
        ({"implementation_name": "pypy"}, False),
    ],
)
def test_spot_is_due_where_the_requirements_say_so(difference, due):
    assert is_due({**LINUX, **difference}) is due


def test_a_marked_test_asks_for_spot(pytestconfig, monkeypatch, request):
    conftest = next(
        plugin
        for plugin in pytestconfig.pluginmanager.get_plugins()
        if getattr(plugin, "reason_without_spot", None)
    )
    monkeypatch.setattr(conftest, "reason_without_spot", lambda: "no Spot")
    monkeypatch.setattr(spot_presence, "is_due", lambda: True)
    conftest.pytest_runtest_setup(request.node)
    request.node.add_marker(pytest.mark.spot)
    with pytest.raises(pytest.fail.Exception):
        conftest.pytest_runtest_setup(request.node)
