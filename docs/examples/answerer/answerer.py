#!/usr/bin/python3
"""Answers what people write: a text that begins with "?" is replaced by the text and its answer.

It follows a feed of an app's changes (docs/change-feed.md) and writes documents over HTTP (docs/documents.md). Python's standard library and
pika, Debian's python3-pika, are all that it needs.

  sluice apps set tasks --change-feed documents
  sluice feeds create answers --app tasks --class Item --management-url http://broker:15672
  . sluice-broker/feed-answers.env; export AMQP_URL SLUICE_COORDINATOR_URL SLUICE_ADMIN_TOKEN
  ./answerer.py --app tasks --class Item --field name --queue sluice.feed.answers
"""
import argparse
import ast
import json
import operator
import os
import signal
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pika

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


class Refused(Exception):
    """The write can never be done as it is."""


class Away(Exception):
    """Whether it is done is not known: the same again does it once."""


def answer(question):
    """The answer to a sum such as "? 2 + 3"; always the same to the same question."""

    def value(node):
        if isinstance(node, ast.Expression):
            return value(node.body)
        if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) <= 10**9:
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError("no sum")

    text = question[1:].strip()
    try:
        if len(text) > 100:
            raise ValueError("too long")
        return f"{text} = {value(ast.parse(text, mode='eval'))}"
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return f"{text}: I do not know"


def partition(realm):
    """The partition of a realm; empty for the one realm of an app in flexible mode."""
    return realm.get("partition", "")


class Documents:
    """The app's documents, over the coordinator's HTTP API."""

    def __init__(self, url, token, app, class_name):
        self.base = f"{url}/api/admin/v1/apps/{urllib.parse.quote(app)}"
        self.token = token
        self.class_name = class_name

    def ask(self, path, query=None, body=None):
        url = self.base + path + ("?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote) if query else "")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            problem = error.read(1 << 20).decode(errors="replace").strip()
            if error.code in (408, 429) or error.code >= 500 and error.code != 501:
                raise Away(problem) from None
            raise Refused(problem) from None
        except OSError as error:
            raise Away(str(error)) from None

    def pages(self, path, query, key):
        while True:
            page = self.ask(path, query)
            yield from page[key]
            if "next" not in page:
                return
            query = query | {"after": page["next"]}

    def unanswered(self, field):
        """Yields each question that stands in the data, whenever it was written, with its realm and key."""
        for realm in self.pages("/realms", {}, "realms"):
            query = {
                "partition": partition(realm), "class": self.class_name,
                "filter": json.dumps({field: {"$regex": "^\\?"}}),
            }
            try:
                for document in self.pages("/documents", query, "documents"):
                    yield realm, document["_id"], document[field]
            except Refused as error:
                # A realm that has no such class yet.
                if "unknown_class" not in str(error):
                    raise

    def write(self, realm, key, field, question, text, name):
        """Writes an answer, once for each name, unless somebody has changed the question since."""
        body = {
            "partition": partition(realm), "id": name,
            "writes": [{"update": self.class_name, "id": key, "set": {field: text}, "onlyIf": {field: question}}],
        }
        try:
            self.ask("/documents", body=body)
            print(f"answered {text}", flush=True)
        except Refused as error:
            print(f"not answered {question}: {error}", flush=True)


def again(what, wait=time.sleep):
    """Does something until it is known to be done."""
    pause = 0.2
    while True:
        try:
            return what()
        except Away as error:
            print(f"trying again: {error}", file=sys.stderr, flush=True)
            wait(pause)
            pause = min(pause * 2, 10)


def is_behind_a_gap(places, told, change):
    """Whether the broker has lost a change before this one. places: the last place of each realm that changes came of."""
    if len(places) > 100_000:
        places.clear()
    realm = json.dumps([told["realm"], told.get("history")], sort_keys=True)
    place = (change["generation"], change["version"], change["index"])
    known = places.get(realm, place)
    places[realm] = max(known, place)
    return tuple(change.get("followsInClass", ())) > known


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--app", required=True)
    parser.add_argument("--class", dest="class_name", required=True)
    parser.add_argument("--field", required=True, help="the property that has questions")
    parser.add_argument("--queue", required=True, help="the feed's queue")
    options = parser.parse_args()
    documents = Documents(
        os.environ["SLUICE_COORDINATOR_URL"].rstrip("/"), os.environ["SLUICE_ADMIN_TOKEN"], options.app,
        options.class_name)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    def sweep():
        for realm, key, question in documents.unanswered(options.field):
            name = "answer " + json.dumps([options.class_name, key, question])[:180]
            documents.write(realm, key, options.field, question, answer(question), name)

    connection = pika.BlockingConnection(pika.URLParameters(os.environ["AMQP_URL"]))
    channel = connection.channel()
    channel.basic_qos(prefetch_count=16)
    # What is to be done stands in the data: what was written before there was a feed, and what its queue had to let go of.
    again(sweep, connection.sleep)
    print("answering", flush=True)
    places = {}
    for method, properties, body in channel.consume(options.queue, inactivity_timeout=10):
        if method is None:
            lost, _, _ = channel.basic_get(options.queue + ".lost")
            if lost:
                again(sweep, connection.sleep)
                channel.basic_ack(lost.delivery_tag)
            continue
        told = json.loads(body)
        for number, change in enumerate(told["changes"]):
            if is_behind_a_gap(places, told, change):
                again(sweep, connection.sleep)
            question = (change.get("document") or change.get("set") or {}).get(options.field)
            if isinstance(question, str) and question.startswith("?"):
                # The message's id is the same whenever it comes: so it is answered once.
                again(
                    lambda: documents.write(
                        told["realm"], change["key"], options.field, question, answer(question),
                        f"answer to {properties.message_id} {number}"[:200]),
                    connection.sleep)
        # Known to be done, or never to be.
        channel.basic_ack(method.delivery_tag)


if __name__ == "__main__":
    main()
