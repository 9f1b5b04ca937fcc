/** What a macaroon of lnd lets its holder do. The rights stand in its identifier, which is not secret and is covered by
 *  the signature: lnd adds nothing to them. Format: https://github.com/rescrv/libmacaroons, doc/format.txt, V2; the
 *  identifier is lnd's `MacaroonId` (lnrpc), as `lncli printmacaroon` reads it. */

class Unreadable extends Error {}

/** The fields that begin at `at`, one by one: number, and bytes (of a varint: none). */
type Packet = Readonly<{ field: number; data: Buffer }>;

class Reader {
  private at = 0;
  constructor(private readonly bytes: Buffer) {}
  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }
  byte(): number {
    if (this.isAtEnd) throw new Unreadable('it ends too early');
    return this.bytes[this.at++]!;
  }
  /** At most 28 bits: everything here is short. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift <= 21; shift += 7) {
      const one = this.byte();
      value |= (one & 0x7f) << shift;
      if (one < 0x80) return value;
    }
    throw new Unreadable('a length in it is too great');
  }
  take(): Buffer {
    const length = this.varint();
    if (this.at + length > this.bytes.length) throw new Unreadable('it ends too early');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

const [location, identifier] = [1, 2];
const endOfSection = 0;

function identifierIn(macaroon: Buffer): Buffer {
  const reader = new Reader(macaroon);
  if (reader.byte() !== 2) throw new Unreadable('it is of another version than 2');
  for (let field = reader.varint(); field !== endOfSection; field = reader.varint()) {
    const data = reader.take();
    if (field === identifier) return data;
    if (field !== location) break;
  }
  throw new Unreadable('it has no identifier');
}

/** Protocol buffers in which every field is text or bytes. */
function packetsIn(message: Buffer): Packet[] {
  const reader = new Reader(message);
  const packets: Packet[] = [];
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    if ((tag & 7) !== 2) throw new Unreadable('its identifier has a field of another kind');
    packets.push({ field: tag >> 3, data: reader.take() });
  }
  return packets;
}

const all = (packets: readonly Packet[], field: number): Buffer[] =>
  packets.flatMap((one) => (one.field === field ? [one.data] : []));

/** What the holder of a macaroon (hex) may do, `entity:action` each, sorted. Caveats may take some of it away, and are
 *  not looked at. Throws where it is no macaroon of lnd. */
export function rightsIn(macaroon: string): string[] {
  try {
    const id = identifierIn(Buffer.from(macaroon, 'hex'));
    if (id[0] !== 3) throw new Unreadable('its identifier is of another version than 3');
    const rights = all(packetsIn(id.subarray(1)), 3).flatMap((operation) => {
      const packets = packetsIn(operation);
      const [entity = Buffer.alloc(0)] = all(packets, 1);
      return all(packets, 2).map((action) => `${entity.toString('utf8')}:${action.toString('utf8')}`);
    });
    return [...new Set(rights)].sort();
  } catch (error) {
    if (error instanceof Unreadable) throw new Error(`This is no macaroon of lnd: ${error.message}`);
    throw error;
  }
}
