/** How near the scene is seen, the same on both sides. */

const NEAREST = 500;
const FARTHEST = 0.5;

export class View {
  zoom = $state(1);
  /** How far the middle is moved, in parts of width and height. */
  dx = $state(0);
  dy = $state(0);

  get isWhole() {
    return this.zoom === 1 && this.dx === 0 && this.dy === 0;
  }
  whole() {
    [this.zoom, this.dx, this.dy] = [1, 0, 0];
  }
  /** Moves by parts of width and height; something of the scene stays in sight. */
  move(dx: number, dy: number) {
    const within = (value: number) => Math.min(0.5 * (this.zoom + 0.8), Math.max(-0.5 * (this.zoom + 0.8), value));
    [this.dx, this.dy] = [within(this.dx + dx), within(this.dy + dy)];
  }
  /** Closer by a factor; what is at (x, y), parts of width and height, stays where it is. */
  closer(factor: number, x = 0.5, y = 0.5) {
    const zoom = Math.min(NEAREST, Math.max(FARTHEST, this.zoom * factor));
    const by = zoom / this.zoom;
    this.zoom = zoom;
    this.move((1 - by) * (x - 0.5 - this.dx), (1 - by) * (y - 0.5 - this.dy));
  }
}

export const view = new View();
