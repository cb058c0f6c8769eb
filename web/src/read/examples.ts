/** Scenarios that the laboratory has at hand: those of the project, cut to what a page runs at once. */
import earthMars from "../../../scenarios/earth_mars.toml?raw";
import contacts from "../../../scenarios/places/earth_mars.contacts?raw";
import link from "../../../scenarios/papers/adaptive_short.toml?raw";
import caching from "../../../scenarios/papers/dcp_caching.toml?raw";

export interface Example { name: string; title: string; text: string; files?: Record<string, string>; compare: Record<string, string> }

const WALKERS = `# Forty people with radios cross a park; buffers are small, so copies compete for them.
name = "walkers"
duration = "2 h"
seeds = [1, 2, 3]
router = "spray_and_wait"
mechanism = "none"
buffer = "500 kB"

mobility = { model = "random_waypoint", area = "800 m x 600 m", speed = "0.5..1.5 m/s", pause = "0..120 s" }
radio = { range = "60 m", rate = "2.5 Mbit/s" }

[world]
positions_every = "5 s"

[nodes.walker]
count = 40

[traffic.messages]
interval = "5..30 s"
size = "50..100 kB"
from = "all"
to = "all"
lifetime = "1 h"
`;

/** Of the lists of a sweep the first that shows most. */
const pinned = (text: string) => text
  .replace(/^router = .*$/m, 'router = "contact_graph"')
  .replace(/^mechanism = .*$/m, 'mechanism = "none"');

export const EXAMPLES: Example[] = [
  { name: "earth_mars", title: "Earth and Mars: two rovers, two orbiters", text: pinned(earthMars), files: { "places/earth_mars.contacts": contacts }, compare: { mechanism: "copy_value" } },
  { name: "walkers", title: "Walkers with radios", text: WALKERS, compare: { mechanism: "copy_value" } },
  { name: "long_link", title: "A link whose delay grows to seconds", text: link.replace('duration = "20 min"', 'duration = "10 min"'), compare: { controller: "bbr" } },
  { name: "caching", title: "Named data: a cache on the path", text: caching, compare: { controller: "ledbat" } },
];
