// The queues of all slices, and one slice's page.

import { h, replace } from "./dom.js";
import { get } from "./api.js";
import { ago, count, decimal, span, time } from "./format.js";
import { watch } from "./live.js";
import { plot } from "./plot.js";
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
      { title: "Stand-by", class: "spare", cell: (slice) => slice.standBy.join(", ") || "none" },
      { title: "Epoch", class: "number spare", cell: (slice) => slice.epoch === undefined ? "–" : String(slice.epoch) },
    ],
  });
  /** @type {any[]} */
  let all = [];

  function draw() {
    const wanted = all.filter((slice) => only.value === "behind" ? waiting(slice) > 0
      : only.value === "ownerless" ? !slice.owner : only.value === "held" ? slice.heldResets?.length > 0 : true);
    const place = (/** @type {any} */ slice) => order.value === "oldest" ? slice.oldestAt ?? Infinity
      : order.value === "waiting" ? -waiting(slice) : order.value === "rate" ? -(slice.perSecond ?? 0) : slice.slice;
    wanted.sort((a, b) => place(a) - place(b) || a.slice - b.slice);
    replace(words, `${count(wanted.length)} of ${count(all.length)} slices, ${count(all.filter((slice) => !slice.owner).length)} without an owner`);
    rows.set(wanted);
  }

  replace(main, h("h1", {}, "Slices"),
    h("p", { class: "filters" }, h("label", { for: "only" }, "Show"), only, h("label", { for: "order" }, "by"), order),
    words, rows.element);
  watch(({ slices }) => {
    all = [...slices.values()];
    draw();
  }, signal, { slices: true });
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
  const plots = h("div", { class: "plots" });
  const owners = table({
    label: `Owners of slice ${number}`, key: (/** @type {any} */ owning) => `${owning.at} ${owning.epoch}`,
    columns: [
      { title: "Since", cell: (owning) => time(owning.at) }, { title: "", class: "spare", cell: (owning) => ago(owning.at) },
      { title: "Owner", cell: (owning) => owning.owner ?? "nobody" },
      { title: "Epoch", class: "number", cell: (owning) => owning.epoch === undefined ? "–" : String(owning.epoch) },
    ],
  });
  replace(main, h("p", {}, h("a", { href: "#/slices" }, "All slices")), h("h1", {}, `Slice ${number}`), held, facts,
    h("h2", {}, "The last hour"), plots,
    h("h2", {}, "Owners"), owners.element,
    h("p", { class: "muted" }, "As this coordinator has heard since it started: at most an hour of figures and 50 changes."));

  /** @param {any} slice */
  function tell(slice) {
    const facts_ = [["Owner", slice.owner ?? "nobody"], ["Stand-by", slice.standBy.join(", ") || "none"],
      ["Epoch", slice.epoch ?? "–"], ["Ready", count(slice.ready)], ["Unacknowledged", count(slice.unacknowledged)],
      ["Oldest message", age(slice)], ["In", `${decimal(slice.inPerSecond)} /s`], ["Out", `${decimal(slice.perSecond)} /s`],
      ["Last heard", ago(slice.lastHeardAt)]];
    replace(facts, facts_.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    replace(held, (slice.heldResets ?? []).map((/** @type {any} */ reset) =>
      h("p", { class: "finding level-warning" }, h("strong", {}, "Look: "),
        `${count(reset.asked)} of ${count(reset.clientFiles)} client realms of ${reset.app} were to reset within a minute; they wait for `,
        h("a", { href: `#/apps/${encodeURIComponent(reset.app)}` }, "your permission"))));
  }

  let drawnAt = 0;
  async function read() {
    drawnAt = Date.now();
    const found = await get(`cluster/slices/${encodeURIComponent(number)}`, signal);
    tell(found.slice);
    owners.set(found.owners);
    const times = found.points.map((/** @type {any} */ point) => point.at);
    const values = (/** @type {string} */ key) => found.points.map((/** @type {any} */ point) => point[key]);
    replace(plots,
      plot({ title: "Ready", unit: "messages", values: values("ready"), times, isWhole: true }),
      plot({ title: "Unacknowledged", unit: "messages", values: values("unacknowledged"), times, isWhole: true }),
      plot({ title: "Oldest message", unit: "s", values: values("oldest"), times }),
      plot({ title: "In", unit: "/s", values: values("inPerSecond"), times }),
      plot({ title: "Out", unit: "/s", values: values("outPerSecond"), times }));
  }

  await read();
  watch(({ slices }) => {
    const slice = slices.get(Number(number));
    if (slice) tell(slice);
    if (Date.now() - drawnAt > 30_000) read().catch(() => {});
  }, signal, { slices: true });
}
