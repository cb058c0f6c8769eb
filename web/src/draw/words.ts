/** Numbers as people read them. */
const round = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)).replace(/\.0+$|(\.\d*?)0+$/, "$1");

function scaled(value: number, units: string[], step = 1000): string {
  let at = 0;
  while (Math.abs(value) >= step && at < units.length - 1) { value /= step; at += 1; }
  return `${round(value)} ${units[at]}`;
}
export const bytes = (value: number) => scaled(value, ["B", "kB", "MB", "GB", "TB"]);
export const bits = (value: number) => scaled(value, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]);
export const count = (value: number) => Math.round(value).toLocaleString("en");

/** A span of time. */
export function span(seconds: number): string {
  const size = Math.abs(seconds);
  if (!Number.isFinite(seconds)) return "–";
  if (size === 0) return "0 s";
  if (size < 1e-3) return `${round(seconds * 1e6)} µs`;
  if (size < 1) return `${round(seconds * 1e3)} ms`;
  if (size < 120) return `${round(seconds)} s`;
  const whole = Math.round(size);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (h === 0) return s ? `${m} min ${s} s` : `${m} min`;
  return m ? `${h} h ${m} min` : `${h} h`;
}
/** A time of a run. */
export function clock(seconds: number, duration = seconds): string {
  if (duration < 120) return `${seconds.toFixed(duration < 2 ? 4 : 2)} s`;
  const two = (value: number) => String(value).padStart(2, "0");
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
/** A text in which no sign steers how others are shown: control characters, marks of direction, signs without width. */
export const plain = (text: string) => text.replace(/[\p{Cc}\p{Cs}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu, "\ufffd");
/** JSON with such texts. */
export const parsed = (json: string): unknown => JSON.parse(json, (_, value: unknown) => (typeof value === "string" ? plain(value) : value));

/** Names of programs as words. */
export const words = (name: string) => name.replaceAll("_", " ");

const TIMES = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800];
/** Round times from `from` to `to`, about `wanted` of them. */
export function timeTicks(from: number, to: number, wanted: number): number[] {
  const rough = (to - from) / Math.max(1, wanted);
  const step = rough < 1 || rough > 604_800 ? roundStep(rough) : TIMES.find((time) => time >= rough) ?? 604_800;
  return multiples(from, to, step);
}
export function ticks(from: number, to: number, wanted: number): number[] {
  return multiples(from, to, roundStep((to - from) / Math.max(1, wanted)));
}
function roundStep(rough: number): number {
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return (rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10) * power;
}
function multiples(from: number, to: number, step: number): number[] {
  const list: number[] = [];
  for (let at = Math.ceil(from / step - 1e-9); at * step <= to + step * 1e-9 && list.length < 100; at++) list.push(at * step || 0);
  return list;
}
