// Every request of the page goes through here: to this server, with the token if there is one, and never into the browser's history.

let token = null;
const listeners = { problem: () => {}, token: () => {} };

export class Refused extends Error {}

export function listen(handlers) { Object.assign(listeners, handlers); }
export function useToken(given) { token = given; }
export function hasToken() { return token !== null; }

async function request(path, options = {}) {
  const headers = { ...(options.headers ?? {}) };
  if (token !== null) headers.Authorization = `Bearer ${token}`;
  let reply;
  try {
    reply = await fetch(path, { ...options, headers, credentials: "omit", referrerPolicy: "no-referrer" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    listeners.problem("The server does not answer. Your text is still here, and the page goes on when the server is back.");
    wait();
    throw new Refused("the server does not answer");
  }
  if (reply.status === 401) listeners.token(token !== null);
  if (!reply.ok) {
    const told = await reply.json().catch(() => ({ error: `the server answered ${reply.status}` }));
    const refused = new Refused(told.error);
    refused.status = reply.status;
    throw refused;
  }
  listeners.problem(null);
  return reply;
}

let waiting = null;
function wait() {
  waiting ??= setInterval(async () => {
    const well = await fetch("/health").then((reply) => reply.ok, () => false);
    if (!well) return;
    clearInterval(waiting);
    waiting = null;
    listeners.problem(null);
    listeners.back?.();
  }, 1500);
}

export const get = async (path) => (await request(path)).json();

export async function post(path, content, signal) {
  const headers = { "Content-Type": "application/json" };
  return (await request(path, { method: "POST", headers, body: JSON.stringify(content), signal })).json();
}

export async function send(path, file, query) {
  const headers = { "Content-Type": "application/octet-stream" };
  return request(`${path}?${new URLSearchParams(query)}`, { method: "POST", headers, body: file });
}

export const remove = (path) => request(path, { method: "DELETE" });

// A link is enough where no token is needed; with one, the file comes through the page.
export async function download(path, name) {
  const link = document.createElement("a");
  link.download = name;
  if (token === null) {
    link.href = path;
  } else {
    link.href = URL.createObjectURL(await (await request(path)).blob());
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
  link.click();
}

// A name for a text that nobody else has, where the server draws from a key.
export const freshId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// Runs one request at a time; of those that are asked for meanwhile, only the last one is run. What is refused is told to `refused`,
// which takes away what stands for an earlier question.
export function latest(run, refused) {
  let running = false;
  let next = null;
  return async function ask(...args) {
    if (running) { next = args; return; }
    running = true;
    try {
      await run(...args);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused(error);
    } finally {
      running = false;
      if (next !== null) { const again = next; next = null; ask(...again); }
    }
  };
}

export function settled(run, milliseconds) {
  let timer = 0;
  return (...args) => { clearTimeout(timer); timer = setTimeout(() => run(...args), milliseconds); };
}
