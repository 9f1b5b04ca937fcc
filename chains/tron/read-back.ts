import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import { addressOfKey, fromBytes, fromEvm, sha256 } from './address';

/** Reads the bytes of a transaction without what wrote them (`wire.ts`). It knows the fields that transfers of ours
 *  have, each once and in their order, and throws for anything else. */

/** The second reading of a signed transaction. Times are Unix milliseconds, amounts sun or units of a token. */
export type ReadTransaction = Readonly<{
  txId: string;
  reference: Readonly<{ bytes: string; hash: string }>;
  timestamp: number;
  expiresAt: number;
  feeLimit: bigint;
  from: string;
  /** null: TRX. */
  contract: string | null;
  to: string;
  units: bigint;
  /** Who signed it. */
  signer: string;
}>;

type Value = bigint | Uint8Array;

class Malformed extends Error {}

/** A number of seven bits a byte, the lowest first, in as few bytes as it takes. */
function varint(bytes: Uint8Array, start: number): { value: bigint; end: number } {
  let value = 0n;
  for (let at = start; at < bytes.length && at - start < 10; at += 1) {
    const byte = bytes[at]!;
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start));
    if (byte & 0x80) continue;
    if ((byte === 0 && at > start) || value >> 64n) throw new Malformed('A number is not in its shortest form');
    return { value, end: at + 1 };
  }
  throw new Malformed('A number does not end');
}

/** The fields of a message by number. `known`: those that it may have; all but `optional` it must have. */
function fieldsOf(bytes: Uint8Array, known: readonly number[], optional: readonly number[] = []): Map<number, Value> {
  const fields = new Map<number, Value>();
  let last = 0;
  for (let at = 0; at < bytes.length;) {
    const { value: tag, end } = varint(bytes, at);
    const field = parseInt((tag >> 3n).toString(), 10);
    if (!known.includes(field) || field <= last) throw new Malformed(`Field ${field} is not expected here`);
    last = field;
    const { value, end: next } = varint(bytes, end);
    at = next;
    if ((tag & 7n) === 0n) fields.set(field, value);
    else if ((tag & 7n) === 2n) {
      const until = at + parseInt(value.toString(), 10);
      if (until > bytes.length) throw new Malformed(`Field ${field} is cut off`);
      fields.set(field, bytes.subarray(at, until));
      at = until;
    } else throw new Malformed(`Field ${field} is of another type`);
  }
  const missing = known.find((field) => !fields.has(field) && !optional.includes(field));
  if (missing !== undefined) throw new Malformed(`Field ${missing} is missing`);
  return fields;
}

function bytesAt(fields: Map<number, Value>, field: number, length?: number): Uint8Array {
  const value = fields.get(field);
  if (!(value instanceof Uint8Array) || (length !== undefined && value.length !== length))
    throw new Malformed(`Field ${field} is not of ${length ?? 'any'} bytes`);
  return value;
}

/** Of int64 that is never negative here; absent: 0. */
function numberAt(fields: Map<number, Value>, field: number): bigint {
  const value = fields.get(field) ?? 0n;
  if (typeof value !== 'bigint' || value >> 63n) throw new Malformed(`Field ${field} is no amount`);
  return value;
}

function timeAt(fields: Map<number, Value>, field: number): number {
  const value = parseInt(numberAt(fields, field).toString(), 10);
  if (!Number.isSafeInteger(value)) throw new Malformed(`Field ${field} is no time`);
  return value;
}

type Contract = Pick<ReadTransaction, 'from' | 'contract' | 'to' | 'units'>;

function transferIn(bytes: Uint8Array): Contract {
  const fields = fieldsOf(bytes, [1, 2, 3]);
  return {
    from: fromBytes(bytesAt(fields, 1)),
    contract: null,
    to: fromBytes(bytesAt(fields, 2)),
    units: numberAt(fields, 3),
  };
}

/** keccak256('transfer(address,uint256)') begins with it. */
const transferSelector = 'a9059cbb';

function callIn(bytes: Uint8Array): Contract {
  const fields = fieldsOf(bytes, [1, 2, 4]);
  const [, selector, to, units] =
    /^([0-9a-f]{8})0{24}([0-9a-f]{40})([0-9a-f]{64})$/.exec(hex.encode(bytesAt(fields, 4, 68))) ?? [];
  if (selector !== transferSelector || !to || !units) throw new Malformed('The call is no transfer of a token');
  return {
    from: fromBytes(bytesAt(fields, 1)),
    contract: fromBytes(bytesAt(fields, 2)),
    to: fromEvm(to),
    units: BigInt(`0x${units}`),
  };
}

const typeNames: ReadonlyMap<bigint, string> = new Map([
  [1n, 'TransferContract'],
  [31n, 'TriggerSmartContract'],
]);

function contractIn(bytes: Uint8Array): Contract {
  const fields = fieldsOf(bytes, [1, 2]);
  const name = typeNames.get(numberAt(fields, 1));
  const any = fieldsOf(bytesAt(fields, 2), [1, 2]);
  const url = Buffer.from(bytesAt(any, 1)).toString('latin1');
  if (name === undefined || url !== `type.googleapis.com/protocol.${name}`)
    throw new Malformed('It is neither a transfer of TRX nor a call of a contract');
  return name === 'TransferContract' ? transferIn(bytesAt(any, 2)) : callIn(bytesAt(any, 2));
}

/** Whose key made a signature of r, s and v (27 or 28, or 0 or 1). Throws where s is not the lower of two. */
export function signerOf(digest: Uint8Array, signature: Uint8Array): string {
  const v = signature[64]!;
  const recovery = v < 27 ? v : v - 27;
  const parsed = secp256k1.Signature.fromBytes(signature.subarray(0, 64)).addRecoveryBit(recovery);
  if (parsed.hasHighS()) throw new Malformed('The signature is not in its lower form');
  return addressOfKey(parsed.recoverPublicKey(digest).toBytes(false));
}

/** A signed transfer from its bytes. `raw`: hex. */
export function readTransaction(raw: string): ReadTransaction {
  const transaction = fieldsOf(hex.decode(raw), [1, 2]);
  const rawData = bytesAt(transaction, 1);
  const digest = sha256(rawData);
  const fields = fieldsOf(rawData, [1, 4, 8, 11, 14, 18], [18]);
  return {
    txId: hex.encode(digest),
    reference: { bytes: hex.encode(bytesAt(fields, 1, 2)), hash: hex.encode(bytesAt(fields, 4, 8)) },
    timestamp: timeAt(fields, 14),
    expiresAt: timeAt(fields, 8),
    feeLimit: numberAt(fields, 18),
    ...contractIn(bytesAt(fields, 11)),
    signer: signerOf(digest, bytesAt(transaction, 2, 65)),
  };
}
