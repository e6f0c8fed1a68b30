// What is stored of an app's realms: versions, classes, objects, client files.

import { h, replace, say } from "./dom.js";
import { get, hindrance, path, query } from "./api.js";
import { ago, count, plural, size, time } from "./format.js";
import { pagedTable, table } from "./table.js";

/** @param {HTMLElement} main @param {string[]} rest @param {AbortSignal} signal */
export async function show(main, rest, signal) {
  const [app, partition] = rest;
  if (app && partition !== undefined) return one(main, app, partition, signal);
  const problem = h("p", { class: "bad", role: "alert" });
  const apps = (await get("apps", signal)).apps;
  const chosen = app ?? apps[0]?.id;
  const choice = /** @type {HTMLSelectElement} */ (h("select", { id: "app", on: {
    change: () => { location.hash = `#/realms/${path(choice.value)}`; },
  } }, apps.map((/** @type {any} */ entry) => h("option", { value: entry.id, selected: entry.id === chosen }, entry.id))));
  const list = pagedTable({
    label: "Realms", key: (/** @type {any} */ realm) => realm.partition, empty: "No realm yet.",
    columns: [
      { title: "Partition", class: "wide", cell: (realm) => ({ text: realm.partition || "the app's one realm", href: `#/realms/${path(chosen, realm.partition || "-")}` }) },
      { title: "Version", class: "number", cell: (realm) => String(realm.version) },
      { title: "Client files", cell: (realm) => states(realm.clientFiles) },
      { title: "History", class: "number", cell: (realm) => size(realm.historyBytes) },
      { title: "Slice", class: "number spare", cell: (realm) => ({ text: String(realm.slice), href: `#/slices/${realm.slice}` }) },
      { title: "Generation", class: "number spare", cell: (realm) => String(realm.generation) },
    ],
  }, async (after) => {
    const found = await get(`apps/${path(chosen)}/realms${query({ after, limit: 100 })}`, signal);
    return { rows: found.realms, next: found.next };
  }, (error) => { if (!signal.aborted) say(problem, error.message); });
  replace(main, h("h1", {}, "Realms"), h("p", { class: "filters" }, h("label", { for: "app" }, "App"), choice), problem, list.element);
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
      { title: "Client file", class: "number", cell: (entry) => String(entry.clientFile) },
      { title: "User", cell: (entry) => entry.user }, { title: "State", cell: (entry) => entry.state },
      { title: "Behind", class: "number", cell: (entry) => entry.behind === undefined ? "–" : count(entry.behind) },
      { title: "Seen", class: "spare", cell: (entry) => ago(entry.lastSeen) },
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
