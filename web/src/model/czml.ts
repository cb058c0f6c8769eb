/** A run for Cesium and STK: nodes with their positions, contacts as lines while they last. */
import type { Recording } from "./recording.svelte";

const EPOCH = Date.UTC(2000, 0, 1);
const METRES_A_DEGREE = 111_320;
const MOST_CONTACTS = 20_000;
const iso = (seconds: number) => new Date(EPOCH + seconds * 1000).toISOString();

/** Without positions nodes stand on a circle of 1 km. The origin is at latitude 0, longitude 0; the run begins in 2000. */
export function asCzml(run: Recording): string {
  const whole = `${iso(0)}/${iso(run.duration)}`;
  const packets: object[] = [{ id: "document", name: run.title, version: "1.0", clock: { interval: whole, currentTime: iso(0), multiplier: Math.max(1, Math.round(run.duration / 60)) } }];
  run.names.forEach((name, node) => {
    const path = run.paths[node];
    const angle = (2 * Math.PI * node) / run.names.length;
    const place = path
      ? { epoch: iso(0), cartographicDegrees: Array.from({ length: path.time.length }, (_, at) => [path.time.get(at), path.x.get(at) / METRES_A_DEGREE, path.y.get(at) / METRES_A_DEGREE, 0]).flat() }
      : { cartographicDegrees: [(1000 * Math.cos(angle)) / METRES_A_DEGREE, (1000 * Math.sin(angle)) / METRES_A_DEGREE, 0] };
    packets.push({ id: `node/${node}`, name, availability: whole, position: place, point: { pixelSize: 8, color: { rgba: [11, 99, 184, 255] } }, label: { text: name, font: "11px sans-serif", pixelOffset: { cartesian2: [0, -14] } } });
  });
  const { contacts } = run;
  for (let id = 0; id < Math.min(contacts.length, MOST_CONTACTS); id++) {
    const end = Math.min(run.duration, contacts.end.get(id));
    packets.push({
      id: `contact/${id}`, availability: `${iso(contacts.start.get(id))}/${iso(end)}`,
      polyline: { positions: { references: [`node/${contacts.a.get(id)}#position`, `node/${contacts.b.get(id)}#position`] }, width: 2, arcType: "NONE", material: { solidColor: { color: { rgba: [98, 174, 247, 200] } } } },
    });
  }
  return JSON.stringify(packets);
}
