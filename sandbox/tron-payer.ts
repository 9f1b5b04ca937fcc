import { createBase58check, hex } from '@scure/base';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { createHash } from 'node:crypto';
import { Writer } from 'protobufjs/minimal';
import { keccak256 } from 'viem';

/** Pays on a simulated chain of TRON: own transactions, nothing of the service's code. */

const sha256 = (data: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(data).digest());
/** Of somebody whom everybody knows: the simulator gives what is paid from nowhere. */
const key = sha256(Buffer.from('payer of the sandbox'));
const own = Buffer.from(keccak256(secp256k1.getPublicKey(key, false).subarray(1)).slice(-40), 'hex');
const rich = Buffer.concat([Buffer.of(0x41), own]);
/** A transfer of a token burns less, in sun. */
const feeLimit = 50_000_000;
const lifeMs = 60_000;

const bytesOf = (address: string): Uint8Array => createBase58check(sha256).decode(address);

/** An address as the simulator's orders have it. */
export const tronHex = (address: string): string => hex.encode(bytesOf(address));

async function ask<T>(url: string, path: string, body: object = {}): Promise<T> {
  const answer = await fetch(url + path, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const said = (await answer.json()) as T & { error?: string };
  if (said.error !== undefined) throw new Error(`${path}: ${said.error}`);
  return said;
}

type Kind = Readonly<{ number: number; name: string }>;
const transfer: Kind = { number: 1, name: 'TransferContract' };
const trigger: Kind = { number: 31, name: 'TriggerSmartContract' };

/** A transaction's `raw_data` (core/Tron.proto). */
function rawOf(kind: Kind, value: Uint8Array, block: string, now: number): Uint8Array {
  const url = `type.googleapis.com/protocol.${kind.name}`;
  const any = Writer.create().uint32(10).string(url).uint32(18).bytes(value).finish();
  const contract = Writer.create().uint32(8).int32(kind.number).uint32(18).bytes(any).finish();
  const raw = Writer.create()
    .uint32(10)
    .bytes(hex.decode(block.slice(12, 16)));
  raw
    .uint32(34)
    .bytes(hex.decode(block.slice(16, 32)))
    .uint32(64)
    .int64(now + lifeMs);
  raw.uint32(90).bytes(contract).uint32(112).int64(now);
  return (kind === trigger ? raw.uint32(144).int64(feeLimit) : raw).finish();
}

function valueOf(to: string, units: bigint, contract: string | null): Uint8Array {
  if (contract === null)
    return Writer.create()
      .uint32(10)
      .bytes(rich)
      .uint32(18)
      .bytes(bytesOf(to))
      .uint32(24)
      .int64(units.toString())
      .finish();
  const word = (text: string): string => text.padStart(64, '0');
  const data = `a9059cbb${word(tronHex(to).slice(2))}${word(units.toString(16))}`;
  return Writer.create()
    .uint32(10)
    .bytes(rich)
    .uint32(18)
    .bytes(bytesOf(contract))
    .uint32(34)
    .bytes(hex.decode(data))
    .finish();
}

/** Sends sun, or units of a token at its contract, and answers the transaction's id. What the payer lacks comes from
 *  nowhere in a block before. */
export async function payTron(url: string, to: string, units: bigint, contract: string | null): Promise<string> {
  const address = hex.encode(rich);
  for (const [what, more] of [[contract, units] as const, [null, BigInt(2 * feeLimit)] as const])
    await ask(url, '/sandbox/fund', {
      address,
      units: more.toString(),
      ...(what === null ? {} : { contract: tronHex(what) }),
    });
  await mineTron(url, 1);
  type Block = { blockID: string; block_header: { raw_data: { timestamp?: number } } };
  const { blockID, block_header } = await ask<Block>(url, '/wallet/getnowblock');
  const kind = contract === null ? transfer : trigger;
  const raw = rawOf(kind, valueOf(to, units, contract), blockID, block_header.raw_data.timestamp ?? 0);
  const hash = sha256(raw);
  const signed = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' });
  // Recovery comes first here, and last in a transaction.
  const signature = Buffer.concat([signed.subarray(1), signed.subarray(0, 1)]);
  const transaction = hex.encode(Writer.create().uint32(10).bytes(raw).uint32(18).bytes(signature).finish());
  const said = await ask<{ code: string; message: string }>(url, '/wallet/broadcasthex', { transaction });
  if (said.code !== 'SUCCESS') throw new Error(`broadcast: ${said.code} ${said.message}`);
  return hex.encode(hash);
}

export const mineTron = (url: string, blocks: number): Promise<unknown> => ask(url, '/sandbox/mine', { blocks });
