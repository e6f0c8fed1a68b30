// What to look up: alerts with what to do, the HTTP APIs, the queue messages. All of it is in the binary.

import { h, replace } from "./dom.js";

/** @param {string} name */
async function document_(name) {
  const response = await fetch(`/dashboard/${name}`);
  if (!response.ok) throw new Error(`${name}: status ${response.status}`);
  return response;
}

const parts = {
  alerts: { title: "Alerts", show: alerts },
  admin: { title: "Admin API", show: (/** @type {HTMLElement} */ place) => http(place, "admin.json") },
  client: { title: "Client API", show: (/** @type {HTMLElement} */ place) => http(place, "client.json") },
  messages: { title: "Messages", show: messages },
};

/** @param {HTMLElement} main @param {string[]} rest */
export async function show(main, rest) {
  const name = rest[0] && rest[0] in parts ? /** @type {keyof typeof parts} */ (rest[0]) : "alerts";
  const place = h("div", {});
  replace(main, h("h1", {}, "Reference"),
    h("p", { class: "filters" }, Object.entries(parts).map(([key, part]) =>
      h("a", { href: `#/reference/${key}`, "aria-current": key === name ? "true" : null }, part.title))),
    h("h2", {}, parts[name].title), place);
  await parts[name].show(place);
  const wanted = rest[1] ? document.getElementById(`alert-${rest[1]}`) : null;
  wanted?.scrollIntoView({ block: "center" });
  wanted?.focus();
}

/**
 * The rules of deploy/prometheus/alerts.yaml, each with what to do.
 * @param {HTMLElement} place
 */
async function alerts(place) {
  const text = await (await document_("alerts.yaml")).text();
  const rules = text.split(/^ +- alert: /m).slice(1).map((part) => {
    // A field stands on one line, or in lines of its own.
    const field = (/** @type {string} */ name) => {
      const found = new RegExp(`^ +${name}: (?:\\|\\n((?: {10}.*\\n)+)|(.*)$)`, "m").exec(part);
      return found?.[1]?.replaceAll(/^ {10}/gm, "").trimEnd() ?? found?.[2] ?? "";
    };
    const plain = (/** @type {string} */ value) => value.replace(/^"(.*)"$/, "$1")
      .replaceAll(/\{\{ if [^}]*\}\}[^{}]*\{\{ else \}\}([^{}]*)\{\{ end \}\}/g, "$1").replaceAll(/\{\{ \$value[^}]*\}\}/g, "N").replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "<$1>");
    return { name: part.split("\n")[0], severity: /severity: (\w+)/.exec(part)?.[1] ?? "", expr: field("expr"),
      wait: field("for"), summary: plain(field("summary")), action: plain(field("action")) };
  });
  replace(place, h("p", { class: "muted" }, "The rules of deploy/prometheus/alerts.yaml, for Prometheus; docs/runbook.md says what to do about each. This page needs no Prometheus: what is wrong now is on the overview."),
    h("div", { class: "findings" }, rules.map((rule) =>
      h("div", { id: `alert-${rule.name}`, tabindex: -1, class: "finding" },
        h("strong", {}, rule.name), ` ${rule.severity}: ${rule.summary}`, h("div", {}, "→ ", h("code", {}, rule.action)),
        h("details", {}, h("summary", {}, "When"), h("pre", { tabindex: 0, "aria-label": rule.name }, rule.expr), rule.wait ? `for ${rule.wait}` : "")))));
}

/**
 * An OpenAPI description.
 * @param {HTMLElement} place
 * @param {string} name
 */
async function http(place, name) {
  const api = await (await document_(name)).json();
  const operations = Object.entries(api.paths).flatMap(([path, item]) => Object.entries(item)
    .filter(([method]) => method !== "parameters")
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation, shared: item.parameters ?? [] })));
  replace(place, h("p", { class: "muted" }, api.info.description), h("p", {}, h("a", { href: `/dashboard/${name}`, download: name }, `OpenAPI ${api.openapi}`)),
    operations.map(({ method, path, operation, shared }) => h("details", { class: "entry" },
      h("summary", {}, h("code", {}, `${method} ${path}`), ` ${operation.summary ?? ""}`),
      operation["x-role"] ? h("p", {}, `Role ${operation["x-role"]}`) : null,
      h("ul", {}, [...shared, ...(operation.parameters ?? [])].map((/** @type {any} */ parameter) =>
        h("li", {}, h("code", {}, parameter.name), ` in the ${parameter.in}${parameter.required ? ", required" : ""}. ${parameter.description ?? ""}`))),
      body("Body", operation.requestBody?.content, api),
      Object.entries(operation.responses ?? {}).map(([status, answer]) => body(status, resolved(answer, api).content, api, resolved(answer, api).description)))));
}

/**
 * @param {string} title
 * @param {any} content
 * @param {any} api
 * @param {string} [words]
 */
function body(title, content, api, words) {
  const [type, found] = Object.entries(content ?? {})[0] ?? [];
  const name = found?.schema?.$ref?.split("/").pop();
  return content || words ? h("p", {}, h("strong", {}, title), ` ${words ?? ""} `, type ? h("code", {}, type) : null,
    found?.schema ? h("details", {}, h("summary", {}, name ?? "schema"),
      h("pre", { tabindex: 0, "aria-label": name ?? "schema" }, JSON.stringify(resolved(found.schema, api), null, 1))) : null) : null;
}

/** @param {any} value @param {any} root */
function resolved(value, root) {
  if (!value?.$ref) return value;
  return value.$ref.split("/").slice(1).reduce((/** @type {any} */ at, /** @type {string} */ step) => at?.[step], root);
}

/**
 * The AsyncAPI description of the queue messages.
 * @param {HTMLElement} place
 */
async function messages(place) {
  const api = await (await document_("messages.json")).json();
  replace(place, h("p", { class: "muted" }, api.info.description), h("p", {}, h("a", { href: "/dashboard/messages.json", download: "messages.json" }, `AsyncAPI ${api.asyncapi}`)),
    Object.values(api.channels).map((/** @type {any} */ channel) => [h("h3", {}, h("code", {}, channel.address)), h("p", { class: "muted" }, channel.description),
      Object.keys(channel.messages).map((name) => {
        const message = api.components.messages[name];
        return h("details", { class: "entry" }, h("summary", {}, h("code", {}, name), ` ${message.summary}`),
          h("pre", { tabindex: 0, "aria-label": name }, JSON.stringify(resolved(message.payload, api), null, 1)));
      })]).flat(2));
}
