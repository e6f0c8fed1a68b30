// Small plots of the last hour.

import { h, svg } from "./dom.js";
import { count, decimal } from "./format.js";
import { grafanaLink } from "./grafana.js";

const width = 300;
const height = 64;

/**
 * A plot with its title, its newest value and its highest one; all of it is also said in words.
 * @param {{title: string, unit: string, values: number[], times: number[], isWhole?: boolean, panel?: import("./grafana.js").Panel}} options
 * @returns {HTMLElement}
 */
export function plot({ title, unit, values, times, isWhole, panel }) {
  const show = isWhole ? count : decimal;
  const newest = values.at(-1);
  const most = values.length ? Math.max(...values) : 0;
  const words = values.length === 0
    ? `${title}: no figures yet`
    : `${title}: now ${show(newest)} ${unit}, at most ${show(most)} in the last hour`;
  return h("figure", { class: "plot" },
    h("figcaption", {}, h("span", { class: "plot-title" }, title),
      h("span", { class: "plot-value" }, show(newest), h("small", {}, ` ${unit}`))),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words, preserveAspectRatio: "none" },
      svg("line", { x1: 0, y1: height - 0.5, x2: width, y2: height - 0.5, class: "plot-floor" }),
      ...shapes(values, times, most)),
    h("p", { class: "plot-most" }, h("span", {}, `last hour, at most ${show(most)}`), panel ? grafanaLink(panel) : null));
}

/**
 * A plot as high as a line, for a table: what has waited in the last hour, a value a minute, the newest last.
 * @param {number[]} values
 * @returns {SVGElement}
 */
export function strip(values) {
  const most = Math.max(0, ...values);
  const from = 60 - values.length;
  const points = values.map((value, index) =>
    `${((from + index) / 59 * 100).toFixed(1)},${(17 - (most > 0 ? value / most : 0) * 14).toFixed(1)}`);
  return svg("svg", { class: "strip", viewBox: "0 0 100 20", role: "img", preserveAspectRatio: "none",
    "aria-label": values.length === 0 ? "no figures yet" : `at most ${count(most)} waiting in the last hour` },
  svg("line", { x1: 0, y1: 18.5, x2: 100, y2: 18.5, class: "plot-floor" }),
  points.length > 1 ? svg("polyline", { points: points.join(" "), class: "plot-line" }) : null);
}

/** @param {number[]} values @param {number[]} times @param {number} most */
function shapes(values, times, most) {
  if (values.length < 2) return [];
  const last = times[times.length - 1];
  const first = Math.min(times[0], last - 600_000);
  const points = values.map((value, index) => {
    const x = (times[index] - first) / (last - first) * width;
    const y = height - 2 - (most > 0 ? value / most : 0) * (height - 8);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const start = points[0].split(",")[0];
  return [
    svg("polygon", { points: `${start},${height} ${points.join(" ")} ${width},${height}`, class: "plot-area" }),
    svg("polyline", { points: points.join(" "), class: "plot-line" }),
  ];
}
