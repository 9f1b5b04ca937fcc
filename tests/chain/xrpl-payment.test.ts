import { secp256k1 } from '@noble/curves/secp256k1.js';
import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { decode, encode, encodeForSigning } from 'ripple-binary-codec';
import { deriveAddress, deriveKeypair, verify } from 'ripple-keypairs';
import { xrplCodec } from '../../chains/xrpl/codec';
import { checkSigned, type PaymentPlan } from '../../chains/xrpl/payment';
import { readSigned, signFields, txIdOf } from '../../chains/xrpl/signing';
import { xrplChains } from './expiring-networks';

/** Payments of XRP: their bytes, and our own check of them. Vectors: xrpl.js, test/wallet/index.test.ts and
 *  test/fixtures; ripple-keypairs, test/fixtures/api.json. */

const privateKeyOf = (seed: string): Uint8Array =>
  Buffer.from(deriveKeypair(seed, { algorithm: 'ecdsa-secp256k1' }).privateKey.slice(-64), 'hex');

const chain = xrplChains.mainnet;
const codec = xrplCodec(chain);
const seed = Buffer.alloc(64, 7);
const account = codec.derive(codec.extendedKey(seed, 'treasury'), 0);
const plan: PaymentPlan = {
  from: account,
  key: { role: 'treasury', index: 0 },
  to: 'rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY',
  tag: '13371337',
  drops: 25_000_001n,
  feeDrops: 12n,
  sequence: 7,
  lastLedger: 91_000_000,
};

it('signs to the byte as the official library does', () => {
  const vectors = [
    {
      seed: 'shd2nxpFD6iBRKWsRss2P4tKMWyy9',
      fields: {
        TransactionType: 'Payment',
        Flags: 2147483648,
        Account: 'rwiZ3q3D3QuG4Ga2HyGdq3kPKJRGctVG8a',
        Amount: '10000000',
        LastLedgerSequence: 14000999,
        Destination: 'rUeEBYXHo8vF86Rqir3zWGRQ84W9efdAQd',
        Fee: '12',
        Sequence: 12,
        SourceTag: 8888,
        DestinationTag: 9999,
        Memos: [
          {
            Memo: {
              MemoType: '687474703a2f2f6578616d706c652e636f6d2f6d656d6f2f67656e65726963',
              MemoData: '72656e74',
            },
          },
        ],
      },
      raw:
        '120000228000000023000022B8240000000C2E0000270F201B00D5A36761400000000098968068400000000000000C732103' +
        '05E09ED602D40AB1AF65646A4007C2DAC17CB6CDACDE301E74FB2D728EA057CF744730450221009C00E8439E017CA622A5A1' +
        'EE7643E26B4DE9C808DE2ABE45D33479D49A4CEC66022062175BE8733442FA2A4D9A35F85A57D58252AE7B19A66401FE238B' +
        '36FA28E5A081146C1856D0E36019EA75C56D7E8CBA6E35F9B3F71583147FB49CD110A1C46838788CD12764E3B0F837E0DDF9' +
        'EA7C1F687474703A2F2F6578616D706C652E636F6D2F6D656D6F2F67656E657269637D0472656E74E1F1',
      txId: '41B9CB78D8E18A796CDD4B0BC6FB0EA19F64C4F25FDE23049197852CAB71D10D',
    },
    {
      seed: 'ss1x3KLrSvfg7irFc1D929WXZ7z9H',
      fields: {
        TransactionType: 'Payment',
        Account: 'r45Rev1EXGxy2hAUmJPCne97KUE7qyrD3j',
        Destination: 'rQ3PTWGLCbPz8ZCicV5tCX3xuymojTng5r',
        Amount: '20000000',
        Sequence: 1,
        Fee: '12',
      },
      raw:
        '1200002400000001614000000001312D0068400000000000000C732102A8A44DB3D4C73EEEE11DFE54D2029103B776AA8A8D' +
        '293A91D645977C9DF5F5447446304402201C0A74EE8ECF5ED83734D7171FB65C01D90D67040DEDCC66414BD546CE302B5802' +
        '205356843841BFFF60D15F5F5F9FB0AB9D66591778140AB2D137FF576D9DEC44BC8114EE3046A5DDF8422C40DDB93F1D522B' +
        'B4FE6419158314FDB08D07AAA0EB711793A3027304D688E10C3648',
      txId: 'E22186AE9FE477821BF361358174C2B0AC2D3289AA6F7E8C1102B3D270C41204',
    },
    {
      seed: 'ss1x3KLrSvfg7irFc1D929WXZ7z9H',
      fields: {
        TransactionType: 'AccountSet',
        Flags: 2147483648,
        Sequence: 23,
        LastLedgerSequence: 8820051,
        Fee: '12',
        Domain: '6578616D706C652E636F6D',
        Account: 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59',
      },
      raw:
        '12000322800000002400000017201B0086955368400000000000000C732102A8A44DB3D4C73EEEE11DFE54D2029103B776AA' +
        '8A8D293A91D645977C9DF5F54474463044022025464FA5466B6E28EEAD2E2D289A7A36A11EB9B269D211F9C76AB8E8320694' +
        'E002205D5F99CB56E5A996E5636A0E86D029977BEFA232B7FB64ABA8F6E29DC87A9E89770B6578616D706C652E636F6D8114' +
        '5E7B112523F68D2F5E879DB4EAC51C6698A69304',
      txId: '93F6C6CE73C092AA005103223F3A1F557F4C097A2943D96760F6490F04379917',
    },
  ];
  for (const { seed: secret, fields, raw, txId } of vectors) {
    expect(signFields(fields, privateKeyOf(secret))).toEqual({ raw, txId });
    expect(readSigned(raw)).toMatchObject({ Account: fields.Account });
  }
});

it('names a transaction of the main ledger as the ledger does', () => {
  // The page submit of xrpl.org: a payment of a token, and its id.
  const raw =
    '1200002280000000240000016961D4838D7EA4C6800000000000000000000000000055534400000000004B4E9C06F2429607' +
    '4F7BC48F92A97916C6DC5EA9684000000000002710732103AB40A0490F9B7ED8DF29D246BF2D6269820A0EE7742ACDD457BE' +
    'A7C7D0931EDB74473045022100A7CCD11455E47547FF617D5BFC15D120D9053DFD0536B044F10CA3631CD609E502203B61DE' +
    'E4AC027C5743A1B56AF568D1E2B8E79BB9E9E14744AC87F38375C3C2F181144B4E9C06F24296074F7BC48F92A97916C6DC5E' +
    'A983143E9D4A2B8AA0780F682D136F7A56D6724EF53754';
  expect(txIdOf(raw)).toBe('5B31A7518DC304D5327B4887CD1F7DC2C38D5F684170097020C7C9758B973847');
  expect(readSigned(raw)).toMatchObject({ Account: 'rf1BiGeXwwQoi8Z2ueFYTEXSwuJYfV2Jpn', Sequence: 361, Fee: '10000' });
});

it('writes the fields of its plan, and no other', () => {
  const signed = codec.sign(seed, plan);
  const { TxnSignature, SigningPubKey, ...fields } = decode(signed.raw) as Record<string, string>;
  expect(fields).toEqual({
    TransactionType: 'Payment',
    Flags: 0x8000_0000,
    Account: account,
    Destination: plan.to,
    DestinationTag: 13371337,
    Amount: '25000001',
    Fee: '12',
    Sequence: 7,
    LastLedgerSequence: 91_000_000,
  });
  expect(deriveAddress(SigningPubKey!)).toBe(account);
  expect(verify(encodeForSigning(decode(signed.raw)), TxnSignature!, SigningPubKey!)).toBe(true);
  expect(signed.lastLedger).toBe(91_000_000);
  expect(codec.decode(signed.raw)).toEqual({ txId: signed.txId, account, sequence: 7, lastLedger: 91_000_000 });
  expect(codec.sign(seed, plan)).toEqual(signed);
});

it('names the network where its id asks for it, and nowhere else', () => {
  const named = (networkId: number): unknown =>
    decode(xrplCodec({ networkId, isTest: true }).sign(seed, plan).raw).NetworkID;
  expect([0, 1, 2, 1024].map(named)).toEqual([undefined, undefined, undefined, undefined]);
  expect([1025, xrplChains.simulator.networkId].map(named)).toEqual([1025, xrplChains.simulator.networkId]);
});

it('refuses a plan that the ledger would refuse, or take and lose', () => {
  const wrong: ReadonlyArray<Partial<PaymentPlan>> = [
    { drops: 0n },
    { drops: -1n },
    { drops: 100_000_000_000_000_001n },
    { feeDrops: 0n },
    { feeDrops: 1_000_001n },
    { sequence: 0 },
    { sequence: 1.5 },
    { sequence: 2 ** 32 },
    { lastLedger: 0 },
    { lastLedger: 2 ** 32 },
    { lastLedger: Number.NaN },
    { tag: '4294967296' },
    { tag: '01' },
    { tag: '' },
    { to: account },
    { to: 'rrrrrrrrrrrrrrrrrrrrrhoLvTp' },
    { to: 'XV5sbjUmgPpvXv4ixFWZ5ptAYZ6PD2qwGkhgc48zzcx6Gkr' },
  ];
  for (const one of wrong)
    expect(() => codec.sign(seed, { ...plan, ...one })).toThrow(expect.objectContaining({ code: 'INTENT_MISMATCH' }));
  expect(() => codec.sign(seed, { ...plan, key: { role: 'gas', index: 0 } })).toThrow(
    expect.objectContaining({ code: 'KEY_MISMATCH' }),
  );
});

const ownKey = HDKey.fromMasterSeed(seed).derive("m/44'/144'/1'/0/0").privateKey!;
/** The bytes of other fields, signed with the right key. */
const signedAs = (change: Record<string, unknown>): string => {
  const { TxnSignature: _, SigningPubKey: __, ...fields } = decode(codec.sign(seed, plan).raw);
  const changed = Object.fromEntries(Object.entries({ ...fields, ...change }).filter(([, value]) => value !== null));
  return signFields(changed, ownKey).raw;
};

it('lets no bytes go whose fields are not those of the plan, though they are signed with the right key', () => {
  expect(() => checkSigned(chain, plan, signedAs({}))).not.toThrow();
  const changes: ReadonlyArray<Record<string, unknown>> = [
    { Amount: '25000002' },
    { Amount: { currency: 'USD', issuer: account, value: '25' } },
    { Destination: 'rf1BiGeXwwQoi8Z2ueFYTEXSwuJYfV2Jpn' },
    { DestinationTag: 1 },
    { DestinationTag: null },
    { Fee: '13' },
    { Sequence: 8 },
    { LastLedgerSequence: 91_000_001 },
    { LastLedgerSequence: null },
    { Flags: 0x8002_0000 },
    { Flags: null },
    { SendMax: '25000001' },
    { SourceTag: 1 },
    { NetworkID: 1025 },
    { Account: 'rf1BiGeXwwQoi8Z2ueFYTEXSwuJYfV2Jpn' },
    { TransactionType: 'AccountDelete', Amount: null },
    { Memos: [{ Memo: { MemoData: '00' } }] },
  ];
  for (const change of changes)
    expect(() => checkSigned(chain, plan, signedAs(change))).toThrow(
      expect.objectContaining({ code: 'INTENT_MISMATCH' }),
    );
});

it('lets no bytes go that another key has signed, that are not signed, or that have a second id', () => {
  const { raw } = codec.sign(seed, plan);
  const { TxnSignature, SigningPubKey, ...fields } = decode(raw) as Record<string, string>;
  const fault = expect.objectContaining({ code: 'INTENT_MISMATCH' });
  expect(() => checkSigned(chain, plan, signFields(fields, privateKeyOf('shd2nxpFD6iBRKWsRss2P4tKMWyy9')).raw)).toThrow(
    fault,
  );
  expect(() => checkSigned(chain, plan, encode({ ...fields, SigningPubKey }))).toThrow(fault);
  const other = codec.sign(seed, { ...plan, sequence: 8 });
  const otherSignature = (decode(other.raw) as Record<string, string>).TxnSignature;
  expect(() => checkSigned(chain, plan, encode({ ...fields, SigningPubKey, TxnSignature: otherSignature }))).toThrow(
    fault,
  );
  // The same signature with the high s is as right by mathematics, and gives the transaction another id.
  const low = secp256k1.Signature.fromHex(TxnSignature!, 'der');
  const high = new secp256k1.Signature(low.r, secp256k1.Point.Fn.ORDER - low.s);
  const twin = encode({ ...fields, SigningPubKey, TxnSignature: high.toHex('der').toUpperCase() });
  expect(() => checkSigned(chain, plan, twin)).toThrow('not canonical');
  for (const broken of [raw.slice(0, -2), `${raw}00`, raw.toLowerCase(), '', 'zz'])
    expect(() => checkSigned(chain, plan, broken)).toThrow(fault);
});

it('reads back what it has signed, whatever the plan', () => {
  fc.assert(
    fc.property(
      fc.record({
        drops: fc.bigInt({ min: 1n, max: 100_000_000_000_000_000n }),
        feeDrops: fc.bigInt({ min: 1n, max: 1_000_000n }),
        sequence: fc.integer({ min: 1, max: 0xffff_ffff }),
        lastLedger: fc.integer({ min: 1, max: 0xffff_ffff }),
        tag: fc.option(fc.integer({ min: 0, max: 0xffff_ffff }).map(String), { nil: undefined }),
      }),
      (some) => {
        const { raw, txId, lastLedger } = codec.sign(seed, { ...plan, ...some });
        const fields = decode(raw) as Record<string, string | number | undefined>;
        expect(BigInt(fields.Amount!)).toBe(some.drops);
        expect(BigInt(fields.Fee!)).toBe(some.feeDrops);
        expect([fields.Sequence, fields.LastLedgerSequence]).toEqual([some.sequence, some.lastLedger]);
        expect(fields.DestinationTag?.toString()).toBe(some.tag);
        expect(lastLedger).toBe(some.lastLedger);
        expect(txIdOf(raw)).toBe(txId);
        expect(secp256k1.Signature.fromHex(String(fields.TxnSignature), 'der').hasHighS()).toBe(false);
      },
    ),
    { numRuns: 100 },
  );
});
