"""PyTorch's memory of a program while it runs, for a capture that asks for it (--torch-memory).

PyTorch's allocator is told to record who asks it for what once CUDA is there. Its snapshot is taken every second, and
what is new of it is written as a file, "PROCESS.NUMBER.pickle", that the capture reads and removes: the segments as
they are, and the entries of each device's trace that the snapshot before did not have. Under "accelscope" stand
`gaps`, the devices whose trace does not go on where that one ended, `interval_ms`, and `last`. The last one comes when
the program or the capture ends. Without PyTorch nothing happens; what fails leaves the program as it is.
"""
import _thread
import array
import atexit
import bisect
import importlib.util
import os
import pickle
import sys
import time

MOST_ENTRIES = 1000000  # of the trace of each device
LOOK = 0.1  # s, between looks at the capture
PERIOD = 1.0  # s, between snapshots
SHARE = 0.05  # of the program's time that snapshots may take
CLOCK_SLACK = 1000  # us, by which two snapshots differ in when something happened
MOST_WAITING = 60  # entries that are nothing but earlier snapshots


class _Import:
    """Finds torch as it would be found without, and calls `imported` when it is there."""

    def __init__(self, imported):
        self._imported = imported

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_then_report(module):
                execute(module)
                self._imported(module)

            spec.loader.exec_module = execute_then_report
        return spec


class _Trace:
    """The entries of a device as they are told from one another, and when they happened."""

    def __init__(self, entries):
        self.keys = array.array("q", [hash((entry.get("action"), entry.get("addr"), entry.get("size"),
                                            entry.get("stream"))) for entry in entries])
        self.times = array.array("q", [entry.get("time_us", 0) for entry in entries])

    def begins_with(self, old):
        """How many of the first entries `old` ends with, 0 if it has lost some: a trace that is full loses its begin.

        Every snapshot turns the allocator's ticks into times anew, so that those of one entry differ by a few us. A
        program that does the same again and again is told by them all the same: the nearest match counts.
        """
        last, key = old.times[-1], old.keys[-1]
        window = range(bisect.bisect_left(self.times, last - CLOCK_SLACK),
                       bisect.bisect_right(self.times, last + CLOCK_SLACK))
        near = sorted((abs(self.times[at] - last), at + 1) for at in window if self.keys[at] == key)
        for _, end in near:
            if end <= len(old.keys) and self.keys[:end] == old.keys[-end:]:
                return end
        return 0


class _Snapshots:
    def __init__(self, collector, folder):
        self._collector = collector
        self._folder = folder
        self._lock = _thread.allocate_lock()
        self._process = None  # that has its last snapshot yet to write
        self._number = 0
        self._path = ""  # of the snapshot before
        self._traces = {}  # of each device, as it was last seen
        self._waiting = {}  # its entries that are in no file yet
        self._gaps = set()  # devices, likewise
        self._interval = PERIOD

    def imported(self, torch):
        try:
            torch.cuda._lazy_call(lambda: self._record(torch))  # at once, or when CUDA starts
        except Exception:
            pass

    def _record(self, torch):
        try:
            try:
                torch.cuda.memory._record_memory_history(max_entries=MOST_ENTRIES)
            except TypeError:  # before 2.1
                torch.cuda.memory._record_memory_history(True)
        except Exception:
            return
        self._process = os.getpid()
        atexit.register(self._take, torch, True)
        self._collector.flushes_at_end()
        _thread.start_new_thread(self._watch, (torch,))

    def _watch(self, torch):
        due = time.monotonic()
        while self._collector.attached() and not self._collector.ending():
            now = time.monotonic()
            if now >= due and not os.path.exists(self._path):
                self._take(torch, False)
                due = now + self._interval
            time.sleep(LOOK)
        if self._collector.attached():
            self._take(torch, True)
            self._collector.flushed()

    def _take(self, torch, last):
        with self._lock:
            if self._process != os.getpid():  # a forked child's memory is its parent's
                return
            if last:
                self._process = None
            begin = time.thread_time()
            try:
                self._write(torch.cuda.memory._snapshot(), last)
            except Exception:
                pass
            self._interval = max(PERIOD, (time.thread_time() - begin) / SHARE)

    def _write(self, snapshot, last):
        if not isinstance(snapshot, dict):  # before 2.0
            snapshot = {"segments": snapshot}
        traces = snapshot.get("device_traces", ())
        # Entries without times cannot be told from one another.
        if not last and not all("time_us" in entry for trace in traces for entry in trace[-1:]):
            return
        for device, trace in enumerate(traces):
            if not trace:
                continue
            new, old = _Trace(trace), self._traces.get(device)
            known = new.begins_with(old) if old else 0
            if old and not known:
                self._gaps.add(device)
                known = bisect.bisect_right(new.times, old.times[-1])
            self._waiting.setdefault(device, []).extend(trace[known:])
            self._traces[device] = new
        entries = [entry for trace in self._waiting.values() for entry in trace]
        if not last and len(entries) < MOST_WAITING and all(entry["action"] == "snapshot" for entry in entries):
            return
        part = {"segments": snapshot["segments"],
                "device_traces": [self._waiting.get(device, ()) for device in range(len(traces))],
                "allocator_settings": snapshot.get("allocator_settings", {}),
                "external_annotations": snapshot.get("external_annotations", ()) if last else (),
                "accelscope": {"gaps": sorted(self._gaps), "interval_ms": int(self._interval * 1000), "last": last}}
        path = os.path.join(self._folder, "%d.%06d.pickle" % (os.getpid(), self._number))
        with open(path + ".part", "wb") as file:
            pickle.dump(part, file, 4)
        os.replace(path + ".part", path)
        self._path = path
        self._number += 1
        self._waiting.clear()
        self._gaps.clear()


def watch(collector, folder):
    snapshot = _Snapshots(collector, folder)
    if "torch" in sys.modules:
        snapshot.imported(sys.modules["torch"])
    else:
        sys.meta_path.insert(0, _Import(snapshot.imported))
