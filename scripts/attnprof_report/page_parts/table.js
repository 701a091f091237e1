"use strict";
// The table of all rows: filter, sort, columns on request.

const TABLE = JSON.parse(document.getElementById("table-data").textContent);
const HEADS = { q_len: "N", kv_len: "kv_len", head_dim: "d", latency_median_ns: "latency", useful_tflops_per_s: "TFLOP/s",
  hbm_bytes: "HBM bytes", sm_bytes: "SM bytes", roof_pct: "% of roof" };
const FIRST_ROWS = 300; // shown until asked for more: a browser is slow with many thousands
const COMPARE = { "=": (a, b) => a === b, "!=": (a, b) => a !== b, "<": (a, b) => a < b, "<=": (a, b) => a <= b,
  ">": (a, b) => a > b, ">=": (a, b) => a >= b };
const place = Object.fromEntries(TABLE.columns.map((name, i) => [name, i]));
const state = { words: [], sort: null, down: false, allColumns: false, allRows: false };
const isNumber = TABLE.columns.map((name, i) => TABLE.rows.every((row) => row[i] === "" || Number.isFinite(Number(row[i]))) &&
  TABLE.rows.some((row) => row[i] !== ""));

function scaled(value, units) {
  const [unit, size] = units.find(([, least]) => Math.abs(value) >= least) || units[units.length - 1];
  const share = value / size;
  return `${Math.abs(share) >= 1000 ? Math.round(share) : Number(share.toPrecision(3))} ${unit}`;
}

// A cell as people read it.
function shown(name, cell) {
  if (cell === "" || !isNumber[place[name]]) return cell;
  if (name.endsWith("_ns")) return scaled(Number(cell), [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]]);
  if (name.endsWith("_bytes")) return scaled(Number(cell), [["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]]);
  if (name.endsWith("_pct") || name.endsWith("_per_s") || name.endsWith("_intensity")) return String(Number(Number(cell).toPrecision(3)));
  return cell;
}

// One word of the filter as a test of a row; a comparison of a column that does not exist is a plain word.
function testOf(word) {
  const [, name, sign, value] = word.match(/^([a-z_0-9]+)(!=|<=|>=|=|<|>)(.*)$/) || [];
  if (!(name in place)) return (row, text) => text.includes(word);
  const numeric = isNumber[place[name]] && value !== "" && Number.isFinite(Number(value));
  return (row) => {
    const cell = row[place[name]];
    if (numeric && cell === "") return sign === "!=";
    return numeric ? COMPARE[sign](Number(cell), Number(value)) : COMPARE[sign](cell.toLowerCase(), value);
  };
}

function textOf(row) {
  return row.join("\u0001").toLowerCase();
}

function matching() {
  const tests = state.words.map(testOf);
  const found = TABLE.rows.map((row, i) => i).filter((i) => {
    const text = textOf(TABLE.rows[i]);
    return tests.every((test) => test(TABLE.rows[i], text));
  });
  return state.sort === null ? found : found.sort(order(state.sort, state.down));
}

// Empty cells last, either way.
function order(column, down) {
  return (a, b) => {
    const [x, y] = [TABLE.rows[a][column], TABLE.rows[b][column]];
    if (x === "" || y === "") return (x === "") - (y === "") || a - b;
    const difference = isNumber[column] ? Number(x) - Number(y) : x.localeCompare(y);
    return (down ? -difference : difference) || a - b;
  };
}

function element(kind, text, className) {
  const made = document.createElement(kind);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function columnsShown() {
  const more = state.allColumns ? TABLE.columns.filter((name) => !TABLE.first.includes(name)) : [];
  return [...TABLE.first, ...more];
}

function classOf(name) {
  const kinds = [isNumber[place[name]] && "number", name === "reason" && "reason", !TABLE.first.includes(name) && "more"];
  return kinds.filter(Boolean).join(" ");
}

function sortBy(name) {
  state.down = state.sort === place[name] && !state.down;
  state.sort = place[name];
  update();
}

function headOf(name) {
  const head = element("th", "", classOf(name));
  head.scope = "col";
  const sorted = state.sort === place[name];
  if (sorted) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
  const button = element("button", (HEADS[name] || name) + (sorted ? (state.down ? " \u25be" : " \u25b4") : ""));
  button.type = "button";
  button.title = name;
  button.addEventListener("click", () => sortBy(name));
  head.append(button);
  return head;
}

function cellOf(name, i) {
  const cell = TABLE.rows[i][place[name]];
  const made = element("td", "", classOf(name));
  if (name === "status") made.append(element("span", cell, `badge ${cell.split(",")[0]}`));
  else made.textContent = shown(name, cell);
  if (made.textContent !== cell) made.title = cell;
  if (name === "bound" && TABLE.findings[i]) {
    const link = element("a", cell || "why");
    link.href = `#${TABLE.findings[i]}`;
    made.replaceChildren(link);
  }
  return made;
}

function rowOf(i, columns) {
  const row = element("tr", "", TABLE.rows[i][place.status] === "ok" ? "" : "weak");
  row.append(...columns.map((name) => cellOf(name, i)));
  return row;
}

function update() {
  const [table, found, columns] = [document.getElementById("row-table"), matching(), columnsShown()];
  const drawn = state.allRows ? found : found.slice(0, FIRST_ROWS);
  const heads = element("tr", "");
  heads.append(...columns.map(headOf));
  table.tHead.replaceChildren(heads);
  table.tBodies[0].replaceChildren(...drawn.map((i) => rowOf(i, columns)));
  const few = drawn.length < found.length ? `, the first ${drawn.length} shown` : "";
  document.getElementById("row-count").textContent = `${found.length} of ${TABLE.rows.length} rows${few}`;
  const more = document.getElementById("all-rows");
  more.hidden = drawn.length === found.length;
  more.textContent = `show all ${found.length}`;
}

document.getElementById("filter").addEventListener("input", (event) => {
  state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  update();
});
document.getElementById("all-columns").addEventListener("change", (event) => {
  state.allColumns = event.target.checked;
  update();
});
document.getElementById("all-rows").addEventListener("click", () => {
  state.allRows = true;
  update();
});
update();
