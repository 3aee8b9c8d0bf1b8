"""Accelscope's collector for Python: functions, lines and tests of a program on the timeline of a capture.

    python -m accelscope script.py                 profile a script into script.accel
    python -m accelscope -p -l -m package.module   only enabled parts, line by line
    python -m accelscope -m pytest tests           a slice for each test

    from accelscope import Profiler, signpost, append_meta_data

    with Profiler():                # with -p only what runs in here is collected
        step()
    signpost("epoch", "3 of 10")    # a mark on the timeline

Without a capture all of this does nothing.
"""
import functools as _functools
import os as _os
import threading as _threading

__all__ = ["Profiler", "signpost", "append_meta_data", "collecting"]

_lock = _threading.Lock()
_module = None
_watches_collections = False


def _collector():
    """The extension, connected at the first use."""
    global _module
    if _module is None:
        with _lock:
            if _module is None:
                from . import _accelscope
                _accelscope.set_up(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), ""))
                if _accelscope.attached():
                    import atexit
                    atexit.register(_accelscope.finish)
                    folder = _accelscope.setting("torch-memory")
                    if folder:
                        from . import torch_memory
                        torch_memory.watch(_accelscope, folder)
                _module = _accelscope
    return _module


def _watch_collections():
    global _watches_collections
    collector = _collector()
    if not _watches_collections and collector.attached() and collector.wants_collections():
        import gc
        gc.callbacks.append(collector.collection)
        _watches_collections = True


def _start():
    """Collect everything from the first statement of __main__ on, if a capture asks for it."""
    collector = _collector()
    if collector.attached():
        collector.start()
        _watch_collections()


def collecting():
    """Whether a capture takes what this process tells now."""
    return _collector().collecting()


class Profiler:
    """What runs between enable() and disable() is collected; all threads, and pairs may nest.

    Also `with Profiler(): ...` and, on a function or a coroutine, `@Profiler()`. Where everything is collected anyway
    it changes nothing.
    """

    def enable(self):
        _watch_collections()
        _collector().enter_region()

    def disable(self):
        _collector().leave_region()

    def __enter__(self):
        self.enable()
        return self

    def __exit__(self, *exception):
        self.disable()

    def __call__(self, function):
        import inspect
        if inspect.iscoroutinefunction(function):
            @_functools.wraps(function)
            async def collected(*arguments, **keywords):
                with self:
                    return await function(*arguments, **keywords)
        else:
            @_functools.wraps(function)
            def collected(*arguments, **keywords):
                with self:
                    return function(*arguments, **keywords)
        return collected


def signpost(header, message=None):
    """Mark this moment on the timeline."""
    _collector().signpost(header, message)


def append_meta_data(info=None, /, **facts):
    """Add a text to the call that is running here; named facts go to the session instead.

    append_meta_data("batch 7")      shows with this function's slice
    append_meta_data(model="bert")   is a fact of the session: python.model
    """
    collector = _collector()
    if info is not None:
        collector.annotate(info)
    for name, value in facts.items():
        collector.meta(name, value)
