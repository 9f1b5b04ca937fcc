import fc from 'fast-check';
import { assetOf } from '../../domain/assets';
import { add, compare, toUnits } from '../../domain/money';
import {
  confirmDeadline,
  countedDeposits,
  crossDeadline,
  crossDeposits,
  isLive,
  isFinal,
  judge,
  legalMoves,
  rejectionOf,
  type DepositFact,
  type DepositStatus,
  type PaymentException,
  type PaymentFacts,
  type PaymentStatus,
  type Step,
} from '../../domain/payment';

type Payment = {
  id: string;
  status: PaymentStatus;
  currency: string | null;
  amount: string | null;
  expiresAt: number;
  isChild: boolean;
  amountPaid: string;
  txIds: string[];
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
  home: DepositFact['home'];
  paymentId: string;
  childId: string | null;
};

const confirmSeconds = 1000;
const live: readonly DepositStatus[] = ['pool', 'mined', 'confirmed'];

/** How often each status was come to, over all histories. */
const visits = new Map<string, number>();

/** A payment, its children and the chain below them. Steps are carried out as `activities/payments.ts` carries them out. */
class World {
  now = 0;
  scannedTo = 0;
  payments: Payment[] = [];
  deposits: Deposit[] = [];
  /** What the guarded accounts hold, by home. */
  balance = { unsettled: 0n, unallocated: 0n, settled: 0n };
  alarms: string[] = [];
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
      amount: currency && '1',
      expiresAt: 100,
      isChild: false,
      amountPaid: '0',
      txIds: [],
      exceptions: [],
      accepted: null,
      offer: null,
      autoAcceptAt: null,
    });
  }

  facts(payment: Payment): PaymentFacts {
    return {
      id: payment.id,
      status: payment.status,
      currency: payment.currency,
      amount: payment.amount,
      tolerancePct: '1',
      acceptedAmount: payment.accepted,
      underpaidPolicy: this.policy,
      autoAcceptAt: payment.autoAcceptAt === null ? null : new Date(payment.autoAcceptAt * 1000),
      expiresAt: new Date(payment.expiresAt * 1000),
      isChild: payment.isChild,
      rateFrozen: false,
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
          firstSeenAt: new Date(deposit.firstSeenAt * 1000),
          home: deposit.home,
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

  private post(ids: readonly string[], home: 'unsettled' | 'unallocated'): void {
    for (const deposit of this.of(ids)) {
      if (deposit.home !== null) throw new Error(`${deposit.id} is credited twice: ${deposit.home}, ${home}`);
      if (deposit.status !== 'confirmed') throw new Error(`${deposit.id} is credited while ${deposit.status}`);
      if (deposit.isDust) throw new Error(`${deposit.id} is dust`);
      deposit.home = home;
      this.balance[home] += unitsOf(deposit);
    }
  }

  private takeBack(ids: readonly string[]): void {
    for (const deposit of this.of(ids)) {
      if (deposit.home !== 'unsettled' && deposit.home !== 'unallocated')
        throw new Error(`${deposit.id} is taken back from ${deposit.home}`);
      this.balance[deposit.home] -= unitsOf(deposit);
      deposit.home = null;
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
        return false;
      case 'note': {
        const isSame =
          compare(step.amountPaid, payment.amountPaid) === 0 &&
          step.txIds.join() === payment.txIds.join() &&
          step.addExceptions.every((exception) => payment.exceptions.includes(exception));
        if (isSame) return false;
        payment.amountPaid = step.amountPaid;
        payment.txIds = step.txIds;
        except(step.addExceptions);
        return false;
      }
      case 'move':
        if (step.to === payment.status) throw new Error(`${payment.status} moved nowhere`);
        this.setStatus(payment, step.to);
        payment.amountPaid = step.amountPaid;
        payment.txIds = step.txIds;
        except(step.addExceptions);
        if (step.accept) payment.accepted = step.amountPaid;
        if (step.offer) {
          payment.offer = this.of([step.offer])[0]!.currency;
          payment.autoAcceptAt = this.autoAcceptAfter === null ? null : this.now + this.autoAcceptAfter;
        }
        this.takeBack(step.reverse);
        this.post(step.credit, 'unsettled');
        this.post(step.hold, 'unallocated');
        return true;
      case 'hold':
        this.post(step.depositIds, 'unallocated');
        return true;
      case 'release':
        this.takeBack(step.depositIds);
        return true;
      case 'acceptCross':
        this.acceptCross(payment, step.depositIds);
        return true;
      case 'adopt':
        for (const deposit of this.of(step.depositIds)) {
          if (deposit.home) this.takeBack([deposit.id]);
          this.openChild(deposit);
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

  private acceptCross(payment: Payment, depositIds: readonly string[]): void {
    const taken = this.of(depositIds).filter((deposit) => deposit.currency === payment.offer);
    if (!taken.length) throw new Error(`${payment.id} accepts nothing`);
    this.setStatus(payment, 'CONFIRMING');
    payment.currency = payment.offer;
    payment.amount = '1';
    payment.amountPaid = add('0', ...taken.map((deposit) => deposit.amount));
    payment.accepted = compare(payment.amountPaid, '0.99') < 0 ? payment.amountPaid : null;
    payment.autoAcceptAt = null;
    this.takeBack(taken.filter((deposit) => deposit.home).map((deposit) => deposit.id));
  }

  decide(how: 'acceptCross' | 'rejectCross' | 'acceptUnderpaid'): void {
    const payment = this.payments[0]!;
    const facts = this.facts(payment);
    if (how === 'acceptUnderpaid') {
      const live = countedDeposits(facts).filter(isLive);
      if (payment.status === 'PARTIALLY_PAID' && live.length) {
        this.setStatus(payment, 'CONFIRMING');
        payment.accepted = payment.amountPaid = add('0', ...live.map((deposit) => deposit.amount));
        payment.exceptions = [...new Set<PaymentException>([...payment.exceptions, 'underpaid'])];
      } else if (payment.status === 'FAILED' && payment.exceptions.includes('underpaid'))
        for (const deposit of this.deposits)
          if (ownerOf(deposit) === 'p' && deposit.home === 'unallocated' && deposit.status === 'confirmed')
            if (deposit.currency === payment.currency) {
              this.takeBack([deposit.id]);
              this.refused.delete(deposit.id);
              this.openChild(deposit);
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

  private openChild(deposit: Deposit): void {
    const id = `child-${deposit.id}`;
    if (this.payments.some((payment) => payment.id === id)) return; // one child per deposit, for ever
    if (deposit.isDust || !live.includes(deposit.status)) throw new Error(`${id} for ${deposit.status}`);
    if (this.refused.has(deposit.id)) throw new Error(`${id} was not accepted`);
    deposit.childId = id;
    this.payments.push({
      id,
      status: 'CONFIRMING',
      currency: deposit.currency,
      amount: deposit.amount,
      expiresAt: this.now,
      isChild: true,
      amountPaid: deposit.amount,
      txIds: [`tx-${deposit.id}`],
      exceptions: [],
      accepted: null,
      offer: null,
      autoAcceptAt: null,
    });
  }

  /** Judges every payment until it rests, children that come up meanwhile too. */
  judgeAll(): void {
    for (let index = 0; index < this.payments.length; index++) {
      const payment = this.payments[index]!;
      const before = payment.status;
      for (let steps = 0; this.apply(payment, judge(this.facts(payment))); steps++)
        if (steps > 12) throw new Error(`${payment.id} never rests in ${payment.status}`);
      if (isFinal(before) && payment.status !== before) throw new Error(`${before} became ${payment.status}`);
    }
    this.check();
  }

  check(): void {
    for (const payment of this.payments) {
      const own = isFinal(payment.status) ? this.deposits.filter((deposit) => ownerOf(deposit) === payment.id) : [];
      for (const deposit of own) {
        if (deposit.home === 'unsettled') throw new Error(`${deposit.id} is stuck in ${payment.id}, ${payment.status}`);
        if (deposit.status === 'confirmed' && !deposit.isDust && !deposit.home)
          throw new Error(`${deposit.id} has no home in ${payment.id}, ${payment.status}`);
      }
    }
    for (const home of ['unsettled', 'unallocated', 'settled'] as const) {
      let sum = 0n;
      for (const deposit of this.deposits) if (deposit.home === home) sum += unitsOf(deposit);
      if (sum !== this.balance[home]) throw new Error(`${home}: ${this.balance[home]} booked, ${sum} there`);
    }
  }

  // --- what the chain and people do ------------------------------------------------------------------------------------

  arrive(status: 'pool' | 'mined', amount: string, where: 'here' | 'otherAsset' | 'oldAddress' | 'unknown'): void {
    const current = this.payments[0]!.currency;
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
      home: null,
      paymentId: 'p',
      childId: null,
    });
  }

  turn(index: number, from: readonly DepositStatus[], to: DepositStatus): void {
    // What is booked already is never verified anew before the judgement has taken it back.
    const fitting = this.deposits.filter(
      (deposit) => from.includes(deposit.status) && (to !== 'void' || deposit.home === null),
    );
    const deposit = fitting[index % Math.max(1, fitting.length)];
    if (!deposit) return;
    deposit.status = to;
    if (to === 'void') deposit.amount = '0';
  }

  cancel(): void {
    const payment = this.payments[0]!;
    const isOpen = payment.status === 'AWAITING_CURRENCY' || payment.status === 'WAITING';
    if (isOpen && !countedDeposits(this.facts(payment)).some(({ status }) => live.includes(status)))
      this.setStatus(payment, 'CANCELLED');
  }

  select(currency: string): void {
    const payment = this.payments[0]!;
    const isOpen = payment.status === 'AWAITING_CURRENCY' || payment.status === 'WAITING';
    const hasMoney = countedDeposits(this.facts(payment)).some(({ status }) => live.includes(status));
    if (!isOpen || hasMoney || this.now >= payment.expiresAt) return;
    this.setStatus(payment, 'WAITING');
    payment.currency = currency;
    payment.amount = '1';
  }

  sweep(): void {
    for (const payment of this.payments) if (payment.status === 'CONFIRMED') this.setStatus(payment, 'SWEEP_QUEUED');
  }

  /** As `settleIfSwept`: only once the judgement has nothing left to say. */
  settle(): void {
    for (const payment of this.payments) {
      const judged = judge(this.facts(payment));
      if (payment.status !== 'SWEEP_QUEUED' || judged.do !== 'nothing') continue;
      const mine = this.deposits.filter((deposit) => ownerOf(deposit) === payment.id && deposit.home === 'unsettled');
      if (!mine.length || mine.some(({ status }) => status !== 'confirmed'))
        throw new Error(`${payment.id} settles what is not there`);
      this.setStatus(payment, 'SETTLED');
      for (const deposit of mine) {
        this.balance.unsettled -= unitsOf(deposit);
        this.balance.settled += unitsOf(deposit);
        deposit.home = 'settled';
      }
    }
  }
}

const unitsOf = ({ amount }: Deposit): bigint => units.get(amount)!;
const ownerOf = (deposit: Deposit): string => deposit.childId ?? deposit.paymentId;
const amounts = ['0.000001', '0.3', '0.5', '0.7', '0.99', '1', '1.2'];
const units = new Map([...amounts, '0'].map((amount) => [amount, toUnits(amount, 6)]));
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
  ['include', (world, n) => world.turn(n, ['orphaned', 'replaced'], 'mined')],
  ['replace', (world, n) => world.turn(n, ['pool', 'orphaned'], 'replaced')],
  ['wait', (world, n) => void (world.now += [1, 30, 60, 120, 1200][n % 5]!)],
  ['scan', (world) => void (world.scannedTo = world.now)],
  ['cancel', (world) => world.cancel()],
  ['select', (world, n) => world.select(['ETH', 'USDT_ERC20'][n % 2]!)],
  [
    'otherAsset',
    (world, n) => {
      world.arrive('mined', amounts[n % 7]!, 'otherAsset');
      world.deposits.forEach(() => world.turn(0, ['mined'], 'confirmed'));
    },
  ],
  ['acceptUnderpaid', (world) => world.decide('acceptUnderpaid')],
  ['acceptCross', (world) => world.decide('acceptCross')],
  ['rejectCross', (world) => world.decide('rejectCross')],
  ['sweep', (world) => world.sweep()],
  ['settle', (world) => world.settle()],
  [
    'confirmTwo',
    (world) => {
      for (const amount of ['0.5', '0.5']) world.arrive('mined', amount, 'here');
      world.judgeAll();
      world.deposits.forEach(() => world.turn(0, ['mined'], 'confirmed'));
    },
  ],
  [
    'complete',
    (world) => {
      world.deposits.forEach(() => world.turn(0, ['mined'], 'confirmed'));
      world.judgeAll();
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
      judged: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
    }),
    { minLength: 1, maxLength: 14 },
  ),
});
const deedOf = new Map(deeds);

/** Every deposit ends somewhere and every deadline passes. */
function finish(world: World): void {
  for (let round = 0; round < 2; round++) {
    world.deposits.forEach(() => world.turn(0, ['mined'], 'confirmed'));
    world.deposits.forEach(() => world.turn(0, ['pool'], 'replaced'));
    world.now += 1 + 100 + confirmSeconds + 86_400;
    world.scannedTo = world.now;
    world.judgeAll();
    world.sweep();
    world.settle();
    world.judgeAll();
  }
  for (const payment of world.payments)
    if (!isFinal(payment.status)) throw new Error(`${payment.id} is still ${payment.status}`);
  for (const deposit of world.deposits) {
    const owner = world.payments.find((payment) => payment.id === ownerOf(deposit))!;
    if (deposit.home === 'settled' && owner.status !== 'SETTLED')
      throw new Error(`${deposit.id} is settled in ${owner.id}, ${owner.status}`);
    if (deposit.home === 'unallocated' && deposit.status !== 'confirmed')
      throw new Error(`${deposit.id} is held while ${deposit.status}`);
    if (deposit.home === 'settled' && deposit.status !== 'confirmed' && !world.alarms.includes(deposit.id))
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
      for (const { deed, n, m, judged } of done) {
        deedOf.get(deed)!(world, n, m);
        if (judged) world.judgeAll();
      }
      finish(world);
      for (const { status } of world.payments) ends.set(status, (ends.get(status) ?? 0) + 1);
    }),
    { numRuns: 10_000 },
  );
  // Histories that never get anywhere would prove nothing.
  for (const status of ['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED']) expect(ends.get(status)).toBeGreaterThan(300);
  for (const status of ['PARTIALLY_PAID', 'CROSS_CHAIN_PENDING']) expect(visits.get(status)).toBeGreaterThan(300);
});
