"use strict";
// Without this script the tables are complete; with it, their headings sort.
const status = document.getElementById("sorted");
const compare = (a, b) => {
  const x = Number(a), y = Number(b);
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en") : x - y;
};
for (const table of document.querySelectorAll("table[data-sortable]")) {
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
}
