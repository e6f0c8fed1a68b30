// One stream of the cluster's picture for the whole page; closed while nobody looks.

import { stream } from "./api.js";

/** @typedef {{overview: any, slices: Map<number, any>, heardAt: number}} Picture */

/** The newest picture. @type {Picture} */
export const picture = { overview: null, slices: new Map(), heardAt: 0 };

/** @type {Set<(picture: Picture) => void>} */
const listeners = new Set();
let wanted = 0;
/** @type {AbortController | null} */
let running = null;

/**
 * Has `told` called with every picture until the signal.
 * @param {(picture: Picture) => void} told
 * @param {AbortSignal} signal
 * @param {{slices?: boolean}} [options]
 */
export function watch(told, signal, options = {}) {
  listeners.add(told);
  if (options.slices) wanted += 1;
  if (options.slices && wanted === 1) restart();
  signal.addEventListener("abort", () => {
    listeners.delete(told);
    if (options.slices) wanted -= 1;
    if (options.slices && wanted === 0) restart();
  });
  if (picture.overview) told(picture);
}

/** Begins, or begins anew. */
export function restart() {
  stop();
  if (document.hidden) return;
  const controller = new AbortController();
  running = controller;
  const slices = wanted > 0;
  stream(`cluster/events${slices ? "?slices=true" : ""}`, (event) => {
    picture.overview = event.overview;
    picture.heardAt = Date.now();
    for (const slice of event.slices ?? []) picture.slices.set(slice.slice, slice);
    for (const told of [...listeners]) told(picture);
  }, controller.signal).catch(() => {});
}

export function stop() {
  running?.abort();
  running = null;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) stop();
  else if (listeners.size > 0) restart();
});
