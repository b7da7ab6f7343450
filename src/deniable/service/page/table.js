// The first records of a file, read in the browser to choose a column by; the server reads the file itself, by its own rules.

const MOST_ROWS = 200;

export function headOf(name, text) {
  const content = text.replace(/^\uFEFF/, "");
  if (/\.(jsonl|ndjson)$/i.test(name)) return jsonLines(content);
  if (/\.(csv|tsv|tab)$/i.test(name)) return delimited(content, /\.csv$/i.test(name) ? "," : "\t");
  return { columns: null, rows: content.split(/\r?\n/).filter((line) => line.trim()).slice(0, MOST_ROWS).map((line) => [line]) };
}

function jsonLines(content) {
  const records = content.split("\n").filter((line) => line.trim()).slice(0, MOST_ROWS).map((line) => {
    try { return JSON.parse(line); } catch { return {}; }
  });
  const columns = [...new Set(records.flatMap((record) => Object.entries(record).filter(([, value]) => typeof value === "string" || typeof value === "number").map(([key]) => key)))];
  return { columns, rows: records.map((record) => columns.map((column) => String(record[column] ?? ""))) };
}

function delimited(content, delimiter) {
  const rows = [];
  let row = [], cell = "", quoted = false;
  for (let i = 0; i < content.length && rows.length <= MOST_ROWS; i += 1) {
    const c = content[i];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (content[i + 1] === '"') { cell += c; i += 1; } else quoted = false;
    } else if (c === '"' && cell === "") quoted = true;
    else if (c === delimiter) { row.push(cell); cell = ""; }
    else if (c === "\n" || c === "\r") {
      if (c === "\r" && content[i + 1] === "\n") i += 1;
      row.push(cell);
      rows.push(row);
      row = []; cell = "";
    } else cell += c;
  }
  if (cell !== "" || row.length) rows.push([...row, cell]);
  return { columns: rows[0] ?? [], rows: rows.slice(1) };
}
