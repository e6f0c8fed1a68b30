"""The day: sets the cluster up, goes through the cases, and knows when all is well and that nothing was lost."""
import os
import re
import shutil
import tempfile
import time

from . import machine, web
from .case import Case, Notice
from .cluster import ROLES, SLICES, Cluster
from .load import Load
from .watchers import OverviewStream, Prometheus


class Day:
    def __init__(self, sluice, slack, say, keep=False):
        self.slack = slack
        self.say = say
        self.keep = keep
        self.folder = tempfile.mkdtemp(prefix="sluice-day.", dir=os.environ.get("TMPDIR", "/tmp"))
        # PostgreSQL does not run as root, and its other user must reach the folder.
        os.chmod(self.folder, 0o711)
        self.cluster = Cluster(self.folder, sluice)
        self.load = Load(self.cluster)
        self.prometheus = None
        self.streams = {}
        self.cases = []
        # Processes that a case has started beside the cluster's.
        self.temporary = []

    def start(self):
        began = time.monotonic()
        self.cluster.start()
        self.load.prepare()
        self.load.start()
        program = Prometheus.found()
        if program:
            self.prometheus = Prometheus(self.folder, program)
            self.prometheus.start({name: self.cluster.ports[name] for name in ROLES})
        else:
            self.say("SKIPPED: all that alerts should tell; needs Debian's package prometheus, or PROMETHEUS=path")
        for name in ("c1", "c2"):
            self.streams[name] = OverviewStream(f"http://127.0.0.1:{self.cluster.addresses[name]}", self.cluster.token)
        well, _ = machine.until(self.is_healthy, 60 * self.slack)
        if not well:
            raise RuntimeError("the new cluster is not well: " + self.what_is_wrong())
        self.say(f"== a cluster of {len(ROLES)} processes is ready after {time.monotonic() - began:.0f} s in {self.folder}")

    def stop(self):
        self.load.end()
        for stream in self.streams.values():
            stream.is_wanted = False
        for process in self.temporary:
            process.kill()
        if self.prometheus:
            self.prometheus.stop()
        self.cluster.stop()
        if self.keep:
            self.say(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, name, title, function):
        case = Case(self, name, title)
        self.cases.append(case)
        self.say(f"== {name}: {title}")
        self.load.go()
        case.begin()
        try:
            function(self, case)
        except Exception as error:  # a case that breaks off must not take the others along
            case.failures.append(f"the case broke off: {type(error).__name__}: {error}")
            self.say(f"   FAILED  {case.failures[-1]}")
        finally:
            self.recover(case)
        return case

    def recover(self, case):
        """Whatever a case has left: all processes run, and are ready, before the next."""
        while self.temporary:
            self.temporary.pop().kill()
        self.cluster.start_broker()
        self.cluster.start_postgres()
        for process in self.cluster.processes.values():
            if not process.is_running:
                process.start()
        if not machine.until(self.is_healthy, 90 * self.slack)[0]:
            case.check(False, "the cluster is well after the case", self.what_is_wrong())

    # MARK: How it stands

    def overview(self):
        name = self.cluster.active()
        return self.cluster.admin("cluster/overview", coordinator=name).json() if name else {}

    def is_healthy(self):
        """All processes are ready, all slices are served, and the overview has nothing to say."""
        if not self.cluster.is_ready():
            return False
        overview = self.overview()
        return overview.get("slicesServed") == SLICES and not overview.get("findings")

    def what_is_wrong(self):
        overview = self.overview()
        return "; ".join(self.cluster.obstacles() + [one["text"] for one in overview.get("findings", [])] + [
            overview.get("sentence", "no coordinator is active")])

    def owned_by(self, names):
        """Slices that these workers say they own."""
        return sum(self.cluster.figure(name, "sluice_worker_slices_owned") or 0 for name in names)

    def coordinators_figure(self, series):
        """What the coordinator says that knows: stand-bys say nothing of it."""
        for name in ("c1", "c2"):
            value = self.cluster.figure(name, series)
            if value is not None:
                return value
        return None

    def clock_offset(self, process):
        for name in ("c1", "c2"):
            for line in self.cluster.metrics(name).splitlines():
                if line.startswith("sluice_coordinator_clock_offset_seconds{") and f'"{process}"' in line:
                    return float(line.rsplit(" ", 1)[1])
        return None

    def alert(self, name, within):
        """Prometheus has an alert as pending or firing. How long it then pends is a matter of its rule."""
        return Notice(f"alert {name}", self.alerts, rf"^{name} (pending|firing)", within)

    def scaling_figures(self):
        """What workers are scaled by; nothing while more of them would not help."""
        return self.prometheus.ask(
            "query?query=" + web.quoted("sluice:scaling_lag_messages:sum or sluice:scaling_lag_seconds:max")).json().get("data", {}).get("result")

    def scaling_is_off(self, within):
        return Notice("autoscaling", lambda: ["no figure to scale workers by"] if self.scaling_figures() == [] else [], "no figure", within)

    def alerts(self):
        return self.prometheus.alerts()

    def ready_says(self, name, words, within):
        return Notice(f"/ready of {ROLES.get(name, name)} {name}", lambda: self.cluster.obstacle(name), words, within)

    def all_ready_say(self, who, names, words, within):
        """One notice of several processes: once the last of them says so."""
        wanted = re.compile(words, re.IGNORECASE | re.DOTALL)

        def probe():
            texts = [self.cluster.obstacle(name) for name in names]
            if all(wanted.search(text) for text in texts):
                return [texts[-1]]
            return ["not yet: " + " | ".join(f"{name} {text or 'ready'}" for name, text in zip(names, texts) if not wanted.search(text))]

        return Notice(f"/ready of {who}", probe, rf"^(?!not yet).*({words})", within)

    def dashboards_say(self, words, within):
        """The pages of both coordinators."""
        wanted = re.compile(words, re.IGNORECASE | re.DOTALL)

        def probe():
            found = [[text for text in stream.texts() if wanted.search(text)] for stream in self.streams.values()]
            return found[0] if all(found) else []

        return Notice("dashboard of both coordinators", probe, words, within)

    def dashboard_says(self, name, words, within):
        return Notice("dashboard's overview", self.streams[name].texts, words, within)

    def doctor_says(self, words, within):
        return Notice("sluice doctor", self.cluster.doctor, words, within, every=1)

    def with_alerts(self, *notices):
        """These where there is a Prometheus; the others anyway."""
        return [notice for notice in notices if self.prometheus or not notice.who.startswith(("alert ", "autoscaling"))]

    def await_quiet(self, *alerts):
        """No such alert stands before the incident that is to raise it."""
        if self.prometheus:
            machine.until(self.scaling_figures, 60 * self.slack, every=0.5)
            return machine.until(
                lambda: not [text for text in self.alerts() if text.split(" ")[0] in alerts], 60 * self.slack, every=0.5)[0]
        return True

    def drained(self):
        queues = self.cluster.run("queues", "--json").json()
        return bool(queues) and all(
            not (queue.get("ready") or queue.get("unacknowledged")) for queue in queues if queue.get("slice") is not None)

    def nothing_lost(self, case):
        """Every event that the broker has confirmed is in its realm, once, and every history is sound."""
        self.load.pause()
        machine.until(self.drained, 120 * self.slack, every=1)
        expected = self.load.published

        def stored():
            realms = self.cluster.run("realms", "verify", "--all", "--json")
            faults = [realm for realm in realms.lines() if realm.get("findingCount")]
            # Those of the load: cases write a few of their own beside them.
            objects = sum(
                realm["objects"] for realm in realms.lines() if realm["app"] == "tasks" and re.fullmatch(r'"r[0-9]+"', realm["partition"]))
            return realms.code, len(faults), objects

        found, _ = machine.until(lambda: (lambda came: came if came == (0, 0, expected) else None)(stored()), 30 * self.slack, every=2)
        case.check(
            found, f"realms verify --all: no fault, and all {expected} events in their realms",
            "" if found else "exit code {}, {} realms with faults, {} objects".format(*stored()))
        self.load.go()
