"""The objects of the chart in deploy/helm, and their comparison with those of Kustomize's overlays; .ci/kubernetes uses it."""
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = ".build/chart"
# What is rendered: files of values, or values. Those called as an overlay are compared with it.
VARIANTS = {
    "small": [],
    "three-zones": ["values-three-zones.yaml"],
    "a broker and a database that are there": [{
        "broker": {
            "create": False, "host": "broker.example.net", "scheme": "amqps", "port": 5671, "administratorSecret": "sluice-broker-administrator",
            "peers": [{"ipBlock": {"cidr": "10.0.0.0/24"}}]},
        "database": {"create": False, "host": "database.example.net", "port": 6432, "peers": [{"ipBlock": {"cidr": "10.0.0.0/24"}}]},
        "image": {"pullSecrets": [{"name": "registry"}], "pullPolicy": "Always"},
        "gateway": {
            "service": {"annotations": {"example.net/a": "b"}},
            "ingress": {"enabled": True, "className": "nginx", "secretName": "tls", "annotations": {"example.net/a": "b"}}},
        "backup": {"enabled": True, "endpoint": "https://objects.example.net"},
        "network": {"enabled": True}, "monitoring": {"enabled": True}, "migrate": False,
    }],
    "no policies": [{"network": {"enabled": False}}],
}


class Charts:
    def __init__(self, path, complain):
        self.path = path
        self.complain = complain
        self.python = os.path.join(TOOLS, "bin", "python")
        self.can_render = self.is_installed() or self.install()

    def is_installed(self):
        return subprocess.run([self.python, "-c", "import helm_python, yaml"], capture_output=True).returncode == 0 if os.path.exists(self.python) else False

    def install(self):
        wanted = os.path.join(os.path.dirname(HERE), "chart.txt")
        for command in (
            [sys.executable, "-m", "venv", "--clear", TOOLS],
            [os.path.join(TOOLS, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "-r", wanted],
        ):
            if subprocess.run(command, capture_output=True).returncode != 0:
                return False
        return self.is_installed()

    def render(self, where, values):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for number, value in enumerate(values):
                if isinstance(value, str):
                    files.append(os.path.join(self.path, value))
                    continue
                files.append(os.path.join(folder, f"{number}.yaml"))
                with open(files[-1], "w", encoding="utf-8") as out:
                    yaml.safe_dump(value, out)
            result = subprocess.run(
                [self.python, os.path.join(HERE, "chart.py"), self.path, "sluice", "sluice", *files], capture_output=True, text=True)
        if result.returncode != 0:
            self.complain(where, result.stderr[-600:])
            return []
        answer = json.loads(result.stdout)
        for message in answer["lint"]["messages"]:
            # There is no icon.
            if "icon" not in message["error"]:
                self.complain(where, f"{message['path']}: {message['error']}")
        return [
            document for path, text in sorted(answer["rendered"].items()) if path.endswith(".yaml")
            for document in yaml.safe_load_all(text) if document]


def plain(document):
    """The object without what the two ways write differently: the digest of the settings, orders that mean nothing, a label on all."""
    document = json.loads(re.sub(r"sluice-settings-[a-z0-9]{10}\b", "sluice-settings", json.dumps(document)))

    def walk(value):
        if isinstance(value, list):
            return [walk(item) for item in value]
        if not isinstance(value, dict):
            return value
        value = {key: walk(item) for key, item in value.items()}
        for key in ("volumes", "volumeMounts"):
            if isinstance(value.get(key), list):
                value[key] = sorted(value[key], key=lambda one: one["name"])
        if isinstance(value.get("env"), list):
            value["env"] = sorted(value["env"], key=lambda variable: variable["name"])
        if isinstance(value.get("labels"), dict):
            value["labels"] = {key: item for key, item in value["labels"].items() if key != "app.kubernetes.io/part-of"}
        for key, holds in (("labels", None), ("annotations", "sluice/settings")):
            if isinstance(value.get(key), dict):
                value[key] = {name: item for name, item in value[key].items() if name != holds}
                if not value[key]:
                    del value[key]
        return value

    document = walk(document)
    if document["kind"] == "ConfigMap":
        document["data"] = {name: yaml.safe_load(text) for name, text in document["data"].items()}
    if document["kind"] == "Job":
        # Jobs of the chart have a name for each revision, and stay until the next one.
        document["metadata"]["name"] = re.sub(r"-\d+$", "", document["metadata"]["name"])
        document["spec"].pop("ttlSecondsAfterFinished", None)
    return document


def migration(document):
    """The job that migrates, of Kustomize's cron job that never runs by itself or of the chart's hook, but for how it learns of the slices."""
    spec = document["spec"]["jobTemplate"]["spec"] if document["kind"] == "CronJob" else document["spec"]
    spec = {key: value for key, value in spec.items() if key != "ttlSecondsAfterFinished"}
    pod = spec["template"]["spec"]
    for container in pod["containers"]:
        container["env"] = [one for one in container["env"] if one["name"] not in ("SLUICE_CONFIG", "SLUICE_SLICES")]
        container["volumeMounts"] = [one for one in container["volumeMounts"] if one["name"] != "settings"]
    pod["volumes"] = [one for one in pod["volumes"] if one["name"] != "settings"]
    return {"kind": "Job", "metadata": {"name": "sluice-migrate"}, "spec": spec}


def differences(ours, theirs, path=""):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            if key not in ours or key not in theirs:
                yield f"{path}.{key} is in {'the overlay' if key in theirs else 'the chart'} alone"
            else:
                yield from differences(ours[key], theirs[key], f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (one, other) in enumerate(zip(ours, theirs)):
            yield from differences(one, other, f"{path}[{number}]")
    elif ours != theirs:
        yield f"{path}: {json.dumps(ours)[:200]} in the chart, {json.dumps(theirs)[:200]} in the overlay"


def compare(where, chart, overlay, complain):
    def index(documents):
        found = {}
        for document in map(plain, documents):
            # Helm makes the namespace, or finds it.
            if document["kind"] == "Namespace":
                continue
            if document["metadata"]["name"] == "sluice-migrate":
                document = migration(document)
            found[document["kind"], document["metadata"]["name"]] = document
        return found

    ours, theirs = index(chart), index(overlay)
    for kind, name in sorted(set(ours) ^ set(theirs)):
        complain(where, f"{kind} {name} is in {'the chart' if (kind, name) in ours else 'the overlay'} alone")
    for key in sorted(set(ours) & set(theirs)):
        for difference in differences(ours[key], theirs[key]):
            complain(where, f"{' '.join(key)}: {difference}")
