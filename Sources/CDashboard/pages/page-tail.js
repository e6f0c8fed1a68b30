// Messages as they pass.

import { h, replace, say } from "./dom.js";
import { query, stream } from "./api.js";
import { count, size } from "./format.js";
import { table } from "./table.js";

const kept = 1000;
const types = ["changeset", "bind", "identify", "page", "unbind", "integrated", "termination", "reset", "client-reset", "generation",
  "settings", "signing-keys", "found", "notified", "outcome", "heartbeat", "claim", "tick", "rules", "allow-resets", "erase", "erase-app", "erased"];

/** @param {HTMLElement} main @param {string[]} rest @param {AbortSignal} signal */
export function show(main, rest, signal) {
  /** @type {any[]} */
  let messages = [];
  let number = 0;
  let leftOut = 0;
  let isHeld = false;
  let running = new AbortController();
  const app = /** @type {HTMLInputElement} */ (h("input", { id: "app", size: 16, value: rest[0] ?? "", spellcheck: "false", autocapitalize: "none", on: { change: () => begin() } }));
  const partition = /** @type {HTMLInputElement} */ (h("input", { id: "partition", size: 16, spellcheck: "false", autocapitalize: "none", on: { change: () => begin() } }));
  const type = /** @type {HTMLSelectElement} */ (h("select", { id: "type", on: { change: () => begin() } },
    h("option", { value: "" }, "all but the clock"), types.map((name) => h("option", { value: name }, name))));
  const words = h("p", { class: "muted" });
  const problem = h("p", { class: "bad", role: "alert" });
  const hold = h("button", { type: "button", on: { click: () => { isHeld = !isHeld; say(hold, isHeld ? "Go on" : "Hold"); draw(); } } }, "Hold");
  const list = table({
    label: "Messages, the newest first", key: (/** @type {any} */ line) => line.number, empty: "Nothing has passed yet.",
    columns: [
      { title: "At", cell: (line) => new Date(line.at).toISOString().slice(11, 23) },
      { title: "Type", cell: (line) => line.message.type },
      { title: "App", cell: (line) => line.message.app ?? "–" },
      { title: "Partition", cell: (line) => line.message.partition ?? "–" },
      { title: "File", class: "number spare", cell: (line) => line.message.clientFile === undefined ? "–" : String(line.message.clientFile) },
      { title: "Slice", class: "number spare", cell: (line) => line.message.slice === undefined ? "–" : String(line.message.slice) },
      { title: "Size", class: "number spare", cell: (line) => size(line.message.bytes) },
      { title: "About", class: "wide spare", cell: (line) => about(line.message) },
    ],
  });
  replace(main, h("h1", {}, "Tail"),
    h("p", { class: "muted" }, "Copies of messages as they pass; whom they are about and how large they are, never what users wrote."),
    h("p", { class: "filters" }, h("label", { for: "app" }, "App"), app, h("label", { for: "partition" }, "Partition"), partition,
      h("label", { for: "type" }, "Type"), type, hold,
      h("button", { type: "button", on: { click: () => { messages = []; draw(); } } }, "Clear")),
    problem, words, list.element);

  function draw() {
    say(words, `${count(messages.length)} shown${leftOut > 0 ? `, ${count(leftOut)} left out because there were too many` : ""}${isHeld ? ", held" : ""}`);
    if (!isHeld) list.set(messages);
  }

  let isDue = false;
  /** @param {any} line */
  function heard(line) {
    leftOut += line.leftOut ?? 0;
    if (!line.message || isHeld) return;
    messages.unshift({ ...line, number: number += 1 });
    if (messages.length > kept) messages.length = kept;
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => { isDue = false; draw(); });
  }

  function begin() {
    running.abort();
    running = new AbortController();
    messages = [];
    leftOut = 0;
    say(problem, "");
    draw();
    stream(`messages/events${query({ app: app.value.trim(), partition: partition.value, type: type.value })}`, heard, running.signal)
      .catch((error) => say(problem, error.message));
  }

  signal.addEventListener("abort", () => running.abort());
  begin();
}

/** What a message is about; a dead letter has been on its way before.
 * @param {any} message */
function about(message) {
  const words = [];
  if (message.letter) words.push(`dead letter ${message.letter} of ${message.queue ?? "an unknown queue"}: ${message.reason}`);
  if (message.text) words.push(message.text);
  const events = (message.events ?? []).map((/** @type {any} */ event) => `${event.id} (version ${event.version})`);
  if (events.length > 0) words.push(`of ${events.length === 1 ? "event" : "events"} ${events.slice(0, 5).join(", ")}${events.length > 5 ? ` and ${events.length - 5} more` : ""}`);
  return words.join("; ");
}
