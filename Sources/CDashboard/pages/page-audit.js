// Who has changed what.

import { h, replace, say } from "./dom.js";
import { get, query } from "./api.js";
import { time } from "./format.js";
import { pagedTable } from "./table.js";

/** @param {HTMLElement} main @param {string[]} _ @param {AbortSignal} signal */
export async function show(main, _, signal) {
  const problem = h("p", { class: "bad", role: "alert" });
  const list = pagedTable({
    label: "Audit log", key: (/** @type {any} */ entry) => entry.number, empty: "Nothing was changed yet.",
    columns: [
      { title: "At", cell: (entry) => time(entry.at) },
      { title: "Token", cell: (entry) => entry.token },
      { title: "Role", class: "spare", cell: (entry) => entry.role },
      { title: "From", class: "spare", cell: (entry) => entry.address ?? "–" },
      { title: "Request", class: "wide", cell: (entry) => `${entry.method} ${entry.path.replace("/api/admin/v1/", "")}` },
      { title: "Said", class: "wide spare", cell: (entry) => [entry.dryRun ? "dry run" : "", entry.details ?? ""].filter(Boolean).join("; ") },
      { title: "Status", class: "number", cell: (entry) => entry.status === undefined ? "not known" : String(entry.status) },
    ],
  }, async (after) => {
    const found = await get(`audit${query({ after, limit: 200 })}`, signal);
    return { rows: found.entries, next: found.next };
  }, (error) => { if (!signal.aborted) say(problem, error.message); });
  replace(main, h("h1", {}, "Audit"), h("p", { class: "muted" }, "What was to change something, by requests and through queues, the newest first; the newest 10,000 are kept."),
    problem, list.element);
  await list.reload();
}
