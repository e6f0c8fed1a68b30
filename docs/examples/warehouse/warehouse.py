#!/usr/bin/python3
"""Keeps a table in PostgreSQL in step with a class of an app: a row for each document, with the place of the change that made it what it is.

It reads the state once (docs/change-feed.md, "Feeds"), then follows a feed of whole documents. Python's standard library,
pika and psycopg2 (Debian: python3-pika, python3-psycopg2) are all that it needs.

  sluice apps set shops --change-feed documents
  sluice feeds create warehouse --app shops --class Item --management-url http://broker:15672
  . sluice-broker/feed-warehouse.env; export AMQP_URL SLUICE_COORDINATOR_URL SLUICE_ADMIN_TOKEN DATABASE_URL
  ./warehouse.py --app shops --class Item --queue sluice.feed.warehouse
"""
import argparse
import json
import os
import signal
import sys
import urllib.error
import urllib.parse
import urllib.request

import pika
import pika.exceptions
import psycopg2
import psycopg2.extras

TABLES = """
CREATE TABLE IF NOT EXISTS documents (
    realm text, id text, history text NOT NULL, generation bigint NOT NULL, version bigint NOT NULL, idx bigint NOT NULL,
    document jsonb,  -- null: deleted, and remembered, so that nothing older brings it back
    PRIMARY KEY (realm, id));
CREATE TABLE IF NOT EXISTS realms (
    realm text PRIMARY KEY, history text NOT NULL,
    generation bigint NOT NULL DEFAULT 0, version bigint NOT NULL DEFAULT 0, idx bigint NOT NULL DEFAULT 0);  -- the last place
CREATE OR REPLACE VIEW current_documents AS SELECT realm, id, document FROM documents WHERE document IS NOT NULL;
"""

UPSERT = """
INSERT INTO documents (realm, id, history, generation, version, idx, document) VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (realm, id) DO UPDATE SET
    history = excluded.history, generation = excluded.generation, version = excluded.version, idx = excluded.idx,
    document = excluded.document
WHERE (documents.generation, documents.version, documents.idx) < (excluded.generation, excluded.version, excluded.idx)
"""

ADVANCE = """
UPDATE realms SET generation = %s, version = %s, idx = %s WHERE realm = %s AND (generation, version, idx) < (%s, %s, %s)
"""

# Behind every change of its version: the state has all of them.
LAST = 2**62


def partition(realm):
    """The partition of a realm; empty for the one realm of an app in flexible mode."""
    return realm.get("partition", "")


def text_of(value):
    return json.dumps(value, sort_keys=True)


class Broken(Exception):
    """The state could not be read to its end."""


class Coordinator:
    def __init__(self, url, token, app, class_name):
        self.base = f"{url}/api/admin/v1/apps/{urllib.parse.quote(app)}"
        self.headers = {"Authorization": f"Bearer {token}"}
        self.class_name = class_name

    def open(self, path, query):
        query = urllib.parse.urlencode(query | {"class": self.class_name}, quote_via=urllib.parse.quote)
        url = f"{self.base}{path}?{query}"
        return urllib.request.urlopen(urllib.request.Request(url, headers=self.headers), timeout=60)

    def document(self, realm, key):
        """A document that was too large to be told; None if it is gone."""
        with self.open("/documents", {"partition": partition(realm), "id": json.dumps(key)}) as response:
            return next(iter(json.load(response)["documents"]), None)

    def state(self, realm=None):
        """Yields each event of the state, up to `ready`.

        realm: only of this one; None: of all.
        """
        where = {} if realm is None else {"partition": partition(realm)}
        name = "message"
        with self.open("/changes", where | {"from": "start"}) as response:
            for line in response:
                line = line.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    if name == "ready":
                        return
                    if name == "error":
                        raise Broken(line[6:])
                    yield name, json.loads(line[6:])
        raise Broken("the stream ended")


class Warehouse:
    def __init__(self, database, coordinator):
        self.connection = psycopg2.connect(database)
        self.coordinator = coordinator
        with self.connection, self.connection.cursor() as cursor:
            cursor.execute(TABLES)

    def is_empty(self):
        with self.connection, self.connection.cursor() as cursor:
            cursor.execute("SELECT NOT EXISTS (SELECT 1 FROM realms)")
            return cursor.fetchone()[0]

    def start(self, realm=None):
        """Takes in the state: all of it, or none, so that nobody reads half of it."""
        with self.connection, self.connection.cursor() as cursor:
            told = set()
            for name, event in self.coordinator.state(realm):
                one = text_of(event["realm"])
                history = event.get("history", "")
                place = (history, event["generation"], event["version"], LAST)
                self.know(cursor, one, history)
                if name == "document":
                    self.put(cursor, one, event["key"], place, event["document"])
                elif name == "state":
                    told.add(one)
                    self.advance(cursor, one, place)
                    # What is older and was not told is gone.
                    cursor.execute(
                        "UPDATE documents SET document = NULL WHERE realm = %s AND (generation, version, idx) < (%s, %s, %s)",
                        (one,) + place[1:])
            # So is every realm that is not there any more.
            gone = "UPDATE documents SET document = NULL WHERE NOT realm = ANY (%s)"
            if realm is None:
                cursor.execute(gone, (list(told),))
            elif text_of(realm) not in told:
                cursor.execute("UPDATE documents SET document = NULL WHERE realm = %s", (text_of(realm),))

    def know(self, cursor, realm, history):
        """Forgets what is of another history: its places say nothing of those that come now. Returns whether there was one."""
        cursor.execute("SELECT history FROM realms WHERE realm = %s", (realm,))
        known = cursor.fetchone()
        if known and known[0] == history:
            return False
        cursor.execute(
            "INSERT INTO realms VALUES (%s, %s) ON CONFLICT (realm) DO UPDATE SET history = excluded.history",
            (realm, history))
        cursor.execute("DELETE FROM documents WHERE realm = %s", (realm,))
        return known is not None

    def advance(self, cursor, realm, place):
        """Keeps the last place that was dealt with: by this a change that is missing shows."""
        cursor.execute(ADVANCE, place[1:] + (realm,) + place[1:])

    def put(self, cursor, realm, key, place, document):
        value = None if document is None else psycopg2.extras.Json(document)
        cursor.execute(UPSERT, (realm, text_of(key)) + place + (value,))

    def apply(self, change):
        """Does what a change says, unless the row is as new or newer."""
        realm = text_of(change["realm"])
        with self.connection, self.connection.cursor() as cursor:
            cursor.execute("SELECT history, generation, version, idx FROM realms WHERE realm = %s", (realm,))
            known = cursor.fetchone()
        # A worker of a release before says nothing of histories.
        history = change.get("history", known[0] if known else "")
        if known and known[0] != history:
            # The store was put back: what is here may never have happened.
            self.start(change["realm"])
        elif known and any(known[1:]) and tuple(change.get("followsInClass", ())) > known[1:]:
            print(f"a change of {realm} is missing: the realm is read anew", flush=True)
            self.start(change["realm"])
        with self.connection, self.connection.cursor() as cursor:
            self.know(cursor, realm, history)
            place = (history, change["generation"], change["version"], change["index"])
            self.advance(cursor, realm, place)
            operation = change["operation"]
            if operation in ("insert", "update", "replace"):
                document = change.get("document")
                if document is None:
                    document = self.coordinator.document(change["realm"], change["key"])
                self.put(cursor, realm, change["key"], place, document)
            elif operation == "delete":
                self.put(cursor, realm, change["key"], place, None)
            elif operation in ("erase", "drop"):
                cursor.execute(
                    "UPDATE documents SET document = NULL, generation = %s, version = %s, idx = %s WHERE realm = %s"
                    " AND (generation, version, idx) < (%s, %s, %s)",
                    place[1:] + (realm,) + place[1:])
            elif operation == "dropFields":
                cursor.execute(
                    "UPDATE documents SET document = document - %s WHERE realm = %s"
                    " AND (generation, version, idx) < (%s, %s, %s)",
                    (change["removed"], realm) + place[1:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--app", required=True)
    parser.add_argument("--class", dest="class_name", required=True)
    parser.add_argument("--queue", required=True, help="the feed's queue")
    options = parser.parse_args()
    coordinator = Coordinator(
        os.environ["SLUICE_COORDINATOR_URL"].rstrip("/"), os.environ["SLUICE_ADMIN_TOKEN"], options.app,
        options.class_name)
    warehouse = Warehouse(os.environ["DATABASE_URL"], coordinator)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    parameters = pika.URLParameters(os.environ["AMQP_URL"])
    # Nobody answers the broker while the state is read.
    parameters.heartbeat = 600
    channel = pika.BlockingConnection(parameters).channel()
    channel.basic_qos(prefetch_count=64)

    def start(is_first=False):
        # First the word, then the state: what is lost meanwhile leaves another one.
        lost, _, _ = channel.basic_get(options.queue + ".lost")
        if not lost and not (is_first and warehouse.is_empty()):
            return
        warehouse.start()
        if lost:
            channel.basic_ack(lost.delivery_tag)
        print("has the state", flush=True)

    start(is_first=True)
    print("following", flush=True)
    for method, _, body in channel.consume(options.queue, inactivity_timeout=10):
        if method is None:
            start()
            continue
        told = json.loads(body)
        for change in told["changes"]:
            warehouse.apply(change | {key: told[key] for key in ("realm", "history") if key in told})
        channel.basic_ack(method.delivery_tag)


if __name__ == "__main__":
    try:
        main()
    except (Broken, OSError, pika.exceptions.AMQPError, psycopg2.OperationalError) as error:
        # A service manager starts it again: it goes on where it was.
        sys.exit(f"{type(error).__name__}: {error}")
