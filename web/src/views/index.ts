/** All views of the page: a view is one file and one line here. */
import type { Component } from "svelte";
import type { Recording } from "../model/recording.svelte";
import Buffers from "./Buffers.svelte";
import Contacts from "./Contacts.svelte";
import Fates from "./Fates.svelte";
import Journey from "./Journey.svelte";
import Laboratory from "./Laboratory.svelte";
import Live from "./Live.svelte";
import Names from "./Names.svelte";
import Packets from "./Packets.svelte";
import Scene from "./Scene.svelte";

export interface View {
  id: string;
  title: string;
  /** One sentence: what to see. */
  says: string;
  /** Shown once a side. */
  component?: Component<{ side: Recording; index: number }>;
  /** Or once for all. */
  whole?: Component;
  /** Has no use for the clock. */
  still?: boolean;
  /** Whether it has something to show of this world. */
  of: (world: string) => boolean;
}

const all = (world: string) => world !== "";
const bundles = (world: string) => world === "bundles";

export const VIEWS: View[] = [
  { id: "scene", title: "Scene", says: "Nodes and their buffers, contacts, and what is on its way.", component: Scene, of: all },
  { id: "contacts", title: "Contacts", says: "When nodes could talk, and how much of each contact was used.", component: Contacts, of: all },
  { id: "buffers", title: "Buffers", says: "How full each node is over time; drops and refusals below.", component: Buffers, of: all },
  { id: "fates", title: "Fates", says: "From where bundles came, what became of them, and where. Choose a box to list its bundles.", component: Fates, of: bundles },
  { id: "journey", title: "Journey", says: "The way of one bundle: time to the right, a row for each node.", component: Journey, of: bundles },
  { id: "packets", title: "Packets", says: "What a sender did, what came of it, and how it reacted to losses.", component: Packets, of: (world) => world === "packets" },
  { id: "names", title: "Names", says: "Interests that wait for Data, caches that answer, and how far Interests go.", component: Names, of: (world) => world === "names" },
  { id: "live", title: "Live", says: "A daemon, its peers and what it carries.", whole: Live, still: true, of: () => false },
  { id: "laboratory", title: "Laboratory", says: "Change a scenario and run it here.", whole: Laboratory, of: () => true },
];
