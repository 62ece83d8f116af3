"use strict";
// Without this script the tables are complete; with it, their headings sort and they are filtered.
const status = document.getElementById("status");
const MIN_FILTERED = 4;
const compare = (a, b) => {
  const x = Number(a), y = Number(b);
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en") : x - y;
};
const makeSortable = (table) => {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const sort = (at) => {
    const now = heads[at].getAttribute("aria-sort");
    const up = now ? now === "descending" : heads[at].dataset.first === "up";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[at].setAttribute("aria-sort", up ? "ascending" : "descending");
    const keyed = [...body.rows].map((row) => [row.cells[at].dataset.value ?? "", row]);
    // Cells without a value come last, whichever way.
    keyed.sort(([a], [b]) => (a === "") - (b === "") || (up ? 1 : -1) * compare(a, b));
    body.append(...keyed.map(([, row]) => row));
    const name = heads[at].textContent.trim();
    status.textContent = `Sorted by ${name}, ${up ? "ascending" : "descending"}.`;
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(at));
    head.append(button);
  });
};
const makeFilterable = (table) => {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < MIN_FILTERED) return;
  const label = document.createElement("label"), box = document.createElement("input");
  label.className = "filter";
  box.type = "search";
  label.append("Only rows with ", box);
  const shows = (row, words) => {
    const text = row.textContent.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    rows.forEach((row) => { row.hidden = !shows(row, words); });
    const shown = rows.filter((row) => !row.hidden).length;
    status.textContent = `${shown} of ${rows.length} rows.`;
  });
  table.before(label);
};
for (const table of document.querySelectorAll("table[data-sortable]")) {
  makeSortable(table);
  makeFilterable(table);
}
