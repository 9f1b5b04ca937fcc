import { HDKey } from '@scure/bip32';
import { randomBytes, randomInt } from 'node:crypto';
import { p2wpkh } from '@scure/btc-signer';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { keyPairs } from '../../chains/child-key';
import { createCodecs } from '../../chains/codecs';
import { keyRoles } from '../../domain/chains/chain';
import { parseConfig } from '../../domain/config';

/** Keys and addresses as BIP 32 derives them, whichever were asked for before. */

it('gives the addresses that BIP 32 in JavaScript gives, for random keys, branches and indexes', () => {
  const { bitcoin, ethereum } = createCodecs(parseConfig({ NODE_ENV: 'test', BTC_NETWORK: 'mainnet' }).chain);
  const mainnet = { bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 };
  const xpubs = Array.from({ length: 8 }, () => HDKey.fromMasterSeed(randomBytes(64)).publicExtendedKey);
  for (let n = 0; n < 60; n += 1) {
    const xpub = xpubs[n % xpubs.length]!;
    const index = n < 2 ? n : n < 4 ? 2 ** 31 - n + 1 : randomInt(2 ** 31);
    const branch = n % 3;
    const publicKey = HDKey.fromExtendedKey(xpub).deriveChild(branch).deriveChild(index).publicKey!;
    expect(bitcoin.derive(xpub, index, branch)).toBe(p2wpkh(publicKey, mainnet).address);
    expect(ethereum.derive(xpub, index, branch)).toBe(
      publicKeyToAddress(bytesToHex(secp256k1.Point.fromBytes(publicKey).toBytes(false))),
    );
  }
});

it('derives what BIP 32 derives, for each seed and role', () => {
  const account = (seed: Uint8Array, role: (typeof keyRoles)[number]): HDKey =>
    HDKey.fromMasterSeed(seed).derive(`m/44'/60'/${keyRoles.indexOf(role)}'`);
  const pairOf = keyPairs(account);
  const seeds = [randomBytes(64), randomBytes(64)];
  for (let n = 0; n < 60; n += 1) {
    const [seed, role] = [seeds[n % 2]!, keyRoles[n % keyRoles.length]!];
    const index = n < 2 ? n : randomInt(2 ** 31);
    const branch = n % 5;
    const { privateKey, publicKey } = account(seed, role).deriveChild(branch).deriveChild(index);
    expect(pairOf(seed, { role, index, ...(branch ? { branch } : {}) })).toEqual({
      privateKey: new Uint8Array(privateKey!),
      publicKey: new Uint8Array(publicKey!),
    });
  }
});
