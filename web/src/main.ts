import { mount } from "svelte";
import App from "./app/App.svelte";
import { page } from "./app/page.svelte";
import { scheme } from "./draw/Plot.svelte";
import { follow, palette } from "./draw/palette";
import { asSvg } from "./draw/svg";
import { whole } from "./draw/whole";
import "./app/app.css";

follow(() => (scheme.version += 1));
mount(App, { target: document.getElementById("page")! });
void page.start();

/** The view as SVG, without titles. */
const svg = () => {
  const { width, height, draw } = whole();
  return asSvg(width, height, palette().panel, (pen) => draw(pen, false));
};
// For tests, benchmarks and pictures: what the page knows and shows.
Object.assign(window, { lightlag: page, lightlagSvg: svg });
