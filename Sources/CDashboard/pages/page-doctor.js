// What is wrong, and what to do.

import { h, replace, say } from "./dom.js";
import { get } from "./api.js";
import { plural, time } from "./format.js";

/** @param {HTMLElement} main @param {string[]} _ @param {AbortSignal} signal */
export async function show(main, _, signal) {
  const words = h("p", { role: "status" });
  const found = h("div", { class: "findings" });
  const button = /** @type {HTMLButtonElement} */ (h("button", { type: "button", on: { click: () => examine() } }, "Look again"));
  replace(main, h("h1", {}, "Doctor"),
    h("p", { class: "muted" }, "What this coordinator sees of broker, stores and cluster. ", h("code", {}, "sluice doctor"),
      " looks at settings, clocks and the broker's management, too."), h("p", {}, button), words, found);

  async function examine() {
    button.disabled = true;
    say(words, "Looking ...");
    try {
      const { at, diagnoses } = await get("doctor", signal);
      const order = ["fault", "warning", "unchecked", "ok"];
      diagnoses.sort((/** @type {any} */ a, /** @type {any} */ b) => order.indexOf(a.level) - order.indexOf(b.level));
      const number = (/** @type {string} */ level) => diagnoses.filter((/** @type {any} */ one) => one.level === level).length;
      say(words, `${plural(number("fault"), "fault")}, ${plural(number("warning"), "warning")}, ${number("ok")} well, ${number("unchecked")} not looked at; ${time(at)}`);
      const classes = { fault: "level-fault", warning: "level-warning", ok: "level-well", unchecked: "muted" };
      replace(found, diagnoses.map((/** @type {any} */ one) =>
        h("div", { class: `finding ${classes[/** @type {"ok"} */ (one.level)]}` },
          h("strong", {}, `${one.level === "ok" ? "Well" : one.level === "unchecked" ? "Not looked at" : one.level === "warning" ? "Look" : "Fault"}: `),
          `${one.area}, ${one.subject}: ${one.finding}`, one.advice ? h("div", {}, `→ ${one.advice}`) : null)));
    } finally {
      button.disabled = false;
    }
  }

  await examine();
}
