// The cluster's processes: what each is, where it runs, and what it does.

import { h, say } from "./dom.js";
import { get } from "./api.js";
import { count, plural, since, span, time } from "./format.js";
import { watch } from "./live.js";
import { table } from "./table.js";

/** @type {Record<string, string>} */
const states = { ready: "ready", not_ready: "not ready", silent: "silent", unknown: "not known" };

/** @param {HTMLElement} main @param {string[]} rest @param {AbortSignal} signal */
export async function show(main, rest, signal) {
  const words = h("p", { class: "muted", role: "status" });
  const problem = h("p", { class: "bad", role: "alert" });
  const role = /** @type {HTMLSelectElement} */ (h("select", { id: "role", on: { change: () => draw() } },
    h("option", { value: "" }, "all"), ["coordinator", "worker", "gateway"].map((name) =>
      h("option", { value: name, selected: name === rest[0] }, `${name}s`))));
  /** @type {any[]} */
  let all = [];
  const rows = table({
    label: "Processes", key: (/** @type {any} */ process) => `${process.role} ${process.id}`, empty: "No process was heard.",
    columns: [
      { title: "Process", cell: (process) => process.id },
      { title: "Role", cell: (process) => process.role },
      { title: "State", class: "wide", cell: (process) => standing(process) },
      { title: "Version", cell: (process) => process.version ?? "–" },
      { title: "Host", cell: (process) => process.host ?? "–" },
      { title: "Up", class: "number", cell: (process) => up(process) },
      { title: "Does", cell: (process) => work(process) },
      { title: "Serves at", class: "spare", cell: (process) => process.address ?? "–" },
      { title: "Operations", class: "spare", cell: (process) => process.operations ?? "–" },
      { title: "Heard", class: "number spare", cell: (process) => since(process.lastHeardAt) },
    ],
  });
  main.replaceChildren(h("h1", {}, "Processes"),
    h("p", { class: "muted" }, "As this coordinator has heard from their heartbeats. One that is silent and has not said goodbye is shown for ten minutes."),
    h("p", { class: "filters" }, h("label", { for: "role" }, "Show"), role), problem, words, rows.element);

  function draw() {
    const shown = all.filter((process) => !role.value || process.role === role.value);
    /** @type {Map<string, number>} */
    const versions = new Map();
    for (const process of shown) if (process.version) versions.set(process.version, (versions.get(process.version) ?? 0) + 1);
    const bad = shown.filter((process) => process.state === "not_ready" || process.state === "silent").length;
    say(words, `${count(shown.length)} of ${plural(all.length, "process", "processes")}, ${bad === 0 ? "none" : count(bad)} not ready or silent`
      + (versions.size > 1 ? `; several versions: ${[...versions].map(([name, number]) => `${name} (${count(number)})`).join(", ")}` : ""));
    rows.set(shown);
  }

  let readAt = 0;
  async function read() {
    readAt = Date.now();
    try {
      all = (await get("cluster/processes", signal)).processes;
      say(problem, "");
    } catch (error) {
      if (!signal.aborted) say(problem, /** @type {any} */ (error).message);
    }
    draw();
  }

  await read();
  watch(() => { if (Date.now() - readAt > 4_500) read(); else draw(); }, signal);
}

/** @param {any} process */
function standing(process) {
  const reasons = process.notReady?.length > 0 ? `: ${process.notReady.join("; ")}` : "";
  return `${states[process.state] ?? process.state}${process.state === "not_ready" ? reasons : ""}`;
}

/** @param {any} process */
function up(process) {
  return process.startedAt === undefined ? "–" : h("span", { title: `since ${time(process.startedAt)}` }, span(Date.now() - process.startedAt));
}

/** @param {any} process */
function work(process) {
  if (process.role === "coordinator") return process.active ? "active" : "stands by";
  if (process.role === "gateway") return `${plural(process.sessions ?? 0, "session")}, ${plural(process.connections ?? 0, "connection")}`;
  const owned = process.owns ?? [];
  const slices = owned.length === 0 ? "no slice" : `${owned.length === 1 ? "slice" : `${count(owned.length)} slices:`} ${owned.slice(0, 8).join(", ")}${owned.length > 8 ? " ..." : ""}`;
  return { text: `${slices}; stands by for ${count(process.standsBy?.length ?? 0)}`, href: "#/slices" };
}
