import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { assetOf, networkOf, type NetworkId } from '../../../domain/chains/assets';
import { divide, times } from '../../../domain/money';
import { remaining, type PaymentException, type PaymentStatus } from '../../../domain/payments/payment';
import { faultOfScenario, noAddress, otherAsset, type Scenario } from '../../../domain/payments/scenarios';
import { notifyPayment } from '../../../db/chains/notify';
import { coinUrlOf, mineCoins, type Chains, type Miner } from '../../miner';
import { dropBitcoin, reorgEthereum, transactionsOf } from '../../chain-tools';
import { Payer, type Payment } from '../../payer';
import { call } from '../json-rpc';

/** The payment is not in a state for the scenario. */
export class Refused extends Error {}

export type PayersOptions = Readonly<{
  /** As its owner: the time of a payment is ended here, which no service can. */
  db: DataSource;
  chains: Chains;
  tokens: Readonly<Record<string, string>>;
  payerMnemonic: string;
  /** null: nobody mines beside us. */
  miner: Miner | null;
  /** Told what went wrong after the answer. */
  report: (line: string) => void;
}>;

type Subject = Readonly<{
  status: PaymentStatus;
  exceptions: readonly PaymentException[];
  currency: string;
  network: NetworkId;
  deposit_address: string;
  destination_tag: string | null;
  amount: string;
  amount_paid: string;
  fiat_amount: string;
  fiat_currency: string;
  required_confirmations: number;
}>;
type Chosen = 'currency' | 'network' | 'deposit_address' | 'required_confirmations';
/** Before a currency is chosen there is no address. */
type Found = Omit<Subject, Chosen> & { [column in Chosen]: Subject[column] | null };
/** What a scenario has done when it answers, and what it does behind the answer. */
type Act = Readonly<{ txId: string; afterwards: () => Promise<unknown> }>;

/** Below every merchant's tolerance. */
const short = '0.4';
const tooMuch = '1.5';
const patienceMs = 60_000;
const lookMs = 100;
const counted: readonly PaymentStatus[] = ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'];

/** Payers who do what a scenario says, with the sandbox's own payer and its chains. */
export class Payers {
  private readonly payer: Payer;
  /** Payments that a scenario is at. */
  private readonly busy = new Map<string, Promise<unknown>>();
  /** By network: its blocks are replaced while nobody else pays or mines there. */
  private readonly turns = new Map<NetworkId, Promise<unknown>>();
  private readonly ending = new AbortController();

  constructor(private readonly options: PayersOptions) {
    this.payer = new Payer(options.chains, options.tokens, options.payerMnemonic);
  }

  /** Begins, and answers with the first transaction. Throws Refused. */
  async play(scenario: Scenario, id: string): Promise<string> {
    if (this.busy.has(id)) throw new Refused('Another scenario of this payment is still under way');
    const acting = this.begin(scenario, id);
    const behind = acting
      .then(({ afterwards }) => afterwards())
      .catch((error: unknown) => {
        if (!this.ending.signal.aborted && !(error instanceof Refused))
          this.options.report(`Simulation of ${scenario} for payment ${id}: ${(error as Error).message}`);
      })
      .finally(() => this.busy.delete(id));
    this.busy.set(id, behind);
    return (await acting).txId;
  }

  async stop(): Promise<void> {
    this.ending.abort(new Error('The simulator is ending'));
    await Promise.all(this.busy.values());
  }

  private async begin(scenario: Scenario, id: string): Promise<Act> {
    const subject = await this.read(id);
    const fault = faultOfScenario(scenario, subject);
    if (fault !== null) throw new Refused(fault);
    const missing = remaining(subject.amount, subject.amount_paid);
    const { payDecimals } = assetOf(subject.currency);
    switch (scenario) {
      case 'paid':
        return this.pays(id, subject, missing);
      case 'underpaid':
        return this.pays(id, subject, times(subject.amount, short, payDecimals, 'down'));
      case 'overpaid':
        return this.pays(id, subject, times(missing, tooMuch, payDecimals, 'up'));
      case 'late':
        return this.paysLate(id, subject);
      case 'wrong_currency':
        return this.paysOther(id, subject);
      case 'reorg':
        return this.paysTwiceMined(id, subject, missing);
      case 'double_deposit':
        return this.paysAgain(id, subject, missing);
    }
  }

  private payTo(subject: Subject, amount: string, currency = subject.currency): Promise<Payment> {
    const { deposit_address: address, destination_tag: tag } = subject;
    return this.payer.pay(currency, address, amount, tag === null ? {} : { tag });
  }

  /** One payment, and the blocks that it waits for. */
  private async pays(id: string, subject: Subject, amount: string, currency = subject.currency): Promise<Act> {
    const { txId } = await this.inTurn(subject, () => this.payTo(subject, amount, currency));
    return {
      txId,
      afterwards: async () => {
        await this.confirm(subject);
        await this.until(id, `is no longer ${subject.status}`, ({ status }) => status !== subject.status);
      },
    };
  }

  /** The time of the payment ends now, and the payment by its own rule; then it is paid. */
  private async paysLate(id: string, subject: Subject): Promise<Act> {
    if (subject.status !== 'EXPIRED')
      await this.options.db.transaction(async (tx) => {
        await tx.query(
          `UPDATE payment SET expires_at = clock_timestamp(),
                  quote_expires_at = least(quote_expires_at, clock_timestamp())
            WHERE id = $1 AND status = 'WAITING'`,
          [id],
        );
        await notifyPayment(tx, id);
      });
    await this.until(id, 'is EXPIRED', async ({ status }) => {
      // An open payment looks at its time when it is told to.
      if (status !== 'EXPIRED') await this.options.db.transaction((tx) => notifyPayment(tx, id));
      return status === 'EXPIRED';
    });
    const { txId } = await this.inTurn(subject, () => this.payTo(subject, subject.amount));
    return { txId, afterwards: () => this.confirm(subject) };
  }

  /** Another asset of the network, worth the price. */
  private async paysOther(id: string, subject: Subject): Promise<Act> {
    const other = otherAsset(subject.currency)!;
    const [rate] = await this.options.db.query<Array<{ value: string }>>(
      'SELECT value::text AS value FROM rate_latest WHERE currency = $1 AND fiat = $2',
      [other.currency, subject.fiat_currency],
    );
    if (!rate) throw new Error(`There is no rate of ${other.currency}`);
    const amount = divide(subject.fiat_amount, rate.value, other.payDecimals, 'up');
    return this.pays(id, subject, amount, other.currency);
  }

  /** The block with the payment is replaced by blocks without it, as soon as the service has seen it; then it is mined
   *  again. Who waits in the pool is mined a block before, and nothing deeper is replaced: what others paid stays. */
  private async paysTwiceMined(id: string, subject: Subject, amount: string): Promise<Act> {
    let sent: (txId: string) => void = () => {};
    const first = new Promise<string>((resolve) => (sent = resolve));
    const replaced = this.inTurn(subject, () =>
      this.still(async () => {
        await this.payer.mine(subject.currency);
        const { txId } = await this.payTo(subject, amount);
        sent(txId);
        await this.payer.mine(subject.currency);
        const isCounted = async ({ status }: Subject): Promise<boolean> =>
          status === 'CONFIRMING' && (await this.isMined(id, txId));
        await this.until(id, 'is CONFIRMING in a block', isCounted);
        await this.replaceNewest(id, subject, txId);
      }),
    );
    return {
      txId: await Promise.race([first, replaced.then(() => first)]),
      afterwards: async () => {
        await replaced;
        await this.confirm(subject);
      },
    };
  }

  private async replaceNewest(id: string, { currency }: Subject, txId: string): Promise<void> {
    const { chains } = this.options;
    if (networkOf(currency).kind === 'utxo') {
      await dropBitcoin(coinUrlOf(chains, currency), 1);
      await mineCoins(chains, currency, 2);
      return;
    }
    const raws = await transactionsOf(chains.ethRpcUrl, 1);
    await reorgEthereum(chains.ethRpcUrl, 1);
    await this.payer.mine(currency);
    await this.until(id, 'has lost its deposit', ({ exceptions }) => exceptions.includes('reorged'));
    const refusals: string[] = [];
    for (const raw of raws)
      await call(chains.ethRpcUrl, 'eth_sendRawTransaction', [raw]).catch((error: Error) =>
        refusals.push(error.message),
      );
    // The service sends its own again by itself: theirs may be there already.
    const back = await call<unknown>(chains.ethRpcUrl, 'eth_getTransactionByHash', [txId]);
    if (!back) throw new Error(`The payer's transaction did not come back: ${refusals.join('; ')}`);
  }

  /** Once the payment is counted, its payer pays it again. */
  private async paysAgain(id: string, subject: Subject, amount: string): Promise<Act> {
    const { txId, afterwards } = await this.pays(id, subject, amount);
    return {
      txId,
      afterwards: async () => {
        await afterwards();
        await this.until(id, 'is confirmed', ({ status }) => counted.includes(status));
        await this.inTurn(subject, () => this.payTo(subject, amount));
        await this.confirm(subject);
      },
    };
  }

  private confirm(subject: Subject): Promise<unknown> {
    return this.inTurn(subject, () => this.payer.mine(subject.currency, subject.required_confirmations));
  }

  private still<T>(act: () => Promise<T>): Promise<T> {
    const { miner } = this.options;
    return miner ? miner.still(act) : act();
  }

  /** Acts on one chain go one after the other. */
  private inTurn<T>({ network }: Subject, act: () => Promise<T>): Promise<T> {
    const next = (this.turns.get(network) ?? Promise.resolve()).then(act);
    this.turns.set(
      network,
      next.catch(() => undefined),
    );
    return next;
  }

  private async read(id: string): Promise<Subject> {
    const [row] = await this.options.db.query<Found[]>(
      `SELECT status, exceptions, currency, network, deposit_address, destination_tag,
              amount::text AS amount, amount_paid::text AS amount_paid,
              fiat_amount::text AS fiat_amount, fiat_currency, required_confirmations
         FROM payment WHERE id = $1`,
      [id],
    );
    if (!row) throw new Refused('There is no payment of this id');
    const { currency, network, deposit_address, required_confirmations } = row;
    if (!currency || !network || !deposit_address || required_confirmations === null) throw new Refused(noAddress);
    return { ...row, currency, network, deposit_address, required_confirmations };
  }

  private async isMined(id: string, txId: string): Promise<boolean> {
    const rows = await this.options.db.query<unknown[]>(
      `SELECT FROM deposit WHERE payment_id = $1 AND tx_id = $2 AND status IN ('mined', 'confirmed')`,
      [id, txId],
    );
    return rows.length > 0;
  }

  private async until(id: string, what: string, holds: (now: Subject) => Promise<boolean> | boolean): Promise<void> {
    for (const end = Date.now() + patienceMs; !(await holds(await this.read(id)));) {
      if (Date.now() > end) throw new Error(`${patienceMs / 1000} s have not been enough until it ${what}`);
      await sleep(lookMs, undefined, { signal: this.ending.signal });
    }
  }
}
