"""The incidents of a day: each is done, noticed and mended as the documents say."""
import json
import os
import shutil
import time

from . import disk, machine, web
from .case import Notice
from .cluster import MOST_LETTERS, ROLES, SLICES

# The changeset of docs/messages.md: a class Dog, and the dog 7.
DOG = "3f0003446f673f01035f696400000001010002000107"
WORKERS = [name for name, role in ROLES.items() if role == "worker"]


def other(names, but):
    return [name for name in names if name != but]


def worker_killed(day, case):
    cluster = day.cluster
    day.await_quiet("SluiceProcessDown", "SluiceNoStandby")
    victim = max(WORKERS, key=lambda name: cluster.figure(name, "sluice_worker_slices_owned") or 0)
    rest = other(WORKERS, victim)
    case.begin()
    cluster.processes[victim].kill()
    case.heals(lambda: day.owned_by(rest) == SLICES, 30, what="the stand-bys own all slices")
    case.notices(*day.with_alerts(
        day.alert("SluiceProcessDown", 15),
        Notice("log of the heir", lambda: sum((case.logged(name) for name in rest), []), "slice taken", 30),
        day.dashboards_say(f"worker {victim} is silent", 40),
        Notice("sluice processes", lambda: cluster.run("processes").out.splitlines(), rf"{victim} +silent", 40, every=1)))
    day.cluster.processes[victim].start()
    machine.until(day.is_healthy, 60 * day.slack)
    case.nothing_lost()


def stand_by_lost(day, case):
    cluster = day.cluster
    day.await_quiet("SluiceNoStandby")
    case.begin()
    for name in ("w2", "w3"):
        cluster.processes[name].kill()
    case.notices(*day.with_alerts(
        day.alert("SluiceNoStandby", 40),
        Notice(
            "metric", lambda: [f"sluice_coordinator_slices_without_standby {day.coordinators_figure('sluice_coordinator_slices_without_standby')}"],
            rf"standby {SLICES}\.0", 40),
        day.doctor_says("WARNING cluster workers: only w1: nobody stands by -> start a second worker", 40)))
    mended = time.monotonic()
    for name in ("w2", "w3"):
        cluster.processes[name].start()
    case.heals(
        lambda: day.is_healthy() and day.coordinators_figure("sluice_coordinator_slices_without_standby") == 0, 60, mended,
        "every slice has an owner and a stand-by")
    case.nothing_lost()


def broker_away(seconds, kill):
    def do(day, case):
        cluster = day.cluster
        day.await_quiet("SluiceBrokerAway")
        case.act(lambda: cluster.stop_broker(kill))
        words = r"\.broker: .*(refused|away|connect|lost|closed)"
        case.notices(*day.with_alerts(
            day.all_ready_say("both coordinators", ("c1", "c2"), words, 15), day.all_ready_say("all workers", WORKERS, words, 15),
            day.all_ready_say("both gateways", ("g1", "g2"), words, 15), day.dashboards_say("fault: the broker is away", 15),
            day.alert("SluiceBrokerAway", 20), day.scaling_is_off(20),
            day.doctor_says("FAULT broker connection.*refused.*see that the broker runs", 30),
            # No figure goes on as if all were well.
            Notice(
                "metric", lambda: [f"sluice_coordinator_active {[cluster.figure(name, 'sluice_coordinator_active') for name in ('c1', 'c2')]}"],
                r"\[(0\.0|None), (0\.0|None)\]", 15),
            Notice(
                "metric", lambda: [
                    f"sluice_coordinator_slices_ownerless {[cluster.figure(name, 'sluice_coordinator_slices_ownerless') for name in ('c1', 'c2')]}"],
                rf"\[(None|[1-{SLICES}]\.0), (None|[1-{SLICES}]\.0)\]", 20)))
        case.acted()
        for name in ("c1", "c2"):
            case.check(
                all("slices served" not in text for text in day.streams[name].texts()),
                f"the dashboard of {name} does not say that slices are served", day.streams[name].texts())
        time.sleep(max(0, seconds - case.elapsed()))
        cluster.start_broker()
        case.heals(within=90)
        case.nothing_lost()
    return do


def database_away(seconds, kill):
    def do(day, case):
        cluster = day.cluster
        active = cluster.active()
        standby = "c1" if active == "c2" else "c2"
        day.await_quiet("SluiceStoreAway")
        case.act(lambda: cluster.stop_postgres(kill))
        refused = "(refused|cannot be reached|does not answer|closed|terminat|shutting down|no connection)"
        case.notices(*day.with_alerts(
            day.all_ready_say("all workers", WORKERS, rf"worker\.store: .*{refused}", 6),
            day.ready_says(active, rf"coordinator\.store: .*{refused}", 6),
            day.ready_says(standby, rf"coordinator\.store: .*{refused}", 6),
            day.dashboards_say(f"fault: the store is away: .*{refused}", 6),
            day.alert("SluiceStoreAway", 15), day.scaling_is_off(20),
            Notice("metric", lambda: [f"sluice_store_up {cluster.figure('g1', 'sluice_store_up')} of g1"], r"up 0\.0", 10),
            day.doctor_says("FAULT store database: .*-> see that the database runs", 20)))
        case.acted()
        findings = cluster.doctor()
        case.check(
            not [text for text in findings if "start a gateway" in text or "set store.url" in text],
            "the doctor sends nobody to a gateway or to store.url", findings)
        ask_meanwhile(day, case, active, standby)
        time.sleep(max(0, seconds - case.elapsed()))
        for name in (active, standby):
            stream = day.streams[name]
            case.check(
                any("the store is away" in text for text in stream.texts()),
                f"the dashboard of {name} says so still, in a picture that is {stream.age():.1f} s old", stream.newest)
            case.check("campaignsRunning" not in stream.newest, f"{name} shows no count of campaigns that it does not know", stream.newest)
        cluster.start_postgres()
        case.heals(within=60)
        case.nothing_lost()
    return do


def ask_meanwhile(day, case, active, standby):
    """What needs a store that is known to be away fails soon and says why; what needs none goes on."""
    cluster = day.cluster
    gateway = f"http://127.0.0.1:{cluster.addresses['g1']}/api/client/v2.0/app/tasks"
    for what, status, ask in (
        ("a login", (503,), lambda: web.ask(f"{gateway}/auth/providers/anon-user/login", "POST", {})),
        ("an admin request", (503,), lambda: cluster.admin("apps", coordinator=active)),
        ("a client's first request", (200, 503), lambda: web.ask(f"{gateway}/location")),
        ("a log-in to the active coordinator's dashboard", (201,), lambda: cluster.log_in(active)),
        ("a log-in to the stand-by's dashboard", (201,), lambda: cluster.log_in(standby)),
    ):
        start = time.monotonic()
        answer = ask()
        took = time.monotonic() - start
        if case.check(
            answer.status in status and took < 2 * day.slack, f"{what} is answered by {' or '.join(map(str, status))} within {2 * day.slack:.0f} s",
            f"{answer.status} {answer.body[:200]} after {took:.1f} s",
        ):
            case.noticed(what, took, f"{answer.status} {answer.body}")
    before = day.load.published
    case.check(
        machine.until(lambda: day.load.published > before, 30 * day.slack)[0], "events are published meanwhile", day.load.failures[-1:])


def permission_revoked(day, case):
    cluster = day.cluster
    day.await_quiet("SluiceBrokerAway")
    path = "permissions/%2F/sluice-worker"
    rights = cluster.management_api(path).json()
    answer = cluster.management_api(path, "PUT", {"configure": rights["configure"], "write": "^none$", "read": "^none$"})
    case.check(answer.status in (201, 204), "the permission is revoked", f"{answer.status} {answer.body}")
    case.begin()
    case.notices(Notice("sluice broker check", cluster.broker_check, "FAULT user sluice-worker.*sluice broker init", 20, every=1))
    # RabbitMQ goes by what it has granted until the connection is lost.
    for connection in cluster.management_api("connections").json():
        if connection.get("user") == "sluice-worker":
            cluster.management_api(f"connections/{web.quoted(connection['name'])}", "DELETE")
    case.begin()
    case.notices(*day.with_alerts(
        day.ready_says("w1", "refused|not allowed|ACCESS_REFUSED|permission", 60),
        Notice("log of worker w1", lambda: case.logged("w1"), "(ACCESS_REFUSED|access refused|refused).*", 60),
        Notice("dashboard's overview", lambda: day.streams["c1"].texts() + day.streams["c2"].texts(), "slices? ha(s|ve) no owner", 60),
        day.alert("SluiceSliceWithoutOwner", 60)))
    mended = time.monotonic()
    done = cluster.require("broker", "init", *cluster.broker_options())
    case.check("sluice-worker" in done.words, "broker init says that it has set the worker's permissions", done.words)
    case.heals(since=mended, within=90)
    case.nothing_lost()


def queue_deleted(day, case):
    cluster = day.cluster
    day.await_quiet("SluiceSliceWithoutOwner")
    # What the queue holds goes with it: so it holds nothing.
    day.load.pause()
    machine.until(day.drained, 60 * day.slack, every=1)
    answer = cluster.management_api("queues/%2F/sluice.slice.3", "DELETE")
    case.check(answer.status == 204, "the queue is deleted", f"{answer.status} {answer.body}")
    case.begin()
    day.load.go()
    case.notices(*day.with_alerts(
        Notice("/ready of a worker", lambda: [cluster.obstacle(name) for name in WORKERS], r"sluice\.slice\.3|slice 3", 20),
        Notice("log of a worker", lambda: sum((case.logged(name) for name in WORKERS), []), r"cancelled by the broker|sluice\.slice\.3", 20),
        day.alert("SluiceSliceWithoutOwner", 30),
        Notice("dashboard's overview", lambda: day.streams["c1"].texts() + day.streams["c2"].texts(), "1 slice has no owner: 3", 30),
        day.doctor_says(r"FAULT broker .*sluice\.slice\.3.*does not exist.*broker init", 30),
        Notice("sluice broker check", cluster.broker_check, r"FAULT .*sluice\.slice\.3", 30, every=1)))
    mended = time.monotonic()
    cluster.require("broker", "init", *cluster.broker_options())
    case.heals(since=mended, within=60)
    case.nothing_lost()


def clock_wrong(day, case):
    library = wrong_clock(day)
    if not library:
        case.skipped = "no libWrongClock.so beside the program, and no C compiler"
        return
    cluster = day.cluster
    day.await_quiet("SluiceClockOff")
    cluster.processes["w3"].stop()
    cluster.processes["w3"] = cluster.process("w3", LD_PRELOAD=library, WRONG_CLOCK_OFFSET="10")
    case.begin()
    cluster.processes["w3"].start()
    case.notices(*day.with_alerts(
        day.doctor_says("FAULT clock workers: w3's clock is .*chrony", 60),
        Notice(
            "metric", lambda: [f"sluice_coordinator_clock_offset_seconds {day.clock_offset('w3')}"], r"seconds -?(9|1[01])\.", 60),
        day.dashboards_say("clocks are off from the coordinator's: w3", 60), day.alert("SluiceClockOff", 60)))
    mended = time.monotonic()
    cluster.restart("w3")
    case.heals(
        lambda: day.is_healthy() and abs(day.clock_offset("w3") or 9) < 2 and not [text for text in cluster.doctor() if "clock" in text],
        90, mended, "all clocks agree")
    case.nothing_lost()


def wrong_clock(day):
    """The library of Tests/WrongClock: that of the build, or made here."""
    beside = os.path.join(os.path.dirname(day.cluster.sluice), "libWrongClock.so")
    built = os.path.join(machine.ROOT, ".build", "debug", "libWrongClock.so")
    for path in (beside, built):
        if os.path.exists(path):
            return path
    source = os.path.join(machine.ROOT, "Tests", "WrongClock")
    made = os.path.join(day.folder, "libWrongClock.so")
    for compiler in ("cc", "clang", "gcc"):
        if shutil.which(compiler):
            arguments = [compiler, "-shared", "-fPIC", "-O1", f"-I{source}/include", f"{source}/WrongClock.c", "-o", made, "-ldl"]
            if machine.subprocess.run(arguments, capture_output=True, check=False).returncode == 0:
                return made
    return None


def bad_events(day, case):
    cluster = day.cluster
    day.await_quiet("SluiceDeadLetters", "SluiceDeadLettersDropped")
    count = 300
    lines = "".join(
        json.dumps({"id": f"bad-{number}", "realm": {"app": "nobody", "partition": f"r{number % 24}"}, "changesets": [DOG]}) + "\n"
        for number in range(count))
    case.begin()
    done = cluster.run("publish", "changeset", "--file", "-", "--unchecked", text=lines)
    case.check(done.code == 0, "bad events are published", done.words)
    case.notices(*day.with_alerts(
        day.alert("SluiceDeadLetters", 30), day.alert("SluiceDeadLettersDropped", 60),
        Notice("log of a worker", lambda: sum((case.logged(name) for name in WORKERS), []), "message set aside.*nobody", 30),
        Notice(
            "log of the coordinator", lambda: case.logged("c1") + case.logged("c2"), "the dead-letter queue is full: the oldest letters", 60),
        Notice("dashboard's overview", lambda: day.streams["c1"].texts() + day.streams["c2"].texts(), "warning: [0-9]+ dead letter", 30),
        day.doctor_says("WARNING broker dead letters: [0-9]+ messages.*sluice dead-letters list", 60),
        Notice("sluice dead-letters count", lambda: cluster.run("dead-letters", "count").out.splitlines(), "nobody", 60, every=1)))
    letters, after = machine.until(
        lambda: len(cluster.run("dead-letters", "list", "--json").json()) <= MOST_LETTERS or None, 60 * day.slack, every=1)
    case.check(letters, f"no more than {MOST_LETTERS} letters are left after {after:.0f} s")
    mended = time.monotonic()
    done = cluster.run("dead-letters", "drop", "--app", "nobody", "--yes")
    case.check(done.code == 0, "the letters can be dropped", done.words)
    case.heals(since=mended, within=30)
    case.nothing_lost()


def broker_password(day, case):
    """docs/operations.md, "Changing the broker's passwords", under load; then back to the passwords of before."""
    cluster = day.cluster
    day.await_quiet("SluiceBrokerAway")
    before = {role: read(cluster, f"{role}.password") for role in ("worker", "gateway", "coordinator")}
    case.begin()
    done = cluster.run("broker", "init", *cluster.broker_options(), "--new-passwords", "--role", "worker")
    case.check(done.code == 0 and read(cluster, "worker.password") != before["worker"], "--new-passwords makes another password", done.words)
    case.said("sluice broker init", done, "sluice-worker")
    case.check(
        all(read(cluster, f"{role}.password") == before[role] for role in ("gateway", "coordinator")), "--role leaves the other passwords")
    case.check(cluster.is_ready(), "connections that are open go on", cluster.obstacles())
    # A connection that is lost before the process has the new password does not come back, and says why.
    for connection in cluster.management_api("connections").json():
        if connection.get("user") == "sluice-worker" and "w1" in json.dumps(connection.get("client_properties", {})):
            cluster.management_api(f"connections/{web.quoted(connection['name'])}", "DELETE")
    case.begin()
    case.notices(*day.with_alerts(
        day.ready_says("w1", r"worker\.broker: .*(refused|password|ACCESS_REFUSED)", 30),
        Notice("log of worker w1", lambda: case.logged("w1"), "(refused|ACCESS_REFUSED)", 30),
        day.alert("SluiceBrokerAway", 40)))
    mended = time.monotonic()
    for name in WORKERS:
        cluster.restart(name)
        machine.until(lambda name=name: cluster.is_ready([name]), 60 * day.slack)
    case.heals(since=mended, within=60, what="the workers are well with the new password")
    rotate(day, case, ("gateway", "coordinator"))
    # Back, by the documents' variable.
    variables = {f"SLUICE_BROKER_{role.upper()}_PASSWORD": password for role, password in before.items()}
    rotate(day, case, ("worker", "gateway", "coordinator"), variables)
    case.check(all(read(cluster, f"{role}.password") == before[role] for role in before), "the passwords are those of before")
    case.heals(within=60, what="all is well with the passwords of before")
    case.check(not [text for text in cluster.broker_check() if "guest" not in text], "broker check finds nothing", cluster.broker_check())
    case.nothing_lost()


def rotate(day, case, roles, variables=None):
    cluster = day.cluster
    for role in roles:
        done = cluster.run("broker", "init", *cluster.broker_options(), "--new-passwords", "--role", role, env=variables)
        case.check(done.code == 0, f"the {role}'s password changes", done.words)
        for name in [name for name, its in ROLES.items() if its == role]:
            cluster.restart(name)
            case.check(
                machine.until(lambda name=name: cluster.is_ready([name]), 60 * day.slack)[0], f"{name} is ready with it", cluster.obstacles())


def read(cluster, name):
    with open(os.path.join(cluster.credentials, name), encoding="utf-8") as file:
        return file.read().strip()


def store_password(day, case):
    """docs/operations.md, "PostgreSQL": store init may be repeated, with another password for a role."""
    cluster = day.cluster
    case.begin()
    old = cluster.passwords["gateway"]
    cluster.passwords["gateway"] = new = old[::-1] + "x"
    done = cluster.run("store", "init", env={"SLUICE_STORE_GATEWAY_PASSWORD": new})
    case.check(done.code == 0, "store init gives a role another password", done.words)
    case.said("sluice store init", done, "roles")
    cluster.passwords["gateway"] = old
    refused = cluster.process("g9", "gateway")
    cluster.passwords["gateway"] = new
    refused.start()
    code = refused.wait(60 * day.slack)
    case.check(code == 77, "a gateway with the old password ends with 77", f"{code}: {refused.logged()[-400:]}")
    case.said("gateway with the old password", refused.logged().splitlines()[-3:], "password")
    refused.kill()
    mended = time.monotonic()
    # The others' passwords are what they were.
    for name in ("g1", "g2", "w1", "c1"):
        restarted(day, case, name, "its role's password")
    case.heals(since=mended, within=60)
    for role in ("worker", "coordinator"):
        machine.until(day.is_healthy, 60 * day.slack)
        cluster.passwords[role] = new = cluster.passwords[role][::-1] + "x"
        done = cluster.run("store", "init", env={f"SLUICE_STORE_{role.upper()}_PASSWORD": new})
        case.check(done.code == 0, f"store init gives the {role} another password", done.words)
        case.check(cluster.is_ready(), "connections that are open go on", cluster.obstacles())
        for name in [name for name, its in ROLES.items() if its == role]:
            restarted(day, case, name, "the new password")
    case.heals(within=60, what="all is well with the new passwords")
    case.check(login(cluster, "g1") == 200, "users log in", login(cluster, "g1"))
    case.nothing_lost()


def restarted(day, case, name, what):
    day.cluster.restart(name)
    case.check(
        machine.until(lambda: day.cluster.is_ready([name]), 60 * day.slack)[0], f"{name} is ready with {what}", day.cluster.obstacles())


def login(cluster, name):
    return web.ask(
        f"http://127.0.0.1:{cluster.addresses[name]}/api/client/v2.0/app/tasks/auth/providers/anon-user/login", "POST", {}).status


CASES = [
    ("worker-killed", "a worker is killed under load", worker_killed),
    ("stand-by-lost", "two of three workers are killed", stand_by_lost),
    ("broker-stopped", "the broker is stopped for 20 s", broker_away(20, False)),
    ("broker-killed", "the broker is killed, and away for 60 s", broker_away(60, True)),
    ("database-stopped", "PostgreSQL is stopped for 25 s", database_away(25, False)),
    ("database-killed", "PostgreSQL is killed, and away for 90 s", database_away(90, True)),
    ("permission-revoked", "the workers' permission at the broker is revoked", permission_revoked),
    ("queue-deleted", "a slice's queue is deleted", queue_deleted),
    ("disk-full", "the disk of an embedded store is full", disk.disk_full),
    ("clock-wrong", "a worker's clock is 10 s ahead", clock_wrong),
    ("bad-events", f"300 bad events, where {MOST_LETTERS} letters are kept", bad_events),
    ("broker-password", "the broker's passwords are changed under load, and changed back", broker_password),
    ("store-password", "the database roles' passwords are changed under load", store_password),
]
