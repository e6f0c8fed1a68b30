"""Processes, ports and folders of this machine: each process is ended by its own id, and none is left."""
import os
import random
import signal
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_given = set()


def free_port():
    """A loopback port below what the kernel gives to outgoing connections, and beside those of Tests/broker and Tests/postgres."""
    while True:
        port = random.randrange(20_000, 28_000)
        if port in _given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port


def script(name, *arguments, check=True, timeout=300):
    """Runs a script of Tests, and gives what it prints."""
    done = subprocess.run(
        [os.path.join(ROOT, "Tests", name), *arguments], capture_output=True, text=True, timeout=timeout, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"Tests/{name} {' '.join(arguments)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def variables(text):
    """NAME=VALUE lines, as the scripts and broker init write them."""
    pairs = (line.partition("=")[::2] for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {name: value.strip("'\"") for name, value in pairs}


class Process:
    """A program with a log, that can be ended kindly or not, and started again."""

    def __init__(self, name, arguments, environment, folder):
        self.name = name
        self.arguments = arguments
        self.environment = environment
        self.folder = folder
        self.log = os.path.join(folder, f"{name}.log")
        self.child = None

    def start(self, **changes):
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                self.arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env={**self.environment, **changes}, start_new_session=True)
        return self

    @property
    def is_running(self):
        return self.child is not None and self.child.poll() is None

    def kill(self):
        self._end(signal.SIGKILL, 60)

    def stop(self, within=120):
        """SIGTERM; gives the exit code."""
        self._end(signal.SIGTERM, within)
        return self.child.returncode if self.child else None

    def wait(self, within):
        """The exit code, or None if it goes on."""
        try:
            return self.child.wait(within)
        except subprocess.TimeoutExpired:
            return None

    def _end(self, what, within):
        if not self.is_running:
            return
        self.child.send_signal(what)
        try:
            self.child.wait(within)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def size_of_log(self):
        try:
            return os.path.getsize(self.log)
        except OSError:
            return 0

    def logged(self, since=0):
        try:
            with open(self.log, "rb") as log:
                log.seek(since)
                return log.read().decode(errors="replace")
        except OSError:
            return ""


def until(probe, within, every=0.2):
    """The first true value of a probe, and after how long; the last value if none comes."""
    start = time.monotonic()
    while True:
        value = probe()
        now = time.monotonic() - start
        if value or now > within:
            return value, now
        time.sleep(every)
