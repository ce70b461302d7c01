"use strict";
const SMALL = 480;
const TINY = 340;
const NOTHING = "\u2013";
const FONT = getComputedStyle(document.body).fontFamily;
const config = (width) => ({
  aria: false,
  background: "transparent",
  font: FONT,
  padding: 4,
  view: { stroke: null },
  axis: {
    labelColor: "var(--muted)", titleColor: "var(--muted)", titleFontWeight: 400, labelFontSize: 12, titleFontSize: 12,
    gridColor: "var(--line)", domainColor: "var(--line)", tickColor: "var(--line)", titlePadding: 8, labelPadding: 6, labelFontWeight: 400,
  },
  axisX: { labelSeparation: 8, ...(width < TINY ? { titleAnchor: "end" } : {}) },
  axisY: { labelPadding: 10, labelLimit: width < SMALL ? Math.max(80, width * 0.54) : 250 },
  legend: { labelColor: "var(--ink)", labelFontSize: 12, symbolSize: 90, offset: 8, padding: 0, columnPadding: 16, labelLimit: 260, ...(width < TINY ? { columns: 1 } : {}) },
  line: { strokeWidth: 2.2 },
  text: { fontSize: 12 },
});
async function draw(place) {
  const spec = JSON.parse(place.querySelector("script.spec").textContent);
  const chart = place.querySelector(".chart");
  await vegaEmbed(chart, spec, {
    mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false, config: config(chart.clientWidth),
    tooltip: { disableDefaultStyle: true },
  });
}
async function drawAll() {
  for (const place of document.querySelectorAll(".panel")) {
    await draw(place);
    await new Promise((done) => setTimeout(done));
  }
  document.documentElement.dataset.drawn = "all";
}
function readKey(row, place) {
  const cell = row.cells[place];
  if (cell.dataset.key === undefined) return cell.textContent;
  return cell.dataset.key === "" ? NaN : Number(cell.dataset.key);
}
function compare(a, b) {
  if (typeof a === "string") return a.localeCompare(b, undefined, { numeric: true });
  return a - b;
}
function chooseOrder(head) {
  const before = head.getAttribute("aria-sort");
  if (before === "none") return head.classList.contains("number") ? "descending" : "ascending";
  return before === "ascending" ? "descending" : "ascending";
}
function sortBy(table, place) {
  const heads = [...table.tHead.rows[0].cells];
  const order = chooseOrder(heads[place]);
  heads.forEach((head, at) => head.setAttribute("aria-sort", at === place ? order : "none"));
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [readKey(row, place), row]);
  const isMissing = ([key]) => Number.isNaN(key) || key === NOTHING;
  const known = rows.filter((row) => !isMissing(row)).sort(([a], [b]) => (order === "ascending" ? compare(a, b) : compare(b, a)));
  body.append(...[...known, ...rows.filter(isMissing)].map(([, row]) => row));
}
function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sortBy(table, place));
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
  });
}
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function offerThemes(button) {
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  button.hidden = false;
  name();
}
function offerCopy(box) {
  const text = box.querySelector(".paste-text"), status = box.querySelector(".copied"), button = box.querySelector(".copy");
  button.hidden = false;
  button.addEventListener("click", async () => {
    getSelection().selectAllChildren(text);
    try {
      await navigator.clipboard.writeText(text.textContent);
      status.textContent = "Copied.";
    } catch {
      status.textContent = "The text is selected: press Ctrl+C, or Command+C.";
    }
  });
}
function followReading() {
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver((seen) => {
    for (const one of seen.filter((entry) => entry.isIntersecting)) {
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(one.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  document.querySelectorAll("section.section").forEach((section) => watcher.observe(section));
}
document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll(".paste").forEach(offerCopy);
offerThemes(document.getElementById("theme"));
followReading();
if (matchMedia("(max-width: 68rem)").matches) document.querySelector(".contents details").open = false;
drawAll();
