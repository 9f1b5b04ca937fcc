import { createFollower } from '../../activities/chains/follower';
import { sweepActivities } from '../../activities/payments/payments';
import { signingActivities } from '../../activities/txmanager/signing';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import { tronFamily } from '../../chains/tron/expiring-family';
import type * as Audits from '../../db/audit/audit';
import { auditHoldings } from '../../db/audit/audit-chain';
import type * as Reconciliations from '../../db/audit/reconciliation';
import { requiredDepth } from '../../db/payments/payments';
import type { NetworkId } from '../../domain/chains/assets';
import type { ChainAdapter, KeyRole } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';
import { isZero } from '../../domain/money';
import type { NextIntent } from '../../txmanager/next-intent';
import { sendIntent } from '../../txmanager/send/send';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { simulated, tronFrom, tronNetwork } from '../chain/expiring-networks';
import { register } from '../chain/registering';
import { TronWorld } from '../chain/tron-world';
import { bookEnd } from '../book-end';
import { paymentsAt } from './run-payment';

/** A shop that takes TRX and USDT_TRC20 on the simulator, with the follower, the signer, the API and the database that
 *  are there. */

const network = tronNetwork.id;
/** Index of somebody who has a hundred thousand of each. */
export const payer = 1;
/** As the harness has it. */
const seed = Buffer.alloc(64, 7);
/** Blocks until a deposit counts and is final. */
const deep = 20;

export type Made = { paymentId: string; depositAddress: string; amount: string; invoiceUrl: string };
type Look = () => Promise<void>;

export class TronShop {
  look: Look;

  private constructor(
    private readonly leave: () => void,
    readonly world: TronWorld,
    readonly h: Harness,
    readonly shop: Shop,
    readonly config: Config,
    readonly adapter: ChainAdapter,
    private readonly audit: typeof Audits.audit,
  ) {
    this.look = this.follower();
  }

  /** `isStill`: its newest block is ten minutes old. */
  static async start({ isStill = false } = {}): Promise<TronShop> {
    const world = await TronWorld.start({ genesisTime: Date.now() - 900_000 });
    const leave = register([], tronFrom(world.chain.genesis));
    // Its checks have the registry in them, as it is when they are loaded.
    const { audit } = jest.requireActual<typeof Audits>('../../db/audit/audit');
    const SIGNER_NODES = JSON.stringify({ [network]: world.url });
    const h = await startHarness({ NETWORKS: `bitcoin,ethereum,${network}`, ...simulated, SIGNER_NODES });
    const { config } = h.api.deps;
    const adapter = createAdapter(network, { ...config, TRON_RPC_URL: world.url });
    await h.db.query('DELETE FROM chain_cursor WHERE network = $1', [network]);
    for (const role of ['treasury', 'gas'] as const)
      await h.db.query('INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, $3, 0)', [
        ...[network, adapter.derive(adapter.extendedKey(seed, role), 0), role],
      ]);
    await world.fund(world.addressAt(payer), units(100_000), units(100_000));
    await world.mine(25);
    await createFollower({ db: h.db, adapter, config, log: quiet })();
    const shop = await h.shop({}, ['TRX', 'USDT_TRC20']);
    const tron = new TronShop(leave, world, h, shop, config, adapter, audit);
    if (!isStill) await tron.toNow();
    return tron;
  }

  get db(): Harness['db'] {
    return this.h.db;
  }

  /** A follower that begins where the last one stood. */
  follower(over: Partial<Parameters<typeof createFollower>[0]> = {}): Look {
    return createFollower({ db: this.db, adapter: this.adapter, config: this.config, log: quiet, ...over });
  }

  async create(currency: 'TRX' | 'USDT_TRC20', more: object = {}): Promise<Made> {
    const body = { amount: 400, currency, ...more };
    const made = await this.h.call('POST', '/api/v1/payments', { key: this.shop.key, body });
    expect([made.status, made.text]).toEqual([201, expect.anything()]);
    return made.body as Made;
  }

  async run({ paymentId }: Made): Promise<string> {
    const codecs = createCodecs(this.config.chain);
    return (await paymentsAt({ db: this.db, config: this.config, codecs }).runPayment(paymentId)).status;
  }

  /** Coins for the gas wallet, and some of each asset for the treasury. */
  async fundWallets(): Promise<void> {
    const pays = [
      ['gas', 'TRX', 1000],
      ['treasury', 'TRX', 2000],
      ['treasury', 'USDT_TRC20', 2000],
    ] as const;
    for (const [role, currency, amount] of pays)
      await this.world.paid(payer, { currency, to: this.addressOf(role), units: units(amount) });
    await this.mine();
  }

  /** A block of now, after slots that nobody used: rates are of this time. */
  async toNow(): Promise<void> {
    const { time } = await this.world.order('state');
    await this.world.mine(1, Math.max(0, Math.floor((Date.now() - time) / 3000)));
    await this.look();
  }

  /** So many blocks, and a look at them. */
  async mine(blocks = deep): Promise<void> {
    await this.world.mine(blocks);
    await this.look();
  }

  /** The first address of a role. */
  addressOf = (role: KeyRole): string => this.adapter.derive(this.adapter.extendedKey(seed, role), 0);

  /** How often the signer has asked its node what a transfer takes. */
  termsAsked = 0;
  signer() {
    const codecs = createCodecs(this.config.chain);
    const own = tronFamily(this.world.chain, this.world.adapter);
    const termsOf: typeof own.node.termsOf = (transfer) => {
      this.termsAsked += 1;
      return own.node.termsOf(transfer);
    };
    const family = { ...own, node: { ...own.node, termsOf } };
    return signingActivities({ db: this.db, codecs, seed, expiring: { [network]: family } as never });
  }

  /** Signs an intent, sends it, and books its end. */
  async carryOut(intentId: string): Promise<void> {
    expect(await this.signer().signOnce(intentId)).toEqual({ state: 'stored' });
    await this.sendSigned(intentId);
  }

  /** Sends what is signed, and books its end. */
  async sendSigned(intentId: string): Promise<void> {
    await sendIntent({ db: this.db, adapter: this.adapter, log: quiet }, intentId);
    await this.mine();
    await bookEnd(this.db, intentId);
  }

  /** Signs and sends what `next` names, one after the other, until it names none. Answers the kinds. */
  async carryOutAll(next: () => Promise<NextIntent>): Promise<string[]> {
    const sent: string[] = [];
    for (;;) {
      const intent = await next();
      if (!intent) return sent;
      if (!('id' in intent)) throw new Error(intent.reason);
      const [row] = await this.db.query('SELECT kind FROM intent WHERE id = $1', [intent.id]);
      sent.push((row as { kind: string }).kind);
      await this.carryOut(intent.id);
    }
  }

  /** Pays a payment, which is confirmed then. */
  async confirmed(currency: 'TRX' | 'USDT_TRC20'): Promise<Made> {
    const made = await this.create(currency);
    await this.world.paid(payer, { currency, to: made.depositAddress, units: units(made.amount) });
    await this.mine();
    expect(await this.run(made)).toBe('CONFIRMED');
    return made;
  }

  /** Sweeps a payment. Answers the kinds of what was sent. */
  async swept({ paymentId }: Made): Promise<string[]> {
    const sweeps = sweepActivities({ db: this.db, config: this.config, nodes: [this.adapter] });
    expect(await sweeps.queueSweep(paymentId)).toEqual({ queued: true });
    return this.carryOutAll(() => sweeps.nextIntent(paymentId));
  }

  held = (address: string, currency = 'TRX'): Promise<bigint> =>
    this.world.adapter.holding(address, currency, 'newest');

  /** What books and chain say that they should not. Other rows here are as no worker leaves them. */
  async wrong(
    rules: readonly string[] = ['I1', 'I2', 'I3', 'I7', 'I8', 'I9', 'I10', 'I11', 'I15'],
  ): Promise<unknown[]> {
    const books = (await this.audit(this.db)).filter(({ invariant }) => rules.includes(invariant));
    return [...books, ...(await auditHoldings(this.db, [this.adapter]))];
  }

  /** Where books and chain differ. */
  async unreconciled(): Promise<unknown[]> {
    const depth = (id: NetworkId): number => requiredDepth(id, this.config.confirmations);
    const { reconcileAssets } = jest.requireActual<typeof Reconciliations>('../../db/audit/reconciliation');
    const { positions, unknown, unclear } = await reconcileAssets(this.db, [this.adapter], depth);
    const own = positions.filter(({ currency }) => ['TRX', 'USDT_TRC20'].includes(currency));
    expect(own).toHaveLength(2);
    return [...unknown, ...unclear, ...own.filter((one) => !isZero(one.unexplained))];
  }

  deposits = (txIds: readonly string[]): Promise<Array<Record<string, unknown>>> =>
    this.db.query(
      `SELECT payment_id, trim_scale(amount)::text AS amount, status, allocation, currency FROM deposit
        WHERE tx_id = ANY($1) ORDER BY id`,
      [txIds],
    );

  async end(): Promise<void> {
    await this.h.stop();
    await this.world.stop();
    this.leave();
  }
}

const quiet = { info: () => undefined, warn: () => undefined };
export const networkOfShop: NetworkId = network;
/** Base units of an amount of either asset. */
export const units = (amount: string | number): bigint => BigInt(Math.round(Number(amount) * 1_000_000));

/** Starts one for all tests of a file. After each of them the books are right, and agree with the chain. */
export function forAllTests(started: (tron: TronShop) => void): void {
  let tron: TronShop | undefined;
  beforeAll(async () => {
    tron = await TronShop.start();
    started(tron);
  });
  afterAll(() => tron?.end());
  afterEach(async () => {
    expect(await tron?.wrong()).toEqual([]);
    expect(await tron?.unreconciled()).toEqual([]);
  });
}
