import fc from 'fast-check';
import {
  invoiceBlocks,
  isBeingTaken,
  leastToSettle,
  leastToTake,
  newRecord,
  nextHeldStep,
  recordAfter,
  satoshiIn,
  type HeldFacts,
  type HeldRecord,
  type HeldSighting,
  type HeldStep,
} from '../../domain/lightning/held-money';

const asked = 1_000_000n;
const taking: HeldRecord = { ...newRecord, decision: 'take' };
const returning: HeldRecord = { ...newRecord, decision: 'return' };
const open: HeldSighting = { state: 'open', paidMsat: 0n, expiryHeight: null };
const held: HeldSighting = { state: 'accepted', paidMsat: asked, expiryHeight: 200 };
const settled: HeldSighting = { state: 'settled', paidMsat: asked, expiryHeight: null };
const cancelled: HeldSighting = { ...open, state: 'cancelled' };
const unknown: HeldSighting = { ...open, state: 'unknown' };

const facts = (over: Partial<HeldFacts>): HeldFacts => ({
  ...{
    record: newRecord,
    sighting: held,
    height: 200 - invoiceBlocks,
    isWanted: true,
    isPast: false,
    isLostForGood: false,
    askedMsat: asked,
    ...over,
  },
});
const takes = { do: 'decide', decision: 'take', why: 'whole' };
const sendsBack = (why: string) => ({ do: 'decide', decision: 'return', why });

describe('held money', () => {
  const rows: readonly (readonly [what: string, over: Partial<HeldFacts>, step: object])[] = [
    ['is taken where it is whole and wanted', {}, takes],
    ['may be more than was asked for', { sighting: { ...held, paidMsat: 2n * asked } }, takes],
    ['goes back where it is much more', { sighting: { ...held, paidMsat: 2n * asked + 1n } }, sendsBack('too much')],
    ['goes back where it is less', { sighting: { ...held, paidMsat: asked - 1n } }, sendsBack('too little')],
    ['goes back where nobody wants it', { isWanted: false }, sendsBack('not wanted')],
    ['goes back although no block is known', { isWanted: false, height: null }, sendsBack('not wanted')],
    ['is taken with just enough blocks left', { height: 200 - leastToTake }, takes],
    ['goes back with too few', { height: 200 - leastToTake + 1 }, sendsBack('too late')],
    ['waits for a node that does not know its height', { height: null }, { do: 'wait' }],
    ['is waited for', { sighting: open }, { do: 'wait' }],
    ['is waited for while the invoice is being made', { sighting: unknown }, { do: 'wait' }],
    ['is no longer waited for once the payment is dead', { sighting: open, isWanted: false }, sendsBack('not wanted')],
    ['is no longer waited for once its time is over', { sighting: open, isPast: true }, sendsBack('too late')],
    ['… nor where the node never made the invoice', { sighting: unknown, isPast: true }, sendsBack('too late')],
    ['that came in time is taken after it', { isPast: true }, takes],
    ['that the node sent back', { sighting: cancelled }, sendsBack('sent back by the node')],
    [
      'that somebody else took is ours all the same',
      { sighting: settled, isWanted: false },
      { do: 'decide', decision: 'take', why: 'taken already', incident: 'held-foreign' },
    ],

    ['that is decided to be taken: the node is told', { record: taking }, { do: 'settle' }],
    ['… whatever the payment wants by now', { record: taking, isWanted: false }, { do: 'settle' }],
    ['… with just enough blocks left', { record: taking, height: 200 - leastToSettle }, { do: 'settle' }],
    ['… not with too few: it goes back', { record: taking, height: 200 - leastToSettle + 1 }, { do: 'cancel' }],
    ['… not by a node that does not know its height', { record: taking, height: null }, { do: 'wait' }],
    ['… is booked once the node has taken it', { record: taking, sighting: settled }, { do: 'book', msat: asked }],
    ['… is over where it went back before', { record: taking, sighting: cancelled }, { do: 'end' }],
    ['… waits for a node that has gone back in time', { record: taking, sighting: open }, { do: 'wait' }],
    [
      '… is for an operator where the node has lost it',
      { record: taking, sighting: unknown },
      { do: 'wait', incident: 'held-lost' },
    ],
    ['… and is over once it has gone back', { record: taking, sighting: unknown, isLostForGood: true }, { do: 'end' }],
    ['… which the word of the node decides', { record: taking, isLostForGood: true }, { do: 'settle' }],

    ['that is decided to go back: the node is told', { record: returning }, { do: 'cancel' }],
    ['… is not waited for any more', { record: returning, sighting: open }, { do: 'cancel' }],
    ['… is over once it went', { record: returning, sighting: cancelled }, { do: 'end' }],
    ['… is over where the invoice was never made', { record: returning, sighting: unknown }, { do: 'end' }],
    [
      '… and was taken by somebody else is booked',
      { record: returning, sighting: settled },
      { do: 'book', msat: asked, incident: 'held-foreign' },
    ],

    ['that is booked', { record: { ...taking, bookedMsat: asked }, sighting: settled }, { do: 'end' }],
    ['that is over', { record: { ...taking, isOver: true }, sighting: settled }, { do: 'end' }],
  ];
  it.each(rows)('%s', (_, over, step) => {
    expect(nextHeldStep(facts(over))).toEqual(step);
  });

  it('is decided once and booked once, whoever comes second', () => {
    const taken = recordAfter(newRecord, { do: 'decide', decision: 'take', why: 'whole' });
    expect(recordAfter(taken, { do: 'decide', decision: 'return', why: 'not wanted' })).toEqual(taking);
    const booked = recordAfter(taken, { do: 'book', msat: 5n });
    expect(booked).toEqual({ decision: 'take', bookedMsat: 5n, isOver: true });
    const over = { ...returning, isOver: true };
    expect(recordAfter(over, { do: 'book', msat: 5n })).toEqual(over);
    for (const step of [{ do: 'book', msat: 6n }, { do: 'end' }, { do: 'settle' }] as const)
      expect(recordAfter(booked, step)).toEqual(booked);
  });

  it('keeps its payment alive while it is being taken, and no longer', () => {
    const records = [newRecord, returning, taking, { ...taking, isOver: true }];
    expect(records.map(isBeingTaken)).toEqual([false, false, true, false]);
  });

  it('is credited in whole satoshi, never more than there is', () => {
    expect([999n, 1000n, 1_999_999n].map(satoshiIn)).toEqual([0n, 1n, 1999n]);
  });
});

/** From here on lnd sends held money back by itself, and goes to the chain for what it has taken. */
const [sentBackAt, toTheChainAt] = [12, 10];

/** A node as lnd is: it holds, takes and sends back, forgets nothing, and may be away or behind the chain. */
class PlayedNode {
  state: HeldSighting['state'] = 'unknown';
  paidMsat = 0n;
  expiry = 0;
  /** The chain's height, and the node's own where it is behind. */
  height = 100;
  ownHeight = 100;
  isUp = true;
  /** What the node really has of it: what it took in time. */
  has = 0n;
  starts = 0;

  /** The call that makes the invoice may come late, even after everybody has given it up. */
  create(): void {
    if (this.isUp && this.state === 'unknown') this.state = 'open';
  }
  accept(paidMsat: bigint, blocks: number): void {
    // lnd takes no part that has 13 blocks or fewer left.
    if (!this.isUp || this.isBehind || this.state !== 'open' || paidMsat < asked || blocks <= 13) return;
    Object.assign(this, { state: 'accepted', paidMsat, expiry: this.height + blocks });
  }
  get isBehind(): boolean {
    return this.ownHeight < this.height;
  }
  mine(blocks: number): void {
    this.height += blocks;
    if (this.isUp && !this.isBehindBefore(blocks)) this.catchUp();
  }
  private isBehindBefore(blocks: number): boolean {
    return this.ownHeight < this.height - blocks;
  }
  catchUp(): void {
    if (!this.isUp) return;
    this.ownHeight = this.height;
    if (this.state === 'accepted' && this.expiry - this.ownHeight <= sentBackAt) this.state = 'cancelled';
  }
  down(): void {
    this.isUp = false;
  }
  /** It knows what it knew, and not yet what the chain did meanwhile. */
  up(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.starts += 1;
  }
  timeOut(): void {
    if (this.isUp && this.state === 'open') this.state = 'cancelled';
  }
  /** Says `settled` whatever becomes of the money: with too few blocks left, the peer is faster. */
  settle(): void {
    if (!this.isUp || this.state !== 'accepted') return;
    this.state = 'settled';
    if (this.expiry - this.height > toTheChainAt) this.has = this.paidMsat;
  }
  cancel(): void {
    if (this.isUp && (this.state === 'open' || this.state === 'accepted')) this.state = 'cancelled';
  }
  look(isPast: boolean): Look | null {
    if (!this.isUp) return null;
    const isHeld = this.state === 'accepted';
    const paidMsat = isHeld || this.state === 'settled' ? this.paidMsat : 0n;
    return {
      sighting: { state: this.state, paidMsat, expiryHeight: isHeld ? this.expiry : null },
      height: this.isBehind ? null : this.ownHeight,
      isPast,
      ...{ at: this.height, starts: this.starts },
    };
  }
}
type Look = Readonly<{ sighting: HeldSighting; height: number | null; isPast: boolean; at: number; starts: number }>;

/** The database, the node, and two workers who look, write and tell in any order, and are killed in between. */
class World {
  readonly node = new PlayedNode();
  record = newRecord;
  isWanted = true;
  isPast = false;
  bookings = 0;
  takenUnwanted = 0;
  readonly workers: { look: Look | null; step: HeldStep | null }[] = [0, 1].map(() => ({ look: null, step: null }));

  look(of: number): void {
    this.workers[of]!.look = this.node.look(this.isPast);
  }
  /** What one transaction does: facts of the payment are as they are now, what the node said may be old. */
  write(of: number): void {
    const worker = this.workers[of]!;
    if (!worker.look) return;
    const { sighting, height, isPast } = worker.look;
    const { record, isWanted } = this;
    const step = nextHeldStep({ record, sighting, height, isWanted, isPast, askedMsat: asked, isLostForGood: false });
    this.record = recordAfter(record, step);
    if (step.do === 'book' && record.bookedMsat === null) this.bookings += 1;
    if (step.do === 'decide' && step.decision === 'take' && !isWanted && step.why === 'whole') this.takenUnwanted += 1;
    worker.step = step;
  }
  /** A word that was not said within the time for it is not said: the activity was ended. Whether its answer arrives
   *  makes no difference, for nobody waits for it. */
  tell(of: number): void {
    const worker = this.workers[of]!;
    const { look, step } = worker;
    worker.step = null;
    if (!look || !step || this.node.height - look.at > leastToSettle - sentBackAt) return;
    if (look.starts !== this.node.starts) return;
    if (step.do === 'settle') this.node.settle();
    if (step.do === 'cancel') this.node.cancel();
  }
  pass(): void {
    this.isPast = true;
  }
  die(): void {
    if (!isBeingTaken(this.record)) this.isWanted = false;
  }
  /** Somebody who has the preimage takes it behind our back. */
  foreign(): void {
    if (!this.record.isOver && this.node.expiry - this.node.height > toTheChainAt) this.node.settle();
  }
  /** Everything is up again, the payment's time runs out, and one worker goes on. Returns how many rounds it took. */
  drain(): number {
    this.node.up();
    this.node.catchUp();
    if (!this.record.isOver) this.node.create();
    for (let round = 1; round < 20; round += 1) {
      if (this.record.isOver) return round;
      this.look(0);
      this.write(0);
      this.tell(0);
      if (round > 5) this.die();
    }
    return Infinity;
  }
}

type Act =
  | readonly [name: 'look' | 'write' | 'tell' | 'kill' | 'round', worker: number]
  | readonly [
      name: 'create' | 'accept' | 'mine' | 'down' | 'up' | 'catchUp' | 'timeOut' | 'pass' | 'die' | 'foreign',
      value: number,
    ];

function play(world: World, [name, value]: Act): void {
  const { node } = world;
  const acts: Record<Act[0], () => void> = {
    look: () => world.look(value),
    write: () => world.write(value),
    tell: () => world.tell(value),
    round: () => (world.look(value), world.write(value), world.tell(value)),
    kill: () => Object.assign(world.workers[value]!, { look: null, step: null }),
    create: () => node.create(),
    accept: () => node.accept((asked * BigInt(100 + (value % 120))) / 100n, 14 + ((7 * value) % 80)),
    mine: () => node.mine(1 + (value % 60)),
    down: () => node.down(),
    up: () => node.up(),
    catchUp: () => node.catchUp(),
    timeOut: () => node.timeOut(),
    pass: () => world.pass(),
    die: () => world.die(),
    foreign: () => world.foreign(),
  };
  acts[name]();
}

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(fc.constantFrom('look', 'write', 'tell'), fc.nat(1)) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('round'), fc.nat(1)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('kill'), fc.nat(1)) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('create', 'accept', 'accept', 'accept'), fc.nat(150)) },
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom('mine', 'down', 'up', 'catchUp'), fc.nat(1000)) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('timeOut', 'pass', 'die', 'foreign'), fc.constant(0)) },
) as fc.Arbitrary<Act>;

/** Plays one order of events to its end, and says how it ended. */
function ending(acts: readonly Act[]): World['record'] {
  const world = new World();
  for (const one of acts) {
    const before = world.record;
    play(world, one);
    // What was decided or booked stands.
    if (before.decision) expect(world.record.decision).toBe(before.decision);
    if (before.bookedMsat !== null) expect(world.record.bookedMsat).toBe(before.bookedMsat);
    // Nothing is booked that the node does not have.
    expect(world.record.bookedMsat ?? 0n).toBeLessThanOrEqual(world.node.has);
  }
  expect(world.drain()).toBeLessThan(20);
  const { node, record, bookings, takenUnwanted } = world;
  expect(record.bookedMsat ?? 0n).toBe(node.has); // no money is lost, and none is made up
  expect(bookings).toBe(node.has ? 1 : 0);
  expect(takenUnwanted).toBe(0);
  // Nothing stays held: what came after everybody had gone, lnd sends back by itself.
  node.timeOut();
  node.mine(invoiceBlocks + 20);
  expect(node.state).not.toBe('open');
  expect(node.state).not.toBe('accepted');
  return record;
}

it('no order of arrival, expiry, cancelling, kills and lost words books what is not there, or loses what is', () => {
  const ends = { taken: 0, back: 0, failed: 0 };
  fc.assert(
    fc.property(fc.nat(3), fc.array(act, { minLength: 5, maxLength: 60 }), (late, acts) => {
      const { decision, bookedMsat } = ending(late ? [['create', 0], ...acts] : acts);
      ends[bookedMsat !== null ? 'taken' : decision === 'take' ? 'failed' : 'back'] += 1;
    }),
    { numRuns: 1500, seed: 50 },
  );
  // Each way to end was there, or nothing was tried.
  for (const count of Object.values(ends)) expect(count).toBeGreaterThan(10);
});

it('after a long time without node and workers, money whose blocks are gone is not taken', () => {
  const late: readonly Act[] = [
    ['create', 0],
    ['accept', 70],
    ['look', 0],
    ['write', 0],
    ['down', 0],
    ['mine', 39],
    ['mine', 39],
    ['mine', 39],
    ['up', 0],
    ['round', 1],
    ['tell', 0],
    ['catchUp', 0],
    ['round', 1],
  ];
  expect(ending(late)).toEqual({ decision: 'take', bookedMsat: null, isOver: true });
});
