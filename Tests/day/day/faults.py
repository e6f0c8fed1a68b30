"""What an operator meets outside of incidents: what alerts, commands and endpoints promise."""
import json
import re
import subprocess
import time

from . import machine, web
from .case import Notice
from .cluster import ROLES
from .incidents import DOG, login

# A port at which nobody listens.
NOBODY = "127.0.0.1:1"


# MARK: Alerts

def first_events(day, case):
    """Rules can be evaluated, and tell of the first event of their kind."""
    if not day.prometheus:
        case.skipped = "needs a Prometheus"
        return
    cluster = day.cluster
    case.check(not day.prometheus.sick_rules(), "every rule can be evaluated", day.prometheus.sick_rules())
    case.begin()
    case.notices(day.alert("SluiceBackupMissing", 20))
    done = cluster.run("backup", f"{day.folder}/backup")
    case.check(done.code == 0, "a backup is made", done.words)
    case.notices(
        Notice("alerts after the first backup", lambda: [
            "SluiceBackupMissing is gone" if not [text for text in day.alerts() if text.startswith("SluiceBackupMissing")] else ""], "is gone", 60),
        Notice("metric", lambda: [f"sluice_coordinator_last_backup_at_seconds {day.coordinators_figure('sluice_coordinator_last_backup_at_seconds')}"],
               r"seconds 1[0-9]{9}", 60))
    case.begin()
    for _ in range(60):
        cluster.admin("cluster", token="wrong" * 10)
    case.notices(day.alert("SluiceAdminTokensTried", 30))
    # Clients that open more sockets a second than their app may.
    cluster.require("apps", "create", "narrow", "--rules", "open", "--development-mode", "--quota", "connects=1")
    case.begin()
    clients = machine.Process(
        "load", [cluster.sluice, "load", "--app", "narrow", "--clients", "30", "--seconds", "10", "--warm-up", "1"], cluster.shell(), cluster.logs)
    day.temporary.append(clients)
    clients.start()
    case.notices(day.alert("SluiceQuotaMet", 40))
    clients.kill()


def coordinators_dead(day, case):
    cluster = day.cluster
    day.await_quiet("SluiceNoActiveCoordinator", "SluiceSliceWithoutOwner")
    case.begin()
    for name in ("c1", "c2"):
        cluster.processes[name].kill()
    case.notices(*day.with_alerts(
        day.alert("SluiceNoActiveCoordinator", 20), day.alert("SluiceProcessDown", 20),
        day.doctor_says("FAULT cluster coordinator.*start", 30)))
    case.check(not [text for text in day.alerts() if text.startswith("SluiceSliceWithoutOwner")] if day.prometheus else True,
               "no alert says that slices have no owner: workers serve them", "")
    before = day.load.published
    case.check(machine.until(lambda: day.load.published > before, 60 * day.slack)[0], "events are published meanwhile", day.load.failures[-1:])
    mended = time.monotonic()
    for name in ("c1", "c2"):
        cluster.processes[name].start()
    case.heals(since=mended, within=60)
    case.nothing_lost()


def gateways_dead(day, case):
    cluster = day.cluster
    day.await_quiet("SluiceBrokerAway")
    case.begin()
    for name in ("g1", "g2"):
        cluster.processes[name].kill()
    case.notices(*day.with_alerts(
        day.alert("SluiceBrokerAway", 20), day.alert("SluiceProcessDown", 20),
        Notice("sluice processes", lambda: cluster.run("processes").out.splitlines(), "g1 +silent", 40, every=1),
        day.doctor_says("FAULT cluster gateway", 30)))
    mended = time.monotonic()
    for name in ("g1", "g2"):
        cluster.processes[name].start()
    case.heals(since=mended, within=60)


# MARK: Processes

def endpoints_first(day, case):
    """A process answers at its operations port before its store and its broker are there, and says what it waits for."""
    cluster = day.cluster
    for what, changes, words in (
        ("store", {"SLUICE_STORE_URL": f"postgres://{NOBODY}/sluice"}, r"waits to begin: .*refused"),
        ("broker", {"SLUICE_AMQP_URL": f"amqp://{NOBODY}"}, r"refused|cannot be reached|not connected"),
    ):
        for role in ("worker", "coordinator", "gateway"):
            name = f"early-{role}-{what}"
            process = cluster.process(name, role, **changes)
            day.temporary.append(process)
            process.start()
            case.start = time.monotonic()
            case.notices(Notice(f"/ready of a {role} without its {what}", lambda name=name: cluster.obstacle(name), words, 20))
            url = f"http://127.0.0.1:{cluster.ports[name]}"
            health = web.ask(f"{url}/health")
            case.check(health.status == 200 and '"version"' in health.body, "/health is 200 and has the version", f"{health.status} {health.body}")
            if what == "store":
                case.check(
                    machine.until(lambda name=name: cluster.figure(name, "sluice_store_up") == 0, 15 * day.slack)[0],
                    "sluice_store_up is 0", cluster.figure(name, "sluice_store_up"))
            case.check(cluster.figure(name, "sluice_ready") is not None, "/metrics has sluice_ready", "")
            code = process.stop()
            case.check(code == 0, f"SIGTERM ends a {role} that waits with 0", f"{code}: {process.logged()[-300:]}")


def exit_codes(day, case):
    """docs/operations.md, "Exit codes": of the roles."""
    cluster = day.cluster
    parts = re.match(r"amqp://[^@]*@([^/]*)", cluster.broker["AMQP_URL"])
    place = parts.group(1)

    def ends(name, role, code, words, drop=(), **changes):
        process = cluster.process(name, role, **changes)
        process.environment = {key: value for key, value in process.environment.items() if key not in drop}
        day.temporary.append(process)
        begin = process.size_of_log()
        start = time.monotonic()
        process.start()
        came = process.wait(60 * day.slack)
        after = time.monotonic() - start
        text = process.logged(begin).strip().splitlines()
        process.kill()
        if case.check(came == code, f"{name} ends with {code}", f"{came}: {' | '.join(text[-3:])}"):
            last = next((line for line in reversed(text) if line.startswith(("sluice:", "Error"))), text[-1] if text else "")
            if re.search(words, last, re.IGNORECASE):
                case.noticed(f"exit code {code} of a {role}", after, last)
            else:
                case.check(False, f"the last line of {name} has /{words}/", last)

    for role in ("coordinator", "worker", "gateway"):
        ends(f"{role}-wrong-password", role, 77, "refuse", SLUICE_AMQP_URL=f"amqp://sluice-{role}:wrong@{place}")
        ends(f"{role}-wrong-virtual-host", role, 77, "refuse|virtual host|vhost", SLUICE_AMQP_URL=f"{cluster.environment('x', role)['SLUICE_AMQP_URL']}/nobody")
        ends(f"{role}-wrong-store-password", role, 77, "password", PGPASSWORD="wrong")
    ends("coordinator-open", "coordinator", 65, "token", drop=("SLUICE_ADMIN_TOKEN",), SLUICE_COORDINATOR_HOST="0.0.0.0")
    ends("unknown-setting", "worker", 65, "did you mean", SLUICE_WORKR_PREFETCH="5")
    taken = cluster.process("w1")
    taken.log = taken.log.replace("w1.log", "second-w1.log")
    taken.environment["SLUICE_OPERATIONS_PORT"] = str(machine.free_port())
    day.temporary.append(taken)
    start = time.monotonic()
    taken.start()
    code = taken.wait(60 * day.slack)
    text = taken.logged().strip().splitlines()
    taken.kill()
    if case.check(code == 75, "a second worker w1 ends with 75", f"{code}: {text[-2:]}"):
        case.start = start
        case.said("exit code 75 of a second worker w1", text[-2:], "(another|other) process.*w1|w1.*(another|other) process")
    case.check(cluster.is_ready(["w1"]), "the first w1 is well", cluster.obstacles())


def processes_known(day, case):
    cluster = day.cluster
    case.begin()
    done = cluster.run("processes", "--json")
    listed = {one["id"]: one for one in done.json()}
    case.check(set(ROLES) <= set(listed), "sluice processes lists all", sorted(listed))
    for name in ROLES:
        one = listed.get(name, {})
        case.check(
            one.get("state") == "ready" and all(one.get(key) for key in ("version", "host", "startedAt", "operations")),
            f"{name} has state, version, host, start and operations address", one)
    case.said("sluice processes", cluster.run("processes"), "worker +w1 +ready")
    case.said("GET cluster/processes", [json.dumps(one) for one in cluster.admin("cluster/processes").json().get("processes", [])], '"version"')
    for name in ("c1", "w1", "g1"):
        case.check(cluster.figure(name, "sluice_build_info") == 1, f"{name} has sluice_build_info", "")
        first = cluster.processes[name].logged().splitlines()[0]
        case.check("version=" in first, f"the first log line of {name} has the version", first)
        case.check('"version"' in web.ask(f"http://127.0.0.1:{cluster.ports[name]}/health").body, f"/health of {name} has the version", "")
    case.said("first log line", [cluster.processes["c1"].logged().splitlines()[0]], "version=")


def metrics_there(day, case):
    """Figures that an operator asks for are there, and counters are at 0 before their first event."""
    cluster = day.cluster
    case.begin()
    active = cluster.active()
    for name, series in (
        ("w1", 'sluice_ready{component="worker.store"'), ("w1", "sluice_store_up"), ("g1", "sluice_store_up"), ("c1", "sluice_store_up"),
        ("g1", "sluice_gateway_broker_up"), ("g1", "sluice_gateway_queue_ready"), (active, "sluice_coordinator_slices_without_standby"),
        (active, "sluice_coordinator_clock_offset_seconds"), (active, "sluice_coordinator_outcomes_ready"),
        (active, "sluice_coordinator_slice_in_per_second"), (active, "sluice_coordinator_slice_oldest_seconds"),
        ("w1", 'sluice_worker_uploads_cut_off_total{app="tasks"'), ("w1", 'sluice_worker_quotas_met_total{app="tasks"'),
        (active, "sluice_coordinator_dead_letters"), ("g1", "sluice_gateway_mails_total"),
    ):
        value, _ = machine.until(
            lambda name=name, series=series: [line for line in cluster.metrics(name).splitlines() if line.startswith(series)], 20 * day.slack)
        case.check(value, f"{series} of {name}", "absent")
    standby = "c1" if active == "c2" else "c2"
    for series in ("sluice_coordinator_dead_letters", "sluice_coordinator_slices_ownerless"):
        case.say(f"{series} at the stand-by: {cluster.figure(standby, series)}")
    case.noticed("/metrics", case.elapsed(), next(line for line in cluster.metrics("w1").splitlines() if line.startswith("sluice_build_info")))


# MARK: Publishing

def publishing(day, case):
    cluster = day.cluster
    case.begin()
    first = cluster.run("publish", "changeset", "--app", "tasks", "--partition", "by-hand", "--hex", DOG, "--id", "dog-7", "--wait")
    case.check(first.code == 0, "publish --id --wait writes", first.words)
    case.said("publish --wait", first, "dog-7 integrated as version [0-9]+")
    again = cluster.run("publish", "changeset", "--app", "tasks", "--partition", "by-hand", "--hex", DOG, "--id", "dog-7", "--wait")
    case.said("publish --id a second time", again, "dog-7 was written before")
    refused = cluster.run("publish", "write", "--app", "tasks", "--partition", "by-hand", '{"upsert": "Item", "document": {"name": 5}}', "--wait")
    case.check(refused.code == 65, "what is refused ends with 65", f"{refused.code} {refused.words}")
    case.said("publish --wait of a bad write", refused, "refused|expected|_id")

    def line(app, number):
        return json.dumps({"id": f"half-{number}", "realm": {"app": app, "partition": "half"},
                           "writes": [{"upsert": "Item", "document": {"_id": number, "name": "half"}}]}) + "\n"

    half = cluster.run("publish", "write", "--file", "-", text=line("tasks", 1) + line("nope", 2) + line("tasks", 3))
    case.check(half.code == 66, "a file with an unknown app ends with 66", f"{half.code} {half.words}")
    case.said("publish --file", half, "published 1, stopped at line 2: .*nope")
    path = f"{day.folder}/checked.ndjson"
    with open(path, "w", encoding="utf-8") as file:
        file.write(line("tasks", 4) + "{}\n")
    checked = cluster.run("publish", "write", "--file", path, "--check")
    case.check(checked.code == 65, "--check refuses a file with a bad line", f"{checked.code} {checked.words}")
    case.said("publish --file --check", checked, "line 2")
    one_away = {"SLUICE_COORDINATOR_URL": f"http://{NOBODY},http://127.0.0.1:{cluster.addresses['c1']}"}
    done = cluster.run("publish", "write", "--file", "-", text=line("tasks", 5), env=one_away)
    case.check(done.code == 0 and "not known" not in done.words, "the second coordinator of the list is asked", done.words)
    done = cluster.run("publish", "write", "--file", "-", text=line("tasks", 6), env={"SLUICE_COORDINATOR_URL": f"http://{NOBODY}"})
    case.check(done.code == 0, "publishing needs the broker alone", f"{done.code} {done.words}")
    case.said("publish without a coordinator", done, "--unchecked")
    # Nothing is terminated without being asked twice.
    generation = app_generation(cluster)
    for arguments, text in ((("sync", "terminate", "tasks", "--reason", "test"), None), (("publish", "termination", "--app", "tasks"), None),
                            (("publish", "termination", "--file", "-"), '{"app":"tasks"}\n'), (("sync", "reset", "tasks", "--partition", "r0"), None)):
        done = cluster.run(*arguments, text=text)
        case.check(done.code == 65, f"sluice {' '.join(arguments)} wants --yes", f"{done.code} {done.words}")
        case.said(f"sluice {' '.join(arguments[:2])}", done, "--yes")
    case.check(app_generation(cluster) == generation, "and nothing was terminated", app_generation(cluster))
    done = cluster.run("sync", "terminate", "tasks", "--dry-run")
    case.check(done.code == 0, "a dry run says whom it would concern", done.words)
    case.said("sync terminate --dry-run", done, "client realms?|clients")


def app_generation(cluster):
    return cluster.admin("apps/tasks").json().get("generation")


def nobody_owns(day, case):
    """publish --wait says that nobody owns the slice."""
    cluster = day.cluster
    day.load.pause()
    for name in ("w1", "w2", "w3"):
        cluster.processes[name].stop()
    case.begin()
    done = cluster.run("publish", "write", "--app", "tasks", "--partition", "by-hand", "--id", "nobody-1", "--wait",
                       '{"upsert": "Item", "document": {"_id": 1, "name": "late"}}')
    case.check(done.code == 75, "an event that nobody deals with ends with 75", f"{done.code} {done.words}")
    case.said("publish --wait", done, "nobody owns slice [0-9]; publish it again with the same id|nobody owns slice")
    case.notices(*day.with_alerts(
        day.alert("SluiceSliceWithoutOwner", 30), day.doctor_says("FAULT cluster (workers: no worker was heard)", 30),
        Notice("dashboard's overview", lambda: day.streams["c1"].texts() + day.streams["c2"].texts(), "8 slices have no owner", 30)))
    mended = time.monotonic()
    for name in ("w1", "w2", "w3"):
        cluster.processes[name].start()
    case.heals(since=mended, within=60)
    day.load.go()


def unroutable(day, case):
    """A stale number of slices, or a routing key that leads nowhere, is not taken for a success."""
    cluster = day.cluster
    case.begin()
    done = cluster.run("publish", "write", "--app", "tasks", "--partition", "by-hand", "--slices", "16",
                       '{"upsert": "Item", "document": {"_id": 16, "name": "stale"}}')
    case.check(done.code != 0, "publish with another number of slices is refused", f"{done.code} {done.words}")
    case.said("sluice publish --slices 16", done, "slices|slice|queue")
    answer = cluster.management_api("exchanges/%2F/sluice.slices/publish", "POST", {
        "properties": {}, "routing_key": "99", "payload": "{}", "payload_encoding": "string"})
    case.check(answer.json().get("routed") is False, "the broker says of routing key 99 that it leads nowhere", answer.body)


def tail_is_quiet(day, case):
    cluster = day.cluster
    day.load.pause()
    machine.until(day.drained, 60 * day.slack, every=1)
    case.begin()
    lines = tail(cluster, 12)
    case.check(not lines, "a cluster in which nobody writes has no line in tail", lines[:3])
    clock = tail(cluster, 12, "--clock")
    case.check(clock, "with --clock it has", "")
    day.load.go()
    seen = tail(cluster, 15, "--ids")
    case.said("sluice tail --ids", seen, "integrated")
    case.check(any("event-" in text for text in seen), "--ids shows the ids of messages", seen[:3])


def tail(cluster, seconds, *options):
    """The lines of a tail that is ended when it has followed the cluster for some seconds, however long it took to begin."""
    child = subprocess.Popen(
        [cluster.sluice, "tail", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        env=cluster.shell(), cwd=cluster.folder)
    said = child.stderr.readline()
    if not said.startswith("following"):
        child.kill()
        child.communicate()
        raise RuntimeError(f"sluice tail: {said.strip()}")
    try:
        out, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        child.terminate()
        out, _ = child.communicate(timeout=60)
    return out.splitlines()


# MARK: Audit

def audit(day, case):
    """What has changed something is in the audit log, from whichever road, and dry runs are marked."""
    cluster = day.cluster
    case.begin()
    cluster.require("apps", "create", "drill", "--rules", "open", "--development-mode")
    cluster.require("apps", "delete", "drill", "--dry-run")
    cluster.require("sync", "terminate", "drill", "--yes", "--enable", "--reason", "drill")
    cluster.require("publish", "termination", "--app", "drill", "--yes", "--id", "by-shell-1")
    cluster.require("publish", "reset", "--app", "nobody", "--partition", "x", "--yes", "--unchecked", "--id", "by-shell-2")
    letter, _ = machine.until(lambda: cluster.run("dead-letters", "list", "--json").json(), 30 * day.slack, every=1)
    case.check(letter, "an event of an app that is not there is a dead letter", "")
    dropped = cluster.run("dead-letters", "drop", "by-shell-2", "--yes")
    case.check(dropped.code == 0, "the letter is dropped", dropped.words)

    def entries():
        return [json.dumps(one) for one in cluster.run("audit", "--json", "--limit", "200").json().get("entries", [])]

    case.said("audit", entries(), 'apps/drill".*dry ?run|dry ?run.*apps/drill')
    case.said("audit", entries(), "apps/drill/sync/terminate|sync/terminate.*drill")
    found, _ = machine.until(
        lambda: [text for text in entries() if "by-shell-1" in text], 20 * day.slack, every=1)
    case.check(found, "a termination by sluice publish is in the audit log", entries()[:3])
    if found:
        case.noticed("audit", case.elapsed(), found[0])
    found = [text for text in entries() if "dead-letters" in text or "dead_letters" in text]
    case.check(found, "a letter dropped from a shell is in the audit log", entries()[:3])
    if found:
        case.noticed("audit", case.elapsed(), found[0])
    case.check(any("127.0.0.1" in text for text in entries()), "the audit log has whence a request came", entries()[:1])
    machine.until(day.is_healthy, 60 * day.slack)


def tokens_and_keys(day, case):
    """docs/operations.md, "Changing what opens doors": admin tokens, that of the settings, and the keys that sign users' tokens."""
    cluster = day.cluster
    case.begin()
    made = cluster.require("admin", "tokens", "create", "tools", "--role", "operate").out.strip()
    old, new = cluster.token, cluster.token[::-1]
    for name in ("c1", "c2"):
        cluster.token = new
        day.streams[name].token = new
        cluster.restart(name)
        machine.until(lambda name=name: cluster.is_ready([name]), 60 * day.slack)
        answers = [cluster.admin("apps", coordinator=name, token=token).status for token in (old, new, made)]
        case.check(answers == [401, 200, 200], f"{name} knows the new token of its settings, not the old one, and tokens made by command", answers)
    case.heals(within=60, what="all is well with the new token")
    case.said("sluice apps list with the old token", cluster.run("apps", "list", env={"SLUICE_ADMIN_TOKEN": old}), "token|unauthorized|not known")
    cluster.require("admin", "tokens", "revoke", "tools", "--yes")
    done = cluster.run("apps", "list", env={"SLUICE_ADMIN_TOKEN": made})
    case.check(done.code == 77, "a token that was revoked is refused with 77", f"{done.code} {done.words}")
    keys = cluster.run("keys", "list", "--json").json()
    done = cluster.run("keys", "rotate")
    later = cluster.run("keys", "list", "--json").json()
    case.check(done.code == 0 and len(later) > len(keys), "keys rotate makes keys, and the old ones are still taken", done.words)
    case.check(login(cluster, "g1") == 200, "users log in", login(cluster, "g1"))
    case.nothing_lost()


CASES = [
    ("first-events", "rules tell of the first event of their kind", first_events),
    ("coordinators-dead", "all coordinators are dead", coordinators_dead),
    ("gateways-dead", "all gateways are dead", gateways_dead),
    ("endpoints-first", "processes start before store and broker", endpoints_first),
    ("exit-codes", "roles that cannot run", exit_codes),
    ("publishing", "events by hand and from files", publishing),
    ("nobody-owns", "all workers are stopped", nobody_owns),
    ("audit", "who has changed what", audit),
    ("unroutable", "events that lead nowhere", unroutable),
    ("tail", "messages as they pass", tail_is_quiet),
    ("processes", "who runs which version", processes_known),
    ("metrics", "figures that alerts go by", metrics_there),
    # The last: it tries tokens, of which others have seen none.
    ("tokens", "admin tokens and signing keys are changed under load", tokens_and_keys),
]
