// The body of a function that finds what keeps people from using the page; run in the page by `Browser.barriers`.
const found = [];
const visible = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
const named = (element) => {
  const by = (element.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean)
    .map((id) => document.getElementById(id)?.innerText ?? "").join(" ");
  return (element.getAttribute("aria-label") ?? by).trim() || element.innerText?.trim() || element.getAttribute("alt")?.trim()
    || (element.labels ? [...element.labels].map((label) => label.innerText).join(" ").trim() : "")
    || [...element.querySelectorAll("img[alt]")].map((image) => image.alt).join(" ").trim();
};
const called = (element) => `${element.tagName.toLowerCase()}${element.id ? "#" + element.id : ""}.${element.getAttribute("class") ?? ""} "${(element.innerText ?? "").slice(0, 30)}"`;

for (const element of document.querySelectorAll("button, a[href], input, select, textarea, [role=img], [role=region], nav, dialog, table")) {
  if (visible(element) && !named(element)) found.push(`${called(element)} has no name`);
}
for (const element of document.querySelectorAll("img")) if (!element.hasAttribute("alt")) found.push(`${called(element)} has no alt`);
const ids = new Set();
for (const element of document.querySelectorAll("[id]")) {
  if (ids.has(element.id)) found.push(`there are two elements #${element.id}`);
  ids.add(element.id);
}
for (const name of ["aria-labelledby", "aria-describedby", "for"]) {
  for (const element of document.querySelectorAll(`[${name}]`)) {
    for (const id of element.getAttribute(name).split(" ")) if (!ids.has(id)) found.push(`${called(element)}: ${name} leads to no #${id}`);
  }
}
let level = 0;
for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
  if (!visible(heading)) continue;
  const next = Number(heading.tagName[1]);
  if (next > level + 1) found.push(`${called(heading)} leaves out a level after h${level}`);
  level = next;
}
if (document.querySelectorAll("main").length !== 1) found.push("the page has not one main part");
if (!document.documentElement.lang) found.push("the page does not say its language");
for (const table of document.querySelectorAll("table")) if (!table.querySelector("th[scope]")) found.push(`${called(table)} has no head`);
for (const element of document.querySelectorAll(".scroll")) if (element.tabIndex < 0) found.push(`${called(element)} cannot be scrolled by keys`);

const color = (text) => {
  const parts = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
  return { rgb: parts.slice(0, 3), alpha: parts[3] ?? 1 };
};
const light = (rgb) => {
  const [r, g, b] = rgb.map((value) => value / 255).map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const { rgb, alpha } = color(getComputedStyle(at).backgroundColor);
    if (alpha > 0.99) return rgb;
  }
  return [255, 255, 255];
};
const seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element || seen.has(element) || !visible(element)) continue;
  seen.add(element);
  const style = getComputedStyle(element);
  const [front, back] = [light(color(style.color).rgb), light(ground(element))];
  const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  const size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (contrast < (isLarge ? 3 : 4.5)) found.push(`${called(element)} has a contrast of ${contrast.toFixed(2)}`);
}
if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${innerWidth}`);
// What users wrote is text, in the title of a page about it as well, and nothing comes from anywhere else.
for (const element of document.querySelectorAll("main b, main i, main script, main iframe, [onerror], [onclick], img[src=x]")) found.push(`${called(element)} was written by somebody`);
if (document.title === "owned") found.push("what somebody wrote was carried out");
for (const { name } of performance.getEntriesByType("resource")) if (new URL(name).origin !== location.origin) found.push(`${name} was asked for`);
return found;
