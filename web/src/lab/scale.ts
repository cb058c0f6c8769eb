/** Numbers of parameters on a slider: linear where the range is narrow, by factors where it is wide. */
import type { Parameter } from "./schema";

export interface Scale { least: number; most: number; /** From a position of 0 to 1, and back. */ at: (position: number) => number; position: (value: number) => number }

const UNITS: Record<string, Record<string, number>> = {
  s: { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86_400 },
  B: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 },
  "bit/s": { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9 },
  m: { m: 1, km: 1e3 },
};

/** A written value in the unit of its parameter; `undefined` where it is none. */
export function numberOf(value: unknown, unit: string): number | undefined {
  if (typeof value === "number") return value;
  const [, number, written] = /^([-+\d.eE]+)\s*(\S*)$/.exec(String(value ?? "")) ?? [];
  const factor = written === "" || written === unit ? 1 : UNITS[unit]?.[written ?? ""];
  const found = Number(number) * (factor ?? NaN);
  return number !== undefined && Number.isFinite(found) ? found : undefined;
}
/** As a scenario writes it. */
export const written = (value: number, unit: string): number | string => (unit === "" ? value : `${value} ${unit}`);

/** What a slider spans: all of a narrow range, else a hundredth of the default to a hundred times it, with zero at the left end if it is allowed. */
export function scaleOf(parameter: Parameter): Scale | undefined {
  const [low, high] = parameter.range ?? [];
  if (low === undefined || high === undefined) return undefined;
  const usual = numberOf(parameter.default, parameter.unit) ?? 0;
  const round = (value: number) => (parameter.whole ? Math.round(value) : Number(value.toPrecision(3)));
  const within = (value: number) => Math.min(high, Math.max(low, round(value)));
  if (high - low <= 20 || (usual - low) / (high - low) >= 0.02) {
    return { least: low, most: high, at: (position) => within(low + position * (high - low)), position: (value) => (value - low) / (high - low) };
  }
  const middle = usual > 0 ? usual : parameter.whole ? 10 : 1;
  const [least, most] = [Math.max(low, middle / 100, parameter.whole ? 1 : 0), Math.min(high, middle * 100)];
  const wide = Math.log(most / least);
  // The left end stands for the least value, which is often zero: off, or without bound.
  const rest = low < least ? 0.03 : 0;
  return {
    least: low, most,
    at: (position) => (position < rest ? low : within(least * Math.exp(((position - rest) / (1 - rest)) * wide))),
    position: (value) => (value < least ? 0 : rest + (1 - rest) * Math.min(1, Math.log(value / least) / wide)),
  };
}
