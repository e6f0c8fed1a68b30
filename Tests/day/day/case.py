"""One incident or fault: what was done, who noticed it after how long and with which words, and when all was well again."""
import re
import threading
import time

from . import machine


class Notice:
    """Somebody who is to notice: the name, what asks it for its texts, the words looked for, and how many seconds it may take."""

    def __init__(self, who, probe, words, within, every=0.3):
        self.who = who
        self.probe = probe
        self.words = re.compile(words, re.IGNORECASE | re.DOTALL)
        self.within = within
        self.every = every
        self.after = None
        self.text = ""
        # Where in the text the words are.
        self.at = 0

    def watch(self, start, patience):
        while time.monotonic() - start < patience:
            texts = self.probe()
            texts = [texts] if isinstance(texts, str) else (texts or [])
            for text in texts:
                found = self.words.search(text)
                if found:
                    self.after, self.text, self.at = time.monotonic() - start, text, found.start()
                    return
            if texts:
                self.text = " | ".join(texts)
            time.sleep(self.every)


class Case:
    def __init__(self, day, name, title):
        self.day = day
        self.name = name
        self.title = title
        self.rows = []
        self.failures = []
        self.skipped = None
        self.healthy_after = None
        self.start = time.monotonic()
        self.sizes = {}

    def say(self, text):
        self.day.say(f"   {text}")

    def begin(self):
        """From now on it is counted how soon something is noticed, and logs are read."""
        self.sizes = {name: process.size_of_log() for name, process in self.day.cluster.processes.items()}
        self.start = time.monotonic()

    def act(self, function):
        """Does something that takes its time, beside those who are to notice it; the beginning is now."""
        self.begin()
        self.acting = threading.Thread(target=function, daemon=True)
        self.acting.start()

    def acted(self):
        self.acting.join()

    def logged(self, name):
        """The lines that a process has written since the beginning."""
        process = self.day.cluster.processes[name]
        return process.logged(self.sizes.get(name, 0)).splitlines()

    def elapsed(self):
        return time.monotonic() - self.start

    def check(self, holds, what, came=""):
        if holds:
            self.say(f"ok      {what}")
        else:
            came = str(came).strip()
            self.failures.append(what + (f"; came: {came[-600:]}" if came else ""))
            self.say(f"FAILED  {self.failures[-1]}")
        return bool(holds)

    def noticed(self, who, after, words, at=0):
        # What differs from run to run and says nothing: the time of a log line, the folder, ports.
        stamp = re.match(r"\d{4}-\d\d-\d\dT\S+ ", words)
        if stamp:
            words, at = words[stamp.end():], max(0, at - stamp.end())
        begin, rest = (re.sub(r"127\.0\.0\.1(:|\\*\", port )\d{4,5}", r"HOST\1PORT", part.replace(self.day.folder, "")) for part in (words[:at], words[at:]))
        self.rows.append((who, after, begin + rest, len(begin)))
        self.say(f"ok      {who} after {after:.1f} s: {excerpt(begin + rest, len(begin), 220)}")

    def notices(self, *notices):
        """Waits side by side until each has noticed, or has had its time."""
        slack = self.day.slack
        threads = [
            threading.Thread(target=notice.watch, args=(self.start, notice.within * slack), daemon=True) for notice in notices]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for notice in notices:
            if notice.after is not None:
                self.noticed(notice.who, notice.after, notice.text, notice.at)
            else:
                self.check(
                    False, f"{notice.who} says /{notice.words.pattern}/ within {notice.within * slack:.0f} s", notice.text or "nothing")

    def said(self, who, said, words):
        """What somebody who was asked says: a command that has ended, or texts."""
        after = getattr(said, "took", None)
        texts = said.words.splitlines() if after is not None else said
        for text in texts:
            found = re.search(words, text, re.IGNORECASE | re.DOTALL)
            if found:
                self.noticed(who, self.elapsed() if after is None else after, text, found.start())
                return
        self.check(False, f"{who} says /{words}/", " | ".join(texts) or "nothing")

    def heals(self, probe=None, within=60, since=None, what="all is well again"):
        since = since or time.monotonic()
        probe = probe or self.day.is_healthy
        well, _ = machine.until(probe, within * self.day.slack)
        if self.check(well, f"{what} within {within * self.day.slack:.0f} s", "" if well else self.day.what_is_wrong()):
            after = time.monotonic() - since
            # Of several the first: what comes later is no incident.
            self.healthy_after = after if self.healthy_after is None else self.healthy_after
            self.say(f"healthy again after {after:.1f} s")

    def nothing_lost(self):
        self.day.nothing_lost(self)


def excerpt(text, at, most):
    """Of a long text the part in which the words are that somebody looks for."""
    begin, rest = " ".join(text[:at].split()), " ".join(text[at:].split())
    space = " " if begin and (text[:at][-1:].isspace() or text[at:][:1].isspace()) else ""
    whole = begin + space + rest
    if len(whole) <= most:
        return whole
    # The words stand in the middle, as far as there is enough on both sides.
    first = max(0, min(len(begin) - most // 3, len(whole) - most + 4))
    part = whole[first:first + most - (8 if first else 4)]
    return ("... " if first else "") + part + (" ..." if first + len(part) < len(whole) else "")
