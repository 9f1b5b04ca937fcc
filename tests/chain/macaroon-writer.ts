/** Macaroons as lnd writes them, with a signature of zeros: no node takes them. */

const field = (number: number, data: Buffer): Buffer => Buffer.concat([Buffer.from([number, data.length]), data]);
/** A field of protocol buffers that is text or bytes. */
const packet = (number: number, data: string | Buffer): Buffer => field((number << 3) | 2, Buffer.from(data));

const operation = (entity: string, actions: readonly string[]): Buffer =>
  Buffer.concat([packet(1, entity), ...actions.map((action) => packet(2, action))]);

/** Hex. `rights`: actions by entity. `caveat`: one that restricts it. */
export function macaroonFor(rights: Readonly<Record<string, readonly string[]>>, caveat?: string): string {
  const operations = Object.entries(rights).map(([entity, actions]) => packet(3, operation(entity, actions)));
  const id = Buffer.concat([Buffer.from([3]), packet(1, Buffer.alloc(16, 7)), packet(2, '0'), ...operations]);
  // Longer than 127 bytes, a length takes two bytes.
  const length = id.length < 128 ? [id.length] : [(id.length & 0x7f) | 0x80, id.length >> 7];
  const parts = [
    Buffer.from([2]),
    field(1, Buffer.from('lnd')),
    Buffer.from([2, ...length]),
    id,
    Buffer.from([0]),
    ...(caveat === undefined ? [] : [field(2, Buffer.from(caveat)), Buffer.from([0])]),
    Buffer.from([0]),
    field(6, Buffer.alloc(32)),
  ];
  return Buffer.concat(parts).toString('hex');
}

export const readMacaroon = macaroonFor({
  ...{ info: ['read'], invoices: ['read'], offchain: ['read'], onchain: ['read'] },
});
export const invoiceMacaroon = macaroonFor({ invoices: ['read', 'write'] });
export const payMacaroon = macaroonFor({ info: ['read'], offchain: ['read', 'write'] });
