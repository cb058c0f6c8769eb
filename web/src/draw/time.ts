/** The axis of time that views share. */
import type { Clock } from "../model/clock.svelte";
import { palette } from "./palette";
import type { Pen } from "./svg";
import { clock as timeText, timeTicks } from "./words";

export const FONT = "12px system-ui, sans-serif";
export const SMALL = "11px system-ui, sans-serif";
export const AXIS = 22;

/** Time to pixels and back. */
export class TimeScale {
  constructor(readonly left: number, readonly right: number, readonly from: number, readonly to: number) {}
  x(time: number) {
    return this.left + ((time - this.from) / Math.max(1e-12, this.to - this.from)) * (this.right - this.left);
  }
  time(x: number) {
    return this.from + ((x - this.left) / Math.max(1, this.right - this.left)) * (this.to - this.from);
  }
}

export function drawAxis(pen: Pen, scale: TimeScale, top: number, bottom: number, duration: number) {
  const colours = palette();
  pen.font = SMALL;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  const span = scale.to - scale.from;
  for (const tick of timeTicks(scale.from, scale.to, (scale.right - scale.left) / 90)) {
    const x = Math.round(scale.x(tick)) + 0.5;
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, bottom + 4);
    pen.stroke();
    pen.fillStyle = colours.faint;
    const text = duration >= 120 && span >= 60 ? timeText(tick + 1e-6, duration).replace(/:00$/, span > 7200 ? "" : ":00") + (span > 7200 ? " h" : "") : `${Number(tick.toPrecision(8))} s`;
    const half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.min(Math.max(x, scale.left + half), scale.right + 6 - half), bottom + 6);
  }
}

/** Where the clock stands in pixels, if it is within what is shown. */
export function nowAt(scale: TimeScale, t: number): number | undefined {
  return t >= scale.from && t <= scale.to ? scale.x(t) : undefined;
}

/** The same in what is saved. */
export function drawNow(pen: Pen, scale: TimeScale, t: number, top: number, bottom: number) {
  const x = scale.x(t);
  if (x < scale.left - 1 || x > scale.right + 1) return;
  pen.strokeStyle = palette().accent;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x, top);
  pen.lineTo(x, bottom);
  pen.stroke();
}

/** What all views over time do with pointer and wheel: seek, zoom, move. */
export function gestures(clock: Clock, scale: () => TimeScale) {
  return {
    press: (x: number) => clock.seek(scale().time(x)),
    drag: (x: number) => clock.seek(scale().time(x)),
    wheel: (x: number, _: number, event: WheelEvent) => {
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
        const shift = ((event.deltaX || event.deltaY) / 600) * (clock.to - clock.from);
        clock.show(clock.from + shift, clock.to + shift);
      } else clock.zoom(Math.exp(event.deltaY / 400), scale().time(x));
    },
  };
}

/** A text that fits. */
export function fitted(pen: Pen, text: string, width: number): string {
  if (pen.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) { const middle = (low + high + 1) >> 1; if (pen.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle; else high = middle - 1; }
  return low > 0 ? `${text.slice(0, low)}…` : "";
}

/** A text on one line or, where it is too long for one, on two of about the same length. */
export function onTwo(pen: Pen, text: string, width: number): string[] {
  if (pen.measureText(text).width <= width) return [text];
  const parts = text.split(" ");
  const halves = parts.slice(1).map((_, at) => [parts.slice(0, at + 1).join(" "), parts.slice(at + 1).join(" ")]);
  const longer = (pair: string[]) => Math.max(...pair.map((one) => pen.measureText(one).width));
  return (halves.sort((one, other) => longer(one) - longer(other))[0] ?? [text]).map((one) => fitted(pen, one, width));
}

/** A name to the left of a row, on two lines where it must and the row is high enough. */
export function rowName(pen: Pen, text: string, right: number, middle: number, height: number) {
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  const lines = height >= 26 ? onTwo(pen, text, right - 6) : [fitted(pen, text, right - 6)];
  lines.forEach((line, at) => pen.fillText(line, right, middle + (at - (lines.length - 1) / 2) * 13));
}
