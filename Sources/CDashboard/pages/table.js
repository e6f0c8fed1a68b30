// Tables of any length: only the rows in sight are in the document.

import { connection } from "./api.js";
import { h, say } from "./dom.js";
import { count } from "./format.js";

/**
 * A text, a link, a text with more behind it, or anything.
 * @typedef {string | {text: string, href: string} | {text: string, title: string} | Node} Cell
 */

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => Cell} cell
 * @property {string} [class] `number`, `wide`, or `spare` for what narrow screens leave out
 * @property {string} [sort] what `sorted` is told when the column's head is clicked; without it the head is no button
 */

const rowHeight = 34;
/** Rows of a paged table that are kept: nobody scrolls further, and browsers draw nothing that is much higher. */
const mostRows = 100_000;
const around = 12;

/**
 * @template Row
 * @param {object} options
 * @param {string} options.label what the table holds, for those who cannot see it
 * @param {Column<Row>[]} options.columns
 * @param {(row: Row) => string | number} options.key
 * @param {string} [options.empty]
 * @param {() => void} [options.reachedEnd] asked for more rows
 * @param {(by: string) => void} [options.sorted] a head was clicked: `by` is its `sort`, with `-` before it for the other way
 */
export function table({ label, columns, key, empty = "Nothing here.", reachedEnd, sorted }) {
  /** @type {Row[]} */
  let rows = [];
  /** @type {Map<string | number, HTMLTableRowElement>} */
  let shown = new Map();
  const above = h("tr", { "aria-hidden": "true", class: "spacer" });
  const below = h("tr", { "aria-hidden": "true", class: "spacer" });
  const body = h("tbody", {}, above, below);
  const heads = columns.map((column) => h("th", { scope: "col", class: column.class }, column.sort && sorted
    ? h("button", { type: "button", class: "plain", on: { click: () => turn(/** @type {string} */ (column.sort)) } }, column.title) : column.title));
  const element = h("table", { "aria-label": label }, h("thead", {}, h("tr", {}, heads)), body);
  let order = "";

  /** @param {string} by */
  function turn(by) {
    showOrder(order === by ? `-${by}` : by);
    sorted?.(order);
  }

  /** @param {string} by */
  function showOrder(by) {
    order = by;
    columns.forEach((column, number) => {
      if (!column.sort) return;
      const way = order === column.sort ? "ascending" : order === `-${column.sort}` ? "descending" : "none";
      heads[number].setAttribute("aria-sort", way);
    });
  }
  const none = h("p", { class: "empty", hidden: true }, empty);
  const end = h("p", { class: "empty", hidden: true });
  const frame = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label,
    on: { scroll: () => draw() } }, element, none, end);

  function draw() {
    const from = Math.max(0, Math.floor(frame.scrollTop / rowHeight) - around);
    const most = Math.ceil((frame.clientHeight || 600) / rowHeight) + 2 * around;
    const to = Math.min(rows.length, from + most);
    /** @type {typeof shown} */
    const next = new Map();
    let place = above;
    for (let index = from; index < to; index += 1) {
      const row = rows[index];
      const name = key(row);
      const line = shown.get(name) ?? /** @type {HTMLTableRowElement} */ (
        h("tr", {}, columns.map((column) => h("td", { class: column.class }))));
      line.setAttribute("aria-rowindex", String(index + 2));
      columns.forEach((column, number) => fill(line.cells[number], column.cell(row)));
      if (place.nextSibling !== line) place.after(line);
      place = line;
      next.set(name, line);
    }
    for (const [name, line] of shown) if (!next.has(name)) line.remove();
    shown = next;
    above.style.height = `${from * rowHeight}px`;
    below.style.height = `${(rows.length - to) * rowHeight}px`;
    element.setAttribute("aria-rowcount", String(rows.length + 1));
    element.hidden = rows.length === 0;
    none.hidden = rows.length > 0;
    if (reachedEnd && to === rows.length && rows.length > 0) reachedEnd();
  }

  return {
    element: frame,
    /** @param {Row[]} value */
    set(value) {
      rows = value;
      draw();
    },
    draw,
    showOrder,
    /** @param {string} words below the last row */
    sayEnd(words) {
      end.hidden = words === "";
      say(end, words);
    },
  };
}

/**
 * @param {HTMLTableCellElement} cell
 * @param {Cell} content
 */
function fill(cell, content) {
  if (content instanceof Node) {
    // The same control again: moving it would take the focus from it.
    if (cell.firstChild !== content) cell.replaceChildren(content);
  } else if (typeof content === "string") {
    say(cell, content);
    cell.title = content.length > 24 ? content : "";
  } else if ("title" in content) {
    say(cell, content.text);
    cell.title = content.title;
  } else {
    const link = cell.firstElementChild instanceof HTMLAnchorElement
      ? cell.firstElementChild : cell.appendChild(document.createElement("a"));
    say(link, content.text);
    if (link.getAttribute("href") !== content.href) link.setAttribute("href", content.href);
  }
}

/**
 * A table of a list that the API answers page by page: the next page is asked for when its end comes into sight. A list that could not be read
 * is read again once the coordinator answers, since nothing else may ask for it any more.
 * @template Row
 * @param {Parameters<typeof table<Row>>[0]} options
 * @param {(after: string | undefined) => Promise<{rows: Row[], next?: string | number}>} load
 * @param {(error: any) => void} failed
 */
export function pagedTable(options, load, failed) {
  /** @type {Row[]} */
  let rows = [];
  /** @type {string | undefined} */
  let next;
  let isAll = false;
  // Pages that come for an earlier beginning of the list are not wanted any more.
  let beginning = 0;
  /** @type {number | null} */
  let loading = null;
  const made = table({ ...options, reachedEnd: () => { if (next !== undefined) more(); } });

  async function more() {
    if (loading === beginning || isAll) return;
    const mine = loading = beginning;
    try {
      const page = await load(next);
      if (mine !== beginning) return;
      rows.push(...page.rows);
      next = page.next === undefined || page.next === null ? undefined : String(page.next);
      isAll = next === undefined || rows.length >= mostRows;
      loading = null;
      made.set(rows);
      made.sayEnd(next !== undefined && isAll ? `These are the first ${count(rows.length)}: narrow the list down to see others.` : "");
      // A page may be empty although others follow.
      if (page.rows.length === 0 && !isAll) await more();
    } catch (error) {
      if (mine !== beginning) return;
      loading = null;
      failed(error);
      // Only a list that could not be read is heard of again: others would be held for as long as the coordinator is there.
      if (/** @type {any} */ (error).name !== "AbortError") connection.addEventListener("regained", readAgain, { once: true });
    }
  }

  function readAgain() {
    // Its page may be another one by now.
    if (made.element.isConnected) reload();
  }

  /** Reads the list from its beginning. */
  async function reload() {
    beginning += 1;
    rows = [];
    made.element.scrollTop = 0;
    next = undefined;
    isAll = false;
    await more();
  }

  return { element: made.element, showOrder: made.showOrder, reload };
}
