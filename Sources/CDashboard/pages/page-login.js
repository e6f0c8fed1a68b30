// The page for those who are not logged in.

import { h, replace, say } from "./dom.js";
import { enter } from "./app.js";

/** @param {HTMLElement} main */
export function show(main) {
  const problem = h("p", { class: "bad", role: "alert" });
  const input = /** @type {HTMLInputElement} */ (
    h("input", { id: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: "false" }));
  const button = /** @type {HTMLButtonElement} */ (h("button", { type: "submit", class: "main" }, "Log in"));
  const form = h("form", { class: "card login", on: {
    submit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      button.disabled = true;
      say(problem, "");
      try {
        await enter({ token: input.value.trim() });
      } catch (error) {
        say(problem, error instanceof Error ? error.message : String(error));
        button.disabled = false;
        input.select();
      }
    },
  } },
  h("img", { src: "/dashboard/icon.svg", alt: "", width: 48, height: 48 }),
  h("h1", {}, "Sluice"),
  // Browsers that keep tokens want to know whose they are.
  h("input", { hidden: true, autocomplete: "username", value: "admin", "aria-label": "User" }),
  h("label", { for: "token" }, "Admin token"), input, problem, button,
  h("p", { class: "muted" }, "The token of the settings, or one that ", h("code", {}, "sluice admin tokens create"),
    " has made. What it may do, you may do here."));
  replace(main, form);
  input.focus();
}
