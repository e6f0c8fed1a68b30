// What is stored of an app's realms: versions, classes, objects, client files.

import { h, replace, say } from "./dom.js";
import { get, hindrance, path, query } from "./api.js";
import { ago, count, plural, since, size, time } from "./format.js";
import { pagedTable, table } from "./table.js";

/** @param {HTMLElement} main @param {string[]} rest @param {AbortSignal} signal */
export async function show(main, rest, signal) {
  const [app, partition, clientFile] = rest;
  if (app && partition !== undefined && clientFile) return standing(main, app, partition, clientFile, signal);
  if (app && partition !== undefined) return one(main, app, partition, signal);
  const problem = h("p", { class: "bad", role: "alert" });
  const apps = (await get("apps", signal)).apps;
  const chosen = app ?? apps[0]?.id;
  const choice = /** @type {HTMLSelectElement} */ (h("select", { id: "app", on: {
    change: () => { location.hash = `#/realms/${path(choice.value)}`; },
  } }, apps.map((/** @type {any} */ entry) => h("option", { value: entry.id, selected: entry.id === chosen }, entry.id))));
  const words = h("p", { class: "muted", role: "status" });
  const search = /** @type {HTMLInputElement} */ (h("input", { id: "search", size: 20, spellcheck: "false", autocapitalize: "none", on: { change: () => list.reload() } }));
  const order = /** @type {HTMLSelectElement} */ (h("select", { id: "order", on: { change: () => { list.showOrder(order.value); list.reload(); } } },
    h("option", { value: "partition" }, "partition"), h("option", { value: "-version" }, "newest version"),
    h("option", { value: "-historyBytes" }, "longest history"), h("option", { value: "slice" }, "slice")));
  const list = pagedTable({
    label: "Realms", key: (/** @type {any} */ realm) => realm.partition, empty: "No realm yet.",
    sorted: (by) => { choose(by); list.reload(); },
    columns: [
      { title: "Partition", class: "wide", sort: "partition", cell: (realm) => ({ text: realm.partition || "the app's one realm", href: `#/realms/${path(chosen, realm.partition || "-")}` }) },
      { title: "Version", class: "number", sort: "version", cell: (realm) => String(realm.version) },
      { title: "Client files", cell: (realm) => states(realm.clientFiles) },
      { title: "History", class: "number", sort: "historyBytes", cell: (realm) => size(realm.historyBytes) },
      { title: "Slice", class: "number spare", sort: "slice", cell: (realm) => ({ text: String(realm.slice), href: `#/slices/${realm.slice}` }) },
      { title: "Generation", class: "number spare", cell: (realm) => String(realm.generation) },
    ],
  }, async (after) => {
    const found = await get(`apps/${path(chosen)}/realms${query({ after, limit: 100, sort: order.value, search: search.value.trim() })}`, signal);
    say(problem, "");
    say(words, `${plural(found.of, "realm")}${search.value.trim() ? " found" : ""}${found.isComplete ? "" : ", and others that were not looked at: narrow the list down"}`);
    return { rows: found.realms, next: found.next };
  }, (error) => { if (!signal.aborted) say(problem, error.message); });
  /** @param {string} by an order that a column's head asks for; the choice may not have it yet */
  function choose(by) {
    if (![...order.options].some((option) => option.value === by)) {
      order.append(h("option", { value: by }, by.startsWith("-") ? `${by.slice(1)}, the other way` : by));
    }
    order.value = by;
  }
  list.showOrder(order.value);
  replace(main, h("h1", {}, "Realms"), h("p", { class: "filters" }, h("label", { for: "app" }, "App"), choice,
    h("label", { for: "search" }, "Partition contains"), search, h("label", { for: "order" }, "by"), order), problem, words, list.element);
  if (chosen) await list.reload();
}

/** @param {Record<string, number>} counts */
function states(counts) {
  return Object.entries(counts).sort().map(([state, number]) => `${count(number)} ${state}`).join(", ") || "none";
}

/**
 * @param {HTMLElement} main
 * @param {string} app
 * @param {string} partition
 * @param {AbortSignal} signal
 */
async function one(main, app, partition, signal) {
  /** @type {Record<string, string>} */
  const of = partition === "-" ? {} : { partition };
  const problem = h("p", { class: "bad", role: "alert" });
  const failed = (/** @type {any} */ error) => { if (!signal.aborted) say(problem, error.message); };
  const { realm, objects, bytes, classes } = await get(`apps/${path(app)}/realm${query(of)}`, signal);
  const list = table({
    label: "Classes", key: (/** @type {any} */ entry) => entry.name, empty: "The realm has no class yet.",
    columns: [
      { title: "Class", cell: (entry) => entry.name }, { title: "Kind", class: "spare", cell: (entry) => entry.kind },
      { title: "Key", cell: (entry) => entry.primaryKey ?? "–" },
      { title: "Properties", class: "wide", cell: (entry) => entry.properties.map((/** @type {any} */ property) => `${property.name}: ${property.type}`).join(", ") },
    ],
  });
  const versions = pagedTable({
    label: "History", key: (/** @type {any} */ entry) => entry.version, empty: "No version is kept.",
    columns: [
      { title: "Version", class: "number", cell: (entry) => String(entry.version) },
      { title: "Written", cell: (entry) => time(entry.at) },
      { title: "Client file", class: "number", cell: (entry) => entry.clientFile === 1 ? "server" : String(entry.clientFile) },
      { title: "User", class: "spare", cell: (entry) => entry.user ?? "–" },
      { title: "Size", class: "number", cell: (entry) => size(entry.bytes) },
      { title: "Touches", class: "wide spare", cell: (entry) => entry.touches.map((/** @type {any} */ touch) => `${touch.className} (${touch.instructions})`).join(", ") },
    ],
  }, async (after) => {
    const found = await get(`apps/${path(app)}/realm/history${query({ ...of, after, limit: 100 })}`, signal);
    return { rows: found.versions, next: found.next };
  }, failed);
  const files = pagedTable({
    label: "Client files", key: (/** @type {any} */ entry) => entry.clientFile, empty: "No client has opened the realm.",
    columns: [
      { title: "Client file", class: "number", cell: (entry) => ({ text: String(entry.clientFile), href: `#/realms/${path(app, partition, entry.clientFile)}` }) },
      { title: "User", cell: (entry) => entry.user }, { title: "State", cell: (entry) => entry.state },
      { title: "Behind", class: "number", cell: (entry) => entry.behind === undefined ? "–" : count(entry.behind) },
      { title: "Seen", class: "spare", cell: (entry) => since(entry.lastSeen) },
      { title: "Campaign", class: "spare", cell: (entry) => entry.campaign ? { text: entry.campaign, href: `#/campaigns/${path(entry.campaign)}` } : "–" },
      { title: "Client", class: "spare", cell: (entry) => entry.userAgent },
    ],
  }, async (after) => {
    const found = await get(`apps/${path(app)}/realm/client-files${query({ ...of, after, limit: 100 })}`, signal);
    return { rows: found.clientFiles, next: found.next };
  }, failed);
  replace(main, h("p", {}, h("a", { href: `#/realms/${path(app)}` }, `Realms of ${app}`)),
    h("h1", {}, `Realm ${realm.partition || app}`), problem,
    h("dl", { class: "facts" }, [["App", app], ["Slice", String(realm.slice)], ["Version", String(realm.version)],
      ["Generation", String(realm.generation)], ["History kept from", String(realm.historyBase)], ["History", size(realm.historyBytes)],
      ["Objects", count(objects)], ["Bytes", size(bytes)], ["Client files", states(realm.clientFiles)]]
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    h("h2", {}, "History"), versions.element, h("h2", {}, "Client files"), files.element, h("h2", {}, "Classes"), list.element);
  list.set(classes);
  await versions.reload();
  await files.reload();
  await contents(main, app, of, classes, signal, failed);
}

/**
 * How one client realm stands: what its slice has of it, and what all campaigns say.
 * @param {HTMLElement} main
 * @param {string} app
 * @param {string} partition
 * @param {string} clientFile
 * @param {AbortSignal} signal
 */
async function standing(main, app, partition, clientFile, signal) {
  /** @type {Record<string, string>} */
  const of = partition === "-" ? {} : { partition };
  const number = Number(clientFile);
  const resets = table({
    label: "Resets", key: (/** @type {any} */ entry) => entry.campaign, empty: "No campaign has had it reset.",
    columns: [
      { title: "Campaign", class: "wide", cell: (entry) => ({ text: entry.campaign, href: `#/campaigns/${path(entry.campaign)}` }) },
      { title: "Found", cell: (entry) => time(entry.foundAt) }, { title: "Told", class: "spare", cell: (entry) => time(entry.notifiedAt) },
      { title: "Outcome", cell: (entry) => entry.outcome }, { title: "Said by", class: "spare", cell: (entry) => entry.report?.evidence ?? "–" },
      { title: "Unsynced", class: "number spare", cell: (entry) => count(entry.report?.changesets?.unsynced) },
      { title: "Recovered", class: "number spare", cell: (entry) => count(entry.report?.changesets?.recovered) },
      { title: "Discarded", class: "number spare", cell: (entry) => count(entry.report?.changesets?.discarded) },
      { title: "Reason", class: "wide spare", cell: (entry) => entry.reason ?? "–" },
    ],
  });
  // The list begins behind `after`: with the client file itself, if it is there.
  const page = await get(`apps/${path(app)}/realm/client-files${query({ ...of, after: number - 1, limit: 1 })}`, signal);
  const file = page.clientFiles.find((/** @type {any} */ entry) => entry.clientFile === number);
  const { clientRealms } = await get(`apps/${path(app)}/client-realms/${path(clientFile)}${query(of)}`, signal);
  replace(main, h("p", {}, h("a", { href: `#/realms/${path(app, partition)}` }, `Realm ${of.partition ?? app}`)),
    h("h1", {}, `Client file ${clientFile}`),
    file ? h("dl", { class: "facts" }, [["User", file.user], ["State", file.state], ["Generation", String(file.generation)],
      ["Behind", file.behind === undefined ? "not known" : plural(file.behind, "version")], ["Seen", ago(file.lastSeen)],
      ["Client", file.userAgent || "not known"]].map(([name, value]) => h("div", { class: value.length > 20 ? "wide" : null }, h("dt", {}, name), h("dd", {}, value))))
      : h("p", { class: "muted" }, "Its slice has nothing of it any more."),
    h("h2", {}, "Resets"), resets.element);
  resets.set(clientRealms);
}

/**
 * The objects, for those who may see what users wrote.
 * @param {HTMLElement} main
 * @param {string} app
 * @param {Record<string, string>} of
 * @param {any[]} classes
 * @param {AbortSignal} signal
 * @param {(error: any) => void} failed
 */
async function contents(main, app, of, classes, signal, failed) {
  const why = hindrance("operate");
  main.append(h("h2", {}, "Objects"));
  if (why) return main.append(h("p", { class: "muted" }, `What users have written ${why}.`));
  const chosen = /** @type {HTMLSelectElement} */ (h("select", { id: "class", on: { change: () => objects.reload() } },
    h("option", { value: "" }, "all classes"), classes.filter((entry) => entry.kind !== "embedded").map((entry) => h("option", { value: entry.name }, entry.name))));
  let number = 0;
  const objects = pagedTable({
    label: "Objects", key: (/** @type {any} */ entry) => entry.number, empty: "No object.",
    columns: [
      { title: "Class", cell: (entry) => entry.className },
      { title: "Object", class: "wide", cell: (entry) => ({ text: entry.object, href: location.hash }) },
    ],
  }, async (after) => {
    const found = await get(`apps/${path(app)}/realm/objects${query({ ...of, class: chosen.value, after, limit: 50 })}`, signal);
    return { rows: found.objects.map((/** @type {any} */ entry) => ({ ...entry, number: number += 1 })), next: found.next };
  }, failed);
  const whole = h("pre", { hidden: true, tabindex: 0, "aria-label": "Object" });
  objects.element.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link) return;
    event.preventDefault();
    whole.hidden = false;
    say(whole, pretty(link.textContent ?? ""));
  });
  main.append(h("p", { class: "filters" }, h("label", { for: "class" }, "Class"), chosen,
    h("span", { class: "muted" }, plural(classes.length, "class", "classes"))), objects.element, whole);
  await objects.reload();
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
