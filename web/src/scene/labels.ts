/** Texts of the scene: each stands where no other one does, or is left out. */
import type { Palette } from "../draw/palette";
import type { Pen } from "../draw/svg";
import type { Box } from "./streets";

const overlap = (one: Box, other: Box) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

/** A short text and where it may stand, the best place first. */
export interface Said { text: string; places: [number, number][]; colour: string }

export class Labels {
  private taken: Box[] = [];
  private discs: Box[] = [];
  constructor(readonly pen: Pen, readonly width: number, readonly height: number) {}

  /** Here stands something else; boxes are left, top, right, bottom. */
  reserve(box: Box) {
    this.taken.push(box);
  }
  /** A node: names may cover it if there is no better place. */
  disc(x: number, y: number, radius: number) {
    this.discs.push([x - radius, y - radius, x + radius, y + radius]);
  }
  isFree(box: Box, discs: boolean): boolean {
    if (box[0] < 0 || box[1] < 0 || box[2] > this.width || box[3] > this.height) return false;
    return !this.taken.some((one) => overlap(one, box)) && !(discs && this.discs.some((one) => overlap(one, box)));
  }
  /** A text on a patch of ground. */
  say({ text, places, colour }: Said, colours: Palette) {
    const { pen } = this;
    pen.font = "600 11px system-ui, sans-serif";
    const wide = pen.measureText(text).width + 8;
    const box = ([x, y]: [number, number]): Box => [x - wide / 2, y - 8, x + wide / 2, y + 8];
    const place = places.find((place) => this.isFree(box(place), true));
    if (!place) return;
    this.reserve(box(place));
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = colours.panel;
    pen.globalAlpha = 0.85;
    pen.fillRect(place[0] - wide / 2, place[1] - 8, wide, 16);
    pen.globalAlpha = 1;
    pen.fillStyle = colour;
    pen.fillText(text, ...place);
  }
}
