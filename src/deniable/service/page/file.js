// Release a file: what is in it, what becomes of every column and sheet, all that would leave, then a job on the server.

import { Refused, download, freshId, get, latest, post, remove, send, settled } from "./api.js";
import { element } from "./draw.js";

const byId = (id) => document.getElementById(id);
const BY_LINES = /\.(txt|text|log|csv|tsv|tab|jsonl|ndjson)$/i;
const MOST_TO_LOOK_AT = 1 << 22;
const REHEARSED = /\.(txt|csv|tsv|jsonl|json)$/i;
const MOST_REHEARSED = 1 << 24;
const ROLES = [["", "choose …"], ["column", "replace its words"], ["drop", "leave it out"], ["keep", "release it as it is"]];
const SHEET_ROLES = [["", "choose …"], ["keep_sheet", "release it as it is"]];

export function fileSection(stateOf, choice) {
  let file = null, found = null, job = null;

  function say(message) {
    byId("job").hidden = false;
    byId("job-says").textContent = message;
    byId("job-progress").hidden = true;
  }

  function take(given) {
    if (!given || !stateOf().begun) return;
    for (const id of ["file-form", "job", "job-done", "job-receipt", "rows", "rows-says"]) byId(id).hidden = true;
    file = given;
    found = null;
    if (file.size > stateOf().allowed.limits.file_bytes) {
      say(`${file.name} is larger than this server takes (${bytes(stateOf().allowed.limits.file_bytes)}).`);
      return;
    }
    for (const id of ["delimiter", "encoding"]) byId(id).value = "";
    byId("header").checked = true;
    look();
  }

  // How the file is read, and by which settings.
  function reading() {
    const query = [["name", safeName(file.name)], ...Object.entries(choice()).flatMap(([name, value]) => [value].flat().map((each) => [name, each]))];
    for (const id of ["delimiter", "encoding"]) if (byId(id).value) query.push([id, byId(id).value]);
    if (!byId("header").checked) query.push(["header", "false"]);
    return query;
  }

  const look = latest(async () => {
    const looked = file;
    say("Looking into the file …");
    const whole = !BY_LINES.test(file.name) || file.size <= MOST_TO_LOOK_AT;
    const part = whole ? file : new Blob([await wholeLines(file)]);
    const told = await (await send("/check", part, reading())).json();
    if (looked !== file) return; // another one was chosen meanwhile
    found = told;
    byId("job").hidden = true;
    show();
  }, (refused) => {
    found = null;
    byId("file-form").hidden = true;
    say(`${file.name} cannot be released: ${refused.message}`);
  });

  function show() {
    byId("file-form").hidden = false;
    byId("file-name").textContent = file.name;
    byId("file-size").textContent = `${bytes(file.size)}, ${found.complete ? "" : "the first "}${found.records.toLocaleString()} records looked at`;
    const plain = found.columns.every((column) => column.name === null);
    const tables = found.delimiter !== null;
    byId("reading").hidden = !tables && found.format !== "text";
    byId("delimiter-row").hidden = byId("header-row").hidden = !tables;
    if (tables) byId("delimiter").value = found.delimiter === "\t" ? "tab" : found.delimiter;
    byId("encoding").value = found.encoding;
    byId("roles-row").hidden = plain && !found.sheets.length;
    byId("decision-row").hidden = !REHEARSED.test(file.name) || file.size > MOST_REHEARSED;
    byId("id-row").hidden = plain || !stateOf().allowed.keyed;
    byId("findings").replaceChildren(...found.findings.map((says) => element("li", {}, says)));
    byId("roles").tBodies[0].replaceChildren(...plain ? [] : found.columns.map(columnRow), ...found.sheets.map(sheetRow));
    byId("record-id").replaceChildren(...found.columns.map((column) => element("option", {}, column.name ?? "")));
    preview();
  }

  function columnRow(column) {
    const values = column.values.slice(0, 3).map(shorten).join(" · ");
    const says = column.releasable ? column.why ?? column.kind : "has no name: give it one in the file, or take out rows above the header";
    return roleRow(column.name, values, says, column.releasable ? ROLES : [["", "cannot be released"]], column.text && column.releasable ? "column" : "", column.why !== null);
  }

  const sheetRow = (name) => roleRow(`sheet ${name}`, "another sheet", "to leave it out, delete it from a copy of the file", SHEET_ROLES, "", true, name);

  function roleRow(title, values, says, roles, role, suspicious, name = title) {
    const select = element("select", { "aria-label": `What becomes of ${title}`, "data-name": name }, ...roles.map(([key, text]) => element("option", { value: key }, text)));
    select.value = role;
    select.addEventListener("change", () => preview());
    return element("tr", {}, element("th", { scope: "row" }, title), element("td", {}, select),
      element("td", { class: suspicious ? "look" : "" }, says), element("td", {}, values));
  }

  // What becomes of every column and sheet, as [role, name] pairs in the order of the file.
  const rolesOf = () => [...byId("roles").querySelectorAll("select")].map((select) => [select.value, select.dataset.name]);
  const openOf = () => rolesOf().filter(([role]) => !role).map(([, name]) => name);

  function forAll(role, where) {
    for (const select of byId("roles").querySelectorAll("select")) {
      const column = found.columns.find((each) => each.name === select.dataset.name);
      if (!select.value && column && where(column)) select.value = role;
    }
    preview();
  }

  // All that leaves: the columns that are kept, and draws of those whose words are replaced.
  const preview = latest(async () => {
    const table = byId("rows");
    const open = found === null ? [] : openOf();
    byId("release-file").disabled = open.length > 0;
    byId("open-says").textContent = open.length ? `Say first what becomes of: ${open.join(", ")}.` : "";
    if (found === null || !found.columns.length) { table.hidden = true; return; }
    const roles = new Map(rolesOf().map(([role, name]) => [name, role]));
    const leaving = found.columns.map((column) => [column, column.name === null ? "column" : roles.get(column.name)]).filter(([, role]) => role === "column" || role === "keep");
    const texts = leaving.flatMap(([column, role]) => (role === "column" ? column.values : []));
    let released = [];
    if (texts.length) {
      const asked = { texts, ...choice() };
      if (stateOf().allowed.keyed) asked.ids = texts.map(freshId);
      released = (await post("/privatize", asked)).texts;
    }
    let next = 0;
    const shown = leaving.map(([column, role]) => (role === "column"
      ? column.values.map((value) => [shorten(value), shorten(released[next++] ?? "")])
      : column.values.map((value) => [shorten(value)])));
    const rows = Math.max(0, ...shown.map((values) => values.length));
    table.tHead.rows[0].replaceChildren(...leaving.map(([column, role]) => element("th", { scope: "col" }, column.name ?? "text", element("span", {}, role === "keep" ? "as it is" : "before and after"))));
    table.tBodies[0].replaceChildren(...Array.from({ length: rows }, (_, i) => element("tr", {}, ...shown.map((values) => cell(values[i] ?? [""])))));
    table.hidden = !leaving.length;
    byId("rows-says").hidden = true;
  }, (refused) => {
    byId("rows").hidden = true;
    byId("rows-says").hidden = false;
    byId("rows-says").textContent = `The first rows are not shown: ${refused.message}.`;
  });

  const cell = ([before, after]) => (after === undefined ? element("td", {}, before) : element("td", {}, element("s", {}, before), " ", after));

  async function release() {
    if (found === null || openOf().length) return;
    const query = [...reading().filter(([name]) => name !== "encoding" && name !== "delimiter"), ...rolesOf(), ["encoding", found.encoding]];
    if (found.delimiter !== null) query.push(["delimiter", found.delimiter]);
    if (stateOf().allowed.keyed && !byId("id-row").hidden) query.push(["record_id", byId("record-id").value]);
    if (!byId("decision-row").hidden && byId("decision").value) query.push(["decision", byId("decision").value]);
    byId("job-done").hidden = byId("job-receipt").hidden = true;
    say("Sending the file …");
    byId("release-file").disabled = true;
    try {
      await follow(await (await send("/files", file, query)).json());
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      say(`It was not released: ${error.message}`);
    } finally {
      byId("release-file").disabled = false;
    }
  }

  async function follow(begun) {
    job = begun;
    while (job.state === "waiting" || job.state === "working") {
      byId("job-says").textContent = job.state === "waiting" ? "Waiting for its turn …" : job.unit === "steps" ? "Attacking rehearsal draws …" : "Releasing …";
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
    const done = job.state === "done";
    say(done ? "Released." : `It was not released: ${job.error}`);
    byId("job-done").hidden = byId("get-receipt").hidden = !done;
    byId("get-decision").hidden = !job.decision;
    byId("job-receipt").hidden = !done && !job.decision;
    byId("deleted-at").textContent = `at ${new Date(1000 * job.deleted_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`;
    const released = `released-${file.name}${/\.ods$/i.test(file.name) ? ".xlsx" : ""}`;
    for (const [id, path, name] of [
      ["get-output", "output", released], ["get-card", "card", `${released}.card.json`], ["get-receipt", "receipt", `${file.name}.receipt.json`],
      ["get-decision", "decision", `${file.name}.decision.html`],
    ]) {
      byId(id).onclick = (event) => { event.preventDefault(); download(`/jobs/${job.id}/${path}`, name); };
    }
  }

  byId("delete-now").addEventListener("click", async () => {
    await remove(`/jobs/${job.id}`).catch((error) => { if (!(error instanceof Refused)) throw error; });
    byId("job-done").hidden = byId("job-receipt").hidden = true;
    say("Deleted here.");
  });
  const drop = byId("drop");
  for (const kind of ["dragenter", "dragover"]) document.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) document.addEventListener(kind, () => drop.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
    byId("file-title").scrollIntoView();
  });
  byId("file").addEventListener("change", () => take(byId("file").files[0]));
  for (const id of ["delimiter", "encoding", "header"]) byId(id).addEventListener("change", look);
  byId("drop-others").addEventListener("click", () => forAll("drop", () => true));
  byId("keep-harmless").addEventListener("click", () => forAll("keep", (column) => column.why === null));
  byId("release-file").addEventListener("click", release);
  const settledPreview = settled(preview, 200);
  return { moved() { if (!byId("file-form").hidden) settledPreview(); }, take };
}

async function wholeLines(file) {
  const read = new Uint8Array(await file.slice(0, MOST_TO_LOOK_AT).arrayBuffer());
  return read.subarray(0, read.lastIndexOf(10) + 1);
}

const safeName = (name) => name.replace(/[^\p{L}\p{N}_ .()+-]/gu, "_").replace(/^[^\p{L}\p{N}_]+/u, "_").slice(-120);
const shorten = (text) => (text.length > 120 ? `${text.slice(0, 120)} …` : text);

function bytes(count) {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (count >= 1024 && unit < 3) { count /= 1024; unit += 1; }
  return `${unit ? count.toFixed(1) : count} ${units[unit]}`;
}
