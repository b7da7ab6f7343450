// Release a file: say what becomes of every column, see ten rows before and after, then a job on the server, then the output with its card.

import { Refused, download, freshId, get, latest, post, settled, upload } from "./api.js";
import { element } from "./draw.js";
import { headOf } from "./table.js";

const byId = (id) => document.getElementById(id);
const READABLE = /\.(txt|text|log|csv|tsv|tab|jsonl|ndjson)$/i;
const KNOWN = /\.(txt|text|log|csv|tsv|tab|jsonl|ndjson|json|parquet|pq|xlsx|ods)(\.(gz|bz2|xz|zst))?$/i;
const BYTES_TO_LOOK_AT = 1 << 18;
const ROWS = 10;
const ROLES = [["", "choose …"], ["column", "replace its words"], ["drop", "leave it out"], ["keep", "release it as it is"]];
const TYPED = [["column", "text-typed"], ["drop", "drop-typed"], ["keep", "keep-typed"], ["keep_sheet", "sheet-typed"]];

export function fileSection(stateOf) {
  let file = null, head = null;

  function say(message) {
    byId("job").hidden = false;
    byId("job-says").textContent = message;
    byId("job-progress").hidden = true;
  }

  async function take(given) {
    if (!given || !stateOf().begun) return;
    for (const id of ["file-form", "job", "job-done", "job-receipt", "rows", "rows-says"]) byId(id).hidden = true;
    file = given;
    if (!KNOWN.test(file.name)) {
      say(`${file.name}: this kind of file is not known. Text, CSV, TSV, JSON, JSON Lines, Parquet, .xlsx and .ods are.`);
      return;
    }
    if (file.size > stateOf().allowed.limits.file_bytes) {
      say(`${file.name} is larger than this server takes (${bytes(stateOf().allowed.limits.file_bytes)}).`);
      return;
    }
    head = null;
    if (READABLE.test(file.name)) {
      try {
        head = headOf(file.name, new TextDecoder("utf-8", { fatal: true }).decode(await wholeLines(file)));
      } catch {
        say(`${file.name} cannot be read as UTF-8 text.`);
        return;
      }
    }
    show();
  }

  function show() {
    byId("file-form").hidden = false;
    byId("file-name").textContent = file.name;
    byId("file-size").textContent = bytes(file.size);
    const plain = head !== null && head.columns === null, typed = head === null;
    byId("roles-row").hidden = plain;
    byId("roles").hidden = typed || plain;
    byId("roles-typed").hidden = !typed;
    for (const [, id] of TYPED) byId(id).value = "";
    byId("id-row").hidden = plain || typed || !stateOf().allowed.keyed;
    const columns = head?.columns ?? [];
    const text = columns.length ? longest(columns, head.rows) : -1;
    byId("roles").tBodies[0].replaceChildren(...columns.map((name, i) => roleRow(name, head.rows[0]?.[i] ?? "", i === text ? "column" : "")));
    byId("record-id").replaceChildren(...columns.map((name) => element("option", {}, name)));
    preview();
  }

  function roleRow(name, value, role) {
    const choice = element("select", { "aria-label": `What becomes of ${name}` }, ...ROLES.map(([key, says]) => element("option", { value: key }, says)));
    choice.value = role;
    choice.addEventListener("change", () => preview());
    return element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value.length > 40 ? `${value.slice(0, 40)} …` : value), element("td", {}, choice));
  }

  // What becomes of every column, as [role, column] pairs in the order of the file.
  function rolesOf() {
    if (head !== null) return [...byId("roles").querySelectorAll("select")].map((choice, i) => [choice.value, head.columns[i]]);
    return TYPED.flatMap(([role, id]) => byId(id).value.split("\n").map((name) => name.trim()).filter((name) => name).map((name) => [role, name]));
  }

  const preview = latest(async () => {
    const table = byId("rows");
    const shown = head?.columns ? rolesOf().findIndex(([role]) => role === "column") : 0;
    if (head === null || !head.rows.length || shown < 0) { table.hidden = true; return; }
    const texts = head.rows.slice(0, ROWS).map((row) => (head.columns === null ? row[0] : row[shown] ?? ""));
    const { epsilon, allowed } = stateOf();
    const asked = { texts, epsilon };
    if (allowed.keyed) asked.ids = texts.map(freshId);
    const made = await post("/privatize", asked);
    table.tBodies[0].replaceChildren(...texts.map((text, i) => element("tr", {}, element("td", {}, shorten(text)), element("td", {}, shorten(made.texts[i] ?? "")))));
    table.hidden = false;
    byId("rows-says").hidden = true;
  }, (refused) => {
    byId("rows").hidden = true;
    byId("rows-says").hidden = false;
    byId("rows-says").textContent = `The first rows are not shown: ${refused.message}.`;
  });

  async function release() {
    const { epsilon, allowed } = stateOf();
    const roles = head?.columns === null ? [] : rolesOf();
    const open = roles.filter(([role]) => !role).map(([, name]) => name);
    if (open.length) { say(`Say first what becomes of: ${open.join(", ")}.`); return; }
    const query = [["name", safeName(file.name)], ["epsilon", epsilon], ...roles];
    if (allowed.keyed && !byId("id-row").hidden) query.push(["record_id", byId("record-id").value]);
    byId("job-done").hidden = byId("job-receipt").hidden = true;
    say("Sending the file …");
    byId("release-file").disabled = true;
    try {
      await follow(await upload(file, query));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      say(`It was not released: ${error.message}`);
    } finally {
      byId("release-file").disabled = false;
    }
  }

  async function follow(job) {
    while (job.state === "waiting" || job.state === "working") {
      byId("job-says").textContent = job.state === "waiting" ? "Waiting for its turn …" : "Releasing …";
      const shown = byId("job-progress");
      shown.hidden = false;
      if (job.total) { shown.max = job.total; shown.value = job.done; } else shown.removeAttribute("value");
      await new Promise((resolve) => setTimeout(resolve, 300));
      try {
        job = await get(`/jobs/${job.id}`);
      } catch (error) {
        if (!(error instanceof Refused) || error.status !== undefined) throw error;
        byId("job-says").textContent = "The server does not answer; the job goes on when it is back.";
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
    }
    byId("job-progress").hidden = true;
    if (job.state === "failed") { say(`It was not released: ${job.error}`); return; }
    byId("job-says").textContent = "Released.";
    byId("job-done").hidden = byId("job-receipt").hidden = false;
    byId("deleted-at").textContent = `at ${new Date(1000 * job.deleted_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`;
    const released = `released-${file.name}${/\.ods$/i.test(file.name) ? ".xlsx" : ""}`;
    for (const [id, path, name] of [
      ["get-output", "output", released], ["get-card", "card", `${released}.card.json`], ["get-receipt", "receipt", `${file.name}.receipt.json`],
    ]) {
      byId(id).onclick = (event) => { event.preventDefault(); download(`/jobs/${job.id}/${path}`, name); };
    }
  }

  const drop = byId("drop");
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files[0]); });
  byId("file").addEventListener("change", () => take(byId("file").files[0]));
  byId("release-file").addEventListener("click", release);
  const settledPreview = settled(preview, 200);
  return { moved() { if (!byId("file-form").hidden) settledPreview(); } };
}

async function wholeLines(file) {
  const read = new Uint8Array(await file.slice(0, BYTES_TO_LOOK_AT).arrayBuffer());
  return file.size <= BYTES_TO_LOOK_AT ? read : read.subarray(0, read.lastIndexOf(10) + 1);
}

// The column with the longest texts is most likely the private one; a person decides.
function longest(columns, rows) {
  const lengths = columns.map((_, i) => rows.slice(0, 50).reduce((sum, row) => sum + (row[i] ?? "").length, 0));
  return lengths.indexOf(Math.max(...lengths));
}

const safeName = (name) => name.replace(/[^\p{L}\p{N}_ .()+-]/gu, "_").replace(/^[^\p{L}\p{N}_]+/u, "_").slice(-120);
const shorten = (text) => (text.length > 400 ? `${text.slice(0, 400)} …` : text);

function bytes(count) {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (count >= 1024 && unit < 3) { count /= 1024; unit += 1; }
  return `${unit ? count.toFixed(1) : count} ${units[unit]}`;
}
