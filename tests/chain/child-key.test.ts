import { HDKey } from '@scure/bip32';
import { randomBytes, randomInt } from 'node:crypto';
import { keyPairs } from '../../chains/child-key';
import { keyRoles } from '../../domain/chains/chain';

/** Private keys as BIP 32 derives them, whichever seed and role were asked for before. */

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
      publicKey: Buffer.from(publicKey!),
    });
  }
});
