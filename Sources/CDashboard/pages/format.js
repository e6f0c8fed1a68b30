// Numbers, times and sizes in words.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const rough = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** @param {number | null | undefined} value */
export function count(value) {
  return value === null || value === undefined ? "–" : whole.format(value);
}

/**
 * A rate or another number with one decimal below 100.
 * @param {number | null | undefined} value
 */
export function decimal(value) {
  if (value === null || value === undefined) return "–";
  return value >= 100 ? whole.format(value) : rough.format(value);
}

/** @param {number} bytes */
export function size(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? whole.format(bytes) : rough.format(bytes)} ${units[unit]}`;
}

/**
 * A length of time.
 * @param {number} milliseconds
 */
export function span(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

/**
 * How long ago.
 * @param {number | null | undefined} at milliseconds of Unix time
 * @param {number} [now]
 */
export function ago(at, now = Date.now()) {
  return at === null || at === undefined ? "–" : `${span(now - at)} ago`;
}

/**
 * How long ago, for a table's cell: the time itself stands behind it.
 * @param {number | null | undefined} at milliseconds of Unix time
 */
export function since(at) {
  return { text: ago(at), title: at === null || at === undefined ? "" : time(at) };
}

/** @param {number | null | undefined} at milliseconds of Unix time */
export function time(at) {
  if (at === null || at === undefined) return "–";
  const text = new Date(at).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}Z`;
}

/** @param {number} number @param {string} word @param {string} [many] */
export function plural(number, word, many = `${word}s`) {
  return `${count(number)} ${number === 1 ? word : many}`;
}
