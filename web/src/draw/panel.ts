/** A chart within a drawing: a stretch of height over the common time, with its own scale up. */
import { palette } from "./palette";
import type { Pen } from "./svg";
import { fitted, SMALL, type TimeScale } from "./time";
import { ticks } from "./words";

export class Panel {
  constructor(readonly pen: Pen, readonly scale: TimeScale, readonly top: number, readonly height: number, readonly most: number, readonly least = 0) {}
  y(value: number): number {
    return this.top + this.height - ((value - this.least) / Math.max(1e-12, this.most - this.least)) * this.height;
  }
  /** Title, round values and their lines. */
  frame(title: string, text: (value: number) => string) {
    const { pen, scale } = this;
    const colours = palette();
    pen.font = SMALL;
    pen.lineWidth = 1;
    for (const value of ticks(this.least, this.most, Math.max(2, this.height / 40))) {
      const y = Math.round(this.y(value)) + 0.5;
      pen.strokeStyle = colours.line;
      pen.beginPath();
      pen.moveTo(scale.left, y);
      pen.lineTo(scale.right, y);
      pen.stroke();
      pen.fillStyle = colours.faint;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillText(text(value), scale.left - 6, Math.max(this.top + 5, y));
    }
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillStyle = colours.text;
    pen.fillText(fitted(pen, title, scale.right - scale.left), scale.left, this.top - 5);
  }
  inside(work: () => void) {
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(this.scale.left, this.top - 2, this.scale.right - this.scale.left, this.height + 4);
    this.pen.clip();
    work();
    this.pen.restore();
  }
  /** A line of one value a step of pixels. */
  line(colour: string, value: (from: number, to: number) => number, step = 2, wide = 1.5) {
    const { pen, scale } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = wide;
    pen.beginPath();
    for (let x = scale.left, begun = false; x <= scale.right; x += step) {
      const found = value(scale.time(x), scale.time(x + step));
      if (Number.isNaN(found)) { begun = false; continue; }
      if (begun) pen.lineTo(x, this.y(found));
      else pen.moveTo(x, this.y(found));
      begun = true;
    }
    pen.stroke();
  }
  /** Points of sorted times from `from` to `to`: each column of pixels has its span, where there are many. */
  points(colour: string, list: { time: { data: ArrayLike<number> }; value: { data: ArrayLike<number> } }, [from, to]: [number, number], size = 2, keep: (at: number) => boolean = () => true, lift = 0) {
    const { pen, scale } = this;
    pen.fillStyle = colour;
    let [column, low, high] = [-1, Infinity, -Infinity];
    const put = () => { if (high >= low) pen.fillRect(column - size / 2, this.y(high) - size / 2 - lift, size, Math.max(size, this.y(low) - this.y(high) + size)); };
    for (let at = from; at < to; at++) {
      if (!keep(at)) continue;
      const x = Math.round(scale.x(list.time.data[at]!));
      const value = list.value.data[at]!;
      // A gap within a column stays a gap where the points are far apart.
      if (x !== column || Math.abs(this.y(value) - this.y(high)) > 24) { put(); [column, low, high] = [x, Infinity, -Infinity]; }
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    put();
  }
}
