import { secp256k1 } from '@noble/curves/secp256k1.js';
import { createHash } from 'node:crypto';
import { Reader } from 'protobufjs/minimal';
import { keccak256 } from 'viem';

/** Transactions as a node reads them: any order of fields, unknown fields passed over.
 *  https://github.com/tronprotocol/protocol, core/Tron.proto. */

export type Transaction = Readonly<{
  raw: string;
  txId: string;
  /** Bytes of the whole, which bandwidth is counted by. */
  size: number;
  rawData: string;
  signatures: readonly string[];
  reference: Readonly<{ bytes: string; hash: string }>;
  expiration: number;
  timestamp: number;
  feeLimit: bigint;
  /** Name of a kind that the simulator carries out, or its number. */
  type: string;
  owner: string;
  /** The recipient, or the contract. */
  to: string;
  /** Of TRX: sent, or with a call. */
  amount: bigint;
  data: string;
}>;

/** A refusal with the code of a broadcast. Broadcast and RPC errors, developers.tron.network. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

type Field = bigint | Uint8Array;
type Message = ReadonlyMap<number, readonly Field[]>;

function messageOf(bytes: Uint8Array): Message {
  const fields = new Map<number, Field[]>();
  const reader = Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const type = tag & 7;
    if (type !== 0 && type !== 2) {
      reader.skipType(type);
      continue;
    }
    const value: Field = type === 0 ? BigInt(reader.int64().toString()) : reader.bytes();
    fields.set(tag >>> 3, [...(fields.get(tag >>> 3) ?? []), value]);
  }
  return fields;
}

/** The last of a field counts, as protobuf has it. */
const last = (message: Message, field: number): Field | undefined => message.get(field)?.at(-1);
const number = (message: Message, field: number): bigint => {
  const value = last(message, field);
  return typeof value === 'bigint' ? value : 0n;
};
const bytes = (message: Message, field: number): Uint8Array => {
  const value = last(message, field);
  return value instanceof Uint8Array ? value : new Uint8Array();
};
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');
const sha256 = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest();

const kinds: ReadonlyMap<bigint, string> = new Map([
  [1n, 'TransferContract'],
  [31n, 'TriggerSmartContract'],
]);

/** Throws where the bytes are no transaction. */
export function readTransaction(raw: string): Transaction {
  const whole = Buffer.from(raw, 'hex');
  if (!/^([0-9a-f]{2})+$/i.test(raw)) throw new Error('The transaction is not written in hex');
  const message = messageOf(whole);
  const rawData = bytes(message, 1);
  const fields = messageOf(rawData);
  const contracts = fields.get(11) ?? [];
  if (contracts.length !== 1 || !(contracts[0] instanceof Uint8Array))
    throw new Refusal('CONTRACT_VALIDATE_ERROR', 'Contract validate error : No contract!');
  const contract = messageOf(contracts[0]);
  const value = messageOf(bytes(messageOf(bytes(contract, 2)), 2));
  const isCall = number(contract, 1) === 31n;
  return {
    raw: raw.toLowerCase(),
    txId: hex(sha256(rawData)),
    size: whole.length,
    rawData: hex(rawData),
    signatures: (message.get(2) ?? []).flatMap((one) => (one instanceof Uint8Array ? [hex(one)] : [])),
    reference: { bytes: hex(bytes(fields, 1)), hash: hex(bytes(fields, 4)) },
    expiration: Number(number(fields, 8)),
    timestamp: Number(number(fields, 14)),
    feeLimit: number(fields, 18),
    type: kinds.get(number(contract, 1)) ?? `Contract ${number(contract, 1)}`,
    owner: hex(bytes(value, 1)),
    to: hex(bytes(value, 2)),
    amount: number(value, 3),
    data: isCall ? hex(bytes(value, 4)) : '',
  };
}

/** The one address whose key signed. Accounts with several keys are not simulated. Transaction signature validation,
 *  developers.tron.network. */
export function checkSignature({ rawData, signatures, owner }: Transaction): void {
  const fault = (why: string): Refusal => new Refusal('SIGERROR', `Validate signature error: ${why}`);
  const [signature] = signatures;
  if (!signature || signatures.length !== 1) throw fault(`${signatures.length} signatures`);
  const given = Buffer.from(signature, 'hex');
  if (given.length !== 65) throw fault(`${given.length} bytes`);
  const v = given[64]! < 27 ? given[64]! : given[64]! - 27;
  let signer: string;
  try {
    const point = secp256k1.Signature.fromBytes(new Uint8Array(given.subarray(0, 64)))
      .addRecoveryBit(v)
      .recoverPublicKey(new Uint8Array(sha256(Buffer.from(rawData, 'hex'))));
    signer = `41${keccak256(point.toBytes(false).subarray(1)).slice(26)}`;
  } catch (error) {
    throw fault((error as Error).message);
  }
  if (signer !== owner) throw fault(`${signer} but it is not contained of permission`);
}
