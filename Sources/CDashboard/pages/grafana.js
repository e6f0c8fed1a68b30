// Where Grafana shows more, if the settings say where it is: panels of deploy/grafana, with their titles.

import { h } from "./dom.js";
import { picture } from "./live.js";

/** By what a plot shows: the dashboard, the panel's number, its title. `.ci/dashboards` looks whether they are there. */
const panels = {
  changesets: ["sluice-slices", 9, "Changesets integrated"],
  commits: ["sluice-stores", 6, "Commits a second, by worker"],
  sessions: ["sluice-gateways", 6, "Sessions, by gateway"],
  errors: ["sluice-gateways", 8, "What clients were told"],
  waiting: ["sluice-queues", 5, "Lag, the ten longest"],
  oldest: ["sluice-queues", 6, "Age of the oldest message, the ten oldest"],
  messages: ["sluice-queues", 8, "Messages a second, by worker"],
  campaign: ["sluice-campaigns", 4, "Client realms of the newest campaign, by outcome"],
};

/** @typedef {keyof typeof panels} Panel */

/** @returns {string | null} without a slash at its end */
function base() {
  const url = /** @type {any} */ (picture.overview)?.grafana;
  return /^https?:\/\//.test(url ?? "") ? url.replace(/\/+$/, "") : null;
}

/**
 * A link to a panel, or nothing where nobody knows of a Grafana.
 * @param {Panel} panel
 * @param {Record<string, string>} [variables] of the dashboard
 * @returns {HTMLElement | null}
 */
export function grafanaLink(panel, variables = {}) {
  const root = base();
  if (!root) return null;
  const [dashboard, number, title] = panels[panel];
  const query = Object.entries(variables).map(([name, value]) => `&var-${name}=${encodeURIComponent(value)}`).join("");
  return h("a", { class: "more", href: `${root}/d/${dashboard}?viewPanel=${number}${query}`, rel: "noopener noreferrer",
    "aria-label": `${title}, in Grafana` }, "Grafana");
}

/** Where Grafana is, as a link; nothing where nobody knows. */
export function grafanaHome() {
  const root = base();
  return root ? h("a", { href: root, rel: "noopener noreferrer" }, "Grafana") : null;
}
