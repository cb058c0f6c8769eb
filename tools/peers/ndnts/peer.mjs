// Files as named data with NDNts, without a forwarder.
//
//   node peer.mjs put udp|tcp PORT NAME FILE CERTIFICATE [SEGMENT]   publishes, and writes its certificate
//   node peer.mjs get udp|tcp PORT NAME FILE PUBLIC_KEY              fetches what the key in PEM has signed

import { createPublicKey, webcrypto } from "node:crypto";
import dgram from "node:dgram";
import { EventEmitter, on } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { Certificate, createVerifier, ECDSA, generateSigningKey } from "@ndn/keychain";
import { L3Face, StreamTransport, Transport, rxFromPacketIterable } from "@ndn/l3face";
import { Version } from "@ndn/naming-convention2";
import { TcpTransport, UdpTransport } from "@ndn/node-transport";
import { Name } from "@ndn/packet";
import { Metadata, retrieveMetadata, serveMetadata } from "@ndn/rdr";
import { BufferChunkSource, fetch, serve } from "@ndn/segmented-object";
import { Encoder } from "@ndn/tlv";

const [what, kind, portText, nameText, file, key, segment = "8000"] = process.argv.slice(2);
const [port, name] = [Number(portText), new Name(nameText)];
const MTU = 1420;

async function listen() {
  if (kind === "tcp") {
    const addFace = L3Face.makeCreateFace((stream) => new StreamTransport(stream));
    const server = createServer((stream) => addFace({ addRoutes: [] }, stream));
    return new Promise((ready) => server.listen(port, "127.0.0.1", ready));
  }
  const socket = dgram.createSocket("udp4");
  await new Promise((ready) => socket.bind(port, "127.0.0.1", ready));
  const peers = new Map();
  const addFace = L3Face.makeCreateFace((from) => new Datagrams(socket, from));
  socket.on("message", async (message, from) => {
    const name = `${from.address}:${from.port}`;
    if (!peers.has(name)) {
      peers.set(name, new EventEmitter());
      await addFace({ addRoutes: [], lp: { mtu: MTU } }, { ...from, events: peers.get(name) });
    }
    peers.get(name).emit("message", message);
  });
}

// One of several peers of a UDP socket; the transport of NDNts serves one.
class Datagrams extends Transport {
  constructor(socket, from) {
    super({ describe: `UDP(${from.port})` });
    this.send = (packet) => socket.send(packet, from.port, from.address);
    const messages = on(from.events, "message");
    this.rx = rxFromPacketIterable((async function* () {
      for await (const [message] of messages) yield message;
    })());
  }
  async tx(packets) {
    for await (const packet of packets) this.send(packet);
  }
}

async function put() {
  const [signer, publicKey] = await generateSigningKey(name);
  const certificate = await Certificate.selfSign({ privateKey: signer, publicKey });
  await writeFile(key, Buffer.from(Encoder.encode(certificate.data)).toString("base64"));
  const versioned = name.append(Version, Date.now() * 1000);
  serve(versioned, new BufferChunkSource(await readFile(file), { chunkSize: Number(segment) }), { signer });
  serveMetadata(new Metadata(versioned), { prefix: name, signer, pOpts: { announcement: name } });
  await listen();
  console.log("listening");
}

async function get() {
  const transport = kind === "tcp" ? TcpTransport : UdpTransport;
  await transport.createFace({ lp: { mtu: MTU } }, "127.0.0.1", port);
  const spki = createPublicKey(await readFile(key)).export({ type: "spki", format: "der" });
  const curve = { name: "ECDSA", namedCurve: "P-256" };
  const publicKey = await webcrypto.subtle.importKey("spki", spki, curve, true, ["verify"]);
  const verifier = createVerifier(ECDSA, { publicKey, spki, info: { curve: "P-256" } });
  const { name: versioned } = await retrieveMetadata(name, { retx: 5, verifier });
  await writeFile(file, await fetch(versioned, { verifier, retxLimit: 20 }));
  console.log("fetched");
  process.exit(0);
}

await (what === "put" ? put() : get());
