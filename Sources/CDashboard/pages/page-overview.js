// What stands, what moves, what is stuck.

import { h, replace } from "./dom.js";
import { get } from "./api.js";
import { grafanaHome } from "./grafana.js";
import { count, decimal, plural, span } from "./format.js";
import { watch } from "./live.js";
import { plotSet } from "./plot.js";

/** @param {HTMLElement} main @param {string[]} _ @param {AbortSignal} signal */
export async function show(main, _, signal) {
  const sentence = h("p", { class: "sentence" });
  const findings = h("div", { class: "findings" });
  const facts = h("dl", { class: "facts" });
  const grafana = h("span", {});
  const plots = plotSet([
    { title: "Changesets", unit: "/s", key: "changesets", panel: "changesets" },
    { title: "Commits", unit: "/s", key: "commits", panel: "commits" },
    { title: "Sessions", unit: "open", key: "sessions", isWhole: true, panel: "sessions" },
    { title: "Errors", unit: "/s", key: "errors", panel: "errors" },
    { title: "Messages waiting", unit: "", key: "waiting", isWhole: true, panel: "waiting" },
    { title: "Oldest message", unit: "s", key: "oldest", panel: "oldest" },
  ], true);
  replace(main, h("h1", {}, "Overview"), sentence, findings, facts,
    h("p", { class: "muted" }, h("a", { href: "#/reference/alerts" }, "What each alert means, and what to do"), grafana),
    h("h2", {}, "How it went"), plots.element,
    h("p", { class: "muted" }, "As this coordinator has seen it since it started: a point every ten seconds of the last hour, one every five minutes of a day."));
  /** @type {any[]} */
  let points = [];
  /** @type {any[]} */
  let day = [];
  let drawnAt = 0;

  watch(({ overview }) => {
    replace(sentence, `${overview.sentence[0].toUpperCase()}${overview.sentence.slice(1)}.`);
    sentence.className = `sentence ${overview.findings.length === 0 ? "level-well" : ""}`;
    replace(findings, overview.findings.map((/** @type {any} */ finding) =>
      h("p", { class: `finding level-${finding.level}` },
        h("strong", {}, finding.level === "fault" ? "Fault: " : "Look: "), finding.text, " ",
        h("a", { href: `#/${finding.page}` }, "Show"),
        finding.alert ? [" · ", h("a", { href: `#/reference/alerts/${finding.alert}` }, "What to do")] : null)));
    // Nobody is heard while the broker is away: what was heard last is not how things are.
    const isHeard = overview.slicesServed !== undefined;
    const heard = (/** @type {string} */ text) => isHeard ? text : "not known";
    replace(facts, fact("Slices served", leading("#/slices", heard(`${count(overview.slicesServed)} of ${count(overview.slices)}`))),
      fact("Workers", leading("#/processes/worker", count(overview.workers))),
      fact("Gateways", leading("#/processes/gateway", count(overview.gateways))),
      fact("Sessions", heard(count(overview.figures?.sessions))),
      fact("Changesets", heard(overview.figures ? `${decimal(overview.figures.changesets)} /s` : "not known yet")),
      fact("Messages waiting", heard(count(overview.waiting))),
      fact("Oldest message", heard(overview.oldest === undefined ? "none" : span(overview.oldest))),
      fact("Campaigns running", overview.campaignsRunning === undefined ? "not known" : leading("#/campaigns", count(overview.campaignsRunning)),
        overview.resetsPending > 0 ? plural(overview.resetsPending, "reset") + " pending" : ""),
      fact("Dead letters", overview.deadLetters === undefined ? "not known" : leading("#/dead-letters", count(overview.deadLetters))),
      fact("Coordinator", leading("#/processes/coordinator", overview.coordinator), overview.active ? "active" : "standing by"));
    const home = grafanaHome();
    if (home && grafana.childElementCount === 0) replace(grafana, " · ", home);
    const newest = overview.figures;
    if (newest && drawnAt > 0 && newest.at !== points.at(-1)?.at) {
      points = [...points, newest].slice(-360);
      if (newest.at - (day.at(-1)?.at ?? 0) >= 300_000) day = [...day, newest].slice(-288);
      plots.set(points, [...day, newest]);
    }
  }, signal);

  ({ points, day } = await get("cluster/history?day=true", signal));
  drawnAt = Date.now();
  plots.set(points, [...day, ...points.slice(-1)]);
}

/** @param {string} page @param {string} text */
function leading(page, text) {
  return h("a", { href: page }, text);
}

/** @param {string} name @param {string | Node} value @param {string} [more] */
function fact(name, value, more) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value, more ? h("small", {}, ` ${more}`) : null));
}
