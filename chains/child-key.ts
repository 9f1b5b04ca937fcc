import { secp256k1 } from '@noble/curves/secp256k1.js';
import { HDKey } from '@scure/bip32';
import { createHmac } from 'node:crypto';
import { pointAddScalar, pointCompress, pointFromScalar } from 'tiny-secp256k1';
import type { KeyPath, KeyRole, Seeds } from '../domain/chains/chain';

const Point = secp256k1.Point;
const order = Point.Fn.ORDER;

/** How a public key is written. */
type PublicForm = 'compressed' | 'uncompressed';

/** The public children of one branch of an extended key (BIP 32, CKDpub, not hardened), by index. libsecp256k1 adds the
 *  tweak, many times cheaper than `HDKey.deriveChild` does; that remains the reference in the tests, and is asked for
 *  the one index in 2^127 that BIP 32 tells to skip. */
function publicChildren(branch: HDKey, form: PublicForm): (index: number) => Uint8Array {
  const key = branch.publicKey!;
  const chainCode = branch.chainCode!;
  const isCompressed = form === 'compressed';
  // With both coordinates, so that no child has to find the second one again.
  const parent = pointCompress(key, false);
  return (index) => {
    const tweak = tweakOf(key, chainCode, index);
    const child = tweak && pointAddScalar(parent, tweak, isCompressed);
    return child ?? pointCompress(branch.deriveChild(index).publicKey!, isCompressed);
  };
}

/** Public children of an account key by branch and index. Every branch that was asked for is kept. */
export function branchedChildren(form: PublicForm): (xpub: string, branch: number, index: number) => Uint8Array {
  const known = new Map<string, (index: number) => Uint8Array>();
  return (xpub, branch, index) => {
    const name = `${xpub}/${branch}`;
    let children = known.get(name);
    if (!children) known.set(name, (children = publicChildren(HDKey.fromExtendedKey(xpub).deriveChild(branch), form)));
    return children(index);
  };
}

export type KeyPair = Readonly<{ privateKey: Uint8Array; publicKey: Uint8Array }>;

/** The same with private keys (CKDpriv). */
function privateChildren(branch: HDKey): (index: number) => KeyPair {
  const parent = Point.Fn.fromBytes(branch.privateKey!);
  return (index) => {
    const tweak = tweakOf(branch.publicKey!, branch.chainCode!, index);
    const child = tweak ? Point.Fn.add(Point.Fn.fromBytes(tweak), parent) : 0n;
    if (child === 0n) {
      const { privateKey, publicKey } = branch.deriveChild(index);
      return { privateKey: privateKey!, publicKey: publicKey! };
    }
    const privateKey = Point.Fn.toBytes(child);
    return { privateKey, publicKey: pointFromScalar(privateKey, true)! };
  };
}

/** A path as it is named in messages. */
export const nameOf = ({ role, index, branch = 0 }: KeyPath): string => `${role}/${branch}/${index}`;

type Branch = { childOf: (index: number) => KeyPair; last: { index: number; pair: KeyPair } | null };

/** Key pairs by seed and path; of several seeds the branch of the path says which. The branches of each role, and of
 *  each its key that was asked for last, are kept as long as somebody has the seed: deriving them costs more than a
 *  signature. */
export function keyPairs(
  account: (seed: Uint8Array, role: KeyRole) => HDKey,
): (seeds: Seeds, path: KeyPath) => KeyPair {
  const known = new WeakMap<Uint8Array, Map<string, Branch>>();
  return (seeds, { role, index, branch: number = 0 }) => {
    const seed = typeof seeds === 'function' ? seeds(number) : seeds;
    const branches = known.get(seed) ?? new Map<string, Branch>();
    known.set(seed, branches);
    const name = `${role}/${number}`;
    const branch = branches.get(name) ?? {
      childOf: privateChildren(account(seed, role).deriveChild(number)),
      last: null,
    };
    branches.set(name, branch);
    if (branch.last?.index !== index) branch.last = { index, pair: branch.childOf(index) };
    return branch.last.pair;
  };
}

/** null in the one case in 2^127. */
function tweakOf(publicKey: Uint8Array, chainCode: Uint8Array, index: number): Uint8Array | null {
  const data = Buffer.alloc(37);
  data.set(publicKey, 0);
  data.writeUInt32BE(index, 33);
  const tweak = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
  const scalar = BigInt(`0x${tweak.toString('hex')}`);
  return scalar === 0n || scalar >= order ? null : tweak;
}
