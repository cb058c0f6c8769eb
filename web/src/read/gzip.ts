/** Bytes that were gzipped, a piece at a time: whoever reads them may stop at the first piece that is wrong. */

/** Bytes that a source may have, unpacked. */
export const MOST_UNPACKED = 1e9;

export function unpacked(packed: Uint8Array<ArrayBuffer>, most = MOST_UNPACKED): ReadableStream<Uint8Array> {
  let size = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, to) {
      size += part.length;
      if (size > most) throw new Error(`a source unpacks to more than ${most / 1e6} MB`);
      to.enqueue(part);
    },
  });
  return new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")).pipeThrough(bounded);
}

/** The same as pieces, or those of bytes that were not gzipped. */
export async function* pieces(bytes: Uint8Array<ArrayBuffer>, gzipped: boolean): AsyncGenerator<Uint8Array> {
  if (!gzipped) {
    for (let at = 0; at < bytes.length; at += 4_194_304) yield bytes.subarray(at, at + 4_194_304);
    return;
  }
  const reader = unpacked(bytes).getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
