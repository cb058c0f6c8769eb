import { mount } from "svelte";
import App from "./app/App.svelte";
import { page } from "./app/page.svelte";
import { scheme } from "./draw/Plot.svelte";
import { follow } from "./draw/palette";
import "./app/app.css";

follow(() => (scheme.version += 1));
mount(App, { target: document.getElementById("page")! });
void page.start();

// For tests and benchmarks: what the page knows.
Object.assign(window, { lightlag: page });
