/** What a trace of bundles says at a time, row by row: written without the page's code. */
export function stateAt(rows, t) {
  // A bundle is created when its application made it: its row may come later, once its source has room.
  const born = rows.filter((row) => ["created", "rejected"].includes(row.kind) && row.since_ns / 1e9 <= t).length;
  const sizes = new Map();
  const holders = new Map();
  const delivered = new Set();
  const contacts = new Set();
  const used = {};
  const change = (node, id, by) => { used[node] = (used[node] ?? 0) + by * sizes.get(id); };
  for (const row of rows) {
    if (row.time_ns / 1e9 > t) break;
    const held = (node) => `${row.bundle} ${node}`;
    if (row.kind === "created" || row.kind === "rejected") { sizes.set(row.bundle, row.bytes); }
    const keeps = row.kind === "created" ? row.node : row.kind === "stored" ? row.peer : undefined;
    if (keeps !== undefined && !holders.has(held(keeps))) { holders.set(held(keeps), true); change(keeps, row.bundle, 1); }
    if (row.kind === "gone" && holders.delete(held(row.node))) change(row.node, row.bundle, -1);
    if (row.kind === "delivered" && row.first) delivered.add(row.bundle);
    const pair = [row.node, row.peer].sort((a, b) => a - b).join(" ");
    if (row.kind === "contact_up") contacts.add(pair);
    if (row.kind === "contact_down") contacts.delete(pair);
  }
  return { created: born, delivered: delivered.size, contacts: [...contacts].sort(), used: Object.fromEntries(Object.entries(used).filter(([, bytes]) => bytes > 0)) };
}

/** The same of the page, at its clock. */
export const shownAt = (page, t, side = 0) => page.evaluate(([t, side]) => {
  const { clock, sides } = window.lightlag;
  clock.seek(t);
  const run = sides[side];
  const contacts = [];
  run.contacts.at(clock.t, (id) => contacts.push([run.contacts.a.get(id), run.contacts.b.get(id)].sort((a, b) => a - b).join(" ")));
  const counts = run.tally.at(clock.t);
  const used = Object.fromEntries(run.used.map((steps, node) => [node, steps.at(clock.t)]).filter(([, bytes]) => bytes > 0));
  return { created: counts.reduce((sum, one) => sum + one, 0), delivered: counts[1], contacts: contacts.sort(), used };
}, [t, side]);
