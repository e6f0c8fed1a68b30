// Apps: their settings, who may do what, and what an operator does to them.

import { h, replace, say } from "./dom.js";
import { get, path, query, send } from "./api.js";
import { ago, count, decimal, plural, size, time } from "./format.js";
import { actionButton, confirm } from "./dialog.js";
import { pagedTable, table } from "./table.js";

/** @param {HTMLElement} main @param {string[]} rest @param {AbortSignal} signal */
export async function show(main, rest, signal) {
  if (rest[0] && rest[1]) return user(main, rest[0], rest[1], signal);
  if (rest[0]) return one(main, rest[0], signal);
  const list = table({
    label: "Apps", key: (/** @type {any} */ app) => app.id, empty: "There is no app yet: sluice apps create makes one.",
    columns: [
      { title: "App", class: "wide", cell: (app) => ({ text: app.id, href: `#/apps/${path(app.id)}` }) },
      { title: "Sync", cell: (app) => app.syncState },
      { title: "Mode", cell: (app) => app.syncMode },
      { title: "Sessions", class: "number", cell: (app) => count(app.traffic?.sessions) },
      { title: "In/s", class: "number spare", cell: (app) => decimal(app.traffic?.changesetsPerSecond) },
      { title: "Generation", class: "number spare", cell: (app) => String(app.generation) },
      { title: "Rules", class: "number spare", cell: (app) => app.rulesVersion ? `version ${app.rulesVersion}` : "none" },
      { title: "Created", class: "spare", cell: (app) => time(app.createdAt) },
    ],
  });
  replace(main, h("h1", {}, "Apps"), list.element);
  list.set((await get("apps", signal)).apps);
}

/** @param {HTMLElement} main @param {string} id @param {AbortSignal} signal */
async function one(main, id, signal) {
  const facts = h("dl", { class: "facts" });
  const access = h("p", {});
  const actions = h("div", { class: "actions" });
  const said = h("p", { role: "status" });
  const problem = h("p", { class: "bad", role: "alert" });
  const failed = (/** @type {any} */ error) => { if (!signal.aborted) say(problem, error.message); };
  replace(main, h("p", {}, h("a", { href: "#/apps" }, "All apps")), h("h1", {}, `App ${id}`), access, actions, said, problem, facts,
    h("p", {}, h("a", { href: `#/realms/${path(id)}` }, "Realms of this app"), " · ",
      h("a", { href: `#/campaigns//${path(id)}` }, "Campaigns"), " · ", h("a", { href: `#/tail/${path(id)}` }, "Messages as they pass")));

  let mode = "";
  async function read() {
    const app = await get(`apps/${path(id)}`, signal);
    mode = app.syncMode;
    say(access, app.access ?? "");
    replace(facts, [["Sync", app.syncState], ["Mode", app.syncMode], ["Compatibility", app.compatibility],
      ["Generation", String(app.generation)], ["Users", count(app.users)],
      ["Sessions", count(app.traffic?.sessions)], ["Changesets a second", decimal(app.traffic?.changesetsPerSecond)],
      ["Bytes a second, up", app.traffic ? size(app.traffic.uploadBytesPerSecond) : "–"],
      ["Bytes a second, down", app.traffic ? size(app.traffic.downloadBytesPerSecond) : "–"], ["Development mode", app.developmentMode ? "on" : "off"],
      ["Client recovery", app.clientRecovery ? "on" : "off"], ["Offline for at most", plural(app.maxOfflineDays, "day")],
      ["Change feed", app.changeFeed || "off"],
      ["Anonymous login", app.anonymousLogin ? "on" : "off"], ["Password login", app.emailPasswordLogin ? "on" : "off"],
      ["Without the right to read", app.onReadDenied], ["Without the right to write", app.onWriteDenied],
      ["Created", time(app.createdAt)]].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    replace(actions, actionButton("Terminate sync ...", "operate", () => terminate(id), { class: "danger" }),
      app.syncState === "enabled"
        ? actionButton("Pause sync ...", "operate", () => change("pause", "Sessions are refused; everything is kept."))
        : actionButton("Enable sync ...", "operate", () => change("enable", "Sync goes on: client realms connect, and those that must reset do.")),
      actionButton("Allow held resets ...", "operate", () => change("allow-resets",
        "For an hour the app's clients may reset, however many they are, where a slice holds them.")));
  }

  /** @param {"pause" | "enable" | "allow-resets"} what @param {string} words */
  function change(what, words) {
    confirm({
      title: `${what === "pause" ? "Pause" : what === "enable" ? "Enable" : "Allow resets of"} ${id}`, act: what === "pause" ? "Pause" : what === "enable" ? "Enable" : "Allow",
      word: id, plan: async (place) => {
        replace(place, h("p", {}, words));
        if (what === "pause") await planOf(id, place, false);
      },
      done: async () => {
        await send("POST", `apps/${path(id)}/sync/${what}`, {});
        say(said, what === "pause" ? "Sync is paused." : what === "enable" ? "Sync is enabled." : "Held resets may go on for an hour.");
        await read();
      },
    });
  }

  await read();
  await more(main, id, mode, signal, failed);
}

/**
 * Asks for the termination of an app's sync, and leads to its campaign.
 * @param {string} id
 */
function terminate(id) {
  confirm({
    title: `Terminate sync of ${id}`, act: "Terminate", word: id, plan: (place) => planOf(id, place, true),
    fields: [h("label", { for: "reason" }, "Reason, for the campaign and the clients"),
      h("input", { id: "reason", name: "reason", maxlength: 500, autocomplete: "off" }),
      h("label", {}, h("input", { type: "checkbox", name: "enable", checked: true }), " Enable sync again at once, so that clients can reset")],
    done: async ({ reason, enable }) => {
      const campaign = await send("POST", `apps/${path(id)}/sync/terminate`, { ...(reason ? { reason } : {}), enable: enable === "on" });
      location.hash = `#/campaigns/${path(campaign.id)}`;
    },
  });
}

/**
 * What a termination would do, as the dry run says.
 * @param {string} id
 * @param {HTMLElement} place
 * @param {boolean} isReset
 */
async function planOf(id, place, isReset) {
  const plan = await get(`apps/${path(id)}/termination-plan?limit=5`);
  const list = h("ul", {},
    h("li", {}, h("strong", {}, plural(plan.clientRealms, "client realm")), isReset ? " would reset" : " could not sync", ", ",
      h("strong", {}, size(plan.unsyncedBytes ?? 0)), ` of unsynced work known to be ${isReset ? "at risk" : "on its way"}: uploaded to gateways, and stored by no slice yet`),
    h("li", {}, `${plural(plan.realms, "realm")} of the app`),
    h("li", {}, `${plural(plan.writers, "of the client realms has", "of the client realms have")} ever written`),
    plan.offlineWriters > 0
      ? h("li", { class: "warn" }, `${plural(plan.offlineWriters, "writer")} not seen for an hour: what they have written since only they know`) : null,
    plan.alreadyResetting > 0 ? h("li", {}, `${plural(plan.alreadyResetting, "more has", "more have")} yet to reset for an earlier campaign`) : null,
    isReset ? h("li", {}, plan.clientRecovery ? "clients may recover unsynced changes" : "recovery is off: unsynced changes are lost") : null,
    h("li", {}, `${plural(plan.waiting.ready + plan.waiting.unacknowledged, "message")} of all apps in the queues come first`));
  place.append(list);
  if (place.firstElementChild?.textContent?.startsWith("Finding out")) place.firstElementChild.remove();
}

/**
 * One user, and what an operator does about it.
 * @param {HTMLElement} main
 * @param {string} app
 * @param {string} id
 * @param {AbortSignal} signal
 */
async function user(main, app, id, signal) {
  const base = `apps/${path(app)}/users/${path(id)}`;
  const facts = h("dl", { class: "facts" });
  const actions = h("div", { class: "actions" });
  const said = h("p", { role: "status" });
  const custom = h("pre", { tabindex: 0, "aria-label": "Custom data" });
  replace(main, h("p", {}, h("a", { href: `#/apps/${path(app)}` }, `App ${app}`)), h("h1", {}, `User ${id}`), actions, said, facts,
    h("h2", {}, "Custom data"), custom);

  async function read() {
    const found = await get(base, signal);
    replace(facts, [["State", found.isDisabled ? "disabled" : "may log in"], ["Address", found.email ?? "none"], ["Since", time(found.createdAt)],
      ...(found.identities ?? []).map((/** @type {any} */ identity) => [`Logs in by ${identity.provider}`, identity.id])]
      .map(([name, value]) => h("div", { class: value.length > 20 ? "wide" : null }, h("dt", {}, name), h("dd", {}, value))));
    say(custom, found.customData === undefined ? "none" : JSON.stringify(found.customData, null, 2));
    replace(actions,
      found.isDisabled
        ? actionButton("Enable ...", "operate", () => ask("Enable", "The user may log in again.", () => send("POST", `${base}/enable`, {}), "The user is enabled."))
        : actionButton("Disable ...", "operate", () => ask("Disable", "The user's sessions end, and there are no new ones; what it wrote stays.",
          () => send("POST", `${base}/disable`, {}), "The user is disabled.")),
      actionButton("Revoke logins ...", "operate", () => ask("Revoke logins", "Every device of the user has to log in again.",
        () => send("POST", `${base}/logins/revoke`, {}), "The logins are revoked.")));
  }

  /**
   * @param {string} act
   * @param {string} words
   * @param {() => Promise<any>} carryOut
   * @param {string} done
   */
  function ask(act, words, carryOut, done) {
    confirm({
      title: `${act}: ${id}`, act, plan: (place) => replace(place, h("p", {}, words)),
      done: async () => {
        await carryOut();
        say(said, done);
        await read();
      },
    });
  }

  await read();
}

/**
 * Rules, schema, quotas and users.
 * @param {HTMLElement} main
 * @param {string} id
 * @param {string} mode
 * @param {AbortSignal} signal
 * @param {(error: any) => void} failed
 */
async function more(main, id, mode, signal, failed) {
  const rules = await get(`apps/${path(id)}/rules`, signal);
  const user = /** @type {HTMLInputElement} */ (h("input", { id: "who", spellcheck: "false", autocapitalize: "none" }));
  const where = /** @type {HTMLInputElement} */ (h("input", { id: "where", spellcheck: "false", autocapitalize: "none" }));
  const isClass = /** @type {HTMLSelectElement} */ (h("select", { id: "kind", "aria-label": "What is asked about" },
    h("option", { value: "class" }, "class"), h("option", { value: "partition", selected: mode !== "flexible" }, "partition")));
  const explained = h("pre", { hidden: true, tabindex: 0, "aria-label": "Explanation" });
  main.append(h("h2", {}, "Rules"),
    h("p", {}, rules.version === 0 ? "There are no rules: nobody may read or write."
      : `Version ${rules.version}, by ${rules.author ?? "?"}, ${ago(rules.at)}. ${rules.summary ?? ""}`),
    rules.rules ? h("details", {}, h("summary", {}, "The document"),
      h("pre", { tabindex: 0, "aria-label": "Rules" }, JSON.stringify(rules.rules, null, 2))) : "",
    h("form", { class: "filters", on: { submit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        const found = await get(`apps/${path(id)}/rules/explain${query({ user: user.value.trim(), [isClass.value]: where.value })}`, signal);
        explained.hidden = false;
        say(explained, JSON.stringify(found, null, 2));
      } catch (error) {
        failed(error);
      }
    } } }, h("label", { for: "who" }, "What may user"), user, h("label", { for: "where" }, "do with"), isClass, where,
    h("button", { type: "submit" }, "Explain")), explained);
  const schema = await get(`apps/${path(id)}/schema`, signal);
  const classes = table({
    label: "Schema", key: (/** @type {any} */ entry) => entry.name, empty: "Clients have declared no class yet.",
    columns: [
      { title: "Class", cell: (entry) => entry.name }, { title: "Kind", class: "spare", cell: (entry) => entry.type || "–" },
      { title: "Properties", class: "wide", cell: (entry) => entry.properties.map((/** @type {any} */ property) => `${property.name}: ${property.type}`).join(", ") },
    ],
  });
  const quotas = table({
    label: "Quotas", key: (/** @type {any} */ entry) => entry.quota,
    columns: [
      { title: "Quota", cell: (entry) => entry.quota },
      { title: "Limit", class: "number", cell: (entry) => entry.counts === "bytes" ? size(entry.limit) : count(entry.limit) },
      { title: "Used", class: "number", cell: (entry) => entry.used === undefined ? "–" : entry.counts === "bytes" ? size(entry.used) : count(entry.used) },
      { title: "From", class: "spare", cell: (entry) => entry.from },
    ],
  });
  const users = pagedTable({
    label: "Users", key: (/** @type {any} */ entry) => entry.id, empty: "No user yet.",
    columns: [
      { title: "User", cell: (entry) => ({ text: entry.id, href: `#/apps/${path(id, entry.id)}` }) }, { title: "Address", cell: (entry) => entry.email ?? "–" },
      { title: "Logs in by", class: "spare", cell: (entry) => (entry.identities ?? []).map((/** @type {any} */ identity) => identity.provider ?? identity).join(", ") },
      { title: "", cell: (entry) => entry.isDisabled ? "disabled" : "" }, { title: "Since", class: "spare", cell: (entry) => time(entry.createdAt) },
    ],
  }, async (after) => {
    const found = await get(`apps/${path(id)}/users${query({ after, limit: 200 })}`, signal);
    return { rows: found.users, next: found.next };
  }, failed);
  main.append(h("h2", {}, "Schema"), classes.element, h("h2", {}, "Quotas"), quotas.element, h("h2", {}, "Users"), users.element);
  classes.set(schema.classes);
  quotas.set((await get(`apps/${path(id)}/quotas`, signal)).quotas);
  await users.reload();
}
