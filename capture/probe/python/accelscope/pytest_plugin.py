"""A slice for each test of pytest, with its setup, call and teardown; and a fixture that collects a test.

`python -m accelscope -m pytest ...` brings it along; elsewhere it is `pytest -p accelscope.pytest_plugin`.
"""
import os

import pytest

import accelscope

WHOLE, SETUP, CALL, TEARDOWN = range(4)
PHASES = {"setup": SETUP, "call": CALL, "teardown": TEARDOWN}


class _Tests:
    """Tells the collector what pytest does; it is made for a run that a capture takes."""

    def __init__(self, collector):
        self._collector = collector
        self._ended = 0
        self._outcome = ""

    def _begin(self, phase, item):
        path, line, _ = item.location
        path = os.path.abspath(os.path.join(str(item.config.rootpath), path))
        self._collector.test_begins(phase, item.nodeid, path, (line or 0) + 1)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._outcome = "passed"
        self._begin(WHOLE, item)
        yield
        self._collector.test_ends(WHOLE, self._collector.now(), self._outcome)

    def _phase(self, phase, item):
        self._begin(phase, item)
        yield
        self._ended = self._collector.now()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        yield from self._phase(SETUP, item)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        yield from self._phase(CALL, item)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item):
        yield from self._phase(TEARDOWN, item)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        made = yield
        phase = PHASES.get(call.when)
        if phase is None or made.excinfo is not None:
            return
        report = made.get_result()
        outcome = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "xpassed" if outcome == "passed" else "xfailed"
        elif outcome == "failed" and phase != CALL:
            outcome = "error"
        if outcome != "passed" and self._outcome in ("passed", "xfailed", "xpassed"):
            self._outcome = outcome
        self._collector.test_ends(phase, self._ended, outcome)


def pytest_configure(config):
    names = [name for name in os.environ.get("PYTEST_PLUGINS", "").split(",") if name and name != __name__]
    if names:
        os.environ["PYTEST_PLUGINS"] = ",".join(names)
    else:
        os.environ.pop("PYTEST_PLUGINS", None)  # programs that tests start have their own
    if accelscope._collector().attached():
        config.pluginmanager.register(_Tests(accelscope._collector()), "accelscope-tests")


@pytest.fixture
def accelscope_profiler():
    """A Profiler that is enabled while the test runs; with -p only such tests are collected."""
    profiler = accelscope.Profiler()
    profiler.enable()
    yield profiler
    profiler.disable()
