"use strict";
(() => {
  // Tables: sort by column, copy as YAML.
  function sortBy(table, column, header) {
    const ascending = header.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells)
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)];
      const [m, n] = [Number(x), Number(y)];
      const numeric = x !== "" && y !== "" && !Number.isNaN(m) && !Number.isNaN(n);
      return numeric ? m - n : x.localeCompare(y, undefined, { numeric: true });
    };
    const body = table.tBodies[0];
    const rows = [...body.rows].sort(compare);
    body.append(...(ascending ? rows : rows.reverse()));
  }

  for (const table of document.querySelectorAll("table.sortable"))
    [...table.tHead.rows[0].cells].forEach((header, column) =>
      header.querySelector("button")?.addEventListener("click", () => sortBy(table, column, header)));

  document.getElementById("copy-yaml")?.addEventListener("click", async () => {
    const source = document.getElementById("parameters-yaml");
    let copied = false;
    try {
      await navigator.clipboard.writeText(source.textContent);
      copied = true;
    } catch {
      source.hidden = false; // no clipboard without permission: show and select it instead
      getSelection().selectAllChildren(source);
      copied = document.execCommand("copy");
    }
    document.getElementById("copy-done").textContent = copied ? "copied" : "press Ctrl+C to copy";
  });
})();
