// Messages that could not be used: list, look, send back, drop.

import { h, replace, say } from "./dom.js";
import { get, path, query, send } from "./api.js";
import { count, plural, since, size } from "./format.js";
import { actionButton, confirm } from "./dialog.js";
import { copyable } from "./copy.js";
import { table } from "./table.js";

/** @param {HTMLElement} main @param {string[]} _ @param {AbortSignal} signal */
export async function show(main, _, signal) {
  /** @type {Set<string>} */
  const chosen = new Set();
  const words = h("p", { class: "muted", role: "status" });
  const said = h("p", { role: "status" });
  const problem = h("p", { class: "bad", role: "alert" });
  const letter = h("div", {});
  const groups = h("div", {});
  const app = /** @type {HTMLInputElement} */ (h("input", { id: "app", size: 16, spellcheck: "false", autocapitalize: "none", on: { change: () => read() } }));
  const id = /** @type {HTMLInputElement} */ (h("input", { id: "letter", size: 20, spellcheck: "false", autocapitalize: "none", on: { change: () => read() } }));
  const reason = /** @type {HTMLInputElement} */ (h("input", { id: "reason", size: 24, spellcheck: "false", on: { change: () => read() } }));
  const failed = (/** @type {any} */ error) => { if (!signal.aborted) say(problem, error.message); };
  /** @type {any[]} */
  let letters = [];
  let all = 0;
  let order = "";
  /** Message ids, with a button to copy each. @type {Map<string, HTMLElement>} */
  const ids = new Map();
  const list = table({
    label: "Dead letters", key: (/** @type {any} */ entry) => entry.name, empty: "No dead letter.",
    sorted: (by) => { order = by; list.set(inOrder(letters)); },
    columns: [
      { title: "", cell: (entry) => box(entry) },
      { title: "Letter", sort: "name", cell: (entry) => button(entry) },
      { title: "Message id", class: "spare mono", sort: "id", cell: (entry) => ids.get(entry.name) ?? "–" },
      { title: "Type", sort: "type", cell: (entry) => entry.type },
      { title: "App", sort: "app", cell: (entry) => entry.app ?? "–" },
      { title: "Reason", class: "wide", sort: "reason", cell: (entry) => entry.reason },
      { title: "From", class: "spare", sort: "queue", cell: (entry) => entry.queue ?? "–" },
      { title: "Partition", class: "spare", sort: "partition", cell: (entry) => entry.partition ?? "–" },
      { title: "Size", class: "number spare", sort: "bytes", cell: (entry) => size(entry.bytes) },
      { title: "Died", class: "spare", sort: "diedAt", cell: (entry) => since(entry.diedAt) },
    ],
  });
  /** @type {Map<string, HTMLElement>} */
  const boxes = new Map();
  /** @type {Map<string, HTMLElement>} */
  const buttons = new Map();

  /** @param {any} entry */
  function box(entry) {
    let made = boxes.get(entry.name);
    if (!made) {
      made = h("input", { type: "checkbox", "aria-label": `Choose ${entry.name}`, on: { change: (/** @type {any} */ event) => {
        if (event.target.checked) chosen.add(entry.name); else chosen.delete(entry.name);
        tell();
      } } });
      boxes.set(entry.name, made);
    }
    return made;
  }

  /** @param {any} entry */
  function button(entry) {
    let made = buttons.get(entry.name);
    if (!made) {
      made = h("button", { type: "button", class: "plain", on: { click: () => look(entry).catch(failed) } }, entry.name);
      buttons.set(entry.name, made);
    }
    return made;
  }

  /** @param {any[]} found */
  function inOrder(found) {
    const by = order.replace("-", "");
    if (by === "") return found;
    const way = order.startsWith("-") ? -1 : 1;
    return [...found].sort((one, other) => way * (typeof (one[by] ?? other[by]) === "number"
      ? (one[by] ?? 0) - (other[by] ?? 0) : String(one[by] ?? "").localeCompare(String(other[by] ?? ""))));
  }

  function tell() {
    say(words, `${count(letters.length)} of ${plural(all, "letter")} shown, ${count(chosen.size)} chosen`);
    for (const made of [sendBack, drop]) if (made instanceof HTMLButtonElement) made.disabled = chosen.size === 0;
  }

  async function read() {
    try {
      const found = await get(`dead-letters${query({ app: app.value.trim(), id: id.value.trim(), reason: reason.value.trim(), limit: 1000 })}`, signal);
      letters = found.letters;
      all = found.of;
      const names = new Set(letters.map((entry) => entry.name));
      for (const name of [...chosen]) if (!names.has(name)) chosen.delete(name);
      for (const kept of [boxes, buttons]) for (const name of [...kept.keys()]) if (!names.has(name)) kept.delete(name);
      say(problem, "");
      ids.clear();
      for (const entry of letters) if (entry.id) ids.set(entry.name, copyable(entry.id));
      list.set(inOrder(letters));
      showGroups(found.groups);
      tell();
    } catch (error) {
      failed(error);
    }
  }

  /** @param {any[]} found */
  function showGroups(found) {
    replace(groups, found.length < 2 ? null : h("details", { class: "entry" },
      h("summary", {}, `${plural(found.length, "cause")}, the most frequent: ${found[0].reason} (${count(found[0].count)})`),
      h("ul", {}, found.slice(0, 50).map((group) => h("li", {}, `${count(group.count)} × ${group.type}${group.app ? ` of ${group.app}` : ""}: ${group.reason}`)))));
  }

  /** @param {boolean} all */
  function choose(all) {
    chosen.clear();
    for (const entry of letters) {
      if (all) chosen.add(entry.name);
      /** @type {HTMLInputElement} */ (box(entry)).checked = all;
    }
    tell();
  }

  /** @param {any} entry */
  async function look(entry) {
    let body;
    try {
      body = (await get(`dead-letters/${path(entry.name)}`, signal)).body;
    } catch (error) {
      body = `What the message said: ${/** @type {any} */ (error).message}`;
    }
    replace(letter, h("h2", {}, `Letter ${entry.name}`), h("p", {}, entry.reason), h("p", { class: "muted" }, entry.id ? `Message ${entry.id}. ` : "", entry.text),
      h("pre", { tabindex: 0, "aria-label": `What ${entry.name} says` }, body));
    letter.scrollIntoView({ block: "nearest" });
  }

  /** @param {"requeue" | "drop"} what */
  function act(what) {
    if (chosen.size === 0) return say(said, "Choose letters first.");
    const names = [...chosen];
    confirm({
      title: what === "requeue" ? `Send ${plural(names.length, "letter")} back` : `Drop ${plural(names.length, "letter")} for good`,
      act: what === "requeue" ? "Send back" : "Drop", word: what === "drop" ? String(names.length) : undefined,
      plan: (place) => replace(place, h("p", {}, what === "requeue"
        ? "Each is published to the queue that it died in. One that still cannot be used comes back."
        : "What they say is lost: nobody can bring a dropped letter back."), h("p", { class: "mono" }, names.slice(0, 20).join(", "), names.length > 20 ? " ..." : "")),
      done: async () => {
        const result = await send("POST", `dead-letters/${what}`, { letters: names });
        chosen.clear();
        for (const made of boxes.values()) /** @type {HTMLInputElement} */ (made).checked = false;
        say(said, [`${plural(result.done.length, "letter")} ${what === "requeue" ? "sent back" : "dropped"}`,
          ...result.refused.map((/** @type {any} */ refused) => refused.reason),
          ...(result.missing.length > 0 ? [`${count(result.missing.length)} not there any more`] : [])].join(". ") + ".");
        await read();
      },
    });
  }

  const sendBack = actionButton("Send back ...", "operate", () => act("requeue"));
  const drop = actionButton("Drop ...", "operate", () => act("drop"), { class: "danger" });
  replace(main, h("h1", {}, "Dead letters"),
    h("p", { class: "muted" }, "Messages that could not be used, with the reason. Their realms went on."),
    h("p", { class: "filters" }, h("label", { for: "app" }, "App"), app, h("label", { for: "letter" }, "Letter or message id"), id,
      h("label", { for: "reason" }, "Reason contains"), reason,
      h("button", { type: "button", on: { click: () => read() } }, "Look again")),
    h("div", { class: "actions" },
      h("button", { type: "button", on: { click: () => choose(true) } }, "Choose all"), h("button", { type: "button", on: { click: () => choose(false) } }, "Choose none"),
      sendBack, drop),
    groups, said, problem, words, list.element, letter);
  await read();
}
