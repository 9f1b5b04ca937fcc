import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { followInvoices } from '../../activities/lightning/follow';
import { readInvoice } from '../../chains/lightning/invoice';
import { lndInvoices, type LndInvoices } from '../../chains/lightning/invoices';
import { rightsIn } from '../../chains/lightning/macaroon';
import { macaroonRights } from '../../chains/lightning/node';
import { lndPayments, type LndPayments } from '../../chains/lightning/payments';
import { capacityOf, lndReadings, type LndReadings } from '../../chains/lightning/readings';
import { audit } from '../../db/audit/audit';
import {
  invoiceBlocks,
  newRecord,
  nextHeldStep,
  recordAfter,
  type HeldRecord,
} from '../../domain/lightning/held-money';
import { withLogin } from '../../sandbox/chain-tools';
import { bitcoinCall, mineBitcoin } from '../../sandbox/miner';
import { startBtcd } from '../../sandbox/parts/btcd';
import { startLnd, type LndNode } from '../../sandbox/parts/lightning';
import { bitcoinDoor, freshenBitcoin } from '../../sandbox/parts/lightning/bitcoin-door';
import {
  addressOf,
  bakeMacaroon,
  openChannel,
  until,
  untilActive,
  untilFunded,
  untilSynced,
} from '../../sandbox/parts/lightning/channels';
import type { Part } from '../../sandbox/parts/part';
import { Payer } from '../../sandbox/payer';
import { freePort } from '../../sandbox/ports';
import { payerBitcoinKey } from '../../sandbox/secrets';
import { aPaymentWithInvoice, askedMsat, type Offered } from '../activities/lightning-shop';
import { connectionsTo, freshDatabase, urlFor } from '../setup/postgres';
import { bytes, written } from './lightning-writer';

/** The adapter of lnd, the rule of held money and the rows of invoices on real nodes: ours and a payer's, with one
 *  channel, on a Bitcoin node of their own. Run where it is asked for: TESTS_WITH=lightning. */

const withNodes = process.env.LND_PATH ? describe : describe.skip;

const login = { user: 'u', password: 'secret' };
const away = { code: 'NODE_UNREACHABLE' };
const asked = { amountMsat: 50_000_000n, description: 'tea', expirySeconds: 900, cltvBlocks: invoiceBlocks };
const secret = () => {
  const preimage = randomBytes(32);
  return { preimage: preimage.toString('hex'), hash: createHash('sha256').update(preimage).digest('hex') };
};

/** Other cases of this file have invoices that no row is for. */
async function* noInvoices(): AsyncGenerator<never, void> {}

withNodes('lnd', () => {
  let dataDir: string;
  const stops: (() => Promise<unknown>)[] = [];
  let btcd: Part;
  let mine: (blocks?: number) => Promise<unknown>;
  let chainHeight: () => Promise<number>;
  let ours: LndNode;
  let theirs: LndNode;
  let invoices: LndInvoices;
  let readings: LndReadings;
  let payments: LndPayments;
  /** The payer's node pays, and makes invoices that we pay. */
  let their: Readonly<{ invoices: LndInvoices; payments: LndPayments }>;
  const macaroons: Record<'invoices' | 'readings' | 'payments', string> = { invoices: '', readings: '', payments: '' };

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-lightning-'));
    const mnemonic = generateMnemonic(wordlist);
    const { address } = payerBitcoinKey(mnemonic);
    const node = await startBtcd({ dataDir, port: await freePort(), ...login, miningAddress: address });
    const btcRpcUrl = withLogin(node);
    btcd = node;
    stops.push(() => node.stop());
    mine = (blocks = 1) => mineBitcoin(btcRpcUrl, blocks);
    chainHeight = () => bitcoinCall<number>(btcRpcUrl, 'getblockcount');
    const payer = new Payer({ btcRpcUrl, ethRpcUrl: 'http://127.0.0.1:1' }, {}, mnemonic);
    await payer.fund();
    const door = await bitcoinDoor({ dataDir, port: await freePort(), btcdPort: parseInt(new URL(node.url).port, 10) });
    stops.push(door.shut);
    const bitcoin = { ...door, ...login, freshen: () => freshenBitcoin(btcRpcUrl) };
    const started = async (name: string): Promise<LndNode> => {
      const ports = { rest: await freePort(), rpc: await freePort(), peers: await freePort() };
      const lnd = await startLnd({ name, dataDir, ports, bitcoin });
      stops.push(() => lnd.stop());
      return lnd;
    };
    [ours, theirs] = await Promise.all([started('lnd-ours'), started('lnd-theirs')]);
    await payer.pay('BTC', await addressOf(theirs), '0.2');
    await mine();
    await untilFunded(theirs);
    await openChannel(theirs, ours, { capacity: 10_000_000n, pushed: 4_000_000n, mine });
    const bake = bakeMacaroon;
    macaroons.invoices = await bake(ours, [
      ['invoices', 'read'],
      ['invoices', 'write'],
    ]);
    macaroons.readings = await bake(ours, [
      ['info', 'read'],
      ['invoices', 'read'],
      ['offchain', 'read'],
      ['onchain', 'read'],
    ]);
    macaroons.payments = await bake(ours, [
      ['offchain', 'read'],
      ['offchain', 'write'],
    ]);
    invoices = lndInvoices(ours.login(macaroons.invoices), 'regtest');
    readings = lndReadings(ours.login(macaroons.readings), 'regtest');
    payments = lndPayments(ours.login(macaroons.payments));
    their = { invoices: lndInvoices(theirs.login(), 'regtest'), payments: lndPayments(theirs.login()) };
  });
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const pay = (payments: LndPayments, invoice: string) =>
    payments.pay({ invoice, feeLimitMsat: 10_000n, timeoutSeconds: 30, maxParts: 4 });
  /** Looks until it is so; a node needs moments for what it was told. */
  async function eventually<T extends Readonly<{ state: string }>>(
    look: () => Promise<T>,
    state: T['state'],
  ): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      const seen = await look();
      if (seen.state === state || tries > 300) {
        expect(seen.state).toBe(state);
        return seen;
      }
      await sleep(100);
    }
  }
  /** An invoice of ours whose money our node holds. */
  async function heldInvoice(more: object = {}) {
    const { preimage, hash } = secret();
    const { text } = await invoices.create({ ...asked, ...more, hash });
    expect(await pay(their.payments, text)).toEqual({ state: 'under way' });
    const sighting = await eventually(() => invoices.lookUp(hash), 'accepted');
    return { preimage, hash, text, sighting };
  }
  const capacity = async () => capacityOf(await readings.channels());

  it('knows its network, its height and its channel, both ways', async () => {
    expect(await readings.info()).toMatchObject({ network: 'regtest', isSynced: true });
    const [channel, ...more] = await readings.channels();
    expect(more).toEqual([]);
    expect(channel).toMatchObject({ isActive: true, capacity: 10_000_000n });
    expect(channel!.sendable).toBeGreaterThan(3_800_000n);
    expect(channel!.receivable).toBeGreaterThan(5_500_000n);
    // What was pushed to us, less what the way of the channel's own transactions may cost.
    const holds = await readings.holds();
    expect(holds).toBeGreaterThan(3_900_000_000n);
    expect(holds).toBeLessThanOrEqual(4_000_000_000n);
    const backup = await readings.backup();
    expect(backup.channels).toEqual([channel!.point]);
    expect(backup.sealed.length).toBeGreaterThan(100);
  });

  it('writes an invoice that both of us read alike, and the same one when asked again', async () => {
    const { hash } = secret();
    const { text, invoice } = await invoices.create({ ...asked, hash });
    const { amountMsat, payee, createdAt, expiresAt } = invoice;
    expect(await readings.decode(text)).toEqual({ amountMsat, hash, payee, createdAt, expiresAt });
    expect(invoice).toMatchObject({ amountMsat: asked.amountMsat, description: 'tea', cltvBlocks: invoiceBlocks });
    expect((await invoices.create({ ...asked, hash })).text).toBe(text);
    await expect(invoices.create({ ...asked, hash, amountMsat: 1n })).rejects.toMatchObject({
      code: 'INTENT_MISMATCH',
    });
    expect(await invoices.lookUp(hash)).toMatchObject({ state: 'open', paidMsat: 0n, text });
    expect(await invoices.lookUp(secret().hash)).toEqual({ state: 'unknown' });
    expect(await invoices.settle(secret().preimage)).toBe('unknown');
    expect(await payments.track(secret().hash)).toEqual({ state: 'unknown' });
  });

  it('writes into each macaroon what it is for, as we read it', async () => {
    expect(rightsIn(macaroons.invoices)).toEqual(macaroonRights.LIGHTNING_INVOICE_MACAROON_FILE);
    expect(rightsIn(macaroons.readings)).toEqual(macaroonRights.LIGHTNING_READ_MACAROON_FILE);
    expect(rightsIn(ours.login().macaroon)).toEqual(expect.arrayContaining(['offchain:write', 'onchain:write']));
  });

  it('lets each macaroon do what it is for, and nothing else', async () => {
    const { hash } = secret();
    const denied = { ...away, message: expect.stringContaining('permission denied') };
    const { text } = await their.invoices.create({ ...asked, hash });
    for (const macaroon of [macaroons.invoices, macaroons.readings])
      expect(await pay(lndPayments(ours.login(macaroon)), text)).toEqual({
        ...{ state: 'refused', reason: expect.stringContaining('permission denied') },
      });
    for (const macaroon of [macaroons.payments, macaroons.readings]) {
      const other = lndInvoices(ours.login(macaroon), 'regtest');
      await expect(other.create({ ...asked, hash })).rejects.toMatchObject(denied);
      await expect(other.settle(hash)).rejects.toMatchObject(denied);
    }
    await expect(lndReadings(ours.login(macaroons.invoices), 'regtest').channels()).rejects.toMatchObject(denied);
    expect(await payments.track(hash)).toEqual({ state: 'unknown' });
  });

  it('takes held money once it is told, and says so as often as it is asked', async () => {
    const before = await capacity();
    const { preimage, hash, text, sighting } = await heldInvoice();
    const { height } = await readings.info();
    expect(sighting).toMatchObject({ paidMsat: asked.amountMsat, askedMsat: asked.amountMsat, text });
    expect((sighting as { expiryHeight: number }).expiryHeight - height).toBeGreaterThanOrEqual(invoiceBlocks);
    const pending = [];
    for await (const one of invoices.pending()) pending.push([one.hash, one.state]);
    expect(pending).toContainEqual([hash, 'accepted']);
    const watched: string[] = [];
    const watching = (async () => {
      for await (const { state } of invoices.watch(hash, AbortSignal.timeout(30_000))) watched.push(state);
    })();
    await eventually(() => their.payments.track(hash), 'under way');
    for (let n = 0; n < 100 && !watched.length; n += 1) await sleep(50);
    expect([await invoices.settle(preimage), await invoices.settle(preimage)]).toEqual(['done', 'done']);
    await watching;
    expect(watched).toEqual(['accepted', 'settled']);
    expect(await invoices.lookUp(hash)).toMatchObject({ state: 'settled', paidMsat: asked.amountMsat });
    expect(await invoices.cancel(hash)).toBe('settled already');
    expect(await eventually(() => their.payments.track(hash), 'paid')).toMatchObject({ preimage, feeMsat: 0n });
    // Paid again it is the same payment.
    expect(await pay(their.payments, text)).toEqual({ state: 'refused', reason: 'invoice is already paid' });
    await until('the channel has it', async () => (await capacity()).sendable === before.sendable + 50_000n);
  });

  it('sends held money back, and takes nothing for that invoice any more', async () => {
    const { preimage, hash, text } = await heldInvoice();
    expect([await invoices.cancel(hash), await invoices.cancel(hash)]).toEqual(['done', 'done']);
    expect(await invoices.settle(preimage)).toBe('cancelled already');
    expect(await invoices.lookUp(hash)).toMatchObject({ state: 'cancelled', paidMsat: 0n });
    await eventually(() => their.payments.track(hash), 'failed');
    await pay(their.payments, text);
    await eventually(() => their.payments.track(hash), 'failed');
  });

  it('refuses to settle what has not come', async () => {
    const { preimage, hash } = secret();
    await invoices.create({ ...asked, hash });
    expect(await invoices.settle(preimage)).toBe('still open');
  });

  it('holds money over its own end and that of the payer, and takes it then', async () => {
    const { preimage, hash } = await heldInvoice();
    await Promise.all([ours.kill9(), theirs.kill9()]);
    await expect(readings.info()).rejects.toMatchObject(away);
    await Promise.all([ours.start(), theirs.start()]);
    await Promise.all([untilActive(ours), untilActive(theirs)]);
    expect(await invoices.lookUp(hash)).toMatchObject({ state: 'accepted', paidMsat: asked.amountMsat });
    expect(await their.payments.track(hash)).toEqual({ state: 'under way' });
    expect(await invoices.settle(preimage)).toBe('done');
    expect(await eventually(() => their.payments.track(hash), 'paid')).toMatchObject({ preimage });
  });

  it('has what it took as incoming while the other side is away, and as its own once that is back', async () => {
    const { preimage, hash } = await heldInvoice();
    const held = { hash, msat: asked.amountMsat + 999n };
    expect(await readings.incoming()).toContainEqual(held);
    const before = await readings.holds();
    await theirs.kill9();
    expect(await invoices.settle(preimage)).toBe('done');
    expect(await invoices.lookUp(hash)).toMatchObject({ state: 'settled', paidMsat: asked.amountMsat });
    expect([await readings.incoming(), await readings.holds()]).toEqual([expect.arrayContaining([held]), before]);
    await theirs.start();
    await untilActive(theirs);
    await until('the channel has it', async () => (await readings.holds()) >= before + asked.amountMsat);
    expect(await readings.incoming()).not.toContainEqual(held);
  });

  it('goes on after its Bitcoin node was killed, and opens another channel', async () => {
    await btcd.kill9();
    await btcd.start();
    await mine();
    await Promise.all([untilSynced(ours), untilSynced(theirs)]);
    await openChannel(theirs, ours, { capacity: 2_000_000n, pushed: 500_000n, mine });
    expect(await readings.channels()).toHaveLength(2);
    const { preimage, hash } = await heldInvoice();
    expect(await invoices.settle(preimage)).toBe('done');
    await eventually(() => their.payments.track(hash), 'paid');
  });

  it('pays an invoice once, whatever it is asked', async () => {
    const { preimage, hash } = secret();
    const { text } = await their.invoices.create({ ...asked, hash });
    expect(readInvoice(text).hash).toBe(hash);
    expect([await pay(payments, text), await pay(payments, text)]).toEqual([
      { state: 'under way' },
      // By how far the first one has come.
      { state: 'refused', reason: expect.stringMatching(/^payment (is in transition|already exists)$/) },
    ]);
    await eventually(() => their.invoices.lookUp(hash), 'accepted');
    await their.invoices.settle(preimage);
    const paid = await eventually(() => payments.track(hash), 'paid');
    expect(paid).toEqual({ state: 'paid', amountMsat: asked.amountMsat, feeMsat: 0n, preimage });
    expect(await pay(payments, text)).toMatchObject({ state: 'refused' });
    expect(await payments.track(hash)).toEqual(paid);
  });

  it('refuses what the service takes from nobody, and has then never heard of it', async () => {
    const [p, s, d] = [['p', randomBytes(32)] as const, ['s', bytes(9)] as const, ['d', Buffer.from('tea')] as const];
    const createdAt = Math.floor(Date.now() / 1000);
    const cases = [
      [['x', 2 ** 34] as const, 'invoice expired'],
      [['c', 2013] as const, 'cltv limit 2016 should be greater than 2016'],
    ] as const;
    for (const [field, reason] of cases) {
      const text = written([p, s, d, field], { createdAt });
      expect(await pay(payments, text)).toEqual({ state: 'refused', reason: expect.stringContaining(reason) });
      expect(await payments.track(readInvoice(text).hash)).toEqual({ state: 'unknown' });
    }
  });

  /** What the service will do about an invoice, until it is over. */
  async function followed(hash: string, preimage: string, isWanted: boolean): Promise<HeldRecord> {
    let record = newRecord;
    for (let n = 0; n < 100 && !record.isOver; n += 1) {
      const [sighting, { height, isSynced }] = [await invoices.lookUp(hash), await readings.info()];
      const seen = sighting.state === 'unknown' ? { ...sighting, paidMsat: 0n, expiryHeight: null } : sighting;
      const step = nextHeldStep({
        ...{ record, sighting: seen, height: isSynced ? height : null, isWanted, isPast: false },
        ...{ askedMsat: asked.amountMsat, isLostForGood: false },
      });
      record = recordAfter(record, step);
      if (step.do === 'wait') await sleep(100);
      if (step.do === 'settle') await invoices.settle(preimage);
      if (step.do === 'cancel') await invoices.cancel(hash);
    }
    return record;
  }

  it('books by the rule what it holds: what is wanted, and nothing else', async () => {
    const wanted = await heldInvoice();
    expect(await followed(wanted.hash, wanted.preimage, true)).toEqual({
      ...{ decision: 'take', bookedMsat: asked.amountMsat, isOver: true },
    });
    const dead = await heldInvoice();
    expect(await followed(dead.hash, dead.preimage, false)).toEqual({
      ...{ decision: 'return', bookedMsat: null, isOver: true },
    });
    await eventually(() => their.payments.track(dead.hash), 'failed');
  });

  it('carries the rows of invoices: one is taken and settles its payment, the other goes back', async () => {
    const database = await freshDatabase();
    const roles = ['payments', 'chain'] as const;
    const db = await connectionsTo(database.url).initialize();
    const [asPayments, asChain] = await Promise.all(
      roles.map((role) => connectionsTo(urlFor(database.url, role)).initialize()),
    );
    const keys = [randomBytes(32).toString('hex')] as const;
    const log = { error: (fields: object) => expect(fields).toEqual({}) };
    const follow = () => followInvoices({ db: asChain!, invoices, readings, keys, log });
    const [wanted, dead] = [await aPaymentWithInvoice(db, asPayments!), await aPaymentWithInvoice(db, asPayments!)];
    const statusAndState = async ({ paymentId }: Offered): Promise<unknown> =>
      (
        await db.query<unknown[]>(
          `SELECT p.status, i.state, i.taken_msat FROM payment p JOIN lightning_invoice i ON i.payment_id = p.id
            WHERE p.id = $1`,
          [paymentId],
        )
      )[0];
    expect(await follow()).toBe(2);
    for (const { invoiceId } of [wanted, dead]) {
      const [row] = await db.query<Array<{ hash: string; invoice: string }>>(
        'SELECT hash, invoice FROM lightning_invoice WHERE id = $1',
        [invoiceId],
      );
      await pay(their.payments, row!.invoice);
      await eventually(() => invoices.lookUp(row!.hash), 'accepted');
    }
    await db.query(`UPDATE payment SET status = 'CANCELLED', state_version = state_version + 1 WHERE id = $1`, [
      dead.paymentId,
    ]);
    await db.query('UPDATE merchant_counter SET open_payments = 0 WHERE merchant_id = $1', [dead.merchantId]);
    await until('both are over', async () => (await follow()) === 0);
    expect(await statusAndState(wanted)).toEqual({ status: 'SETTLED', state: 'taken', taken_msat: `${askedMsat}` });
    expect(await statusAndState(dead)).toEqual({ status: 'CANCELLED', state: 'cancelled', taken_msat: null });
    // The macaroon that reads is enough for the audit.
    const { lookUp } = lndInvoices(ours.login(macaroons.readings), 'regtest');
    const { track } = lndPayments(ours.login(macaroons.readings));
    const ofOurs = { ...readings, lookUp, pending: noInvoices, track };
    expect(await audit(db, { lightning: ofOurs })).toEqual([]);
    for (const one of [asChain!, asPayments!, db]) await one.destroy();
    await database.drop();
  });

  it('sends money back by the rule where too few blocks are left, and lnd itself soon after', async () => {
    const [late, forgotten] = [await heldInvoice(), await heldInvoice()];
    await mine(invoiceBlocks - 15);
    const height = await chainHeight();
    await until('our node has these blocks', async () => {
      const info = await readings.info();
      return info.isSynced && info.height === height;
    });
    expect(await followed(late.hash, late.preimage, true)).toMatchObject({ decision: 'return', bookedMsat: null });
    await eventually(() => their.payments.track(late.hash), 'failed');
    expect(await invoices.lookUp(forgotten.hash)).toMatchObject({ state: 'accepted' });
    await mine(12);
    await eventually(() => invoices.lookUp(forgotten.hash), 'cancelled');
    await eventually(() => their.payments.track(forgotten.hash), 'failed');
    expect(await readings.channels()).toEqual([
      expect.objectContaining({ isActive: true }),
      expect.objectContaining({ isActive: true }),
    ]);
  });
});
