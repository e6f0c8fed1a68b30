// Plots with axes, a choice of how far back they go, and a moment that all plots of a page tell the value of.

import { h, replace, say, svg } from "./dom.js";
import { count, decimal } from "./format.js";
import { grafanaLink } from "./grafana.js";

const width = 300;
const height = 64;
const minute = 60_000;

/**
 * What a plot shows of points: their values of one key.
 * @typedef {{title: string, unit: string, key: string, isWhole?: boolean, panel?: import("./grafana.js").Panel}} Plot
 */

/** How far back plots go, in minutes. */
const ranges = [{ minutes: 10, text: "10 minutes" }, { minutes: 30, text: "30 minutes" }, { minutes: 60, text: "hour" }, { minutes: 1440, text: "day" }];
/** What was chosen last, for the next page, too. */
let chosen = 60;

/**
 * Plots side by side, of one time.
 * @param {Plot[]} plots
 * @param {boolean} [days] whether there are points of a day
 */
export function plotSet(plots, days = false) {
  /** @type {any[]} */
  let points = [];
  /** @type {any[]} */
  let dayPoints = [];
  /** @type {any[]} */
  let shown = [];
  /** The time whose values are told; 0: the newest. */
  let heldAt = 0;
  const range = /** @type {HTMLSelectElement} */ (h("select", { id: "range", on: { change: () => { chosen = Number(range.value); draw(); } } },
    ranges.filter(({ minutes }) => days || minutes <= 60).map(({ minutes, text }) => h("option", { value: String(minutes) }, text))));
  range.value = days || chosen <= 60 ? String(chosen) : "60";
  const moment = /** @type {HTMLInputElement} */ (h("input", { id: "moment", type: "range", min: "0", max: "0", value: "0", on: { input: () => point(Number(moment.value)) } }));
  const at = h("output", { for: "moment", class: "muted" });
  const figures = plots.map((plot) => figure(plot, (share) => {
    if (shown.length < 2) return;
    const first = begin();
    point(nearest(first + share * (shown[shown.length - 1].at - first)));
  }, () => point(shown.length - 1)));
  const element = h("div", {},
    h("p", { class: "filters" }, h("label", { for: "range" }, "The last"), range, h("label", { for: "moment" }, "Values at"), moment, at),
    h("div", { class: "plots" }, figures.map((each) => each.element)));

  /** @param {number} wanted the index of the point that is nearest to this time */
  function nearest(wanted) {
    return shown.reduce((best, each, index) => Math.abs(each.at - wanted) < Math.abs(shown[best].at - wanted) ? index : best, 0);
  }

  /** When the plots begin: a few points do not fill them. */
  function begin() {
    return Math.min(shown[0].at, shown[shown.length - 1].at - 10 * minute);
  }

  function draw() {
    const minutes = Number(range.value);
    const all = minutes > 60 ? dayPoints : points;
    const last = all.at(-1)?.at ?? 0;
    shown = all.filter((each) => each.at >= last - minutes * minute);
    moment.max = String(Math.max(0, shown.length - 1));
    for (const each of figures) each.draw(shown, shown.length > 0 ? begin() : 0);
    point(heldAt === 0 || shown.length === 0 ? shown.length - 1 : nearest(heldAt));
  }

  /** @param {number} index of the point whose values are told */
  function point(index) {
    const newest = index >= shown.length - 1;
    heldAt = newest ? 0 : shown[index].at;
    moment.value = String(Math.max(0, index));
    const when = shown[index] ? clock(shown[index].at, true) : "";
    moment.setAttribute("aria-valuetext", newest ? "now" : when);
    say(at, shown.length === 0 ? "" : newest ? "now" : when);
    for (const each of figures) each.point(shown, index, newest);
  }

  return {
    element,
    /** @param {any[]} newest the last hour @param {any[]} [ofDay] the last day */
    set(newest, ofDay = []) {
      points = newest;
      dayPoints = ofDay;
      draw();
    },
  };
}

/**
 * One plot: its axes are said in words, too.
 * @param {Plot} plot
 * @param {(share: number) => void} pointed where a pointer is, from 0 to 1
 * @param {() => void} left the pointer has gone
 */
function figure({ title, unit, key, isWhole, panel }, pointed, left) {
  const show = isWhole ? count : decimal;
  const value = h("span", { class: "plot-value" });
  const most = h("span", {});
  const more = h("span", {});
  const rows = [h("span", {}), h("span", {}), h("span", {}, "0")];
  const times = [h("span", {}), h("span", {}), h("span", {})];
  const area = svg("polygon", { class: "plot-area" });
  const line = svg("polyline", { class: "plot-line" });
  const cursor = svg("line", { x1: -9, x2: -9, y1: 0, y2: height, class: "plot-cursor" });
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: no figures yet`, preserveAspectRatio: "none" },
    [0.5, height / 2, height - 0.5].map((y) => svg("line", { x1: 0, y1: y, x2: width, y2: y, class: "plot-floor" })), area, line, cursor);
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    pointed(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
  });
  drawing.addEventListener("pointerleave", left);
  const element = h("figure", { class: "plot" },
    h("figcaption", {}, h("span", { class: "plot-title" }, title), value),
    h("div", { class: "plot-body" }, h("div", { class: "plot-rows", "aria-hidden": "true" }, rows), drawing,
      h("div", { class: "plot-times", "aria-hidden": "true" }, times)),
    h("p", { class: "plot-most" }, most, more));
  let first = 0;
  let last = 1;

  return {
    element,
    /** @param {any[]} points @param {number} begin */
    draw(points, begin) {
      // Where Grafana is comes with the first picture.
      const link = panel && more.childElementCount === 0 ? grafanaLink(panel) : null;
      if (link) more.append(link);
      const values = points.map((point) => point[key]);
      const highest = values.length ? Math.max(...values) : 0;
      const top = roundUp(highest, isWhole);
      first = begin;
      last = points.at(-1)?.at ?? begin + 1;
      const place = (/** @type {any} */ point) => `${x(point.at).toFixed(1)},${(height - 1 - point[key] / top * (height - 2)).toFixed(1)}`;
      const line_ = points.length > 1 ? points.map(place) : [];
      line.setAttribute("points", line_.join(" "));
      area.setAttribute("points", line_.length ? `${line_[0].split(",")[0]},${height} ${line_.join(" ")} ${width},${height}` : "");
      say(rows[0], show(top));
      say(rows[1], isWhole && top % 2 ? "" : show(top / 2));
      [first, (first + last) / 2, last].forEach((at, index) => say(times[index], points.length ? clock(at) : ""));
      say(most, points.length ? `at most ${show(highest)}${unit ? ` ${unit}` : ""}` : "no figures yet");
      drawing.setAttribute("aria-label", points.length === 0 ? `${title}: no figures yet`
        : `${title}: now ${show(values.at(-1))} ${unit}, at most ${show(highest)} since ${clock(first)}`);
    },
    /** @param {any[]} points @param {number} index @param {boolean} newest */
    point(points, index, newest) {
      replace(value, show(points[index]?.[key]), h("small", {}, ` ${unit}`));
      const at = newest || !points[index] ? -9 : x(points[index].at);
      cursor.setAttribute("x1", String(at));
      cursor.setAttribute("x2", String(at));
    },
  };

  /** @param {number} at */
  function x(at) {
    return last > first ? (at - first) / (last - first) * width : 0;
  }
}

/**
 * The top of an axis: the next 1, 2 or 5 with noughts behind.
 * @param {number} value
 * @param {boolean} [isWhole]
 */
export function roundUp(value, isWhole) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const top = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999999) ?? value;
  return isWhole ? Math.max(1, top) : top;
}

/** @param {number} at @param {boolean} [seconds] */
function clock(at, seconds) {
  return `${new Date(at).toISOString().slice(11, seconds ? 19 : 16)}Z`;
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
