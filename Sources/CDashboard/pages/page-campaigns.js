// Terminations and resets, and how each client realm's reset ended.

import { copyable } from "./copy.js";
import { h, replace, say } from "./dom.js";
import { get, path, query, stream } from "./api.js";
import { ago, count, plural, since, time } from "./format.js";
import { grafanaLink } from "./grafana.js";
import { pagedTable } from "./table.js";

const outcomes = ["recovered", "discarded", "manual", "failed", "superseded", "unknown", "pending"];
const perPage = 200;
/** Each campaign of a list is counted anew. */
const campaignsPerPage = 50;

/** @param {HTMLElement} main @param {string[]} rest @param {AbortSignal} signal */
export async function show(main, rest, signal) {
  if (rest[0]) return one(main, rest[0], signal);
  const app = /** @type {HTMLInputElement} */ (h("input", { id: "app", size: 20, value: rest[1] ?? "", spellcheck: "false", autocapitalize: "none",
    on: { change: () => list.reload() } }));
  const search = /** @type {HTMLInputElement} */ (h("input", { id: "search", size: 20, spellcheck: "false", autocapitalize: "none",
    on: { change: () => list.reload() } }));
  const open = /** @type {HTMLInputElement} */ (h("input", { id: "open", type: "checkbox", on: { change: () => list.reload() } }));
  const accounts = /** @type {HTMLInputElement} */ (h("input", { id: "accounts", type: "checkbox", on: { change: () => list.reload() } }));
  const problem = h("p", { class: "bad", role: "alert" });
  const words = h("p", { class: "muted", role: "status" });
  let shown = 0;
  let pending = 0;
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
      { title: "Started", class: "spare", cell: (campaign) => since(campaign.startedAt) },
    ],
  }, async (after) => {
    say(problem, "");
    const found = await get(`campaigns${query({ app: app.value.trim(), search: search.value.trim(), accounts: accounts.checked || null, open: open.checked || null, after, limit: campaignsPerPage })}`, signal);
    if (after === undefined) shown = pending = 0;
    shown += found.campaigns.length;
    pending += found.campaigns.reduce((/** @type {number} */ sum, /** @type {any} */ campaign) => sum + campaign.counts.pending, 0);
    say(words, `${plural(shown, "campaign")}${found.next ? ", and older ones below" : ""}, ${plural(pending, "reset")} of them pending`);
    return { rows: found.campaigns, next: found.next };
  }, (error) => { if (!signal.aborted) say(problem, error.message); });
  replace(main, h("h1", {}, "Campaigns"),
    h("p", { class: "filters" }, h("label", { for: "app" }, "App"), app,
      h("label", { for: "search" }, "Id or reason"), search, h("span", {}, open, h("label", { for: "open" }, " not closed")),
      h("span", {}, accounts,
      h("label", { for: "accounts" }, " accounts of resets that nobody asked for"))),
    problem, words, list.element);
  // Counting many client realms takes its time: it is done the less often.
  for (let took = 0; !signal.aborted; await pause(Math.max(10_000, took * 9), signal)) {
    if (document.hidden || list.element.scrollTop > 0) continue;
    const begun = Date.now();
    await list.reload();
    took = Date.now() - begun;
  }
}

/** @param {number} milliseconds @param {AbortSignal} signal ends it early @returns {Promise<void>} */
function pause(milliseconds, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    }, { once: true });
  });
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
  const partition = /** @type {HTMLInputElement} */ (h("input", { id: "of-partition", size: 14, spellcheck: "false", autocapitalize: "none", on: { change: () => list.reload() } }));
  const user = /** @type {HTMLInputElement} */ (h("input", { id: "of-user", size: 14, spellcheck: "false", autocapitalize: "none", on: { change: () => list.reload() } }));
  const filter = () => ({ outcome: wanted.value, partition: partition.value, user: user.value.trim() });
  let appID = "";
  const list = pagedTable({
    label: "Client realms", key: (/** @type {any} */ realm) => `${realm.clientFile} ${realm.partition}`,
    empty: "No client realm is so.",
    columns: [
      { title: "Partition", class: "wide", cell: (realm) => realm.partition },
      { title: "Client file", class: "number", cell: (realm) => appID === "" ? String(realm.clientFile)
        : { text: String(realm.clientFile), href: `#/realms/${path(appID, realm.partition || "-", realm.clientFile)}` } },
      { title: "User", class: "spare", cell: (realm) => realm.user ?? "–" },
      { title: "Outcome", cell: (realm) => realm.outcome },
      { title: "Said by", class: "spare", cell: (realm) => realm.report?.evidence ?? "–" },
      { title: "Unsynced", class: "number spare", cell: (realm) => count(realm.report?.changesets?.unsynced) },
      { title: "Told", cell: (realm) => since(realm.notifiedAt) },
      { title: "Changed", class: "spare", cell: (realm) => since(realm.updatedAt) },
    ],
  }, async (after) => {
    say(problem, "");
    const found = await get(`campaigns/${path(id)}/client-realms${query({ ...filter(), after, limit: perPage })}`, signal);
    return { rows: found.clientRealms, next: found.next };
  }, (error) => { if (!signal.aborted) say(problem, error.message); });
  // The browser saves the file as it comes: the page holds nothing of it.
  const save = (/** @type {"csv" | "json"} */ format) => h("a", { class: "button", download: `${id}.${format}`, href: "", on: {
    click: (/** @type {any} */ event) => {
      event.currentTarget.href = `/api/admin/v1/campaigns/${path(id)}/client-realms/export${query({ format, ...filter() })}`;
    },
  } }, `Export ${format.toUpperCase()}`);
  replace(main, h("p", {}, h("a", { href: "#/campaigns" }, "All campaigns")), h("h1", {}, `Campaign ${id}`), h("p", { class: "muted" }, "Id ", copyable(id)), about, place, legend, sum,
    facts, h("h2", {}, "Client realms"),
    h("p", { class: "filters" }, h("label", { for: "outcome" }, "Outcome"), wanted, h("label", { for: "of-partition" }, "Partition"), partition,
      h("label", { for: "of-user" }, "User"), user, save("csv"), save("json")),
    problem, list.element);

  /** @type {any} */
  let last = null;
  /** @param {any} campaign */
  function tell(campaign) {
    const { counts } = campaign;
    appID = campaign.app;
    replace(about, `${campaign.kind} of `, h("a", { href: `#/apps/${path(campaign.app)}` }, campaign.app),
      campaign.partition ? `, partition ${campaign.partition}` : "", campaign.reason ? `: ${campaign.reason}` : "");
    const more = grafanaLink("campaign", { app: campaign.app });
    if (more) about.append(" · ", more);
    replace(place, bar(counts));
    replace(legend, outcomes.map((outcome) => h("li", {}, h("span", { class: `dot outcome-${outcome}`, "aria-hidden": "true" }),
      h("strong", {}, count(counts[outcome] ?? 0)), ` ${outcome}`)));
    say(sum, `${count(counts.found)} found = ${outcomes.map((outcome) => `${counts[outcome] ?? 0} ${outcome}`).join(" + ")}`);
    replace(facts, [["State", campaign.state], ["Found", count(counts.found)], ["Told to reset", count(counts.notified)],
      ["Slices reported", `${count(campaign.slicesReported)} of ${count(campaign.slicesExpected)}`],
      ["Generation", String(campaign.generation)], ["Started", `${time(campaign.startedAt)}, ${ago(campaign.startedAt)}`],
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
