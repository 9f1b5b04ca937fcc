import { apply, leastFee, metaOf, type Outcome, type Place } from './rules';
import {
  genesis,
  halfHash,
  ledgerAfter,
  leastMedian,
  type Account,
  type Entry,
  type Ledger,
  type State,
} from './state';
import { readTransaction, type Transaction } from './transactions';

/** Accounts of a ledger that is being made: those of its parent, and what has changed since. */
class Accounts {
  readonly changed = new Map<string, Account>();
  constructor(private readonly parent: ReadonlyMap<string, Account>) {}
  readonly get = (address: string): Account | undefined => this.changed.get(address) ?? this.parent.get(address);
  take(outcome: Outcome): void {
    for (const [address, account] of outcome.changed ?? []) this.changed.set(address, account);
  }
}

/** Level 256 is the base fee (page transaction-cost, fee levels). */
const baseLevel = 256;
/** How many transactions of an account may wait (page transaction-queue). */
const mostQueued = 10;
/** For so long after it was last asked for, a server remembers what was submitted to it. */
const rememberedMs = 30 * 60_000;

export type Submitted = Readonly<{
  result: string;
  applied: boolean;
  queued: boolean;
  kept: boolean;
  openLedgerCost: bigint;
}>;

const feeOf = ({ json }: Transaction): bigint => BigInt(json.Fee as string);
const sequenceOf = ({ json }: Transaction): number => json.Sequence as number;
const isOver = ({ json }: Transaction, index: number): boolean =>
  typeof json.LastLedgerSequence === 'number' && json.LastLedgerSequence < index;

/** The network behind the simulated server: one open ledger, and the closed ones. */
export class Network {
  /** As the newest closed ledger left them. */
  private readonly accounts = new Map<string, Account>();
  private open!: { accounts: Accounts; transactions: Transaction[]; ids: Set<string> };
  /** What the server was given, the longest untouched first. Not on the disk: a server forgets it when it ends. */
  private readonly given = new Map<string, { transaction: Transaction; touchedAt: number }>();

  constructor(readonly state: State) {
    for (const ledger of state.ledgers) this.adopt(ledger);
    this.openLedger(state.open);
  }

  get tip(): Ledger {
    return this.state.ledgers.at(-1)!;
  }

  /** Accounts of the open ledger. */
  readonly pending = (address: string): Account | undefined => this.open.accounts.get(address);
  readonly isPending = (hash: string): Transaction | undefined =>
    this.open.transactions.find((one) => one.hash === hash) ?? this.waiting().find((one) => one.hash === hash);

  /** The server keeps in its cache whatever was submitted to it with a good signature, also what no ledger can take any
   *  more, and each question about it makes it stay longer (xrpld's source: NetworkOPs, preProcessTransaction;
   *  TransactionMaster, canonicalize and fetch; TaggedCache). */
  remember(transaction: Transaction): void {
    this.given.delete(transaction.hash);
    this.given.set(transaction.hash, { transaction, touchedAt: Date.now() });
    for (const [hash, { touchedAt }] of this.given) {
      if (Date.now() - touchedAt < rememberedMs) break;
      this.given.delete(hash);
    }
  }

  /** From the cache of the server. */
  recall(hash: string): Transaction | undefined {
    const found = this.given.get(hash);
    if (!found || Date.now() - found.touchedAt >= rememberedMs) return undefined;
    this.remember(found.transaction);
    return found.transaction;
  }

  readonly isPreauthorized = (account: string, by: string): boolean =>
    this.state.preauthorized?.[by]?.includes(account) ?? false;

  get openSize(): number {
    return this.open.transactions.length;
  }

  /** Something waits for the next ledger, or for one after it. */
  get isWaiting(): boolean {
    return this.openSize + this.state.queue.length + this.state.held.length > 0;
  }

  private waiting(): Transaction[] {
    return [...this.state.queue, ...this.state.held].map(readTransaction);
  }

  /** Level that a transaction must pay to be in the open ledger: beyond the soft limit it grows with the square of
   *  their number (page transaction-cost, open ledger cost; FeeEscalation in the node's source). */
  openLevel(): bigint {
    const { expectedSize: limit, medianLevel } = this.state;
    const size = this.openSize;
    if (size < limit) return BigInt(baseLevel);
    const level = (BigInt(medianLevel) * BigInt(size + 1) ** 2n) / BigInt(limit) ** 2n;
    return level > BigInt(baseLevel) ? level : BigInt(baseLevel);
  }

  /** Drops that a payment must pay to be in the open ledger. */
  openCost(): bigint {
    const base = BigInt(this.state.settings.baseFee);
    const escalated = (this.openLevel() * base + BigInt(baseLevel) - 1n) / BigInt(baseLevel);
    const least = leastFee(this.state.settings);
    return escalated > least ? escalated : least;
  }

  private placeOf(accounts: Accounts, ids: ReadonlySet<string>, index: number, isOpen: boolean): Place {
    const { networkId, settings, deliveries } = this.state;
    const { get } = accounts;
    const [has, delivers] = [(id: string) => ids.has(id), (id: string) => deliveries[id]];
    return { index, isOpen, networkId, settings, get, has, delivers, isPreauthorized: this.isPreauthorized };
  }

  /** Applies bytes to the open ledger, or lets them wait. Throws Invalid. */
  submit(blob: unknown): Submitted {
    const transaction = readTransaction(blob);
    const openLedgerCost = this.openCost();
    const said = (result: string, how: Partial<Submitted> = {}): Submitted => ({
      result,
      applied: false,
      queued: false,
      kept: false,
      openLedgerCost,
      ...how,
    });
    const index = this.tip.index + 1;
    const { accounts, ids } = this.open;
    const outcome = apply(this.placeOf(accounts, ids, index, true), transaction, { maker: genesis });
    const { blob: bytes } = transaction;
    const isWaiting = this.state.queue.includes(bytes) || this.state.held.includes(bytes);
    if (outcome.result === 'terPRE_SEQ' && this.followsQueue(transaction)) return this.enqueue(transaction, said);
    if (outcome.result === 'terPRE_SEQ') {
      if (!isWaiting) this.state.held.push(bytes);
      return said(outcome.result, { kept: true });
    }
    if (!outcome.changed) return said(outcome.result);
    if (feeOf(transaction) < openLedgerCost) return this.enqueue(transaction, said);
    this.takeOpen(transaction, outcome);
    this.retryHeld();
    return said(outcome.result, { applied: true });
  }

  /** What `submit` would answer, of bytes that the network does not hear of. Throws Invalid. */
  imagine(blob: unknown): Submitted {
    const { open, queue, held } = this.state;
    this.state.queue = [...queue];
    this.state.held = [...held];
    this.state.open = [...open];
    try {
      return this.submit(blob);
    } finally {
      this.state.queue = queue;
      this.state.held = held;
      this.openLedger(open);
    }
  }

  private takeOpen(transaction: Transaction, outcome: Outcome): void {
    this.open.accounts.take(outcome);
    this.open.transactions.push(transaction);
    this.open.ids.add(transaction.hash);
    this.state.open.push(transaction.blob);
  }

  private queuedOf(account: unknown): Transaction[] {
    return this.state.queue.map(readTransaction).filter(({ json }) => json.Account === account);
  }

  private followsQueue(transaction: Transaction): boolean {
    const queued = this.queuedOf(transaction.json.Account).map(sequenceOf);
    return queued.includes(sequenceOf(transaction) - 1) || queued.includes(sequenceOf(transaction));
  }

  /** Page transaction-queue, queuing restrictions; page tel-codes for a replacement that pays too little. What the
   *  sender must hold for all that he has queued is not counted. */
  private enqueue(transaction: Transaction, said: (result: string, how?: Partial<Submitted>) => Submitted): Submitted {
    const { queue } = this.state;
    const last = transaction.json.LastLedgerSequence;
    if (typeof last === 'number' && last < this.tip.index + 3) return said('telCAN_NOT_QUEUE');
    const own = this.queuedOf(transaction.json.Account);
    const rival = own.find((one) => sequenceOf(one) === sequenceOf(transaction));
    if (rival?.hash === transaction.hash) return said('terQUEUED', { queued: true, kept: true });
    if (rival && feeOf(transaction) * 4n < feeOf(rival) * 5n) return said('telCAN_NOT_QUEUE_FEE');
    if (!rival && own.length >= mostQueued) return said('telCAN_NOT_QUEUE');
    if (rival) queue.splice(queue.indexOf(rival.blob), 1);
    queue.push(transaction.blob);
    return said('terQUEUED', { queued: true, kept: true });
  }

  /** Those that waited for an earlier sequence, and may go now. */
  private retryHeld(): void {
    for (const blob of [...this.state.held]) {
      const transaction = readTransaction(blob);
      const index = this.tip.index + 1;
      const place = this.placeOf(this.open.accounts, this.open.ids, index, true);
      const outcome = apply(place, transaction, { maker: genesis });
      const stays = outcome.result === 'terPRE_SEQ';
      if (stays || (outcome.changed && feeOf(transaction) < this.openCost())) continue;
      this.state.held.splice(this.state.held.indexOf(blob), 1);
      if (outcome.changed) this.takeOpen(transaction, outcome);
    }
  }

  /** Closes the open ledger: what is in it is applied anew, in an order that nobody chooses (page ledger_accept). */
  close(): Ledger {
    const { state } = this;
    const index = this.tip.index + 1;
    const accounts = new Accounts(this.accounts);
    for (const [address, owned] of Object.entries(state.owners)) {
      const account = accounts.get(address);
      if (account) accounts.changed.set(address, { ...account, OwnerCount: owned });
    }
    state.owners = {};
    const { entries, burnt } = this.replay(accounts, index);
    const totalCoins = (BigInt(this.tip.totalCoins) - burnt).toString();
    const changed = Object.fromEntries(accounts.changed);
    const ledger = ledgerAfter(this.tip, { entries, changed, totalCoins });
    const levels = entries.map(({ blob }) => this.levelOf(readTransaction(blob)));
    state.ledgers.push(ledger);
    this.adopt(ledger);
    // Page transaction-cost: a full ledger raises the limit of the next one, by a fifth.
    const { leastSize } = state.settings;
    state.expectedSize = Math.max(leastSize, Math.ceil(entries.length * 1.2));
    state.medianLevel = Math.max(
      leastMedian,
      Number(levels.sort((a, b) => (a < b ? -1 : 1))[levels.length >> 1] ?? 0n),
    );
    this.openNext();
    return ledger;
  }

  private levelOf(transaction: Transaction): bigint {
    return (feeOf(transaction) * BigInt(baseLevel)) / BigInt(this.state.settings.baseFee);
  }

  /** Several passes, for what a transaction needs may come after it; a failure counts only when nothing else moves
   *  (page transaction-results: provisional results may change). */
  private replay(accounts: Accounts, index: number): { entries: Entry[]; burnt: bigint } {
    const salt = Buffer.from(this.tip.hash, 'hex');
    const orderOf = ({ json, hash }: Transaction): string =>
      `${halfHash(salt, Buffer.from(String(json.Account)))}${String(json.Sequence).padStart(10, '0')}${hash}`;
    let left = [...this.open.transactions].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    const ids = new Set<string>();
    const entries: Entry[] = [];
    let burnt = 0n;
    for (let isLast = false, moved = true; moved || !isLast;) {
      isLast = !moved;
      moved = false;
      const kept: Transaction[] = [];
      for (const transaction of left) {
        const outcome = apply(this.placeOf(accounts, ids, index, false), transaction, { maker: genesis });
        const succeeds = outcome.result === 'tesSUCCESS';
        if (!outcome.changed || (!succeeds && !isLast)) {
          kept.push(transaction);
          continue;
        }
        const sum = [...outcome.changed.keys()];
        const before = sum.reduce((total, one) => total + BigInt(accounts.get(one)?.Balance ?? '0'), 0n);
        const meta = metaOf(outcome, accounts.get, entries.length);
        for (const [address, account] of outcome.changed) {
          const marks = { PreviousTxnID: transaction.hash, PreviousTxnLgrSeq: index };
          accounts.changed.set(address, { ...account, ...marks });
        }
        burnt += sum.reduce((total, one) => total - BigInt(accounts.get(one)!.Balance), before);
        entries.push({ hash: transaction.hash, blob: transaction.blob, meta });
        ids.add(transaction.hash);
        moved = true;
      }
      left = kept;
    }
    return { entries, burnt };
  }

  private adopt(ledger: Ledger): void {
    for (const [address, account] of Object.entries(ledger.changed)) this.accounts.set(address, account);
  }

  /** The next open ledger begins with what waited, dearest first (page transaction-queue); what is over is dropped. */
  private openNext(): void {
    const { state } = this;
    const index = this.tip.index + 1;
    const isDone = (one: Transaction): boolean => this.tip.entries.some(({ hash }) => hash === one.hash);
    const failed = this.open.transactions.filter((one) => !isDone(one));
    const queued = state.queue.map(readTransaction).sort((a, b) => Number(this.levelOf(b) - this.levelOf(a)));
    const waiting = [...failed, ...queued, ...state.held.map(readTransaction)].filter((one) => !isOver(one, index));
    const queue = new Set(state.queue);
    state.open = [];
    state.queue = [];
    state.held = [];
    this.openLedger([]);
    for (let again = true; again;) {
      again = false;
      for (const transaction of waiting.splice(0)) {
        const place = this.placeOf(this.open.accounts, this.open.ids, index, true);
        const outcome = apply(place, transaction, { maker: genesis });
        if (outcome.changed && feeOf(transaction) >= this.openCost()) {
          this.takeOpen(transaction, outcome);
          again = true;
        } else if (outcome.changed || outcome.result.startsWith('ter')) waiting.push(transaction);
      }
    }
    for (const { blob } of waiting) (queue.has(blob) ? state.queue : state.held).push(blob);
  }

  private openLedger(blobs: readonly string[]): void {
    this.open = { accounts: new Accounts(this.accounts), transactions: [], ids: new Set() };
    const index = this.tip.index + 1;
    this.state.open = [];
    for (const blob of blobs) {
      const transaction = readTransaction(blob);
      const place = this.placeOf(this.open.accounts, this.open.ids, index, true);
      const outcome = apply(place, transaction, { maker: genesis });
      if (outcome.changed) this.takeOpen(transaction, outcome);
    }
  }
}
