// The frame around the pages: who is logged in, which page is shown, and whether the coordinator is there.

import { byID, h, replace, say } from "./dom.js";
import { connection, get, path, send, session, setSession } from "./api.js";
import { span, time } from "./format.js";
import { picture, restart, stop, watch } from "./live.js";
import * as login from "./page-login.js";
import * as overview from "./page-overview.js";
import * as slices from "./page-slices.js";
import * as processes from "./page-processes.js";
import * as apps from "./page-apps.js";
import * as campaigns from "./page-campaigns.js";
import * as realms from "./page-realms.js";
import * as deadLetters from "./page-dead-letters.js";
import * as tail from "./page-tail.js";
import * as doctor from "./page-doctor.js";
import * as audit from "./page-audit.js";
import * as reference from "./page-reference.js";

/**
 * What a page is: it fills the main part until the signal.
 * @typedef {{show: (main: HTMLElement, rest: string[], signal: AbortSignal) => void | Promise<void>}} Page
 */

/** @type {{name: string, title: string, page: Page}[]} */
const pages = [
  { name: "", title: "Overview", page: overview },
  { name: "slices", title: "Slices", page: slices },
  { name: "processes", title: "Processes", page: processes },
  { name: "apps", title: "Apps", page: apps },
  { name: "campaigns", title: "Campaigns", page: campaigns },
  { name: "realms", title: "Realms", page: realms },
  { name: "dead-letters", title: "Dead letters", page: deadLetters },
  { name: "tail", title: "Tail", page: tail },
  { name: "doctor", title: "Doctor", page: doctor },
  { name: "audit", title: "Audit", page: audit },
  { name: "reference", title: "Reference", page: reference },
];

const main = byID("main");
let shown = new AbortController();
let lostAt = 0;
/** Milliseconds after which a picture is old. */
const oldAfter = 5_000;

async function begin() {
  byID("skip").addEventListener("click", () => main.focus());
  connection.addEventListener("lost", () => { lostAt = Date.now(); showLoss(); });
  connection.addEventListener("regained", () => { lostAt = 0; showLoss(); });
  connection.addEventListener("logged-out", () => leave());
  setInterval(showLoss, 1000);
  addEventListener("hashchange", () => route());
  watch(({ overview }) => {
    const health = byID("health");
    // What is worst stands first: nobody should have to look for why the head is red.
    const worst = overview.findings.find((/** @type {any} */ finding) => finding.level === "fault") ?? overview.findings[0];
    say(health, worst ? `${worst.text}${overview.findings.length > 1 ? ` (and ${overview.findings.length - 1} more)` : ""}; ${overview.sentence}` : overview.sentence);
    health.className = `level-${worst?.level ?? "well"}`;
    const letters = byID("nav").querySelector('a[href="#/dead-letters"]');
    if (letters) say(letters, overview.deadLetters > 0 ? `Dead letters (${overview.deadLetters})` : "Dead letters");
  }, new AbortController().signal);
  await recognise();
  route();
}

/** Finds out who is logged in; a coordinator that is away is asked again. */
async function recognise() {
  for (;;) {
    try {
      setSession(await get("session"));
      return;
    } catch (error) {
      if (/** @type {any} */ (error).status === 401) return setSession(null);
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

function showLoss() {
  const lost = byID("lost");
  // A newer picture comes every two seconds at least: one that is older is not of now, whatever keeps it away.
  const isOld = session !== null && !document.hidden && picture.overview !== null && Date.now() - picture.heardAt > oldAfter;
  const shownPicture = /** @type {any} */ (picture.overview);
  const asOf = shownPicture ? ` The picture of the cluster is as of ${time(shownPicture.at)}.` : "";
  lost.classList.toggle("shown", lostAt > 0 || isOld);
  main.classList.toggle("old", isOld);
  byID("health").classList.toggle("old", isOld);
  say(lost, lostAt > 0
    ? `The coordinator has not answered for ${span(Date.now() - lostAt)}. What is shown may be old; this page goes on by itself.${asOf}`
    : isOld ? `No picture of the cluster has come for ${span(Date.now() - picture.heardAt)}.${asOf}` : "");
}

/** Shows what the address says. */
function route() {
  const [word = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  const name = word === "overview" ? "" : word;
  if (name === "login" && rest[0]) return enterWithCode(rest[0], rest.slice(1));
  shown.abort();
  shown = new AbortController();
  frame();
  const isIn = session !== null;
  const found = pages.find((page) => page.name === name);
  const page = !isIn ? login : found?.page;
  const title = found && rest.length > 0 ? `${rest.filter(Boolean).join(" ")} · ${found.title}` : found?.title ?? "Not found";
  document.title = `${isIn ? title : "Log in"} · Sluice`;
  for (const link of byID("nav").querySelectorAll("a")) {
    link.toggleAttribute("aria-current", link.getAttribute("href") === `#/${name}`);
    if (!link.hasAttribute("aria-current")) continue;
    link.setAttribute("aria-current", "page");
    // On a phone the list of pages is a row that scrolls.
    const row = byID("nav");
    row.scrollLeft = /** @type {HTMLElement} */ (link).offsetLeft - (row.clientWidth - /** @type {HTMLElement} */ (link).offsetWidth) / 2;
  }
  // What had the focus goes with the page that it was on.
  if (main.contains(document.activeElement)) main.focus({ preventScroll: true });
  replace(main);
  scrollTo(0, 0);
  if (!page) return replace(main, h("h1", {}, "There is no such page"), h("p", {}, h("a", { href: "#/" }, "Overview")));
  const { signal } = shown;
  Promise.resolve(page.show(main, rest, signal)).catch((error) => {
    if (!signal.aborted) main.append(h("p", { class: "card bad", role: "alert" }, error.message));
  });
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The head of the page: only for those who are logged in. */
function frame() {
  const isIn = session !== null;
  byID("top").hidden = !isIn;
  const nav = byID("nav");
  nav.hidden = !isIn;
  if (!isIn || !session) return;
  if (nav.childElementCount === 0) {
    replace(nav, h("ul", {}, pages.map(({ name, title }) => h("li", {}, h("a", { href: `#/${name}` }, title)))));
  }
  replace(byID("session"), h("span", { class: "muted" }, session.token, " · ", session.role),
    h("button", { type: "button", class: "plain", on: { click: logOut } }, "Log out"));
}

/** @param {string} code @param {string[]} rest the page to begin with */
async function enterWithCode(code, rest) {
  history.replaceState(null, "", `#/${path(...rest)}`);
  try {
    await enter({ code });
  } catch (error) {
    setSession(null);
    route();
    main.append(h("p", { class: "card bad", role: "alert" }, /** @type {any} */ (error).message));
  }
}

/**
 * Logs in.
 * @param {{token: string} | {code: string}} proof
 */
export async function enter(proof) {
  setSession(await send("POST", "session", proof));
  restart();
  route();
}

async function logOut() {
  await send("DELETE", "session").catch(() => {});
  leave();
}

function leave() {
  if (session === null) return;
  setSession(null);
  stop();
  picture.overview = null;
  picture.heardAt = 0;
  picture.slices.clear();
  route();
}

begin().then(() => { if (session) restart(); });
