import { bech32 } from '@scure/base';
import { generateMnemonic, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapterOf, createCodec } from '../../chains/adapters';
import { registered } from '../../chains/codecs';
import { addressOfScript } from '../../chains/utxo/codec';
import { assetOf, utxoNetworks } from '../../domain/chains/assets';
import type { Coin } from '../../domain/chains/chain';
import { toUnits } from '../../domain/money';
import { dropBitcoin, withLogin } from '../../sandbox/chain-tools';
import { bitcoinCall } from '../../sandbox/miner';
import { startLitecoind } from '../../sandbox/parts/litecoind';
import { Payer } from '../../sandbox/payer';
import { freePort } from '../../sandbox/ports';
import { payerAddressOn } from '../../sandbox/secrets';
import { chainContract, type Fixture } from './contract';

const path = process.env.LITECOIND_PATH ?? '/usr/bin/litecoind';
const isThere = existsSync(path);
if (!isThere && process.env.CI) throw new Error('No litecoind: set LITECOIND_PATH, or install the litecoind package');
const withNode = isThere ? describe : describe.skip;

const chain = { chainNames: { litecoin: 'regtest' }, chainIds: {}, tokenContracts: {}, sweepers: {} } as const;
const login = { user: 'u', password: 'secret' };
const at = (url: string) => adapterOf(registered('litecoin'), chain, { url, ...login });
const hashed = (name: string, data: Uint8Array): Buffer => createHash(name).update(data).digest();
const segwit = (prefix: string, program: Uint8Array): string =>
  bech32.encode(prefix, [0, ...bech32.toWords(program)], 200);
const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);
/** A stealth address from Litecoin Core: src/wallet/test/scriptpubkeyman_tests.cpp. */
const stealth =
  'ltcmweb1qq20e2arnhvxw97katjkmsd35agw3capxjkrkh7dk8d30rczm8ypxuq329' +
  'nwh2twmchhqn3jqh7ua4ps539f6aazh79jy76urqht4qa59ts3at6gf';

withNode('Litecoin', () => {
  const mnemonic = generateMnemonic(wordlist);
  const mineTo = payerAddressOn(mnemonic, 'litecoin');
  let fixture: Fixture;
  let payer: Payer;
  /** With user and password in it. */
  let url: string;
  const ask = <T>(method: string, ...params: unknown[]): Promise<T> => bitcoinCall<T>(url, method, params);
  const inWallet = <T>(wallet: string, method: string, ...params: unknown[]): Promise<T> =>
    bitcoinCall<T>(`${url}/wallet/${wallet}`, method, params);

  async function node(options: { replaces?: boolean } = {}) {
    const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-litecoin-'));
    const part = await startLitecoind({ dataDir, port: await freePort(), ...login, miningAddress: mineTo, ...options });
    const chains = {
      ethRpcUrl: 'http://127.0.0.1:1',
      btcRpcUrl: 'http://127.0.0.1:1',
      coins: { LTC: { url: withLogin(part), mineTo } },
    };
    const stop = async (): Promise<void> => {
      await part.stop();
      rmSync(dataDir, { recursive: true, force: true });
    };
    return { part, url: chains.coins.LTC.url, payer: new Payer(chains, {}, mnemonic), stop };
  }

  async function start(): Promise<Fixture> {
    const running = await node({ replaces: true });
    ({ url, payer } = running);
    await ask('createwallet', 'open');
    fixture = {
      adapter: at(running.part.url),
      url: running.part.url,
      at,
      addressOf: (publicKey) => segwit('rltc', hashed('ripemd160', hashed('sha256', publicKey))),
      respell: (given) => [given.toUpperCase()],
      notAddresses: [
        segwit('ltc', randomBytes(20)), // of the main network
        segwit('tltc', randomBytes(20)), // of the test network
        segwit('bcrt', randomBytes(20)), // of Bitcoin
        'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
        'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9',
        '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
        '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
        segwit('tmweb', randomBytes(66)), // of the extension block
        stealth,
        mineTo.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q')),
      ],
      pay: async (currency, to, amount) => (await payer.pay(currency, to, amount)).txId,
      payer: () => mineTo,
      mine: (blocks) => payer.mine('LTC', blocks),
      // To another address: otherwise the same second would bring the same block again.
      async reorg(depth) {
        await dropBitcoin(url, depth);
        await ask('generatetoaddress', depth + 1, await inWallet('open', 'getnewaddress', '', 'bech32'));
      },
      unknownId: randomBytes(32).toString('hex'),
      stop: running.stop,
    };
    return fixture;
  }

  chainContract('litecoin', start);

  const ours = (index: number): string => fixture.adapter.derive(fixture.adapter.extendedKey(seed, 'deposit'), index);
  const newestBlock = async () => (await fixture.adapter.readBlock((await fixture.adapter.head()).height))!;
  const transferTo = async (address: string) =>
    (await newestBlock()).transfers.find((transfer) => transfer.to === address)!;
  const moving = (coin: Coin, feeUnits = 1000n) =>
    fixture.adapter.sign(seed, {
      kind: 'utxo',
      coins: [coin],
      outputs: [{ address: ours(99), units: coin.units - feeUnits }],
      feeUnits,
    });

  it('takes addresses of every kind that its node gives out, and script addresses of the old version', async () => {
    for (const kind of ['legacy', 'p2sh-segwit', 'bech32']) {
      const address = await inWallet<string>('open', 'getnewaddress', '', kind);
      expect([kind, fixture.adapter.normalise(address)]).toEqual([kind, address]);
    }
    const old = '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc';
    const { address } = await ask<{ address: string }>('validateaddress', old);
    expect(fixture.adapter.normalise(old)).toBe(address);
    expect(address).not.toBe(old);
  });

  it('keeps its blocks over kill -9', async () => {
    const { part, url: own, payer: its, stop } = await node();
    try {
      await its.mine('LTC', 3);
      const before = await bitcoinCall(own, 'getbestblockhash');
      await part.kill9();
      await part.start();
      expect(await bitcoinCall(own, 'getbestblockhash')).toBe(before);
    } finally {
      await stop();
    }
  });

  it('asks for what nodes relay, and is told where that is too little', async () => {
    const { relayfee } = await ask<{ relayfee: number }>('getnetworkinfo');
    const relayed = toUnits(relayfee.toFixed(8), 8);
    const { unitPrice } = (await fixture.adapter.estimateFee())!;
    expect(BigInt(unitPrice) * 1000n).toBeGreaterThanOrEqual(relayed);
    const paid = await payer.pay('LTC', ours(20), '0.1');
    await payer.mine('LTC');
    const { index: vout, units } = await transferTo(ours(20));
    const coin = { txId: paid.txId, vout, units, address: ours(20), key: { role: 'deposit', index: 20 } } as const;
    expect(await fixture.adapter.broadcast(moving(coin, 0n).raw)).toMatchObject({ outcome: 'refused', why: 'fee' });
    const size = fixture.adapter.sizeOf({ inputs: 1, outputs: 1, currency: 'LTC' });
    const least = moving(coin, size * BigInt(unitPrice));
    expect(await fixture.adapter.broadcast(least.raw)).toEqual({ outcome: 'accepted' });
    await payer.mine('LTC');
  });

  it('relays outputs that are worth what counts as a payment, of every kind of address', async () => {
    const dust = assetOf('LTC').dust;
    const kinds = ['legacy', 'p2sh-segwit', 'bech32'];
    for (const kind of kinds) {
      const address = await inWallet<string>('open', 'getnewaddress', '', kind);
      await expect(payer.pay('LTC', address, dust)).resolves.toMatchObject({ amount: dust });
    }
    const address = await inWallet<string>('open', 'getnewaddress', '', 'legacy');
    await expect(payer.pay('LTC', address, '0.000005')).rejects.toThrow(/dust/);
    await payer.mine('LTC');
  });

  it('on a node as it is by default, stays at the price that it was sent at', async () => {
    const usual = await node();
    try {
      const adapter = at(usual.part.url);
      await usual.payer.pay('LTC', ours(30), '0.1');
      await usual.payer.mine('LTC');
      const block = (await adapter.readBlock((await adapter.head()).height))!;
      const { txId, index: vout, units } = block.transfers.find((transfer) => transfer.to === ours(30))!;
      const coin = { txId, vout, units, address: ours(30), key: { role: 'deposit', index: 30 } } as const;
      const [first, better] = [moving(coin, 2000n), moving(coin, 20_000n)];
      expect(await adapter.broadcast(first.raw)).toEqual({ outcome: 'accepted' });
      // What makes us look at each attempt of ours: the first one is found, and nothing is frozen.
      expect(await adapter.broadcast(better.raw)).toMatchObject({ outcome: 'conflict' });
      expect(await adapter.lookUp(first.txId)).toEqual({ state: 'pool' });
      await usual.payer.mine('LTC');
      expect(await adapter.lookUp(first.txId)).toMatchObject({ state: 'mined' });
      expect(await adapter.lookUp(better.txId)).toEqual({ state: 'unknown' });
    } finally {
      await usual.stop();
    }
  });

  describe('with its extension block (MWEB)', () => {
    let hidden: string;

    beforeAll(async () => {
      const open = await inWallet<string>('open', 'getnewaddress', '', 'bech32');
      await payer.pay('LTC', open, '20');
      await payer.mine('LTC');
      await ask('createwallet', 'hidden');
      hidden = await inWallet<string>('hidden', 'getnewaddress', '', 'mweb');
      await inWallet('open', 'sendtoaddress', hidden, 10);
      await payer.mine('LTC');
    });

    it('is in force, and its addresses are refused with a reason', async () => {
      const { softforks } = await ask<{ softforks: { mweb: { active: boolean } } }>('getblockchaininfo');
      expect(softforks.mweb.active).toBe(true);
      expect(fixture.adapter.normalise(hidden)).toBeNull();
      expect(fixture.adapter.refusalOf(hidden)).toContain('MWEB');
    });

    it('pays by a transaction that shows in no pool, and pays in its block like any other', async () => {
      const wrapped = await inWallet<string>('hidden', 'sendtoaddress', ours(40), 1.5);
      const pool = await fixture.adapter.readMempool(new Set());
      expect([...pool.ids]).toEqual([wrapped]);
      expect([...pool.failed]).toEqual([]);
      expect(pool.transfers.filter((transfer) => transfer.to === ours(40))).toEqual([]);
      await payer.mine('LTC');
      const block = await newestBlock();
      const [transfer, ...more] = block.transfers.filter((one) => one.to === ours(40));
      expect(more).toEqual([]);
      expect(transfer).toMatchObject({ currency: 'LTC', units: 150_000_000n, txId: block.txIds.at(-1) });
      expect(await fixture.adapter.verify({ ...transfer!, currency: 'LTC' }, block.hash)).toBe(150_000_000n);
      const sources = await fixture.adapter.sources(transfer!);
      expect(sources.length).toBeGreaterThan(0);
      for (const source of sources) expect(source).toMatch(/^script:/);
      expect(await fixture.adapter.readBlock(block.height)).toEqual(block);
    });

    it('lets go of what it paid after six blocks, and not before', async () => {
      await inWallet('hidden', 'sendtoaddress', ours(41), 1.5);
      await payer.mine('LTC');
      const { txId, index: vout, units } = await transferTo(ours(41));
      const coin = { txId, vout, units, address: ours(41), key: { role: 'deposit', index: 41 } } as const;
      const { raw } = moving(coin);
      await payer.mine('LTC', registered('litecoin').network.confirmations - 2);
      expect(await fixture.adapter.broadcast(raw)).toMatchObject({ outcome: 'refused', why: 'other' });
      await payer.mine('LTC');
      expect(await fixture.adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
      await payer.mine('LTC');
    });

    it('is paid into beside payments, which are seen', async () => {
      const into = await inWallet<string>('open', 'sendtoaddress', hidden, 1);
      const { txId } = await payer.pay('LTC', ours(42), '0.25');
      const pool = await fixture.adapter.readMempool(new Set());
      expect([...pool.ids].toSorted()).toEqual([into, txId].toSorted());
      expect([...pool.failed]).toEqual([]);
      const seen = pool.transfers.filter((transfer) => transfer.to === ours(42));
      expect(seen).toMatchObject([{ txId, units: 25_000_000n }]);
      await payer.mine('LTC');
      expect(await transferTo(ours(42))).toEqual(seen[0]);
    });
  });
});

describe('Litecoin without a node', () => {
  const codec = (name: string) => createCodec('litecoin', { ...chain, chainNames: { litecoin: name } });
  const main = codec('mainnet');
  const mainChain = utxoNetworks().find(({ id }) => id === 'litecoin')!.chains.mainnet!;

  // The mnemonic of BIP 84 at m/84'/2'/0'/0, 2 being the coin type of SLIP-44; Trust Wallet Core gives the same.
  it('derives the addresses of BIP 84 with its own coin type', () => {
    const account = main.extendedKey(seed, 'deposit');
    expect([0, 1].map((index) => main.derive(account, index))).toEqual([
      'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh',
      'ltc1qwlezpr3890hcp6vva9twqh27mr6edadreqvhnn',
    ]);
  });

  // Addresses and their scripts from the tests of Litecoin Core: src/test/data/key_io_valid.json.
  it.each([
    ['P2PKH', 'LT2KVaAy1ppRuxRgrS5RNU3vBsy7RibPeA', '76a914558dbca7118cd5894502767c7b2ffc21a22f54db88ac'],
    ['P2SH', 'MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2', 'a9146d328a5b2a20d943a641c8d29b6cc3c2d2df85d387'],
    ['P2WPKH', 'ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w', '0014bb6ec1bb3a1a01381d2251d79cbee1b8e86f73ee'],
    [
      'P2WSH',
      'ltc1qa9dykljtgeayhm8ygx25sc22p0wzgudpe4hw9dyvaz0ye3j5kduq9mf68z',
      '0020e95a4b7e4b467a4bece4419548614a0bdc2471a1cd6ee2b48ce89e4cc654b378',
    ],
    [
      'P2TR',
      'ltc1ppu2gv0tujus0f6eggrk7eqmaf0567x6zer4fcuhz4z7ztzq9u9yseqxltc',
      '51200f14863d7c9720f4eb2840edec837d4be9af1b42c8ea9c72e2a8bc258805e149',
    ],
  ])('takes and reads %s: %s', (_kind, address, script) => {
    expect(main.normalise(address)).toBe(address);
    expect(addressOfScript(script, mainChain)).toBe(address);
  });

  // The same file, of its other chains.
  it.each([
    ['testnet', 'QXaUgLHkZcbJb2j5XgMYzY8cF9YM48Y81Z'],
    ['testnet', 'tltc1qpftpsvdn6mjp8celrkj0qxqy4jlapl959rlwg9'],
    ['regtest', 'QgDNrG4nJpE4VV7PcFMFhkTgwAHWxWS7pj'],
    ['regtest', 'rltc1q3kquwp848h4juq7rl5q3wqsr29pd3d6wprzz8k'],
  ])('takes addresses of %s there alone: %s', (name, address) => {
    expect([codec(name).normalise(address), main.normalise(address)]).toEqual([address, null]);
  });

  // Both spellings: README of python-litecointx.
  it('writes a script address of the old version as the new one', () => {
    expect(main.normalise('3F1c6UWAs9RLN2Mbt5bAJue12VhVCorXzs')).toBe('MMDkQMv8pGGmAXdVyxaW8YtQMCHw7eouma');
  });

  it.each([
    ['of Bitcoin', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'],
    ['of Bitcoin', 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
    ['with a wrong checksum', 'ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4q'],
    ['of a version that nobody spends yet', 'ltc1zjwls6j8c4u'],
  ])('refuses an address %s: %s', (_why, address) => {
    expect([main.normalise(address), main.refusalOf(address)]).toEqual([null, null]);
  });

  it('says that stealth addresses cannot be paid', () => {
    expect(main.normalise(stealth)).toBeNull();
    for (const spelling of [stealth, stealth.toUpperCase()])
      expect(main.refusalOf(spelling)).toMatch(/^MWEB addresses cannot be paid/);
    expect(codec('testnet').refusalOf(segwit('tmweb', randomBytes(66)))).toContain('MWEB');
  });

  // Litecoin Core: src/qt/test/uritests.cpp reads the first, formatBitcoinURI in src/qt/guiutil.cpp writes the second.
  it('has payment URIs as wallets of Litecoin read them', () => {
    const address = 'LEr4HnaeFWYhBmGxCfP2po1NPRueIk8kM2';
    const names = { label: 'Wikipedia Example Address', message: 'Order 7' };
    expect(main.paymentUri(address, 'LTC', '0.001')).toBe('litecoin:LEr4HnaeFWYhBmGxCfP2po1NPRueIk8kM2?amount=0.001');
    expect(main.paymentUri(address, 'LTC', '0.001', names)).toBe(
      'litecoin:LEr4HnaeFWYhBmGxCfP2po1NPRueIk8kM2?amount=0.001&label=Wikipedia%20Example%20Address&message=Order%207',
    );
  });

  it('tells what counsels the payer’s wallet by the same rule', () => {
    const rule = new RegExp(assetOf('LTC').addressRegex);
    for (const address of [main.derive(main.extendedKey(seed, 'deposit'), 5), 'LT2KVaAy1ppRuxRgrS5RNU3vBsy7RibPeA'])
      expect([address, rule.test(address)]).toEqual([address, true]);
    for (const address of [stealth, 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', ''])
      expect([address, rule.test(address)]).toEqual([address, false]);
  });
});
