"use strict";
const dark = matchMedia("(prefers-color-scheme: dark)");
const specifications = JSON.parse(document.getElementById("specifications").textContent);

// Width of a character of a legend, and of an axis title; what a legend needs beside each label; in pixels.
const CHARACTER = 6.5, SYMBOL = 34;
// Below this width of a plot, panels stand below each other; a plot is never narrower than the second.
const ENOUGH = 210, LEAST = 150;
// Height of a lone plot, as a share of its width, and its ends.
const HIGH = 0.45, HEIGHTS = [230, 400];

// The views of a specification that have a width, and how many stand beside each other.
function views(made) {
  const all = made.spec ? [made.spec] : made.vconcat || made.concat || [made];
  const panels = made.spec ? made.facet.sort.length : made.vconcat ? 1 : all.length;
  return { all, beside: Math.min(made.columns || 1, panels) };
}

function lines(text, pixels) {
  const all = [];
  for (const word of [text].flat().join(" ").replace(/ \(/g, "\u00a0(").split(" ")) {
    const last = all.at(-1);
    if (last !== undefined && (last.length + word.length + 1) * CHARACTER < pixels) all.push(`${all.pop()} ${word}`);
    else all.push(word);
  }
  return all.map((line) => line.replace("\u00a0", " "));
}

function legend(specification, room) {
  let names = [];
  JSON.stringify(specification, (key, value) => {
    if (value?.scale?.domain?.every?.((name) => typeof name === "string")) names = names.concat(value.scale.domain);
    if (value?.series) names.push(value.series);
    return value;
  });
  const longest = Math.max(4, ...names.map((name) => String(name).length));
  const columns = Math.max(1, Math.floor(room / (longest * CHARACTER + SYMBOL)));
  return { orient: "bottom", columns, labelLimit: room - SYMBOL };
}

function sized(specification, room, width) {
  const below = legend(specification, room);
  const made = JSON.parse(JSON.stringify(specification), (key, value) => key === "legend" && value ? { ...value, ...below } : value);
  if (width.beside) made.columns = width.beside;
  for (const view of views(made).all) {
    if (view.width?.step) view.width = { step: Math.max(18, Math.floor(width.of / view.encoding.x.sort.length)) };
    else if (view.width) view.width = width.of;
    if (!made.spec && !made.concat && !made.vconcat && typeof view.height === "number") {
      view.height = Math.round(Math.min(HEIGHTS[1], Math.max(HEIGHTS[0], HIGH * width.of)));
    }
    for (const layer of [view, ...(view.layer || [])]) {
      const x = layer.encoding?.x, y = layer.encoding?.y;
      if (x?.title && typeof view.width === "number") x.title = lines(x.title, view.width + 40);
      if (y?.title && typeof view.height === "number") y.title = lines(y.title, view.height + 20);
    }
  }
  return { made, below };
}

function config(below) {
  const style = getComputedStyle(document.documentElement);
  const [ink, line] = ["--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
  return {
    background: "transparent", font: "system-ui, sans-serif", padding: 2, title: { color: ink, fontSize: 13 }, view: { stroke: line },
    axis: { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line, titleFontWeight: 500 },
    legend: { labelColor: ink, titleColor: ink, titleLimit: 260, symbolLimit: 0, ...below }, header: { labelColor: ink, titleColor: ink },
    facet: { spacing: 16 }, concat: { spacing: 16 },
  };
}

// Draws once to learn what axes need, and again with plots that fill the rest.
async function draw(place) {
  const specification = specifications[place.dataset.figure];
  const room = place.parentElement.clientWidth;
  const { beside, all } = views(specification);
  const usual = typeof all[0].width === "number" ? all[0].width : 200;
  const embed = (width) => {
    const { made, below } = sized(specification, room, width);
    return vegaEmbed(place, made, { config: config(below), actions: false, renderer: "svg" });
  };
  const taken = () => place.querySelector("svg").getBoundingClientRect().width;
  try {
    let width = { beside: specification.columns && beside, of: Math.max(LEAST, Math.min(usual, (room - 70) / beside - 20)) };
    for (let time = 0; time < 3; time += 1) {
      await embed(width);
      const columns = width.beside || 1;
      const fits = Math.floor(width.of + (room - taken()) / columns) - 1;
      if (fits < ENOUGH && columns > 1) { width = { beside: columns - 1, of: Math.min(usual, room - 90) }; continue; }
      if (Math.abs(fits - width.of) < 3) break;
      width = { ...width, of: Math.max(LEAST, fits) };
    }
  } catch (reason) {
    place.textContent = `This figure cannot be drawn: ${reason}`;
  }
}

async function drawAll() {
  for (const place of document.querySelectorAll("[data-figure]")) await draw(place);
  document.documentElement.dataset.drawn = "all";
}

// Claims by their verdict.
const choices = [...document.querySelectorAll("[data-show]")];
for (const choice of choices) choice.addEventListener("click", () => {
  for (const one of choices) one.setAttribute("aria-pressed", String(one === choice));
  const all = [...document.querySelectorAll("[data-verdict]")];
  for (const claim of all) claim.hidden = choice.dataset.show !== "all" && claim.dataset.verdict !== choice.dataset.show;
  document.querySelector(".shown").textContent = `${all.filter((claim) => !claim.hidden).length} of ${all.length} shown`;
});
// A link to a claim that is filtered out shows it.
addEventListener("hashchange", () => document.getElementById(location.hash.slice(1))?.hidden && choices[0].click());

// Tables: cells by their first number, or as text; empty ones last.
const textOf = (row, column) => row.cells[column].textContent.trim();
const numberOf = (text) => (/^[-+−]?[\d.]/.test(text) ? parseFloat(text.replace("−", "-").replace(/,(?=\d{3})/g, "")) : NaN);
const isEmpty = (text) => ["", "-", "–"].includes(text);
function compared(one, other, up) {
  if (isEmpty(one) || isEmpty(other)) return isEmpty(one) - isEmpty(other);
  const [first, second] = [numberOf(one), numberOf(other)];
  const order = Number.isNaN(first - second) ? one.localeCompare(other, "en", { numeric: true }) : first - second;
  return up ? order : -order;
}
for (const head of document.querySelectorAll(".numbers th")) head.firstElementChild.addEventListener("click", () => {
  const table = head.closest("table"), column = head.cellIndex, body = table.tBodies[0];
  const up = head.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  body.append(...[...body.rows].sort((one, other) => compared(textOf(one, column), textOf(other, column), up)));
});

// A mean and its interval are two columns.
const INTERVAL = /^(\S+) (± \S+|\(\S+ to \S+\))$/;
function csv(table) {
  const rows = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  const split = rows[0].map((_, column) => rows.slice(1).some((row) => INTERVAL.test(row[column])));
  const parts = (cell, column, head) => {
    if (!split[column]) return [cell];
    if (head) return [cell, `${cell}, interval`];
    const found = INTERVAL.exec(cell);
    return found ? [found[1], found[2]] : [cell, ""];
  };
  const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row, at) => row.flatMap((cell, column) => parts(cell, column, at === 0)).map(quoted).join(",") + "\n").join("");
}
function copied(text) {
  const area = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
for (const button of document.querySelectorAll("[data-table]")) button.addEventListener("click", async () => {
  const text = csv(document.getElementById(button.dataset.table));
  button.dataset.copied = text;
  const done = await (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(() => true, () => copied(text));
  button.textContent = done ? "Copied" : "Cannot copy here";
  setTimeout(() => { button.textContent = "Copy as CSV"; }, 2000);
});

let late, width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(late);
  late = setTimeout(drawAll, 200);
});
dark.addEventListener("change", drawAll);
drawAll();
