/** What drawings ask of a canvas, as SVG: a drawing is written once and saved either way. */
export type Pen = Pick<CanvasRenderingContext2D,
  | "fillStyle" | "strokeStyle" | "lineWidth" | "globalAlpha" | "font" | "textAlign" | "textBaseline" | "lineCap"
  | "beginPath" | "moveTo" | "lineTo" | "bezierCurveTo" | "closePath" | "arc" | "rect" | "fill" | "stroke" | "clip"
  | "fillRect" | "strokeRect" | "fillText" | "measureText" | "save" | "restore" | "translate" | "setLineDash">;

type State = { fillStyle: string; strokeStyle: string; lineWidth: number; globalAlpha: number; font: string; textAlign: string; textBaseline: string; lineCap: string; dash: number[]; x: number; y: number; groups: number };

const escaped = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b-\u001f]/g, "");
const digits = (value: number) => String(Math.round(value * 100) / 100);

class Svg implements Pen {
  private out: string[] = [];
  private path = "";
  private clips = 0;
  private states: State[] = [];
  private state: State = { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "12px sans-serif", textAlign: "start", textBaseline: "alphabetic", lineCap: "butt", dash: [], x: 0, y: 0, groups: 0 };
  private measure = document.createElement("canvas").getContext("2d")!;

  get fillStyle() { return this.state.fillStyle; }
  set fillStyle(value: string | CanvasGradient | CanvasPattern) { this.state.fillStyle = String(value); }
  get strokeStyle() { return this.state.strokeStyle; }
  set strokeStyle(value: string | CanvasGradient | CanvasPattern) { this.state.strokeStyle = String(value); }
  get lineWidth() { return this.state.lineWidth; }
  set lineWidth(value: number) { this.state.lineWidth = value; }
  get globalAlpha() { return this.state.globalAlpha; }
  set globalAlpha(value: number) { this.state.globalAlpha = value; }
  get font() { return this.state.font; }
  set font(value: string) { this.state.font = value; }
  get textAlign() { return this.state.textAlign as CanvasTextAlign; }
  set textAlign(value: CanvasTextAlign) { this.state.textAlign = value; }
  get textBaseline() { return this.state.textBaseline as CanvasTextBaseline; }
  set textBaseline(value: CanvasTextBaseline) { this.state.textBaseline = value; }
  get lineCap() { return this.state.lineCap as CanvasLineCap; }
  set lineCap(value: CanvasLineCap) { this.state.lineCap = value; }

  private at(x: number, y: number) { return `${digits(x + this.state.x)} ${digits(y + this.state.y)}`; }
  beginPath() { this.path = ""; }
  moveTo(x: number, y: number) { this.path += `M${this.at(x, y)}`; }
  lineTo(x: number, y: number) { this.path += `L${this.at(x, y)}`; }
  bezierCurveTo(a: number, b: number, c: number, d: number, x: number, y: number) { this.path += `C${this.at(a, b)} ${this.at(c, d)} ${this.at(x, y)}`; }
  closePath() { this.path += "Z"; }
  rect(x: number, y: number, w: number, h: number) { this.path += `M${this.at(x, y)}h${digits(w)}v${digits(h)}h${digits(-w)}Z`; }
  arc(x: number, y: number, radius: number, from: number, to: number) {
    const point = (angle: number) => this.at(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
    const join = this.path === "" || this.path.endsWith("Z") ? "M" : "L";
    const arc = (a: number, b: number) => `A${digits(radius)} ${digits(radius)} 0 ${b - a > Math.PI ? 1 : 0} 1 ${point(b)}`;
    if (to - from >= 2 * Math.PI - 1e-6) this.path += `M${point(from)}${arc(from, from + Math.PI)}${arc(from + Math.PI, from + 2 * Math.PI)}Z`;
    else this.path += `${join}${point(from)}${arc(from, to)}`;
  }
  private opacity() { return this.state.globalAlpha < 1 ? ` opacity="${digits(this.state.globalAlpha)}"` : ""; }
  private pen() {
    const { strokeStyle, lineWidth, dash, lineCap } = this.state;
    return ` fill="none" stroke="${escaped(strokeStyle)}" stroke-width="${digits(lineWidth)}" stroke-linecap="${lineCap}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}`;
  }
  fill() { this.out.push(`<path d="${this.path}" fill="${escaped(this.state.fillStyle)}"${this.opacity()}/>`); }
  stroke() { this.out.push(`<path d="${this.path}"${this.pen()}${this.opacity()}/>`); }
  fillRect(x: number, y: number, w: number, h: number) { this.shape(x, y, w, h, ` fill="${escaped(this.state.fillStyle)}"`); }
  strokeRect(x: number, y: number, w: number, h: number) { this.shape(x, y, w, h, this.pen()); }
  private shape(x: number, y: number, w: number, h: number, style: string) {
    if (w > 0 && h > 0) this.out.push(`<rect x="${digits(x + this.state.x)}" y="${digits(y + this.state.y)}" width="${digits(w)}" height="${digits(h)}"${style}${this.opacity()}/>`);
  }
  fillText(text: string, x: number, y: number) {
    const anchor = { center: "middle", right: "end", end: "end" }[this.state.textAlign] ?? "start";
    const [, weight, size] = /^(bold |\d00 )?([\d.]+)px/.exec(this.state.font) ?? [];
    const drop = this.state.textBaseline === "middle" ? 0.35 : this.state.textBaseline === "top" ? 0.85 : 0;
    const [left, top] = [x + this.state.x, y + this.state.y + drop * Number(size ?? 12)];
    this.out.push(`<text x="${digits(left)}" y="${digits(top)}" font-size="${size ?? 12}"${weight ? ` font-weight="${weight.trim()}"` : ""} text-anchor="${anchor}" fill="${escaped(this.state.fillStyle)}"${this.opacity()}>${escaped(text)}</text>`);
  }
  measureText(text: string) {
    this.measure.font = this.state.font;
    return this.measure.measureText(text);
  }
  clip() {
    this.out.push(`<clipPath id="clip${++this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#clip${this.clips})">`);
    this.state.groups += 1;
  }
  save() { this.states.push({ ...this.state, dash: [...this.state.dash] }); this.state.groups = 0; }
  restore() {
    this.out.push("</g>".repeat(this.state.groups));
    this.state = this.states.pop() ?? this.state;
  }
  translate(x: number, y: number) { this.state.x += x; this.state.y += y; }
  setLineDash(dash: number[]) { this.state.dash = dash; }
  text(width: number, height: number, background: string) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">`
      + `<rect width="100%" height="100%" fill="${background}"/>${this.out.join("\n")}${"</g>".repeat(this.state.groups)}</svg>`;
  }
}

/** A drawing as SVG. */
export function asSvg(width: number, height: number, background: string, draw: (pen: Pen) => void): string {
  const svg = new Svg();
  draw(svg);
  return svg.text(width, height, background);
}
