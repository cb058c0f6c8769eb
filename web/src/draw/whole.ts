/** All drawings of a view as one, as they stand in the window. */
import { palette } from "./palette";
import { drawings } from "./Plot.svelte";
import type { Pen } from "./svg";

const GAP = 12;

export function whole() {
  const list = [...drawings].filter((one) => one.width > 0 && one.canvas.closest("main"));
  const frame = document.querySelector("main")!.getBoundingClientRect();
  const placed = list.map((one) => {
    const box = one.canvas.getBoundingClientRect();
    return { one, x: box.left - frame.left, y: box.top - frame.top };
  });
  const [left, top] = [Math.min(...placed.map((at) => at.x)) - GAP, Math.min(...placed.map((at) => at.y)) - GAP - 18];
  const width = Math.max(...placed.map(({ one, x }) => x + one.width)) - left + GAP;
  const height = Math.max(...placed.map(({ one, y }) => y + one.height)) - top + GAP;
  const draw = (pen: Pen, labels = true) => {
    for (const { one, x, y } of placed) {
      pen.save();
      pen.translate(x - left, y - top);
      pen.fillStyle = palette().faint;
      pen.font = "11px system-ui, sans-serif";
      if (labels) pen.fillText(one.label, 0, -5);
      pen.beginPath();
      pen.rect(0, 0, one.width, one.height);
      pen.clip();
      one.draw(pen, one.width, one.height);
      pen.restore();
    }
  };
  return { width: Math.ceil(width), height: Math.ceil(height), draw, empty: list.length === 0 };
}
