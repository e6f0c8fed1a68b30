// One stream of the cluster's picture for the whole page; closed while nobody looks.

import { stream } from "./api.js";

/**
 * `heardAt` says when the overview came by this browser's clock: one that comes again with the time that it had is not a newer one.
 * @typedef {{overview: any, slices: Map<number, any>, heardAt: number}} Picture
 */

/** The newest picture. @type {Picture} */
export const picture = { overview: null, slices: new Map(), heardAt: 0 };

/** @type {Set<(picture: Picture) => void>} */
const listeners = new Set();
let wanted = 0;
/** The time that the newest overview says of itself. */
let heardOf = 0;
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
    if (event.overview.at !== heardOf) picture.heardAt = Date.now();
    heardOf = event.overview.at;
    picture.overview = event.overview;
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
