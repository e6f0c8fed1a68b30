// Questions before something is changed, and the buttons that ask them.

import { h, replace, say } from "./dom.js";
import { hindrance } from "./api.js";

let number = 0;

/**
 * A button for what needs a role. Where the role is lacking, the button is off and says why.
 * @param {string} label
 * @param {"read" | "operate" | "own"} role
 * @param {() => void} act
 * @param {{class?: string}} [options]
 */
export function actionButton(label, role, act, options = {}) {
  const why = hindrance(role);
  const id = `why-${number += 1}`;
  const button = h("button", {
    type: "button", class: options.class, "aria-disabled": why ? "true" : null, "aria-describedby": why ? id : null,
    on: { click: () => { if (!why) act(); } },
  }, label);
  return why ? h("span", { class: "action" }, button, h("small", { id, class: "why" }, why)) : button;
}

/**
 * Asks before something is changed: shows what would happen, and wants a word typed.
 * @param {object} options
 * @param {string} options.title
 * @param {string} options.act what the button says
 * @param {string} [options.word] what must be typed; nothing if absent
 * @param {(place: HTMLElement) => void | Promise<void>} [options.plan] fills in what would happen
 * @param {(values: Record<string, string>) => Promise<void>} options.done carries it out; what it throws is shown
 * @param {HTMLElement[]} [options.fields] inputs with names, whose values `done` gets
 */
export function confirm({ title, act, word, plan, done, fields = [] }) {
  const titleID = `dialog-${number += 1}`;
  const problem = h("p", { class: "bad", role: "alert" });
  const typed = /** @type {HTMLInputElement} */ (
    h("input", { id: `${titleID}-word`, autocomplete: "off", spellcheck: "false", autocapitalize: "none" }));
  const go = /** @type {HTMLButtonElement} */ (h("button", { type: "submit", class: "danger" }, act));
  const place = h("div", { class: "plan" });
  const check = () => { go.disabled = word !== undefined && typed.value !== word; };
  typed.addEventListener("input", check);
  const form = /** @type {HTMLFormElement} */ (h("form", { method: "dialog", on: { submit: carryOut } },
    h("h2", { id: titleID }, title), place, fields,
    word === undefined ? null : h("p", {}, h("label", { for: typed.id }, "Type ", h("code", {}, word), " to confirm"), typed),
    problem,
    h("p", { class: "buttons" },
      h("button", { type: "button", on: { click: () => dialog.close() } }, "Cancel"), go)));
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-labelledby": titleID,
    on: { close: () => dialog.remove() } }, form));

  /** @param {Event} event */
  async function carryOut(event) {
    event.preventDefault();
    if (go.disabled) return;
    go.disabled = true;
    say(problem, "");
    try {
      await done(Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)])));
      dialog.close();
    } catch (error) {
      say(problem, error instanceof Error ? error.message : String(error));
      check();
    }
  }

  check();
  document.body.append(dialog);
  dialog.showModal();
  if (plan) {
    replace(place, h("p", { class: "muted" }, "Finding out what would happen ..."));
    Promise.resolve(plan(place)).catch((error) =>
      replace(place, h("p", { class: "warn" }, `What would happen cannot be said: ${error.message}`)));
  }
}
