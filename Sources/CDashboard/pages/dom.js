// Makes elements. What comes from users or the cluster only ever becomes text, never markup.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element with attributes and children.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] `on` has listeners by event; `null` and `false` leave an attribute out.
 * @param {...(Child | Child[])} children strings become text
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  return /** @type {HTMLElement} */ (fill(document.createElement(tag), attributes, children));
}

/**
 * The same, of SVG.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  return /** @type {SVGElement} */ (
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children));
}

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes
 * @param {(Child | Child[])[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {(Child | Child[])[]} children
 */
export function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Puts these in the place of what an element has.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * Sets an element's text, and leaves it alone if it is the same already: screen readers and selections are not disturbed.
 * @param {Element} element
 * @param {string} text
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {string} id @returns {HTMLElement} */
export function byID(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`there is no element ${id}`);
  return element;
}
