import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { pointCompress, signRecoverable } from 'tiny-secp256k1';
import { keyRoles, type ChainCodec, type KeyPath, type Seeds } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { branchedChildren, keyPairs, nameOf, type KeyPair } from '../child-key';
import { addressOfKey, base58Of, isHex, sha256, zeroAddress } from './address';
import { assetIn, checkPlan, taposOf, type SignedTronTransaction, type TronChain, type TronPlan } from './plan';
import { readTransaction } from './read-back';
import { rawDataOf, transactionOf } from './wire';

/** SLIP-44. */
const coinType = 195;
/** What the network counts beside a transaction's own bytes, for its result. Bandwidth and Energy,
 *  developers.tron.network. */
const resultBytes = 64;
const signatureBytes = 65;

/** One wrong digit of it would be another address. */
const hexRefusal = 'In hexadecimal an address of TRON has no checksum: give the spelling that begins with T';

/** What the family does without a node. It is no `ChainCodec`: its plans expire and have no nonce. */
export type TronCodec = Pick<ChainCodec, 'derive' | 'normalise' | 'refusalOf' | 'extendedKey'> &
  Readonly<{
    /** Deterministic signature over `plan`. Throws INTENT_MISMATCH, KEY_MISMATCH. */
    sign(seeds: Seeds, plan: TronPlan): SignedTronTransaction;
    /** Points of bandwidth that the transaction of a plan takes, whether signed or not. */
    sizeOf(plan: TronPlan): bigint;
    /** Read back from raw bytes, for the record and for audits. */
    decode(raw: string): Readonly<{ txId: string; inputs: readonly string[]; nonce: null; expiresAt: number }>;
  }>;

/** r, s and v = 27 + recovery id; RFC 6979 with low s, by libsecp256k1 (decision 0016). */
export function signatureOf(key: Uint8Array, digest: Uint8Array): Uint8Array {
  const { signature, recoveryId } = signRecoverable(digest, key);
  return Uint8Array.of(...signature, 27 + recoveryId);
}

/** Reads the signed bytes back and compares each field with the plan: no byte leaves that says something else. */
export function checkSigned(chain: TronChain, plan: TronPlan, raw: string): string {
  const read = readTransaction(raw);
  const { contract } = assetIn(chain, plan.currency);
  const { bytes, hash } = taposOf(plan.reference);
  const wanted: Omit<typeof read, 'txId' | 'reference'> = {
    timestamp: plan.timestamp,
    expiresAt: plan.expiresAt,
    feeLimit: plan.feeLimit,
    from: plan.from,
    contract,
    to: plan.to,
    units: plan.units,
    signer: plan.from,
  };
  const names = Object.keys(wanted) as (keyof typeof wanted)[];
  const wrong = names.find((name) => read[name] !== wanted[name]);
  if (wrong) throw new DomainError('INTENT_MISMATCH', `Signed bytes say ${wrong} ${read[wrong]}, not ${wanted[wrong]}`);
  if (read.reference.bytes !== bytes || read.reference.hash !== hash)
    throw new DomainError('INTENT_MISMATCH', `Signed bytes do not refer to block ${plan.reference}`);
  return read.txId;
}

/** Transfers of TRX and of tokens under BIP 44: `m/44'/195'/role'/branch/index`. Addresses are kept in base58. */
export function tronCodec(chain: TronChain): TronCodec {
  const contracts = new Set([...chain.assets.values()].flatMap(({ contract }) => contract ?? []));
  const childOf = branchedChildren('uncompressed');
  const account = (seed: Uint8Array, role: KeyPath['role']): HDKey =>
    HDKey.fromMasterSeed(seed).derive(`m/44'/${coinType}'/${keyRoles.indexOf(role)}'`);
  const pairOf = keyPairs(account);
  const addresses = new WeakMap<KeyPair, string>();

  /** The private key of a path, which must be that of the address. */
  function keyOf(seeds: Seeds, path: KeyPath, address: string): Uint8Array {
    const pair = pairOf(seeds, path);
    const own = addresses.get(pair) ?? addressOfKey(pointCompress(pair.publicKey, false));
    addresses.set(pair, own);
    if (own !== address) throw new DomainError('KEY_MISMATCH', `Key ${nameOf(path)} is not of ${address}`);
    return pair.privateKey;
  }

  function normalise(address: string): string | null {
    const own = base58Of(address);
    return own === null || own === zeroAddress || contracts.has(own) ? null : own;
  }

  return {
    derive: (xpub, index, branch = 0) => addressOfKey(childOf(xpub, branch, index)),
    normalise,
    refusalOf: (address) => (isHex(address) ? hexRefusal : null),
    extendedKey: (seed, role) => account(seed, role).publicExtendedKey,
    sign(seeds, plan) {
      checkPlan(chain, plan);
      if (normalise(plan.to) !== plan.to)
        throw new DomainError('INTENT_MISMATCH', `${plan.to} is no recipient on TRON, or not in its one spelling`);
      const key = keyOf(seeds, plan.key, plan.from);
      const rawData = rawDataOf(chain, plan);
      const raw = hex.encode(transactionOf(rawData, signatureOf(key, sha256(rawData))));
      return { txId: checkSigned(chain, plan, raw), raw, expiresAt: plan.expiresAt };
    },
    sizeOf: (plan) =>
      BigInt(transactionOf(rawDataOf(chain, plan), new Uint8Array(signatureBytes)).length + resultBytes),
    decode(raw) {
      const { txId, expiresAt } = readTransaction(raw);
      return { txId, inputs: [], nonce: null, expiresAt };
    },
  };
}
