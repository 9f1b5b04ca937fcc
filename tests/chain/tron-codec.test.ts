import { hex } from '@scure/base';
import { mnemonicToSeedSync } from '@scure/bip39';
import * as fc from 'fast-check';
import { base58Of, evmAddress, fromEvm, hexOf, sha256, zeroAddress } from '../../chains/tron/address';
import { checkSigned, signatureOf, tronCodec } from '../../chains/tron/codec';
import type { TronChain, TronPlan } from '../../chains/tron/plan';
import { readTransaction, signerOf } from '../../chains/tron/read-back';
import { transactionOf } from '../../chains/tron/wire';
import { readTransaction as readAsNode } from '../../sandbox/parts/tron-simulator/transactions';
import { derived, documented, mined, payee, phrase, reference, signed, spellings, times, usdt } from './tron-vectors';

/** Addresses, bytes and signatures, against those of others; and the check that no byte leaves which says something
 *  else than the plan. */

const seed = mnemonicToSeedSync(phrase);
const chain: TronChain = {
  genesis: '0'.repeat(64),
  assets: new Map([
    ['TRX', { decimals: 6, contract: null }],
    ['USDT_TRC20', { decimals: 6, contract: usdt }],
  ]),
  feeLimitCeiling: 100_000_000n,
};
const codec = tronCodec(chain);
const from = derived[1].address;
const base = { from, key: { role: 'deposit', index: 1 }, to: payee, reference, ...times } as const;
const trx: TronPlan = { ...base, currency: 'TRX', units: signed.trx.units, feeLimit: 0n };
const token: TronPlan = { ...base, currency: 'USDT_TRC20', units: signed.token.units, feeLimit: 30_000_000n };

describe('addresses', () => {
  it("are those that tronweb derives, from the account's public key", () => {
    for (const { role, index, address } of derived)
      expect(codec.derive(codec.extendedKey(seed, role), index)).toBe(address);
  });

  it('have one spelling inside, which hex is turned into', () => {
    for (const { base58, hex: digits } of spellings) {
      expect(base58Of(digits)).toBe(base58);
      expect(base58Of(digits.toUpperCase())).toBe(base58);
      expect(hexOf(base58)).toBe(digits);
      expect(fromEvm(evmAddress(base58).slice(2))).toBe(base58);
    }
    expect(codec.normalise(spellings[1].hex)).toBe(spellings[1].base58);
  });

  it('are refused with a wrong checksum, of another chain, of a contract of ours, and the zero address', () => {
    const mistyped = payee.replace('nkr', 'nkq');
    const bitcoin = '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2';
    const ethereum = '0xa614f803B6FD780986A42c78Ec9c7f77e6DeD13C';
    const none = [
      mistyped,
      bitcoin,
      ethereum,
      usdt,
      hexOf(usdt),
      zeroAddress,
      hexOf(zeroAddress),
      '',
      'T',
      `${payee} `,
    ];
    for (const address of none) expect([address, codec.normalise(address)]).toEqual([address, null]);
    expect(codec.normalise(payee)).toBe(payee);
  });

  it('survive both spellings, and one wrong letter never passes', () => {
    const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(bytes, fc.nat(33), fc.nat(57), (given, at, letter) => {
        const address = fromEvm(hex.encode(given));
        expect(base58Of(hexOf(address))).toBe(address);
        const other = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'[letter]!;
        const typed = address.slice(0, at) + other + address.slice(at + 1);
        expect(base58Of(typed)).toBe(typed === address ? address : null);
      }),
    );
  });
});

describe('bytes', () => {
  it('are those of tronweb, of a transfer of TRX and of USDT, signature included', () => {
    for (const [plan, other] of [
      [trx, signed.trx],
      [token, signed.token],
    ] as const) {
      const raw = hex.encode(transactionOf(hex.decode(other.rawData), hex.decode(other.signature)));
      expect(codec.sign(seed, plan)).toEqual({ txId: other.txId, raw, expiresAt: times.expiresAt });
      expect(codec.decode(raw)).toEqual({ txId: other.txId, inputs: [], nonce: null, expiresAt: times.expiresAt });
    }
  });

  it('have the ids and the signers that the network knows', () => {
    expect(hex.encode(sha256(hex.decode(documented.rawData)))).toBe(documented.txId);
    expect(hex.encode(sha256(hex.decode(mined.rawData)))).toBe(mined.txId);
    const digest = hex.decode(mined.txId);
    expect(hexOf(signerOf(digest, hex.decode(mined.signature)))).toBe(mined.owner);
  });

  it('take the bandwidth that the network counts: 267 for TRX, 345 for USDT', () => {
    expect([codec.sizeOf(trx), codec.sizeOf(token)]).toEqual([267n, 345n]);
    expect(BigInt(codec.sign(seed, token).raw.length / 2 + 64)).toBe(345n);
  });

  it('are read the same by both readers, whatever the plan', () => {
    const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => fromEvm(hex.encode(bytes)));
    const plan = fc.record({
      isToken: fc.boolean(),
      to: address.filter((one) => codec.normalise(one) !== null && one !== from),
      units: fc.bigInt(1n, (1n << 63n) - 1n),
      feeLimit: fc.bigInt(1n, chain.feeLimitCeiling),
      timestamp: fc.integer({ min: 1, max: 2 ** 42 }),
      lifeMs: fc.integer({ min: 1, max: 3_600_000 }),
      height: fc.nat(2 ** 31 - 1),
      hash: fc.uint8Array({ minLength: 24, maxLength: 24 }),
    });
    fc.assert(
      fc.property(plan, ({ isToken, to, units, feeLimit, timestamp, lifeMs, height, hash }) => {
        const made: TronPlan = {
          ...base,
          to,
          units,
          timestamp,
          expiresAt: timestamp + lifeMs,
          currency: isToken ? 'USDT_TRC20' : 'TRX',
          feeLimit: isToken ? feeLimit : 0n,
          reference: height.toString(16).padStart(16, '0') + hex.encode(hash),
        };
        const { raw, txId } = codec.sign(seed, made);
        const [ours, nodes] = [readTransaction(raw), readAsNode(raw)];
        expect(ours).toMatchObject({ txId, to, units, from, signer: from, contract: isToken ? usdt : null });
        expect(nodes).toMatchObject({ txId, owner: hexOf(from), timestamp, expiration: timestamp + lifeMs });
        expect(nodes.to).toBe(hexOf(isToken ? usdt : to));
        expect(isToken ? BigInt(`0x${nodes.data.slice(72)}`) : nodes.amount).toBe(units);
        expect(codec.sizeOf(made)).toBe(BigInt(raw.length / 2 + 64));
      }),
      { numRuns: 25 },
    );
  });
});

describe('the check of signed bytes', () => {
  it('refuses bytes of any other plan, field by field', () => {
    const { raw } = codec.sign(seed, token);
    const others: Partial<TronPlan>[] = [
      { to: derived[0].address },
      { from: derived[0].address },
      { units: 25_000_001n },
      { feeLimit: 30_000_001n },
      { timestamp: times.timestamp + 1 },
      { expiresAt: times.expiresAt + 1 },
      { currency: 'TRX' },
      { reference: `0000000003e83b15${reference.slice(16)}` },
      { reference: reference.replace('f31c', 'f31d') },
    ];
    expect(checkSigned(chain, token, raw)).toBe(signed.token.txId);
    for (const other of others)
      expect(() => checkSigned(chain, { ...token, ...other }, raw)).toThrow(/^Signed bytes (say|do not refer)/);
  });

  it('refuses what another key signed, a signature in its higher form, and a second one', () => {
    const rawData = hex.decode(signed.token.rawData);
    const foreign = signatureOf(new Uint8Array(32).fill(1), sha256(rawData));
    expect(() => checkSigned(chain, token, hex.encode(transactionOf(rawData, foreign)))).toThrow('signer');
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const own = signed.token.signature;
    const high = (order - BigInt(`0x${own.slice(64, 128)}`)).toString(16).padStart(64, '0');
    const flipped = hex.decode(`${own.slice(0, 64)}${high}1b`);
    expect(() => checkSigned(chain, token, hex.encode(transactionOf(rawData, flipped)))).toThrow('lower form');
    const { raw } = codec.sign(seed, token);
    expect(() => checkSigned(chain, token, `${raw}1241${own}`)).toThrow('not expected');
  });

  it('refuses fields that no transfer of ours has, and calls that are no transfer', () => {
    const withRaw = (rawData: string): string =>
      hex.encode(transactionOf(hex.decode(rawData), hex.decode(signed.token.signature)));
    // A memo (field 10) before the contract, and the permission of another key (Permission_id, 5) in it.
    const memo = signed.trx.rawData.replace('40e0fcf394ac335a', '40e0fcf394ac33520174' + '5a');
    expect(() => readTransaction(withRaw(memo))).toThrow('Field 10');
    expect(() => readTransaction(withRaw(documented.rawData))).toThrow('Field 5');
    expect(() => readTransaction(withRaw(mined.rawData))).toThrow('no transfer of a token');
    const approve = signed.token.rawData.replace('a9059cbb', '095ea7b3');
    expect(() => readTransaction(withRaw(approve))).toThrow('no transfer of a token');
  });

  it('throws for bytes that are cut off or changed anywhere, or finds another plan', () => {
    const { raw } = codec.sign(seed, token);
    fc.assert(
      fc.property(fc.nat(raw.length / 2 - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bytes = hex.decode(raw);
        bytes[at]! ^= change;
        // v may be written as 0 or 1 as well, and is no part of the id.
        fc.pre(at !== bytes.length - 1);
        expect(() => checkSigned(chain, token, hex.encode(bytes))).toThrow();
        expect(() => checkSigned(chain, token, raw.slice(0, 2 * at))).toThrow();
      }),
      { numRuns: 60 },
    );
  });
});

describe('plans', () => {
  it('are refused that the network would refuse, or that would do something else', () => {
    const wrong: [TronPlan, string][] = [
      [{ ...trx, units: 0n }, 'amount'],
      [{ ...trx, units: 1n << 63n }, 'amount'],
      [{ ...trx, to: from }, 'oneself'],
      [{ ...trx, feeLimit: 1n }, 'no energy'],
      [{ ...trx, to: usdt }, 'no recipient'],
      [{ ...trx, to: hexOf(payee) }, 'one spelling'],
      [{ ...trx, to: zeroAddress }, 'zero address'],
      [{ ...trx, reference: 'f'.repeat(64) }, 'no id of a block'],
      [{ ...trx, expiresAt: times.timestamp }, 'times'],
      [{ ...trx, expiresAt: times.timestamp + 3_600_001 }, 'times'],
      [{ ...trx, currency: 'ETH' }, 'no asset'],
      [{ ...token, feeLimit: 0n }, 'fee limit'],
      [{ ...token, feeLimit: chain.feeLimitCeiling + 1n }, 'fee limit'],
      [{ ...token, units: 1n << 256n }, 'amount'],
      [{ ...token, to: usdt }, 'own contract'],
      [{ ...token, key: { role: 'deposit', index: 2 } }, 'is not of'],
    ];
    for (const [plan, reason] of wrong) expect(() => codec.sign(seed, plan)).toThrow(reason);
    expect(codec.refusalOf(payee)).toBeNull();
    for (const spelling of [hexOf(payee), hexOf(payee).toUpperCase()])
      expect(codec.refusalOf(spelling)).toMatch(/no checksum: give the spelling that begins with T$/);
  });
});
