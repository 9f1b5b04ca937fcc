import fc from 'fast-check';
import { assetOf } from '../../domain/chains/assets';
import { add, compare, divide, larger, smaller, subtract, times, toUnits } from '../../domain/money';
import { inherit } from '../../domain/payments/inherited';
import { shareOf } from '../../domain/payments/payable';
import {
  confirmDeadline,
  crossDeadline,
  isFinal,
  legalMoves,
  remaining,
  type PaymentException,
  type PaymentStatus,
} from '../../domain/payments/payment';
import {
  countedDeposits,
  crossDeposits,
  isLive,
  missingRates,
  paidBy,
  rejectionOf,
  unratedParts,
} from '../../domain/payments/counted';
import { evaluate } from '../../domain/payments/evaluate';
import {
  type DepositFact,
  type DepositStatus,
  type Paid,
  type PartId,
  type PaymentFacts,
  type Step,
} from '../../domain/payments/facts';

/** In force from one moment to another. */
type Quote = { from: number; until: number; rate: string; currency: string };
type Payment = {
  id: string;
  status: PaymentStatus;
  currency: string | null;
  /** The whole price at the current quote, which is in force from one moment to another. */
  quoteAmount: string | null;
  quotes: Quote[];
  expiresAt: number;
  isChild: boolean;
  paid: Paid;
  exceptions: PaymentException[];
  accepted: string | null;
  offer: string | null;
  autoAcceptAt: number | null;
};
type Deposit = {
  id: string;
  currency: string | null;
  addressCurrency: string;
  amount: string;
  isDust: boolean;
  status: DepositStatus;
  firstSeenAt: number;
  /** When the block came that took it, where that was too late for its first rate. */
  lateAt: number | null;
  ratedAt: number | null;
  exchangeRate: string | null;
  quoteAmount: string | null;
  allocation: DepositFact['allocation'];
  paymentId: string;
  childId: string | null;
  /** What is in it, and since when the payer has offered that. */
  truth: ReadonlyArray<Readonly<{ amount: string; at: number }>>;
  inherited: Part[];
};
/** Of a deposit, inherited from a transaction that it replaced. */
type Part = {
  n: number;
  amount: string;
  firstSeenAt: number;
  ratedAt: number | null;
  exchangeRate: string | null;
  quoteAmount: string | null;
};

const confirmSeconds = 1000;
/** Fiat; the payer pays at a quote for this long. */
const price = '100';
const quoteSeconds = 20;
/** A deposit that waits longer for its block counts at the rate of that. */
const holdSeconds = 10;
const tolerance = '0.99';
const atRate = (rate: string): string => divide(price, rate, 8, 'up');
const nothing: Paid = { amountPaid: '0', value: '0', amount: null, txIds: [] };
const live: readonly DepositStatus[] = ['pool', 'mined', 'confirmed'];

/** How often each status was come to, over all histories. */
const visits = new Map<string, number>();

/** A payment, its children and the chain below them. Steps are carried out as `commands/payments/advance.ts` carries
 *  them out. */
class World {
  now = 0;
  scannedTo = 0;
  payments: Payment[] = [];
  deposits: Deposit[] = [];
  /** What the guarded accounts hold. */
  balance = { unsettled: 0n, unallocated: 0n, settled: 0n };
  alarms: string[] = [];
  /** Money of Lightning is being taken for the first payment, which is as it was then. */
  taking: Readonly<{ status: PaymentStatus; currency: string | null; quotes: number }> | null = null;
  /** The coin of its address, where an invoice beside that has settled it. */
  private addressed: string | null = null;
  /** What a coin has cost, from each moment on. */
  private readonly market: Array<{ at: number; rate: string }> = [{ at: -Infinity, rate: '100' }];
  /** What was there of a payment's own coin when another asset was not taken: nobody has accepted it. */
  private readonly refused = new Set<string>();

  constructor(
    currency: string | null,
    private readonly policy: 'hold' | 'accept' = 'hold',
    private readonly autoAcceptAfter: number | null = null,
  ) {
    this.payments.push({
      id: 'p',
      status: currency ? 'WAITING' : 'AWAITING_CURRENCY',
      currency,
      quoteAmount: null,
      quotes: [],
      expiresAt: 100,
      isChild: false,
      paid: nothing,
      exceptions: [],
      accepted: null,
      offer: null,
      autoAcceptAt: null,
    });
    if (currency) this.quote(this.payments[0]!, 0);
  }

  private marketAt(at: number): string {
    return this.market.filter((price) => price.at <= at).at(-1)!.rate;
  }

  /** A quote from a moment on, for all of the price: parts keep theirs. */
  private quote(payment: Payment, from: number): void {
    const rate = this.marketAt(from);
    const until = Math.min(from + quoteSeconds, payment.expiresAt);
    payment.quotes.push({ from, until, rate, currency: payment.currency! });
    payment.quoteAmount = atRate(rate);
  }

  private rate(payment: Payment, parts: readonly PartId[]): void {
    for (const { depositId, n } of parts) {
      const [deposit] = this.of([depositId]);
      const part = deposit!.inherited.find((one) => one.n === n) ?? deposit!;
      const at = momentOf(part, deposit!.lateAt);
      const inForce = payment.quotes.find(
        ({ from, until, currency }) => currency === payment.currency && from <= at && at <= until,
      );
      const rate = inForce?.rate ?? this.marketAt(at);
      Object.assign(part, { exchangeRate: rate, quoteAmount: atRate(rate), ratedAt: at });
    }
  }

  /** As `rateAllDeposits` of commands/payments/rates.ts. */
  private rateAll(payment: Payment): void {
    for (
      let step = missingRates(this.facts(payment));
      step && !this.facts(payment).isBeingTaken;
      step = missingRates(this.facts(payment))
    )
      this.apply(payment, step);
  }

  private give(deposit: Deposit, rate: string): void {
    const ratedAt = momentOf(deposit, deposit.lateAt);
    Object.assign(deposit, { exchangeRate: rate, quoteAmount: atRate(rate), ratedAt, inherited: [] });
  }

  /** Nobody pays less than the price, or than what was accepted, at the best rate he could have been quoted when each
   *  coin was first seen. */
  private checkValue(payment: Payment): void {
    if (payment.isChild || payment.currency === payment.offer) return;
    const coins = countedDeposits(this.facts(payment)).filter(({ status }) => status === 'confirmed');
    const offered = this.of(coins.map(({ id }) => id)).flatMap(({ truth, lateAt }) =>
      truth.map(({ amount, at }) => ({ amount, at: momentOf({ firstSeenAt: at }, lateAt) })),
    );
    const worth = offered.map(({ amount, at }) => {
      const rates = this.market.filter((price) => price.at > at - quoteSeconds && price.at <= at);
      const best = rates.reduce((most, { rate }) => larger(most, rate), this.marketAt(at - quoteSeconds));
      return times(amount, best, 36, 'down');
    });
    const need = times(price, payment.accepted ?? tolerance, 36, 'down');
    if (compare(add('0', ...worth), need) < 0)
      throw new Error(`${payment.id} is paid with ${add('0', ...worth)} of ${need}`);
  }

  facts(payment: Payment): PaymentFacts {
    return {
      id: payment.id,
      status: payment.status,
      currency: payment.currency,
      quoteAmount: payment.quoteAmount,
      tolerancePct: '1',
      acceptedShare: payment.accepted,
      underpaidPolicy: this.policy,
      offerCurrency: payment.offer,
      autoAcceptAt: payment.autoAcceptAt === null ? null : new Date(payment.autoAcceptAt * 1000),
      expiresAt: new Date(payment.expiresAt * 1000),
      quoteExpiresAt: payment.quotes.length ? new Date(payment.quotes.at(-1)!.until * 1000) : null,
      isChild: payment.isChild,
      isBeingTaken: this.taking !== null && !payment.isChild,
      now: new Date(this.now * 1000),
      scannedPastExpiry: this.now > payment.expiresAt && this.scannedTo > payment.expiresAt,
      confirmBy: confirmDeadline(new Date(payment.expiresAt * 1000), confirmSeconds),
      crossDeadline: crossDeadline(new Date(payment.expiresAt * 1000)),
      exceptions: payment.exceptions,
      deposits: this.deposits
        .filter((deposit) => deposit.paymentId === payment.id || deposit.childId === payment.id)
        .map((deposit) => ({
          id: deposit.id,
          txId: `tx-${deposit.id}`,
          currency: deposit.currency,
          amount: deposit.amount,
          isDust: deposit.isDust,
          status: deposit.status,
          firstSeenAt: dateOf(Math.min(deposit.firstSeenAt, ...deposit.inherited.map((part) => part.firstSeenAt))),
          rateMoment: dateOf(momentOf(deposit, deposit.lateAt)),
          ratedAt: deposit.ratedAt === null ? null : dateOf(deposit.ratedAt),
          inherited: deposit.inherited.map((part) => ({
            ...part,
            firstSeenAt: dateOf(part.firstSeenAt),
            rateMoment: dateOf(momentOf(part, deposit.lateAt)),
            ratedAt: part.ratedAt === null ? null : dateOf(part.ratedAt),
          })),
          exchangeRate: deposit.exchangeRate,
          quoteAmount: deposit.quoteAmount,
          allocation: deposit.allocation,
          addressCurrency: deposit.addressCurrency,
          owner: ownerOf(deposit),
          isLost: this.alarms.includes(deposit.id),
        })),
    };
  }

  private setStatus(payment: Payment, to: PaymentStatus): void {
    if (to !== payment.status && !legalMoves[payment.status].includes(to))
      throw new Error(`${payment.id} went from ${payment.status} to ${to}`);
    if (payment.status === 'CROSS_CHAIN_PENDING' && to === 'FAILED')
      for (const { id } of countedDeposits(this.facts(payment)).filter(isLive)) this.refused.add(id);
    payment.status = to;
    visits.set(to, (visits.get(to) ?? 0) + 1);
  }

  private post(ids: readonly string[], allocation: 'unsettled' | 'unallocated'): void {
    for (const deposit of this.of(ids)) {
      if (deposit.allocation !== null)
        throw new Error(`${deposit.id} is credited twice: ${deposit.allocation}, ${allocation}`);
      if (deposit.status !== 'confirmed') throw new Error(`${deposit.id} is credited while ${deposit.status}`);
      if (deposit.isDust) throw new Error(`${deposit.id} is dust`);
      deposit.allocation = allocation;
      this.balance[allocation] += unitsOf(deposit);
    }
  }

  private reverse(ids: readonly string[]): void {
    for (const deposit of this.of(ids)) {
      if (deposit.allocation !== 'unsettled' && deposit.allocation !== 'unallocated')
        throw new Error(`${deposit.id} is taken back from ${deposit.allocation}`);
      this.balance[deposit.allocation] -= unitsOf(deposit);
      deposit.allocation = null;
    }
  }

  private of(ids: readonly string[]): Deposit[] {
    if (new Set(ids).size !== ids.length) throw new Error(`${ids.join()} has repeats`);
    return ids.map((id) => this.deposits.find((deposit) => deposit.id === id)!);
  }

  /** True where there may be another step. */
  private apply(payment: Payment, step: Step): boolean {
    const except = (more: readonly PaymentException[]): void => {
      payment.exceptions = [...new Set([...payment.exceptions, ...more])];
    };
    switch (step.do) {
      case 'nothing':
      case 'queueSweep':
      case 'settle':
        return false;
      case 'rate':
        this.rate(payment, step.parts);
        return true;
      case 'requote':
        this.quote(payment, step.at.getTime() / 1000);
        return true;
      case 'note': {
        const isSame =
          JSON.stringify(step.paid) === JSON.stringify(payment.paid) &&
          step.addExceptions.every((exception) => payment.exceptions.includes(exception));
        if (isSame) return false;
        payment.paid = step.paid;
        except(step.addExceptions);
        return false;
      }
      case 'move':
        if (step.to === payment.status) throw new Error(`${payment.status} moved nowhere`);
        this.setStatus(payment, step.to);
        payment.paid = step.paid;
        except(step.addExceptions);
        if (step.accept) payment.accepted = step.accept;
        if (step.offer) this.offer(payment, step.offer);
        this.reverse(step.reverse);
        this.post(step.credit, 'unsettled');
        if (step.to === 'CONFIRMED') this.checkValue(payment);
        this.post(step.unallocated, 'unallocated');
        return true;
      case 'leaveUnallocated':
        this.post(step.depositIds, 'unallocated');
        return true;
      case 'reverseUnallocated':
        this.reverse(step.depositIds);
        return true;
      case 'bookOther':
        for (const deposit of this.of(step.depositIds)) if (!deposit.exchangeRate) this.give(deposit, '100');
        this.post(step.depositIds, 'unallocated');
        return true;
      case 'offer':
        this.offer(payment, step.depositIds);
        return true;
      case 'leaveToMerchant':
        payment.autoAcceptAt = null;
        return true;
      case 'acceptCross':
        this.acceptCross(payment, step.depositIds);
        if (payment.accepted !== null) throw new Error(`${payment.id} accepts too little by itself`);
        return true;
      case 'openChildren':
        for (const deposit of this.of(step.depositIds)) {
          if (deposit.allocation) this.reverse([deposit.id]);
          this.openChildPayment(deposit);
        }
        except(step.addExceptions);
        return true;
      case 'alarm':
        this.alarms.push(...step.depositIds);
        except(['reorged']);
        return true;
      case 'recover':
        this.alarms = this.alarms.filter((id) => !step.depositIds.includes(id));
        return true;
    }
  }

  /** As `crossOffer` of commands/payments/other-assets.ts. */
  private offer(payment: Payment, depositIds: readonly string[]): void {
    const offered = this.of(depositIds);
    payment.offer = offered[0]!.currency;
    for (const deposit of offered) this.give(deposit, '100');
    const isWhole = compare(shareOf(offered), tolerance) >= 0;
    payment.autoAcceptAt = this.autoAcceptAfter === null || !isWhole ? null : this.now + this.autoAcceptAfter;
  }

  private acceptCross(payment: Payment, depositIds: readonly string[]): void {
    const taken = this.of(depositIds).filter((deposit) => deposit.currency === payment.offer);
    if (!taken.length) throw new Error(`${payment.id} accepts nothing`);
    this.setStatus(payment, 'CONFIRMING');
    payment.currency = payment.offer;
    for (const deposit of taken) this.give(deposit, '100');
    payment.quoteAmount = '1';
    const share = shareOf(taken);
    payment.accepted = compare(share, tolerance) < 0 ? share : null;
    payment.autoAcceptAt = null;
    this.reverse(taken.filter((deposit) => deposit.allocation).map((deposit) => deposit.id));
  }

  decide(how: 'acceptCross' | 'rejectCross' | 'acceptUnderpaid'): void {
    const payment = this.payments[0]!;
    this.rateAll(payment);
    const facts = this.facts(payment);
    if (how === 'acceptUnderpaid') {
      const live = countedDeposits(facts).filter(isLive);
      if (payment.status === 'PARTIALLY_PAID' && live.length) {
        this.setStatus(payment, 'CONFIRMING');
        payment.accepted = shareOf(live);
        payment.paid = paidBy(facts, live);
        payment.exceptions = [...new Set<PaymentException>([...payment.exceptions, 'underpaid'])];
      } else if (payment.status === 'FAILED' && payment.exceptions.includes('underpaid'))
        for (const deposit of this.deposits)
          if (ownerOf(deposit) === 'p' && deposit.allocation === 'unallocated' && deposit.status === 'confirmed')
            if (deposit.currency === payment.currency) {
              this.reverse([deposit.id]);
              this.refused.delete(deposit.id);
              this.openChildPayment(deposit);
            }
      return;
    }
    if (payment.status !== 'CROSS_CHAIN_PENDING') return;
    const cross = crossDeposits(facts).map((deposit) => deposit.id);
    if (how === 'acceptCross') cross.length && this.acceptCross(payment, cross);
    else {
      this.setStatus(payment, 'FAILED');
      payment.exceptions = [...new Set<PaymentException>([...payment.exceptions, ...rejectionOf(facts)])];
    }
  }

  private openChildPayment(deposit: Deposit): void {
    const id = `child-${deposit.id}`;
    if (this.payments.some((payment) => payment.id === id)) return; // one child per deposit, for ever
    if (deposit.isDust || !live.includes(deposit.status)) throw new Error(`${id} for ${deposit.status}`);
    if (this.refused.has(deposit.id)) throw new Error(`${id} was not accepted`);
    deposit.childId = id;
    const rate = this.marketAt(this.now);
    const ratedAt = momentOf(deposit, deposit.lateAt);
    Object.assign(deposit, { exchangeRate: rate, quoteAmount: deposit.amount, ratedAt, inherited: [] });
    this.payments.push({
      id,
      status: 'CONFIRMING',
      currency: deposit.currency,
      quoteAmount: deposit.amount,
      quotes: [],
      expiresAt: this.now,
      isChild: true,
      paid: { ...nothing, amountPaid: deposit.amount, txIds: [`tx-${deposit.id}`] },
      exceptions: [],
      accepted: null,
      offer: null,
      autoAcceptAt: null,
    });
  }

  /** Takes the steps of every payment until it rests, and of the children that come up meanwhile. */
  runAll(): void {
    for (let index = 0; index < this.payments.length; index++) {
      const payment = this.payments[index]!;
      const before = payment.status;
      for (let steps = 0; this.apply(payment, evaluate(this.facts(payment))); steps++) {
        if (steps > 40) throw new Error(`${payment.id} never rests in ${payment.status}`);
      }
      if (isFinal(before) && payment.status !== before) throw new Error(`${before} became ${payment.status}`);
    }
    this.check();
  }

  /** What the guard of the database refuses: guard_lightning.sql. */
  private checkStill(): void {
    if (this.taking === null) return;
    const { status, currency, quotes } = this.payments[0]!;
    if (status !== this.taking.status || currency !== this.taking.currency || quotes.length !== this.taking.quotes)
      throw new Error(`p became ${status} in ${currency} while its money was being taken`);
  }

  check(): void {
    this.checkStill();
    for (const payment of this.payments) {
      // Without a choice of currency there is no address yet.
      if (payment.status === 'AWAITING_CURRENCY') continue;
      for (const deposit of this.deposits.filter((one) => ownerOf(one) === payment.id)) {
        if (deposit.allocation === 'unsettled' && isFinal(payment.status))
          throw new Error(`${deposit.id} is stuck in ${payment.id}, ${payment.status}`);
        // I12: what came in the payment's own coin waits as long as the payment does.
        const mayWait = !isFinal(payment.status) && deposit.currency === payment.currency;
        if (deposit.status === 'confirmed' && !deposit.isDust && !deposit.allocation && !mayWait)
          throw new Error(`${deposit.id} has no account in ${payment.id}, ${payment.status}`);
      }
    }
    for (const allocation of ['unsettled', 'unallocated', 'settled'] as const) {
      let sum = 0n;
      for (const deposit of this.deposits) if (deposit.allocation === allocation) sum += unitsOf(deposit);
      if (sum !== this.balance[allocation])
        throw new Error(`${allocation}: ${this.balance[allocation]} booked, ${sum} there`);
    }
  }

  // --- what the chain and people do
  // ------------------------------------------------------------------------------------

  arrive(status: 'pool' | 'mined', amount: string, where: 'here' | 'otherAsset' | 'oldAddress' | 'unknown'): void {
    const current = this.addressed ?? this.payments[0]!.currency;
    const [currency, addressCurrency] = {
      here: [current ?? 'ETH', current ?? 'ETH'],
      otherAsset: ['USDC_ERC20', current ?? 'ETH'],
      oldAddress: ['USDT_ERC20', 'USDT_ERC20'],
      unknown: [null, current ?? 'ETH'],
    }[where] as [string | null, string];
    this.deposits.push({
      id: String(this.deposits.length + 1),
      currency,
      addressCurrency,
      amount: currency ? amount : '0',
      isDust: currency === null || compare(amount, assetOf(currency).dust) < 0,
      status,
      firstSeenAt: this.now,
      lateAt: null,
      ratedAt: null,
      exchangeRate: null,
      quoteAmount: null,
      allocation: null,
      paymentId: 'p',
      childId: null,
      truth: [{ amount: currency ? amount : '0', at: this.now }],
      inherited: [],
    });
  }

  turn(index: number, from: readonly DepositStatus[], to: DepositStatus): void {
    // What is booked already is never verified anew before its payment has taken it back.
    const fitting = this.deposits.filter(
      (deposit) => from.includes(deposit.status) && (to !== 'void' || deposit.allocation === null),
    );
    const deposit = fitting[index % Math.max(1, fitting.length)];
    if (!deposit) return;
    deposit.status = to;
    if (to === 'void') deposit.amount = '0';
  }

  /** Long after it was first seen, at the price of then. */
  mineLate(index: number): void {
    const pool = this.deposits.filter(({ status }) => status === 'pool' || status === 'orphaned');
    const deposit = pool[index % Math.max(1, pool.length)];
    if (!deposit) return;
    deposit.status = 'mined';
    deposit.lateAt = this.now;
  }

  /** A transaction with these outputs takes the place of unconfirmed ones. As `storeArrivals` stores it. */
  bump(index: number, amounts: readonly string[], howMany = 1): void {
    const pool = this.deposits.filter(({ status, paymentId }) => status === 'pool' && paymentId === 'p');
    const first = pool[index % Math.max(1, pool.length)];
    if (!first || first.currency === null) return;
    const old = pool.filter((one) => one === first || one.currency === first.currency).slice(0, howMany);
    const replaced = old.map((one) => {
      const own = subtract(one.amount, add('0', ...one.inherited.map(({ amount }) => amount)));
      const layers = [...one.inherited, { amount: own, firstSeenAt: one.firstSeenAt }];
      return { txId: one.id, layers: layers.map((layer) => ({ amount: layer.amount, seen: layer.firstSeenAt })) };
    });
    const { layers } = inherit(amounts, replaced, (a, b) => a - b);
    const truths = this.truthsOf(old, amounts);
    for (const one of old) one.status = 'replaced';
    for (const [output, amount] of amounts.entries()) {
      const parts = layers[output]!.map(({ amount: part, seen }, n) => ({ n: n + 1, amount: part, firstSeenAt: seen }));
      const isWhole = compare(add('0', ...parts.map((part) => part.amount)), amount) === 0;
      const own = isWhole ? parts.pop() : undefined;
      const unrated = { ratedAt: null, exchangeRate: null, quoteAmount: null };
      this.deposits.push({
        ...first,
        ...unrated,
        id: String(this.deposits.length + 1),
        amount,
        isDust: compare(amount, assetOf(first.currency).dust) < 0,
        status: 'pool',
        firstSeenAt: own?.firstSeenAt ?? this.now,
        childId: null,
        truth: truths[output]!,
        inherited: parts.map((part) => ({ ...part, ...unrated })),
      });
    }
  }

  /** What is left of offers that were made before, unit by unit: those of replaced transactions that fit into what is
   *  paid now, the oldest first; the rest is offered now. */
  private truthsOf(old: readonly Deposit[], amounts: readonly string[]): Array<Deposit['truth']> {
    const kept: Array<{ amount: string; at: number }> = [];
    const sum = (all: ReadonlyArray<{ amount: string }>): string => add('0', ...all.map(({ amount }) => amount));
    for (const { truth } of old) if (compare(sum([...kept, ...truth]), add('0', ...amounts)) <= 0) kept.push(...truth);
    kept.sort((a, b) => a.at - b.at);
    let from = '0';
    return amounts.map((amount) => {
      const to = add(from, amount);
      let passed = '0';
      const mine = [...kept, { amount: add('0', ...amounts), at: this.now }].flatMap((layer) => {
        const start = larger(passed, from);
        passed = add(passed, layer.amount);
        const end = smaller(passed, to);
        return compare(end, start) > 0 ? [{ amount: subtract(end, start), at: layer.at }] : [];
      });
      from = to;
      return mine;
    });
  }

  /** Exactly what the page asks for. */
  payRest(status: 'pool' | 'mined'): void {
    const payment = this.payments[0]!;
    const { amount, amountPaid } = paidBy(this.facts(payment), countedDeposits(this.facts(payment)).filter(isLive));
    const rest = remaining(amount, amountPaid);
    if (compare(rest, '0') > 0) this.arrive(status, rest, 'here');
  }

  move(rate: string): void {
    this.market.push({ at: this.now, rate });
  }

  /** Row 6. */
  refresh(): void {
    const payment = this.payments[0]!;
    const isAsked = payment.status === 'WAITING' || payment.status === 'PARTIALLY_PAID';
    if (!isAsked || this.taking || this.now >= payment.expiresAt || this.now < payment.quotes.at(-1)!.until) return;
    const isSeen =
      payment.status === 'WAITING'
        ? countedDeposits(this.facts(payment)).some(isLive)
        : unratedParts(this.facts(payment)).length > 0;
    if (!isSeen) this.quote(payment, this.now);
  }

  cancel(): void {
    const payment = this.payments[0]!;
    const isOpen = payment.status === 'AWAITING_CURRENCY' || payment.status === 'WAITING';
    if (isOpen && !this.taking && !countedDeposits(this.facts(payment)).some(({ status }) => live.includes(status)))
      this.setStatus(payment, 'CANCELLED');
  }

  select(currency: string): void {
    const payment = this.payments[0]!;
    const isOpen = payment.status === 'AWAITING_CURRENCY' || payment.status === 'WAITING';
    const hasMoney = countedDeposits(this.facts(payment)).some(({ status }) => live.includes(status));
    if (!isOpen || hasMoney || this.taking || this.now >= payment.expiresAt) return;
    this.setStatus(payment, 'WAITING');
    if (payment.currency === currency) return;
    const last = payment.quotes.at(-1);
    if (last) last.until = Math.min(last.until, this.now);
    payment.currency = currency;
    this.quote(payment, this.now);
  }

  /** As `decide_lightning` and `wants_lightning`: it waits, and nothing has come on a chain. */
  take(): void {
    const { status, currency, quotes } = this.payments[0]!;
    const hasMoney = this.deposits.some((one) => !one.isDust && isLive(one) && one.childId === null);
    if (status === 'WAITING' && !hasMoney) this.taking ??= { status, currency, quotes: quotes.length };
  }

  /** As `settleByLightning`, of an invoice of its own or one beside its address; or the money went back after all. */
  endTaking(isTaken: boolean, isBeside = false): void {
    if (this.taking === null) return;
    this.checkStill();
    this.taking = null;
    visits.set(isTaken ? 'taken' : 'sentBack', (visits.get(isTaken ? 'taken' : 'sentBack') ?? 0) + 1);
    if (!isTaken) return;
    if (isBeside) {
      this.addressed = this.payments[0]!.currency;
      this.payments[0]!.currency = 'BTC_LN';
      visits.set('takenBeside', (visits.get('takenBeside') ?? 0) + 1);
    }
    for (const to of ['CONFIRMING', 'CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'] as const)
      this.setStatus(this.payments[0]!, to);
  }

  sweep(): void {
    for (const payment of this.payments) if (payment.status === 'CONFIRMED') this.setStatus(payment, 'SWEEP_QUEUED');
  }

  /** As `settlePayment`. */
  settle(): void {
    for (const payment of this.payments) {
      if (evaluate(this.facts(payment)).do !== 'settle') continue;
      if (payment.status !== 'SWEEP_QUEUED') throw new Error(`${payment.id} settles while ${payment.status}`);
      const mine = this.deposits.filter(
        (deposit) => ownerOf(deposit) === payment.id && deposit.allocation === 'unsettled',
      );
      if (!mine.length || mine.some(({ status }) => status !== 'confirmed'))
        throw new Error(`${payment.id} settles what is not there`);
      this.setStatus(payment, 'SETTLED');
      for (const deposit of mine) {
        this.balance.unsettled -= unitsOf(deposit);
        this.balance.settled += unitsOf(deposit);
        deposit.allocation = 'settled';
      }
    }
  }
}

const unitsOf = ({ amount }: Deposit): bigint => toUnits(amount, 8);
const dateOf = (seconds: number): Date => new Date(seconds * 1000);
/** The time of the block, where that came too late for when it was first seen. */
const momentOf = ({ firstSeenAt }: { firstSeenAt: number }, lateAt: number | null): number =>
  lateAt !== null && lateAt - firstSeenAt > holdSeconds ? lateAt : firstSeenAt;
const ownerOf = (deposit: Deposit): string => deposit.childId ?? deposit.paymentId;
const amounts = ['0.000001', '0.3', '0.5', '0.7', '0.99', '1', '1.2'];
const rates = ['100', '80', '125', '50'];
const places = ['here', 'here', 'here', 'here', 'otherAsset', 'oldAddress', 'unknown'] as const;
type Deed = readonly [name: string, does: (world: World, n: number, m: number) => void];
const deeds: readonly Deed[] = [
  ['pool', (world, n, m) => world.arrive('pool', amounts[n % 7]!, places[m % 7]!)],
  ['block', (world, n, m) => world.arrive('mined', amounts[n % 7]!, places[m % 7]!)],
  ['topUp', (world, n) => world.arrive('mined', amounts[n % 7]!, 'here')],
  ['mine', (world, n) => world.turn(n, ['pool'], 'mined')],
  ['confirm', (world, n) => world.turn(n, ['mined'], 'confirmed')],
  ['confirmAll', (world) => world.deposits.forEach(() => world.turn(0, ['mined'], 'confirmed'))],
  ['void', (world, n) => world.turn(n, ['mined'], 'void')],
  ['orphan', (world, n) => world.turn(n, ['mined', 'confirmed'], 'orphaned')],
  [
    'reorg', // out of one block and into the next before anybody looks
    (world, n) => {
      world.turn(n, ['confirmed'], 'orphaned');
      world.turn(0, ['orphaned'], 'mined');
    },
  ],
  // Prices move, time passes, money comes: what the payer could gain from.
  [
    'later',
    (world, n, m) => {
      world.now += 30;
      world.move(rates[m % 4]!);
      world.refresh();
      world.arrive('pool', amounts[n % 7]!, 'here');
    },
  ],
  ['include', (world, n) => world.turn(n, ['orphaned', 'replaced'], 'mined')],
  ['replace', (world, n) => world.turn(n, ['pool', 'orphaned'], 'replaced')],
  ['wait', (world, n) => void (world.now += [1, 30, 60, 120, 1200][n % 5]!)],
  ['scan', (world) => void (world.scannedTo = world.now)],
  ['move', (world, n) => world.move(rates[n % 4]!)],
  ['refresh', (world) => world.refresh()],
  ['mineLate', (world, n) => world.mineLate(n)],
  ['bump', (world, n, m) => world.bump(m, [amounts[n % 7]!])],
  ['merge', (world, n, m) => world.bump(m, [amounts[n % 7]!, amounts[m % 7]!], 2)],
  ['cancel', (world) => world.cancel()],
  ['select', (world, n) => world.select(['ETH', 'USDT_ERC20'][n % 2]!)],
  [
    'otherAsset',
    (world, n) => {
      world.arrive('mined', amounts[n % 7]!, 'otherAsset');
      world.deposits.forEach(() => world.turn(0, ['mined'], 'confirmed'));
    },
  ],
  ['take', (world) => world.take()],
  ['endTaking', (world, n, m) => world.endTaking(n % 2 === 0, m % 2 === 0)],
  ['acceptUnderpaid', (world) => world.decide('acceptUnderpaid')],
  ['acceptCross', (world) => world.decide('acceptCross')],
  ['rejectCross', (world) => world.decide('rejectCross')],
  ['sweep', (world) => world.sweep()],
  ['settle', (world) => world.settle()],
  [
    'confirmTwo',
    (world) => {
      for (const amount of ['0.5', '0.5']) world.arrive('mined', amount, 'here');
      world.runAll();
      world.deposits.forEach(() => world.turn(0, ['mined'], 'confirmed'));
    },
  ],
  [
    'complete',
    (world) => {
      world.deposits.forEach(() => world.turn(0, ['mined'], 'confirmed'));
      world.runAll();
      world.sweep();
      world.settle();
    },
  ],
];

const history = fc.record({
  currency: fc.constantFrom('ETH', 'ETH', 'ETH', null),
  policy: fc.constantFrom('hold' as const, 'accept' as const),
  autoAcceptAfter: fc.constantFrom(null, 100),
  deeds: fc.array(
    fc.record({
      deed: fc.constantFrom(...deeds.map(([name]) => name)),
      n: fc.nat(34),
      m: fc.nat(34),
      looked: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
    }),
    { minLength: 1, maxLength: 14 },
  ),
});
const deedOf = new Map(deeds);

/** Every deposit ends somewhere and every deadline passes. */
function finish(world: World): void {
  world.now += 1200;
  world.scannedTo = world.now;
  world.runAll();
  world.endTaking(world.deposits.length % 2 === 0, world.deposits.length % 4 === 0);
  for (let round = 0; round < 2; round++) {
    world.deposits.forEach(() => world.turn(0, ['mined'], 'confirmed'));
    world.deposits.forEach(() => world.turn(0, ['pool'], 'replaced'));
    world.now += 1 + 100 + confirmSeconds + 86_400;
    world.scannedTo = world.now;
    world.runAll();
    world.sweep();
    world.settle();
    world.runAll();
  }
  for (const payment of world.payments)
    if (!isFinal(payment.status)) throw new Error(`${payment.id} is still ${payment.status}`);
  for (const deposit of world.deposits) {
    const owner = world.payments.find((payment) => payment.id === ownerOf(deposit))!;
    if (deposit.allocation === 'settled' && owner.status !== 'SETTLED')
      throw new Error(`${deposit.id} is settled in ${owner.id}, ${owner.status}`);
    if (deposit.allocation === 'unallocated' && deposit.status !== 'confirmed')
      throw new Error(`${deposit.id} is unallocated while ${deposit.status}`);
    if (deposit.allocation === 'settled' && deposit.status !== 'confirmed' && !world.alarms.includes(deposit.id))
      throw new Error(`${deposit.id} is lost and nobody was told`);
    if (deposit.status === 'confirmed' && world.alarms.includes(deposit.id))
      throw new Error(`${deposit.id} is back and still counts as lost`);
  }
  if (new Set(world.alarms).size !== world.alarms.length) throw new Error(`alarms repeat: ${world.alarms.join()}`);
}

it('keeps every payment legal, quiet and complete through 10,000 random histories', () => {
  const ends = new Map<string, number>();
  fc.assert(
    fc.property(history, ({ currency, policy, autoAcceptAfter, deeds: done }) => {
      const world = new World(currency, policy, autoAcceptAfter);
      for (const { deed, n, m, looked } of done) {
        deedOf.get(deed)!(world, n, m);
        if (looked) world.runAll();
      }
      finish(world);
      for (const { status } of world.payments) ends.set(status, (ends.get(status) ?? 0) + 1);
    }),
    { numRuns: 10_000 },
  );
  // Histories that never get anywhere would prove nothing.
  for (const status of ['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED']) expect(ends.get(status)).toBeGreaterThan(300);
  for (const status of ['PARTIALLY_PAID', 'CROSS_CHAIN_PENDING']) expect(visits.get(status)).toBeGreaterThan(300);
  for (const end of ['taken', 'takenBeside', 'sentBack']) expect(visits.get(end)).toBeGreaterThan(100);
});

/** What a payer can do about a price: pay parts or what is asked, early, late or not at all, take it back, bump it,
 *  wait for another quote. */
const payersDeeds: Readonly<Record<string, (world: World, n: number) => void>> = {
  part: (world, n) => world.arrive(n % 2 ? 'pool' : 'mined', amounts[n % 7]!, 'here'),
  rest: (world, n) => world.payRest(n % 2 ? 'pool' : 'mined'),
  mine: (world, n) => world.turn(n, ['pool', 'orphaned'], 'mined'),
  mineLate: (world, n) => world.mineLate(n),
  bump: (world, n) => world.bump(n, [amounts[n % 7]!]),
  merge: (world, n) => world.bump(n, [amounts[n % 7]!, amounts[(n + 3) % 7]!].slice(0, 1 + (n % 2)), 2),
  drop: (world, n) => world.turn(n, ['pool', 'orphaned'], 'replaced'),
  orphan: (world, n) => world.turn(n, ['mined', 'confirmed'], 'orphaned'),
  confirm: (world, n) => world.turn(n, ['mined'], 'confirmed'),
  soon: (world) => void (world.now += 3),
  later: (world) => void (world.now += 25),
  move: (world, n) => world.move(rates[n % 4]!),
  refresh: (world) => world.refresh(),
  accept: (world, n) => n % 7 || world.decide('acceptUnderpaid'),
};

it('B2: gains a payer nothing, whatever the order of deposits, replacements, delays, reorganisations, quotes', () => {
  let parts = 0;
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          deed: fc.constantFrom(...Object.keys(payersDeeds)),
          n: fc.nat(27),
          looked: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
        }),
        { minLength: 3, maxLength: 16 },
      ),
      (done) => {
        const world = new World('ETH');
        for (const { deed, n, looked } of done) {
          payersDeeds[deed]!(world, n);
          if (looked) world.runAll();
        }
        world.runAll();
        for (let n = 0; n < world.deposits.length; n++) world.turn(0, ['pool'], 'mined');
        for (let n = 0; n < world.deposits.length; n++) world.turn(0, ['mined'], 'confirmed');
        world.runAll();
        const { status } = world.payments[0]!;
        const quotes = new Set(world.deposits.filter(({ childId }) => !childId).map((one) => one.quoteAmount));
        if (status === 'CONFIRMED' && quotes.size > 1) parts += 1;
      },
    ),
    { numRuns: 10_000 },
  );
  // Prices met by deposits at one rate alone would prove little.
  expect(parts).toBeGreaterThan(300);
});
