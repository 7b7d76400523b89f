"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const search = document.getElementById("search");
const texts = new WeakMap();
const textOf = (node) => {
  let text = texts.get(node);
  if (text === undefined) texts.set(node, (text = node.textContent.toLowerCase()));
  return text;
};
const filter = () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text) => words.every((word) => text.includes(word));
  for (const group of all(".group")) {
    const lead = group.dataset.lead.toLowerCase();
    let shown = 0;
    for (const item of all(".item", group)) {
      item.hidden = !fits(lead + " " + textOf(item));
      if (!item.hidden) shown += 1;
    }
    group.hidden = words.length > 0 && shown === 0;
    if (words.length > 0 && shown > 0) group.open = true;
  }
};
const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let node = target; node; node = node.parentElement) {
    if (node.tagName === "DETAILS") node.open = true;
    node.hidden = false;
  }
  target.scrollIntoView({ block: "start" });
};
const sort = (button) => {
  const head = button.closest("th");
  const table = head.closest("table");
  const column = [...head.parentElement.children].indexOf(head);
  const down = head.getAttribute("aria-sort") !== "descending";
  for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const keyOf = (row) => {
    const cell = row.children[column];
    const number = Number(cell.dataset.v);
    return cell.dataset.v !== undefined && !Number.isNaN(number) ? number : cell.textContent;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row), row]);
  rows.sort((a, b) => (down ? compare(b[0], a[0]) : compare(a[0], b[0])));
  table.tBodies[0].append(...rows.map(([, row]) => row));
};
if (search) {
  search.addEventListener("input", filter);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== search) {
      event.preventDefault();
      search.focus();
    }
  });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("th button");
  if (button) sort(button);
  // A link to where the page already is would not fire a change.
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) reveal();
});
addEventListener("hashchange", reveal);
reveal();
