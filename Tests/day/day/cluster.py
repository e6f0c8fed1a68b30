"""The cluster of the day: two coordinators, three workers and two gateways with the least rights, on a broker and a database of their own."""
import json
import os
import secrets
import subprocess
import time
import urllib.parse

from . import machine, web

SLICES = 8
ROLES = {"c1": "coordinator", "c2": "coordinator", "w1": "worker", "w2": "worker", "w3": "worker", "g1": "gateway", "g2": "gateway"}
# Few enough to be met by an incident.
MOST_LETTERS = 50


class Done:
    """How a command of an operator's shell ended."""

    def __init__(self, code, out, err, took):
        self.code = code
        self.out = out
        self.err = err
        self.took = took

    @property
    def words(self):
        return (self.out + self.err).strip()

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            return []

    def lines(self):
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]


class Cluster:
    def __init__(self, folder, sluice):
        self.folder = folder
        self.sluice = sluice
        self.token = secrets.token_hex(32)
        self.passwords = {role: secrets.token_hex(12) for role in ("gateway", "worker", "coordinator")}
        self.processes = {}
        self.ports = {}
        self.broker_folder = os.path.join(folder, "broker")
        self.postgres_folder = os.path.join(folder, "postgres")
        self.credentials = os.path.join(folder, "credentials")
        self.logs = os.path.join(folder, "logs")
        self.broker = {}
        self.owner = ""
        os.makedirs(self.logs)

    # MARK: Set-up, in the order of docs/first-day.md

    def start(self):
        self.start_broker()
        self.start_postgres()
        self.ports = {name: machine.free_port() for name in ROLES}
        self.addresses = {name: machine.free_port() for name in ROLES if ROLES[name] != "worker"}
        self.config = os.path.join(self.folder, "sluice.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"slices: {SLICES}\ncoordinator:\n  max_dead_letters: {MOST_LETTERS}\n")
        with open(os.path.join(self.folder, "administrator"), "w", opener=private, encoding="utf-8") as file:
            file.write(self.administrator)
        self.require("store", "init", env=self.store_passwords())
        self.require("broker", "init", *self.broker_options())
        for name in ROLES:
            self.processes[name] = self.process(name)
            self.processes[name].start()
        ready, _ = machine.until(self.is_ready, 300)
        if not ready:
            raise RuntimeError("the cluster is not ready after 300 s: " + "; ".join(self.obstacles()))

    def start_broker(self):
        self.broker = machine.variables(machine.script("broker", "start", self.broker_folder, "--management"))
        self.management = self.broker["MANAGEMENT_URL"]
        parts = urllib.parse.urlsplit(self.management)
        self.administrator = f"{parts.username}:{parts.password}"
        self.management_url = f"http://{parts.hostname}:{parts.port}"

    def start_postgres(self):
        self.owner = machine.variables(machine.script("postgres", "start", self.postgres_folder))["SLUICE_TEST_POSTGRES_URL"]

    def stop_broker(self, kill=False):
        machine.script("broker", "stop", self.broker_folder, *(["--kill"] if kill else []))

    def stop_postgres(self, kill=False):
        machine.script("postgres", "stop", self.postgres_folder, *(["--kill"] if kill else []))

    def stop(self):
        for process in reversed(list(self.processes.values())):
            if process.is_running:
                process.kill()
        for name, folder in (("broker", self.broker_folder), ("postgres", self.postgres_folder)):
            machine.script(name, "stop", folder, "--kill", check=False)

    def store_passwords(self):
        return {f"SLUICE_STORE_{role.upper()}_PASSWORD": password for role, password in self.passwords.items()}

    def broker_options(self):
        return [
            "--management-url", self.management_url, "--management-credentials", os.path.join(self.folder, "administrator"),
            "--credentials", self.credentials]

    # MARK: Processes

    def process(self, name, role=None, **settings):
        """A process of a role, with the settings of its kind and those that are given; not started."""
        role = role or ROLES[name]
        return machine.Process(
            name, [self.sluice, role, "--id", name], {**self.environment(name, role), **settings}, self.logs)

    def environment(self, name, role):
        with open(os.path.join(self.credentials, f"{role}.env"), encoding="utf-8") as file:
            amqp = machine.variables(file.read())["SLUICE_AMQP_URL"]
        parts = urllib.parse.urlsplit(self.owner)
        environment = {
            **plain_environment(), "SLUICE_CONFIG": self.config, "SLUICE_AMQP_URL": amqp, "PGPASSWORD": self.passwords[role],
            "SLUICE_STORE_URL": f"postgres://sluice_{role}@{parts.hostname}:{parts.port}{parts.path}",
            "SLUICE_OPERATIONS_PORT": str(self.ports.setdefault(name, 0) or machine.free_port())}
        self.ports[name] = int(environment["SLUICE_OPERATIONS_PORT"])
        for kind in ("coordinator", "gateway"):
            if role == kind:
                port = self.addresses.setdefault(name, 0) or machine.free_port()
                self.addresses[name] = port
                environment[f"SLUICE_{kind.upper()}_PORT"] = str(port)
        if role == "coordinator":
            environment["SLUICE_ADMIN_TOKEN"] = self.token
        return environment

    def restart(self, name):
        """A rolling restart's step: with what its role's files say now."""
        self.processes[name].stop()
        self.processes[name] = self.process(name)
        self.processes[name].start()

    def ready(self, name):
        return web.ask(f"http://127.0.0.1:{self.ports[name]}/ready", timeout=5)

    def obstacle(self, name):
        """What /ready of a process waits for, in its words; nothing if it is ready, or is not there."""
        answer = self.ready(name)
        if answer.status == 503:
            return "; ".join(f"{part['name']}: {part['reason']}" for part in answer.json().get("components", []) if not part["ready"])
        return ""

    def obstacles(self, names=None):
        found = []
        for name in names or self.processes:
            answer = self.ready(name)
            if answer.status != 200:
                found.append(f"{name}: {self.obstacle(name) or answer.body[:80]}")
        return found

    def is_ready(self, names=None):
        return all(self.ready(name).status == 200 for name in names or self.processes)

    def metrics(self, name):
        return web.ask(f"http://127.0.0.1:{self.ports[name]}/metrics", timeout=10).body

    def figure(self, name, series):
        """The value of a series whose name and labels begin so; None if it is absent."""
        for line in self.metrics(name).splitlines():
            if line.startswith(series) and line[len(series):len(series) + 1] in (" ", "{", ",", "}"):
                return float(line.rsplit(" ", 1)[1])
        return None

    # MARK: The operator's shell

    def shell(self):
        parts = [f"http://127.0.0.1:{self.addresses[name]}" for name in ("c1", "c2")]
        return {
            **plain_environment(), "SLUICE_CONFIG": self.config, "SLUICE_AMQP_URL": self.operator_url(), "SLUICE_STORE_URL": self.owner,
            "SLUICE_ADMIN_TOKEN": self.token, "SLUICE_COORDINATOR_URL": ",".join(parts),
            "SLUICE_GATEWAY_PORT": str(self.addresses["g1"])}

    def operator_url(self):
        path = os.path.join(self.credentials, "operator.env")
        if not os.path.exists(path):
            return self.broker["AMQP_URL"]
        with open(path, encoding="utf-8") as file:
            return machine.variables(file.read())["SLUICE_AMQP_URL"]

    def run(self, *arguments, env=None, text=None, timeout=300):
        start = time.monotonic()
        done = subprocess.run(
            [self.sluice, *arguments], input=text, stdin=None if text is not None else subprocess.DEVNULL, capture_output=True,
            text=True, timeout=timeout, env={**self.shell(), **(env or {})}, cwd=self.folder, check=False)
        return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - start)

    def require(self, *arguments, **options):
        done = self.run(*arguments, **options)
        if done.code != 0:
            raise RuntimeError(f"sluice {' '.join(arguments)}: exit code {done.code}: {done.words[-800:]}")
        return done

    def doctor(self):
        """Findings of the doctor that are no praise, in its words with its advice; and how long it took to say them."""
        done = self.run("doctor", "--json", "--skip-integrity", "--management-url", self.management_url,
                        "--management-credentials", os.path.join(self.folder, "administrator"))
        return [
            f"{one['level'].upper()} {one['area']} {one['subject']}: {one['finding']} -> {one.get('advice', '')}"
            for one in done.json() if one["level"] in ("fault", "warning")]

    def broker_check(self):
        done = self.run("broker", "check", "--json", "--management-url", self.management_url,
                        "--management-credentials", os.path.join(self.folder, "administrator"))
        return [
            f"{one['level'].upper()} {one['subject']}: {one['finding']} -> {one.get('advice', '')}"
            for one in done.json() if one["level"] in ("fault", "warning")]

    # MARK: The admin API

    def log_in(self, coordinator):
        """As the dashboard's own page does."""
        address = f"http://127.0.0.1:{self.addresses[coordinator]}"
        return web.ask(f"{address}/api/admin/v1/session", "POST", {"token": self.token}, {"Origin": address, "X-Sluice-Dashboard": "1"})

    def admin(self, path, method="GET", body=None, coordinator=None, timeout=30, token=None):
        names = [coordinator] if coordinator else ["c1", "c2"]
        answer = web.Answer(0, "no coordinator")
        for name in names:
            answer = web.ask(
                f"http://127.0.0.1:{self.addresses[name]}/api/admin/v1/{path}", method, body,
                {"Authorization": f"Bearer {token or self.token}"}, timeout)
            if answer.status:
                return answer
        return answer

    def active(self):
        """The coordinator that acts."""
        for name in ("c1", "c2"):
            if self.processes[name].is_running and self.admin("cluster", coordinator=name, timeout=5).json().get("active"):
                return name
        return None

    def management_api(self, path, method="GET", body=None):
        return web.ask(f"{self.management_url}/api/{path}", method, body, user=self.administrator)


def private(path, flags):
    return os.open(path, flags, 0o600)


def plain_environment():
    """This shell's environment without settings of Sluice or of a database: nothing leaks in from outside."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("SLUICE_", "PG", "AMQP_", "LD_PRELOAD"))}
