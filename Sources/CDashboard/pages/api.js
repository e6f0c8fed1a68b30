// The admin API: requests, streams, and who is logged in.

const base = "/api/admin/v1/";

/** What the API has refused, and why. */
export class Problem extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * @typedef {{token: string, role: "read" | "operate" | "own", expiresAt?: number}} Session
 */

/**
 * Who is logged in.
 * @type {Session | null}
 */
export let session = null;

/** @param {Session | null} value */
export function setSession(value) {
  session = value;
}

const ranks = { read: 0, operate: 1, own: 2 };

/**
 * Why who is logged in may not do what needs a role; null if nothing speaks against it.
 * @param {"read" | "operate" | "own"} role
 * @returns {string | null}
 */
export function hindrance(role) {
  if (session && ranks[session.role] >= ranks[role]) return null;
  return `needs the role ${role}; token ${session?.token ?? "?"} has ${session?.role ?? "none"}`;
}

/** Told `lost` and `regained` of the coordinator, and `logged-out`. */
export const connection = new EventTarget();
let isLost = false;

/** @param {boolean} lost */
function note(lost) {
  if (lost === isLost) return;
  isLost = lost;
  connection.dispatchEvent(new Event(lost ? "lost" : "regained"));
}

/**
 * @param {string} method
 * @param {string} path below `/api/admin/v1/`
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
async function ask(method, path, body, signal) {
  /** @type {Record<string, string>} */
  const headers = { "X-Sluice-Dashboard": "1" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(base + path, {
      method, headers, signal, credentials: "same-origin", cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    note(true);
    throw new Problem(0, "unreachable", "the coordinator cannot be reached");
  }
  note(false);
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401 && path !== "session") connection.dispatchEvent(new Event("logged-out"));
  throw new Problem(response.status, problem.error ?? "unknown", problem.message ?? `status ${response.status}`);
}

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function get(path, signal) {
  return (await ask("GET", path, undefined, signal)).json();
}

/**
 * Sends what changes something.
 * @param {"POST" | "PUT" | "PATCH" | "DELETE"} method
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function send(method, path, body, signal) {
  const response = await ask(method, path, body, signal);
  return response.status === 204 ? null : response.json();
}

/**
 * A path with its parts made safe.
 * @param {...(string | number)} parts
 */
export function path(...parts) {
  return parts.map((part) => encodeURIComponent(String(part))).join("/");
}

/**
 * A query of the values that there are.
 * @param {Record<string, string | number | boolean | null | undefined>} values
 */
export function query(values) {
  const items = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return items.length === 0
    ? "" : "?" + items.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join("&");
}

/**
 * Follows a stream of lines of JSON until the signal, and goes on by itself when the coordinator is away for a while.
 * @param {string} path
 * @param {(event: any) => void} told
 * @param {AbortSignal} signal
 * @param {{endsByItself?: boolean}} [options] `endsByItself`: the server's end of the stream is the end
 */
export async function stream(path, told, signal, options = {}) {
  let wait = 500;
  while (!signal.aborted) {
    try {
      const response = await ask("GET", path, undefined, signal);
      wait = 500;
      await lines(response, told);
      if (options.endsByItself) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.status >= 400 && error.status < 500) throw error;
      if (!(error instanceof Problem) || error.status === 0) note(true);
    }
    await new Promise((done) => setTimeout(done, wait * (0.7 + 0.6 * Math.random())));
    wait = Math.min(wait * 2, 5000);
  }
}

/** @param {Response} response @param {(event: any) => void} told */
async function lines(response, told) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) if (line) told(JSON.parse(line));
  }
}
