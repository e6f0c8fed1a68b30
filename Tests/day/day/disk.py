"""A disk that is full, below an embedded store: a cluster of one process on a small file system of its own."""
import json
import os
import subprocess
import time

from . import machine, web
from .case import Notice

SIZE = "24m"
EVENTS = 2_000
BATCH = 500


def disk_full(day, case):
    folder = os.path.join(day.folder, "disk")
    os.makedirs(folder)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        case.skipped = f"no file system can be mounted here: {mounted.stderr.strip()}"
        return
    process = None
    try:
        process = Small(day, folder)
        full(day, case, process)
    finally:
        if process:
            process.stop()
        subprocess.run(["umount", folder], check=False, capture_output=True)


class Small:
    """sluice up on the small disk, with the day's broker under a prefix of its own."""

    def __init__(self, day, folder):
        self.cluster = day.cluster
        self.folder = folder
        self.port = machine.free_port()
        self.admin = machine.free_port()
        self.settings = {
            "SLUICE_STORE_URL": f"sqlite:{folder}/store", "SLUICE_AMQP_URL": day.cluster.broker["AMQP_URL"], "SLUICE_AMQP_PREFIX": "small",
            "SLUICE_SLICES": "4", "SLUICE_COORDINATOR_PORT": str(self.admin), "SLUICE_GATEWAY_PORT": str(machine.free_port()),
            "SLUICE_COORDINATOR_URL": f"http://127.0.0.1:{self.admin}", "SLUICE_ADMIN_TOKEN": day.cluster.token}
        config = os.path.join(day.folder, "small.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("slices: 4\n")
        self.settings["SLUICE_CONFIG"] = config
        plain = {name: value for name, value in day.cluster.shell().items() if not name.startswith("SLUICE_")}
        self.process = machine.Process(
            "small", [day.cluster.sluice, "up", "--id", "small"],
            {**plain, **self.settings, "SLUICE_OPERATIONS_PORT": str(self.port)}, day.cluster.logs)
        self.process.start()

    def run(self, *arguments, **options):
        return self.cluster.run(*arguments, env=self.settings, **options)

    def ready(self):
        return web.ask(f"http://127.0.0.1:{self.port}/ready", timeout=5)

    def obstacle(self):
        answer = self.ready()
        if answer.status == 503:
            return "; ".join(f"{part['name']}: {part['reason']}" for part in answer.json().get("components", []) if not part["ready"])
        return ""

    def overview(self):
        answer = web.ask(
            f"http://127.0.0.1:{self.admin}/api/admin/v1/cluster/overview", headers={"Authorization": f"Bearer {self.cluster.token}"},
            timeout=10)
        document = answer.json()
        return [one["text"] for one in document.get("findings", [])] + [document.get("sentence", "")]

    def publish(self, first):
        text = "".join(
            json.dumps({
                "id": f"small-{number}", "realm": {"app": "small", "partition": f"r{number % 8}"},
                "writes": [{"upsert": "Item", "document": {"_id": number, "name": "x" * 200}}]}) + "\n"
            for number in range(first, first + BATCH))
        return self.run("publish", "write", "--file", "-", "--unchecked", text=text)

    def objects(self):
        return sum(realm["objects"] for realm in self.run("realms", "verify", "--all", "--json").lines())

    def stop(self):
        self.process.stop()


def full(day, case, small):
    case.check(machine.until(lambda: small.ready().status == 200, 120 * day.slack)[0], "a cluster of one process is ready", small.process.logged()[-400:])
    made = small.run("apps", "create", "small", "--rules", "open", "--development-mode")
    case.check(made.code == 0, "an app is made", made.words)
    done = small.publish(0)
    case.check(done.code == 0, "events are published", done.words)
    published = BATCH
    machine.until(lambda: small.objects() == published, 60 * day.slack, every=1)
    filler = os.path.join(small.folder, "filler")
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 65_536)
        except OSError:
            pass
    taken = []

    def publish():
        for first in range(published, EVENTS, BATCH):
            taken.append(small.publish(first))

    case.act(publish)
    case.notices(
        Notice("/ready", lambda: small.obstacle(), "disk is full|full", 30),
        Notice("log", lambda: small.process.logged(small_log(case)).splitlines(), "store cannot be used; the slice waits.*full", 30),
        Notice("dashboard's overview", small.overview, "not ready: .*full", 60),
        Notice(
            "sluice doctor", lambda: [
                f"{one['level'].upper()} {one['subject']}: {one['finding']} -> {one.get('advice', '')}"
                for one in small.run("doctor", "--json", "--skip-integrity").json() if one["level"] == "fault"],
            "FAULT disk: 0 MiB free.*make room", 60, every=1),
        Notice(
            "metric", lambda: [line for line in web.ask(f"http://127.0.0.1:{small.port}/metrics").body.splitlines() if line.startswith("sluice_ready")],
            r'worker\.store"\} 0', 30))
    case.acted()
    case.check(all(done.code == 0 for done in taken), "the broker takes events while the disk is full", [done.words for done in taken])
    published = EVENTS
    os.remove(filler)
    mended = time.monotonic()
    case.heals(lambda: small.ready().status == 200, 60, mended, "the process is ready")
    found, _ = machine.until(lambda: small.objects() == published, 120 * day.slack, every=1)
    verified = small.run("realms", "verify", "--all")
    case.check(found and verified.code == 0, f"all {published} events are in their realms, and every history is sound", verified.words[-400:])


def small_log(case):
    return case.sizes.get("small", 0)
