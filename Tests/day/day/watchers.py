"""Who may notice that something is wrong: Prometheus with the shipped rules, and the dashboard's stream of overviews."""
import http.client
import json
import os
import shutil
import threading
import time
import urllib.parse

from . import machine, web


def alerts_text(answer):
    """Pending and firing alerts, each with its summary."""
    return [
        f"{one['labels']['alertname']} {one['state']}: {one['annotations'].get('summary', '')}"
        for one in answer.json().get("data", {}).get("alerts", [])]


class Prometheus:
    """A Prometheus of the day's own, that looks at all processes every second by the rules of deploy/prometheus."""

    def __init__(self, folder, program):
        self.folder = os.path.join(folder, "prometheus")
        self.program = program
        self.port = machine.free_port()
        os.makedirs(self.folder)

    @staticmethod
    def found():
        return os.environ.get("PROMETHEUS") or shutil.which("prometheus")

    def start(self, ports):
        """Looks at the processes with these names and operations ports."""
        rules = os.path.join(machine.ROOT, "deploy", "prometheus")
        targets = "\n".join(
            f"      - {{targets: ['127.0.0.1:{port}'], labels: {{instance: {name}, cluster: day}}}}" for name, port in ports.items())
        path = os.path.join(self.folder, "prometheus.yml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f"global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\nrule_files:\n"
                f"  - {rules}/recording.yaml\n  - {rules}/alerts.yaml\n"
                f"scrape_configs:\n  - job_name: sluice\n    static_configs:\n{targets}\n")
        self.process = machine.Process(
            "prometheus",
            [self.program, f"--config.file={path}", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"], dict(os.environ), self.folder)
        self.process.start()
        ready, _ = machine.until(lambda: self.ask("query?query=sluice_build_info").json().get("data", {}).get("result"), 120)
        if not ready:
            raise RuntimeError("Prometheus has scraped nothing: " + self.process.logged()[-500:])

    def ask(self, path):
        return web.ask(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=10)

    def alerts(self):
        return alerts_text(self.ask("alerts"))

    def sick_rules(self):
        """Rules that could not be evaluated."""
        groups = self.ask("rules").json().get("data", {}).get("groups", [])
        return [f"{rule['name']}: {rule.get('lastError')}" for group in groups for rule in group["rules"] if rule["health"] == "err"]

    def names_of_rules(self):
        groups = self.ask("rules").json().get("data", {}).get("groups", [])
        return [rule["name"] for group in groups for rule in group["rules"]]

    def stop(self):
        self.process.kill()


class OverviewStream:
    """What a dashboard that is open shows: the newest line of a coordinator's cluster/events."""

    def __init__(self, address, token):
        self.address = address
        self.token = token
        self.newest = {}
        self.heard = 0.0
        self.is_wanted = True
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        place = urllib.parse.urlsplit(self.address)
        while self.is_wanted:
            connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
            try:
                connection.request("GET", "/api/admin/v1/cluster/events", headers={"Authorization": f"Bearer {self.token}"})
                answer = connection.getresponse()
                while self.is_wanted and answer.status == 200:
                    line = answer.readline()
                    if not line:
                        break
                    if line.strip():
                        document = json.loads(line)
                        self.newest = document.get("overview", document)
                        self.heard = time.monotonic()
            except (OSError, ValueError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            time.sleep(0.3)

    def texts(self):
        """The findings and the sentence of a picture that is not old."""
        newest = self.newest
        if not newest or self.age() > 5:
            return []
        return [f"{one['level']}: {one['text']}" for one in newest.get("findings", [])] + [newest.get("sentence", "")]

    def age(self):
        """Seconds since the picture was made, as the picture says itself: a page greys it after five."""
        return time.time() - self.newest.get("at", 0) / 1000
