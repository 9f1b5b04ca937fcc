import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { createCodecs } from '../../chains/adapters';
import { readInvoice } from '../../chains/lightning/invoice';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { assetOf, networkOf, type NetworkId } from '../../domain/chains/assets';
import { tagIn } from '../../domain/chains/tags';
import { parseConfig } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { add } from '../../domain/money';
import { finals, type Answer, type Invoice, type Shop, type World } from '../world';
import type { Payment } from '../../sandbox/payer';
import type { Lightning } from './lightning';
import type { Random } from './random';

/** One thing that a merchant or a payer does, to its end; what it should have come to goes into the stage's lists. */
export type Scenario = (
  random: Random,
  name: string,
  currencies: readonly string[],
) => Readonly<{ what: string; live: (stage: Stage) => Promise<void> }>;

/** Who is paid, in the words of the routes. */
export type Receiver = Readonly<{ currency: string; address: string; destinationTag?: string }>;
type Expectation = Receiver & Readonly<{ what: string; expected: string }>;

type PaidTo = Pick<Invoice, 'address' | 'currency' | 'tag'>;

/** How long anything may take to end among kills: a transfer on TRON that is lost is signed again after ten minutes. */
export const patienceMs = 1_800_000;
/** So often a run looks whether it has ended: a hundred of them wait at once, and what they ask takes CPU from what is
 *  asked about. */
const lookMs = 2000;

/** What all scenarios share: a world, a shop in it, and the list of what must have happened by the end. */
export class Stage {
  readonly by = { id: 'a'.repeat(24), email: 'torture@shop.example' };
  readonly deps;
  /** What payers sent for payments, by currency. */
  readonly paid: Array<{ currency: string; amount: string }> = [];
  /** What each address of a recipient must hold, exactly. */
  readonly recipients: Expectation[] = [];
  /** What the merchant's balance must have changed by. */
  readonly changes: Array<{ currency: string; amount: string }> = [];
  readonly problems: string[] = [];
  /** Orders that the swap provider was told to refuse. */
  refusals = 0;
  /** Payers at work, and who keeps others from it, by network. */
  private readonly users = new Map<NetworkId, number>();
  private readonly shut = new Map<NetworkId, number>();

  constructor(
    readonly world: World,
    readonly shop: Shop,
    readonly currencies: readonly string[],
    /** Whether prices move while it runs: a swap may be refused for it. */
    readonly pricesMove = false,
    /** null: nothing is done by Lightning. */
    readonly lightning: Lightning | null = null,
  ) {
    this.deps = {
      codecs: createCodecs(parseConfig(world.stack.env).chain),
      rateMaxAgeSeconds: 3600,
      lightning: { read: readInvoice, network: 'regtest' },
    };
  }

  /** An address that nobody else has, the same for the same seed. */
  address(currency: string, name: string): string {
    const codec = this.deps.codecs[assetOf(currency).network];
    return codec.derive(codec.extendedKey(createHash('sha512').update(name).digest(), 'deposit'), 0);
  }

  /** Somebody whom nobody else pays, the same for the same seed, with a tag where the currency needs one. */
  receiver(currency: string, name: string): Receiver {
    const address = this.address(currency, name);
    if (!assetOf(currency).requiresDestinationTag) return { currency, address };
    const destinationTag = String(createHash('sha512').update(name).digest().readUInt32BE(60));
    return { currency, address, destinationTag };
  }

  /** The same transaction again until it is known to have been committed; whatever it does must be the same twice. */
  async surely<T>(act: (tx: EntityManager) => Promise<T>): Promise<T> {
    for (const end = Date.now() + patienceMs; ; await sleep(500))
      try {
        return await this.world.db.transaction(act);
      } catch (error) {
        if (Date.now() > end || (error instanceof DomainError && error.code !== 'RATE_UNAVAILABLE')) throw error;
      }
  }

  /** The same, where it may have been too late for it. */
  async ifInTime(act: (tx: EntityManager) => Promise<unknown>, tooLate: string): Promise<void> {
    await this.surely(act).catch((error: DomainError) => {
      if (error.code !== tooLate) throw error;
    });
  }

  read<Row>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    return this.again(async () => (await this.world.db.query(sql, [...values])) as Row[]);
  }

  /** What may be done more than once, until it is done. */
  async again<T>(act: () => Promise<T>): Promise<T> {
    for (const end = Date.now() + patienceMs; ; await sleep(500))
      try {
        return await act();
      } catch (error) {
        if (Date.now() > end) throw error;
      }
  }

  /** The row as it is when it has one of `ends`; whatever dies meanwhile, it must come to that. */
  async ended<Row extends { status: string }>(
    what: string,
    ends: readonly string[],
    read: () => Promise<Row | null>,
  ): Promise<Row> {
    let last: Row | null = null;
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(lookMs)) {
      last = (await read().catch(() => null)) ?? last;
      if (last && ends.includes(last.status)) return last;
    }
    throw new Error(`${what} is still ${last?.status}`);
  }

  list({ currency, address, destinationTag }: Receiver): Promise<void> {
    const entry = { type: 'wallet' as const, currency, address, destinationTag: destinationTag ?? null };
    // Of a commit whose answer was lost.
    return this.ifInTime((tx) => addToWhitelist(tx, this.shop.id, this.by, entry), 'ALREADY_WHITELISTED');
  }

  /** The answer to a call that may be made again, once there is one. */
  async insist(ask: () => Promise<Answer>): Promise<Answer> {
    for (const end = Date.now() + patienceMs; ; await sleep(500)) {
      const answer = await ask().catch(() => null);
      if (answer && answer.status < 500 && answer.status !== 429) return answer;
      if (Date.now() > end) throw new Error(`No answer: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      // So often nobody may ask; what is tested is not the limit.
      if (answer?.status === 429) await this.world.db.query('DELETE FROM rate_limit').catch(() => undefined);
    }
  }

  async pay(invoice: PaidTo, amount: string): Promise<void> {
    await this.payLater(invoice, amount);
    this.paid.push({ currency: invoice.currency!, amount });
  }
  /** A payment that may be replaced yet: what came of it is the caller's to note. */
  payLater({ currency, address, tag }: PaidTo, amount: string): Promise<Payment> {
    return this.withNode(currency!, async () => {
      for (const end = Date.now() + 60_000; ; await sleep(1000))
        try {
          return await this.world.payer.pay(currency!, address, amount, tagIn({ tag }));
        } catch (error) {
          // All coins are under way.
          if (Date.now() > end || !/no ripe coin/.test((error as Error).message)) throw error;
        }
    });
  }

  async settles(invoice: Invoice, status: string, paid: string): Promise<void> {
    const last = await this.world.sees(this.shop, invoice.id, finals, { ms: patienceMs });
    if (last.status !== status || plain(last.amountPaid) !== paid)
      this.problems.push(
        `payment ${invoice.id} ended ${last.status} with ${last.amountPaid}, not ${status} with ${paid}`,
      );
    this.changes.push({ currency: invoice.currency!, amount: await this.netOf(invoice.id) });
  }
  /** Money that may have come too late: the payment has it, or a child of it. */
  async settlesSomehow(invoice: Invoice, paid: string): Promise<void> {
    const { world, shop } = this;
    const { status } = await world.sees(shop, invoice.id, finals, { ms: patienceMs });
    if (status !== 'EXPIRED') return this.settles(invoice, 'SETTLED', paid);
    let child: string | undefined;
    for (const end = Date.now() + patienceMs; !child && Date.now() < end; await sleep(500))
      child = (await world.payment(shop, invoice.id).catch(() => null))?.repeatDepositChildIds[0];
    if (!child) throw new Error('late money has no payment of its own');
    return this.settles({ ...invoice, id: child }, 'SETTLED', paid);
  }
  private async netOf(id: string): Promise<string> {
    const rows = await this.read<{ amount: string }>(
      'SELECT p.amount::text FROM journal j JOIN posting p ON p.journal_id = j.id WHERE j.key = $1 AND p.credit = $2',
      [`payment/${id}/settle`, `L:available:${this.shop.id}`],
    );
    return add('0', ...rows.map((row) => row.amount));
  }

  /** For a payer in a currency: meanwhile its node is not taken down, so that what was sent is known to be sent. */
  async withNode<T>(currency: string, act: () => Promise<T>): Promise<T> {
    const { id } = networkOf(currency);
    while (this.shut.get(id)) await sleep(50);
    const count = (change: number): unknown => this.users.set(id, (this.users.get(id) ?? 0) + change);
    count(1);
    try {
      return await act();
    } finally {
      count(-1);
    }
  }
  /** For whoever takes nodes of these networks down, or has one answer wrongly. Several may at once. */
  async withoutPayers(ids: readonly NetworkId[], act: () => Promise<void>): Promise<void> {
    const count = (change: number): void => ids.forEach((id) => this.shut.set(id, (this.shut.get(id) ?? 0) + change));
    count(1);
    try {
      while (ids.some((id) => this.users.get(id))) await sleep(50);
      await act();
    } finally {
      count(-1);
    }
  }
}

export const plain = (amount: number): string => add('0', amount.toFixed(8).replace(/\.?0+$/, '') || '0');
export const round = (amount: number, currency: string): number =>
  parseFloat(amount.toFixed(currency.startsWith('USD') ? 2 : 6));
