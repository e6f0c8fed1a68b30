// Ids that people take elsewhere: a click copies them.

import { h, say } from "./dom.js";

/**
 * A text with a button that copies it. Where a browser gives pages no clipboard, as over plain HTTP, the text is chosen instead.
 * @param {string} text
 */
export function copyable(text) {
  const shown = h("span", { class: "mono" }, text);
  const button = h("button", { type: "button", class: "plain", "aria-label": `Copy ${text}`, on: { click: () => copy() } }, "copy");

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      say(button, "copied");
      setTimeout(() => say(button, "copy"), 2000);
    } catch {
      getSelection()?.selectAllChildren(shown);
    }
  }

  return h("span", {}, shown, " ", button);
}
