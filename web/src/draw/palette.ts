/** Colours of the page and its drawings: one table for light and dark. Contrasts of text are at least 4.5. */
export interface Palette {
  page: string; panel: string; line: string; text: string; faint: string; accent: string;
  delivered: string; waiting: string; overflow: string; expired: string; rejected: string; other: string; refused: string;
  contact: string; carry: string; empty: string; glow: string; street: string;
}

const LIGHT: Palette = {
  page: "#f6f7f9", panel: "#ffffff", line: "#d9dee6", text: "#1b2430", faint: "#5a6675", accent: "#0b63b8",
  delivered: "#16835a", waiting: "#7b8ea6", overflow: "#d1361b", expired: "#8a5a00", rejected: "#a8326e", other: "#6b5bb5", refused: "#c77700",
  contact: "#b9c6d6", carry: "#0b63b8", empty: "#e9edf2", glow: "#dbe8f7", street: "#e3e4de",
};
const DARK: Palette = {
  page: "#0d1218", panel: "#151c25", line: "#2a3441", text: "#e6ebf1", faint: "#9aa8b8", accent: "#62aef7",
  delivered: "#3fc48f", waiting: "#7388a0", overflow: "#ff6a4d", expired: "#dba74a", rejected: "#ee7db5", other: "#a597f0", refused: "#f5a83d",
  contact: "#3a4a5d", carry: "#62aef7", empty: "#202a36", glow: "#16283c", street: "#28313a",
};

const dark = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : undefined;
let current = dark?.matches ? DARK : LIGHT;
export const palette = (): Palette => current;

/** Puts the colours where styles find them, now and whenever the reader's choice changes. */
export function follow(changed: () => void) {
  const put = () => {
    current = dark?.matches ? DARK : LIGHT;
    fills.clear();
    for (const [name, colour] of Object.entries(palette())) document.documentElement.style.setProperty(`--${name}`, colour);
    changed();
  };
  dark?.addEventListener("change", put);
  put();
}

/** Between two colours of six digits. */
export function mix(one: string, other: string, part: number): string {
  const of = (colour: string, at: number) => parseInt(colour.slice(at, at + 2), 16);
  const at = (place: number) => Math.round(of(one, place) + (of(other, place) - of(one, place)) * Math.min(1, Math.max(0, part)));
  return `#${[1, 3, 5].map((place) => at(place).toString(16).padStart(2, "0")).join("")}`;
}

/** Colours of buffers that were asked for, by hundredths. */
const fills = new Map<number, string>();

/** How full a buffer is, as a colour: calm, busy, full. */
export function fill(part: number): string {
  const level = Math.min(100, Math.ceil(part * 100));
  let colour = fills.get(level);
  if (colour === undefined) fills.set(level, (colour = mixed(level / 100, current)));
  return colour;
}
function mixed(part: number, colours: Palette): string {
  if (part <= 0) return colours.empty;
  return part < 0.6 ? mix(colours.empty, colours.carry, 0.25 + part) : part < 0.85 ? mix(colours.carry, colours.refused, (part - 0.6) / 0.25)
    : mix(colours.refused, colours.overflow, (part - 0.85) / 0.13);
}

/** Distinguishable colours for lines. */
export const SERIES = ["#3b8fe0", "#d9772b", "#2a9d6f", "#c0508a", "#8f73e0", "#9a8a10", "#1a9aaa", "#c46060"];
