import { secp256k1 } from '@noble/curves/secp256k1.js';
import { randomBytes } from 'node:crypto';
import { toHex } from 'viem';
import { createCodecs } from '../../chains/codecs';
import { signatureOf } from '../../chains/evm/codec';
import { parseConfig } from '../../domain/config';

/** Signatures by libsecp256k1 are those of another implementation, to the byte. */

const order = secp256k1.Point.Fn.ORDER;
const bytesOf = (scalar: bigint): Buffer => Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex');

it('signs as noble does, whatever the key and the digest', () => {
  const edges = [1n, 2n, order >> 1n, (order >> 1n) + 1n, order - 1n].map(bytesOf);
  const digests = [bytesOf(0n), bytesOf(order), Buffer.alloc(32, 0xff)];
  const pairs = [
    ...edges.flatMap((key) => digests.map((digest) => ({ key, digest }))),
    ...Array.from({ length: 500 }, () => ({ key: secp256k1.utils.randomSecretKey(), digest: randomBytes(32) })),
  ];
  for (const { key, digest } of pairs) {
    const { r, s, yParity } = signatureOf(key, toHex(digest));
    const other = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' });
    expect([yParity, r, s]).toEqual([other[0], toHex(other.slice(1, 33)), toHex(other.slice(33))]);
    expect(BigInt(s) <= order >> 1n).toBe(true);
  }
});

it('takes no contract of tokens, and not our own sweeper, for an address that money can go to', () => {
  const sweeper = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
  const { chain } = parseConfig({ ETH_SWEEPER_CONTRACT: sweeper });
  const { ethereum, base } = createCodecs(chain);
  expect([sweeper, sweeper.toLowerCase()].map((address) => ethereum.normalise(address))).toEqual([null, null]);
  expect(base.normalise(sweeper)).toBe(sweeper);
});

it('refuses what is no key', () => {
  for (const key of [bytesOf(0n), bytesOf(order), Buffer.alloc(31, 1)])
    expect(() => signatureOf(key, toHex(randomBytes(32)))).toThrow();
});
