// What a reader does with a report, in a frame of some width; the results go to the test.
"use strict";
const frame = document.getElementById("report");
const wait = (until) => new Promise((done) => { const again = () => (until() ? done() : setTimeout(again, 20)); again(); });
const numbersOf = (colour) => {
  const parts = colour.match(/[\d.]+/g).map(Number);
  return colour.startsWith("color(") ? parts.map((part, at) => (at < 3 ? 255 * part : part)) : parts;
};
const light = (colour) => {
  const [r, g, b] = numbersOf(colour).map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one, other) => {
  const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
// The colour behind an element: that of the first one above it that has any.
const behind = (style, element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = style(at).backgroundColor;
    if (!/, 0\)$|\/ 0\)$|transparent/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};

async function checked() {
  const page = frame.contentDocument, window = frame.contentWindow;
  await wait(() => page.documentElement.dataset.drawn === "all");
  const all = (selector) => [...page.querySelectorAll(selector)];
  const style = (element) => window.getComputedStyle(element);
  const bottom = (selector) => Math.max(0, ...all(selector).map((one) => one.getBoundingClientRect().bottom));
  const text = (one) => one.textContent.trim();
  const column = (table, at) => [...table.tBodies[0].rows].map((row) => text(row.cells[at]));
  const said = {
    dark: window.matchMedia("(prefers-color-scheme: dark)").matches,
    answers: all(".answer").length, tiles: all(".tile").length, maps: all(".map table").length,
    front_ends: Math.max(bottom(".answer"), bottom(".tile")),
    too_wide: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    figures_too_wide: all(".figure svg").filter((svg) => svg.getBoundingClientRect().right > window.innerWidth + 1).length,
    figures: all(".figure svg").length,
    beside: new Set(all(".figures article").map((one) => Math.round(one.getBoundingClientRect().left))).size,
    raw: (page.body.innerText.match(/\*\*|`|\]\(|&lt;|undefined|NaN/) || [""])[0],
  };
  said.faint = all("h1, h2, h3, p, td, th, dt, dd strong, .faint, .verdict, .dot .label, .dot .number, button:not(:disabled), .figure svg text")
    .filter((one) => text(one) && one.getBoundingClientRect().width > 0 && style(one).visibility !== "hidden")
    .map((one) => [contrast(one.closest("svg") ? style(one).fill : style(one).color, behind(style, one)), text(one).slice(0, 40)])
    .filter(([ratio]) => !(ratio >= 4.5)).map(([ratio, what]) => `${what}: ${ratio.toFixed(2)}`);
  page.querySelector("[data-show=partly]").click();
  said.filtered = all("[data-verdict]").filter((one) => one.getBoundingClientRect().height > 0).map((one) => one.id);
  said.pressed = all("[aria-pressed=true]").map((one) => one.dataset.show);
  page.querySelector("[data-show=all]").click();
  said.unfiltered = all("[data-verdict]").filter((one) => one.getBoundingClientRect().height > 0).length;
  const table = page.getElementById("table_0"), head = table.tHead.rows[0].cells[1];
  said.before = column(table, 0);
  head.firstElementChild.click();
  said.ascending = [column(table, 0), head.getAttribute("aria-sort")];
  head.firstElementChild.click();
  said.descending = [column(table, 0), head.getAttribute("aria-sort")];
  const copy = page.querySelector("[data-table=table_0]");
  copy.click();
  await wait(() => copy.dataset.copied);
  said.csv = copy.dataset.copied;
  said.links = all(".claims .head a[href]").map((one) => one.getAttribute("href")).filter((href) => !page.querySelector(href.replace(/(#)(\d)/, "$1\\3$2 ")));
  said.unnamed = all("button, iframe, [role=img], [role=region]").filter((one) => !(text(one) || one.getAttribute("aria-label") || one.title)).length;
  return said;
}
frame.addEventListener("load", async () => {
  const said = await checked().catch((reason) => ({ failed: String(reason) }));
  document.getElementById("said").textContent = JSON.stringify(said);
});
