/** One time for all views and both sides. */
export class Clock {
  /** Seconds of the run. */
  t = $state(0);
  playing = $state(false);
  /** Seconds of the run a second. */
  speed = $state(1);
  duration = $state(0);
  /** The stretch that views over time show. */
  from = $state(0);
  to = $state(0);
  private last = 0;

  /** The run is this long now. Whoever shows all of it goes on to. */
  extend(duration: number) {
    if (duration <= this.duration) return;
    if (this.to >= this.duration) this.to = duration;
    this.duration = duration;
  }
  seek(t: number) {
    this.t = Math.min(this.duration, Math.max(0, t));
  }
  toggle() {
    if (this.playing) this.playing = false;
    else {
      if (this.t >= this.duration) this.t = 0;
      this.playing = true;
      this.last = performance.now();
      requestAnimationFrame(this.frame);
    }
  }
  private frame = (now: number) => {
    if (!this.playing) return;
    // A page that was hidden goes on where it was.
    const passed = Math.min(0.25, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    this.seek(this.t + passed * this.speed);
    if (this.t >= this.duration) this.playing = false;
    else requestAnimationFrame(this.frame);
  };
  /** Shows a stretch, which stays within the run and above a millionth of it. */
  show(from: number, to: number) {
    const span = Math.min(this.duration, Math.max(this.duration / 1e6, to - from));
    this.from = Math.min(Math.max(0, from), this.duration - span);
    this.to = this.from + span;
  }
  zoom(factor: number, around = this.t) {
    const part = (around - this.from) / Math.max(1e-12, this.to - this.from);
    const at = part >= 0 && part <= 1 ? part : 0.5;
    const span = (this.to - this.from) * factor;
    const center = part >= 0 && part <= 1 ? around : (this.from + this.to) / 2;
    this.show(center - at * span, center + (1 - at) * span);
  }
}

/** Speeds to choose from: one and three of each power of ten. */
export const SPEEDS = [0.001, 0.01, 0.1, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000];

/** The one with which a run lasts about a minute. */
export function speedFor(duration: number): number {
  return SPEEDS.reduce((best, speed) => (Math.abs(Math.log(duration / 60 / speed)) < Math.abs(Math.log(duration / 60 / best)) ? speed : best), 1);
}
