import { hexToBytes, keccak256, type Hex } from 'viem';

/** The 2048-bit filter that a block's header has for the addresses and topics of all its logs, as the header writes it.
 *  A node that leaves logs out, or makes some up, answers with logs whose filter differs. Yellow Paper: 4.3.1. */
export function bloomOf(logs: ReadonlyArray<Readonly<{ address: string; topics: readonly string[] }>>): string {
  const filter = new Uint8Array(256);
  const seen = new Set<string>();
  for (const { address, topics } of logs) for (const item of [address, ...topics]) seen.add(item.toLowerCase());
  for (const item of seen) {
    const hash = hexToBytes(keccak256(item as Hex));
    for (const at of [0, 2, 4]) {
      const bit = ((hash[at]! << 8) | hash[at + 1]!) & 2047;
      filter[255 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  }
  return `0x${Buffer.from(filter).toString('hex')}`;
}
