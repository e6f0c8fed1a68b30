// The queues of all slices, and one slice's page.

import { h, replace } from "./dom.js";
import { get, path } from "./api.js";
import { ago, count, decimal, plural, since, span, time } from "./format.js";
import { watch } from "./live.js";
import { plotSet, strip } from "./plot.js";
import { table } from "./table.js";

/** @param {HTMLElement} main @param {string[]} rest @param {AbortSignal} signal */
export async function show(main, rest, signal) {
  if (rest[0]) return one(main, rest[0], signal);
  const words = h("p", { class: "muted", role: "status" });
  const only = /** @type {HTMLSelectElement} */ (h("select", { id: "only", on: { change: () => draw() } },
    h("option", { value: "" }, "all"), h("option", { value: "behind" }, "with waiting messages"),
    h("option", { value: "ownerless" }, "without an owner"), h("option", { value: "held" }, "holding resets")));
  const order = /** @type {HTMLSelectElement} */ (h("select", { id: "order", on: { change: () => draw() } },
    h("option", { value: "slice" }, "number"), h("option", { value: "oldest" }, "oldest message"),
    h("option", { value: "waiting" }, "messages waiting"), h("option", { value: "rate" }, "messages a second")));
  const rows = table({
    label: "Slices", key: (/** @type {any} */ slice) => slice.slice, empty: "No slice is so.",
    columns: [
      { title: "Slice", class: "number", cell: (slice) => ({ text: String(slice.slice), href: `#/slices/${slice.slice}` }) },
      { title: "Owner", cell: (slice) => slice.owner ?? "nobody" },
      { title: "Ready", class: "number", cell: (slice) => count(slice.ready) },
      { title: "Unacked", class: "number", cell: (slice) => count(slice.unacknowledged) },
      { title: "Oldest", class: "number", cell: (slice) => age(slice) },
      { title: "In /s", class: "number", cell: (slice) => decimal(slice.inPerSecond) },
      { title: "Out /s", class: "number", cell: (slice) => decimal(slice.perSecond) },
      { title: "Waiting, last hour", class: "spare", cell: (slice) => drawn(slice.slice) },
      { title: "Stand-by", class: "spare", cell: (slice) => slice.standBy.join(", ") || "none" },
      { title: "Epoch", class: "number spare", cell: (slice) => slice.epoch === undefined ? "–" : String(slice.epoch) },
    ],
  });
  /** @type {any[]} */
  let all = [];
  // Of each slice what has waited, a value a minute; the last is of the minute that runs.
  /** @type {number[][]} */
  let strips = [];
  let begunAt = 0;
  /** @type {Map<number, {values: string, node: Node}>} */
  const drawings = new Map();

  /** @param {number} number */
  function drawn(number) {
    const values = strips[number] ?? [];
    const key = values.join();
    const known = drawings.get(number);
    if (known?.values === key) return known.node;
    const made = { values: key, node: strip(values) };
    drawings.set(number, made);
    return made.node;
  }

  /** Notes what waits now. */
  function note() {
    if (begunAt === 0) return;
    const isNext = Date.now() - begunAt > 60_000;
    if (isNext) begunAt = Date.now();
    for (const slice of all) {
      const values = strips[slice.slice] ??= [];
      if (isNext || values.length === 0) strips[slice.slice] = [...values, waiting(slice)].slice(-60);
      else values[values.length - 1] = Math.max(values[values.length - 1], waiting(slice));
    }
  }

  function draw() {
    const wanted = all.filter((slice) => only.value === "behind" ? waiting(slice) > 0
      : only.value === "ownerless" ? !slice.owner : only.value === "held" ? slice.heldResets?.length > 0 : true);
    const place = (/** @type {any} */ slice) => order.value === "oldest" ? slice.oldestAt ?? Infinity
      : order.value === "waiting" ? -waiting(slice) : order.value === "rate" ? -(slice.perSecond ?? 0) : slice.slice;
    wanted.sort((a, b) => place(a) - place(b) || a.slice - b.slice);
    replace(words, `${count(wanted.length)} of ${plural(all.length, "slice")}, ${count(all.filter((slice) => !slice.owner).length)} without an owner`);
    rows.set(wanted);
  }

  replace(main, h("h1", {}, "Slices"),
    h("p", { class: "filters" }, h("label", { for: "only" }, "Show"), only, h("label", { for: "order" }, "by"), order),
    words, rows.element);
  watch(({ slices }) => {
    all = [...slices.values()];
    note();
    draw();
  }, signal, { slices: true });
  strips = (await get("cluster/history?slices=true", signal)).strips;
  begunAt = Date.now();
  note();
  draw();
}

/** @param {any} slice */
function waiting(slice) {
  return (slice.ready ?? 0) + (slice.unacknowledged ?? 0);
}

/** @param {any} slice */
function age(slice) {
  return slice.oldestAt === undefined ? "–" : span(Date.now() - slice.oldestAt);
}

/** @param {HTMLElement} main @param {string} number @param {AbortSignal} signal */
async function one(main, number, signal) {
  const facts = h("dl", { class: "facts" });
  const held = h("div", { class: "findings" });
  const plots = plotSet([
    { title: "Ready", unit: "messages", key: "ready", isWhole: true, panel: "waiting" },
    { title: "Unacknowledged", unit: "messages", key: "unacknowledged", isWhole: true, panel: "waiting" },
    { title: "Oldest message", unit: "s", key: "oldest", panel: "oldest" },
    { title: "In", unit: "/s", key: "inPerSecond", panel: "messages" },
    { title: "Out", unit: "/s", key: "outPerSecond", panel: "messages" },
  ]);
  const owners = table({
    label: `Owners of slice ${number}`, key: (/** @type {any} */ owning) => `${owning.at} ${owning.epoch}`,
    columns: [
      { title: "Since", cell: (owning) => time(owning.at) }, { title: "", class: "spare", cell: (owning) => since(owning.at) },
      { title: "Owner", cell: (owning) => owning.owner ?? "nobody" },
      { title: "Epoch", class: "number", cell: (owning) => owning.epoch === undefined ? "–" : String(owning.epoch) },
    ],
  });
  const appOf = (/** @type {any} */ entry) => ({ text: entry.app, href: `#/apps/${path(entry.app)}` });
  const realms = table({
    label: "Busiest realms", key: (/** @type {any} */ entry) => `${entry.app} ${entry.partition}`, empty: "Nothing was integrated lately.",
    columns: [
      { title: "Partition", class: "wide", cell: (entry) => ({ text: entry.partition || "the app's one realm", href: `#/realms/${path(entry.app, entry.partition || "-")}` }) },
      { title: "App", cell: appOf }, { title: "Changesets", class: "number", cell: (entry) => count(entry.changesets) },
    ],
  });
  const apps = table({
    label: "Busiest apps", key: (/** @type {any} */ entry) => entry.app, empty: "Nothing was integrated lately.",
    columns: [{ title: "App", cell: appOf }, { title: "Changesets", class: "number", cell: (entry) => count(entry.changesets) }],
  });
  const refusals = table({
    label: "Refused", key: (/** @type {any} */ entry) => entry.app, empty: "Nothing was refused.",
    columns: [
      { title: "App", cell: appOf }, { title: "Merges over budget", class: "number", cell: (entry) => count(entry.merges) },
      { title: "Quotas met", class: "number", cell: (entry) => count(entry.quotas) },
    ],
  });
  replace(main, h("p", {}, h("a", { href: "#/slices" }, "All slices")), h("h1", {}, `Slice ${number}`), held, facts,
    h("h2", {}, "How it went"), plots.element,
    h("div", { class: "side-by-side" },
      h("section", {}, h("h2", {}, "Busiest realms"), realms.element), h("section", {}, h("h2", {}, "Busiest apps"), apps.element),
      h("section", {}, h("h2", {}, "Refused"), refusals.element), h("section", {}, h("h2", {}, "Owners"), owners.element)),
    h("p", { class: "muted" }, "As this coordinator has heard since it started: at most an hour of figures and 50 changes. The owner tells of the last five minutes or so, and of what it has refused since it took the slice."));

  /** @param {any} slice */
  function tell(slice) {
    const facts_ = [["Owner", slice.owner ?? "nobody"], ["Stand-by", slice.standBy.join(", ") || "none"],
      ["Epoch", slice.epoch ?? "–"], ["Ready", count(slice.ready)], ["Unacknowledged", count(slice.unacknowledged)],
      ["Oldest message", age(slice)], ["In", `${decimal(slice.inPerSecond)} /s`], ["Out", `${decimal(slice.perSecond)} /s`],
      ["Last heard", ago(slice.lastHeardAt)]];
    replace(facts, facts_.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    replace(held, (slice.heldResets ?? []).map((/** @type {any} */ reset) =>
      h("p", { class: "finding level-warning" }, h("strong", {}, "Look: "),
        `${count(reset.asked)} of ${plural(reset.clientFiles, "client realm")} of ${reset.app} were to reset within a minute; they wait for `,
        h("a", { href: `#/apps/${encodeURIComponent(reset.app)}` }, "your permission"))));
  }

  let drawnAt = 0;
  async function read() {
    drawnAt = Date.now();
    const found = await get(`cluster/slices/${encodeURIComponent(number)}`, signal);
    tell(found.slice);
    owners.set(found.owners);
    realms.set(found.realms);
    apps.set(found.apps);
    refusals.set(found.refusals);
    plots.set(found.points);
  }

  await read();
  watch(({ slices }) => {
    const slice = slices.get(Number(number));
    if (slice) tell(slice);
    if (Date.now() - drawnAt > 10_000) read().catch(() => {});
  }, signal, { slices: true });
}
