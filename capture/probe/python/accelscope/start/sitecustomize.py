"""Starts the profile of a program that knows nothing of it: the kind of capture `python` puts this folder onto PYTHONPATH.

Then makes way for the sitecustomize that the program would have without. Python 2 may read this as well.
"""
import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))


def _start():
    if sys.version_info < (3, 9) or sys.implementation.name != "cpython":
        return
    if hasattr(sys, "orig_argv"):
        words = sys.orig_argv
    else:
        with open("/proc/self/cmdline", errors="surrogateescape") as file:
            words = file.read().split("\0")
    sys.path.insert(0, os.path.dirname(os.path.dirname(_folder)))
    try:
        import accelscope
        if not any(words[i:i + 2] == ["-m", "accelscope"] for i in range(len(words))):  # that starts it anew
            accelscope._start()
    except Exception:  # the program runs on without a profile, which the capture tells
        pass
    finally:
        del sys.path[0]


_start()
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _folder]
sys.modules.pop("sitecustomize", None)
del os, _folder, _start
import sitecustomize  # its own ImportError, if there is none, is what site expects
