// Terminations and resets, and how each client realm's reset ended.

import { h, replace, say } from "./dom.js";
import { get, path, query, stream } from "./api.js";
import { ago, count, csv, plural, time } from "./format.js";
import { pagedTable } from "./table.js";

const outcomes = ["recovered", "discarded", "manual", "failed", "superseded", "unknown", "pending"];
const perPage = 200;

/** @param {HTMLElement} main @param {string[]} rest @param {AbortSignal} signal */
export async function show(main, rest, signal) {
  if (rest[0]) return one(main, rest[0], signal);
  const app = /** @type {HTMLInputElement} */ (h("input", { id: "app", size: 20, spellcheck: "false", autocapitalize: "none",
    on: { change: () => list.reload() } }));
  const accounts = /** @type {HTMLInputElement} */ (h("input", { id: "accounts", type: "checkbox", on: { change: () => list.reload() } }));
  const problem = h("p", { class: "bad", role: "alert" });
  const list = pagedTable({
    label: "Campaigns", key: (/** @type {any} */ campaign) => campaign.id,
    empty: "No campaign yet: terminating an app's sync, or a reset, opens one.",
    columns: [
      { title: "Campaign", class: "wide", cell: (campaign) => ({ text: campaign.id, href: `#/campaigns/${path(campaign.id)}` }) },
      { title: "App", cell: (campaign) => campaign.app },
      { title: "Kind", class: "spare", cell: (campaign) => campaign.kind },
      { title: "State", cell: (campaign) => campaign.state },
      { title: "Found", class: "number", cell: (campaign) => count(campaign.counts.found) },
      { title: "Pending", class: "number", cell: (campaign) => count(campaign.counts.pending) },
      { title: "Outcomes", class: "spare", cell: (campaign) => bar(campaign.counts) },
      { title: "Started", class: "spare", cell: (campaign) => ago(campaign.startedAt) },
    ],
  }, async (after) => {
    say(problem, "");
    const found = await get(`campaigns${query({ app: app.value.trim(), accounts: accounts.checked || null, after, limit: perPage })}`, signal);
    return { rows: found.campaigns, next: found.next };
  }, (error) => { if (!signal.aborted) say(problem, error.message); });
  replace(main, h("h1", {}, "Campaigns"),
    h("p", { class: "filters" }, h("label", { for: "app" }, "App"), app, accounts,
      h("label", { for: "accounts" }, "accounts of resets that nobody asked for")),
    problem, list.element);
  await list.reload();
  const timer = setInterval(() => { if (!document.hidden && list.element.scrollTop === 0) list.reload(); }, 10_000);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/**
 * The bar of found = recovered + discarded + manual + failed + superseded + unknown + pending, said in words, too.
 * @param {any} counts
 */
function bar(counts) {
  const parts = outcomes.filter((outcome) => counts[outcome] > 0);
  const words = parts.length === 0 ? "no client realm" : parts.map((outcome) => `${counts[outcome]} ${outcome}`).join(", ");
  return h("div", { class: "bar", role: "img", "aria-label": words, title: words },
    parts.map((outcome) => {
      const part = h("span", { class: `outcome-${outcome}` });
      part.style.flexGrow = String(counts[outcome]);
      return part;
    }));
}

/** @param {HTMLElement} main @param {string} id @param {AbortSignal} signal */
async function one(main, id, signal) {
  const about = h("p", {});
  const facts = h("dl", { class: "facts" });
  const place = h("div", { class: "outcomes" });
  const legend = h("ul", { class: "legend" });
  const sum = h("p", { class: "muted" });
  const problem = h("p", { class: "bad", role: "alert" });
  const wanted = /** @type {HTMLSelectElement} */ (h("select", { id: "outcome", on: { change: () => list.reload() } },
    h("option", { value: "" }, "all"), outcomes.map((outcome) => h("option", { value: outcome }, outcome))));
  const list = pagedTable({
    label: "Client realms", key: (/** @type {any} */ realm) => `${realm.clientFile} ${realm.partition}`,
    empty: "No client realm is so.",
    columns: [
      { title: "Partition", class: "wide", cell: (realm) => realm.partition },
      { title: "Client file", class: "number", cell: (realm) => String(realm.clientFile) },
      { title: "User", class: "spare", cell: (realm) => realm.user ?? "–" },
      { title: "Outcome", cell: (realm) => realm.outcome },
      { title: "Said by", class: "spare", cell: (realm) => realm.report?.evidence ?? "–" },
      { title: "Unsynced", class: "number spare", cell: (realm) => count(realm.report?.changesets?.unsynced) },
      { title: "Told", cell: (realm) => ago(realm.notifiedAt) },
      { title: "Changed", class: "spare", cell: (realm) => ago(realm.updatedAt) },
    ],
  }, async (after) => {
    const found = await get(`campaigns/${path(id)}/client-realms${query({ outcome: wanted.value, after, limit: perPage })}`, signal);
    return { rows: found.clientRealms, next: found.next };
  }, (error) => { if (!signal.aborted) say(problem, error.message); });
  const save = (/** @type {"csv" | "json"} */ kind) => h("button", { type: "button", on: {
    click: () => download(id, wanted.value, kind, problem).catch((error) => say(problem, error.message)),
  } }, `Export ${kind.toUpperCase()}`);
  replace(main, h("p", {}, h("a", { href: "#/campaigns" }, "All campaigns")), h("h1", {}, `Campaign ${id}`), about, place, legend, sum,
    facts, h("h2", {}, "Client realms"),
    h("p", { class: "filters" }, h("label", { for: "outcome" }, "Outcome"), wanted, save("csv"), save("json")),
    problem, list.element);

  /** @type {any} */
  let last = null;
  /** @param {any} campaign */
  function tell(campaign) {
    const { counts } = campaign;
    replace(about, `${campaign.kind} of `, h("a", { href: `#/apps/${path(campaign.app)}` }, campaign.app),
      campaign.partition ? `, partition ${campaign.partition}` : "", campaign.reason ? `: ${campaign.reason}` : "");
    replace(place, bar(counts));
    replace(legend, outcomes.map((outcome) => h("li", {}, h("span", { class: `dot outcome-${outcome}`, "aria-hidden": "true" }),
      h("strong", {}, count(counts[outcome] ?? 0)), ` ${outcome}`)));
    say(sum, `${count(counts.found)} found = ${outcomes.map((outcome) => `${counts[outcome] ?? 0} ${outcome}`).join(" + ")}`);
    replace(facts, [["State", campaign.state], ["Found", count(counts.found)], ["Told to reset", count(counts.notified)],
      ["Slices reported", `${count(campaign.slicesReported)} of ${count(campaign.slicesExpected)}`],
      ["Generation", String(campaign.generation)], ["Started", `${ago(campaign.startedAt)}`],
      ["Ended", campaign.closedAt ? time(campaign.closedAt) : "not yet"]]
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    if (last && JSON.stringify(last.counts) !== JSON.stringify(counts) && list.element.scrollTop === 0) list.reload();
    last = campaign;
  }

  tell(await get(`campaigns/${path(id)}`, signal));
  await list.reload();
  stream(`campaigns/${path(id)}/events`, tell, signal, { endsByItself: true })
    .catch((error) => { if (!signal.aborted) say(problem, error.message); });
}

/**
 * Saves the client realms of a campaign, page by page.
 * @param {string} id
 * @param {string} outcome
 * @param {"csv" | "json"} kind
 * @param {HTMLElement} words
 */
async function download(id, outcome, kind, words) {
  const keys = ["partition", "clientFile", "user", "outcome", "lastSeen", "foundAt", "notifiedAt", "updatedAt", "supersededBy", "reason"];
  const parts = [kind === "csv" ? `${[...keys, "result", "evidence", "unsynced", "recovered", "discarded"].join(",")}\r\n` : "[\n"];
  /** @type {string | undefined} */
  let after;
  let rows = 0;
  do {
    /** @type {{clientRealms: any[], next?: string}} */
    const page = await get(`campaigns/${path(id)}/client-realms${query({ outcome, after, limit: 1000 })}`);
    for (const realm of page.clientRealms) {
      parts.push(kind === "json" ? `${rows > 0 ? ",\n" : ""}${JSON.stringify(realm)}`
        : [...keys.map((key) => realm[key]), realm.report?.result, realm.report?.evidence, realm.report?.changesets?.unsynced,
          realm.report?.changesets?.recovered, realm.report?.changesets?.discarded].map(csv).join(",") + "\r\n");
      rows += 1;
    }
    after = page.next;
    say(words, after ? `${plural(rows, "client realm")} read ...` : "");
  } while (after);
  if (kind === "json") parts.push("\n]\n");
  const url = URL.createObjectURL(new Blob(parts, { type: kind === "csv" ? "text/csv" : "application/json" }));
  const link = h("a", { href: url, download: `${id}.${kind}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
