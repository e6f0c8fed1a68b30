"""Events that are published all the while, each with an id of its own: what was not confirmed is published again."""
import json
import threading
import time

APP = "tasks"
REALMS = 24
BATCH = 40


class Load:
    def __init__(self, cluster):
        self.cluster = cluster
        self.published = 0
        self.failures = []
        self._number = 0
        self._lock = threading.Lock()
        self._goes = threading.Event()
        self._is_wanted = True
        self._thread = threading.Thread(target=self._run, daemon=True)

    def prepare(self):
        self.cluster.require("apps", "create", APP, "--rules", "open", "--development-mode")
        self.publish_batch()

    def publish_batch(self, app=APP):
        """One batch; True if the broker has all of it."""
        start = self._number
        text = "".join(
            json.dumps({
                "id": f"event-{number}", "realm": {"app": app, "partition": f"r{number % REALMS}"},
                "writes": [{"upsert": "Item", "document": {"_id": number, "name": f"item {number}"}}]}) + "\n"
            for number in range(start, start + BATCH))
        done = self.cluster.run("publish", "write", "--file", "-", "--json", text=text)
        if done.code != 0:
            self.failures.append((done.code, done.err.strip()))
            return False
        self._number += BATCH
        self.published += BATCH
        return True

    def start(self):
        self._thread.start()

    def go(self):
        self._goes.set()

    def pause(self):
        """Returns once nothing is under way."""
        self._goes.clear()
        with self._lock:
            pass

    def end(self):
        self._is_wanted = False
        self._goes.set()

    def _run(self):
        while self._is_wanted:
            self._goes.wait()
            if not self._is_wanted:
                return
            with self._lock:
                done = self._goes.is_set() and self.publish_batch()
            time.sleep(0.3 if done else 1)
