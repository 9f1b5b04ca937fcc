import fc from 'fast-check';
import {
  answered,
  mostCalls,
  newOutgoing,
  nextOutgoingStep,
  outgoingAfter,
  type OutgoingFacts,
  type OutgoingRecord,
  type OutgoingSighting,
  type OutgoingStep,
} from '../../domain/lightning/outgoing-payment';

const unknown: OutgoingSighting = { state: 'unknown' };
const failed: OutgoingSighting = { state: 'failed' };
const paid: OutgoingSighting = { state: 'paid', amountMsat: 1000n, feeMsat: 7n };
const facts = (over: Partial<OutgoingFacts>): OutgoingFacts => ({
  ...{ record: newOutgoing, sighting: unknown, isExpired: false, isGivenUp: false, isForgotten: false },
  ...{ maySend: true, isTooSoon: false },
  ...over,
});
const called = (calls: number, unanswered: number): OutgoingRecord => ({ ...newOutgoing, calls, unanswered });

describe('a payment to an invoice', () => {
  const rows: readonly (readonly [what: string, over: Partial<OutgoingFacts>, step: object])[] = [
    ['is sent', {}, { do: 'send' }],
    ['is not sent where it may not leave', { maySend: false }, { do: 'fail' }],
    ['is not sent where the invoice has expired', { isExpired: true }, { do: 'fail' }],
    ['is waited for while it is under way', { sighting: { state: 'under way' }, isExpired: true }, { do: 'wait' }],
    ['is sent again where the call was cut off: it has one hash', { record: called(1, 1) }, { do: 'send' }],
    ['is sent again where the node has given up', { record: called(1, 0), sighting: failed }, { do: 'send' }],
    ['is not sent again at once', { record: called(1, 0), sighting: failed, isTooSoon: true }, { do: 'wait' }],
    ['… nor where its call was lost', { record: called(2, 2), isTooSoon: true }, { do: 'wait' }],
    ['… but it is sent the first time', { isTooSoon: true }, { do: 'send' }],
    ['has failed after so many calls', { record: called(mostCalls, 0), sighting: failed }, { do: 'fail' }],
    ['has not failed while a call may arrive', { record: called(mostCalls, 1), sighting: failed }, { do: 'wait' }],
    ['… nor where it may not leave any more', { record: called(1, 1), maySend: false }, { do: 'wait' }],
    ['… but once the node would refuse it', { record: called(1, 1), isExpired: true }, { do: 'fail' }],
    ['… or two operators have said that none can', { record: called(1, 1), isGivenUp: true }, { do: 'fail' }],
    [
      '… but not while the node has it under way',
      { record: called(1, 1), isGivenUp: true, sighting: { state: 'under way' } },
      { do: 'wait' },
    ],
    ['is not sent again where the node has forgotten it', { record: called(1, 0), isForgotten: true }, { do: 'wait' }],
    ['… nor has failed', { record: called(3, 0), isForgotten: true, isExpired: true }, { do: 'wait' }],
    ['… but two operators may say so', { record: called(1, 0), isForgotten: true, isGivenUp: true }, { do: 'fail' }],
    [
      'is booked once it is paid, whatever may leave by now',
      { record: called(1, 1), sighting: paid, isExpired: true, maySend: false },
      { do: 'book', amountMsat: 1000n, feeMsat: 7n },
    ],
    ['is over', { record: { ...called(1, 0), outcome: 'failed' }, sighting: paid }, { do: 'end' }],
  ];
  it.each(rows)('%s', (_, over, step) => {
    expect(nextOutgoingStep(facts(over))).toEqual(step);
  });

  it('counts its calls before they begin, and ends once', () => {
    const sent = outgoingAfter(newOutgoing, { do: 'send' });
    expect([sent, answered(sent), answered(answered(sent))]).toEqual([called(1, 1), called(1, 0), called(1, 0)]);
    const over = outgoingAfter(sent, { do: 'book', amountMsat: 1n, feeMsat: 0n });
    expect(over).toEqual({ ...called(1, 1), outcome: 'paid' });
    for (const step of [{ do: 'fail' }, { do: 'send' }] as const) expect(outgoingAfter(over, step)).toEqual(over);
  });
});

type Worker = { read: Omit<OutgoingFacts, 'maySend' | 'isTooSoon'> | null; isSending: boolean };

/** The database, a node that pays a hash once, calls and answers that are lost or late, and two workers. */
class World {
  record = newOutgoing;
  state: OutgoingSighting['state'] = 'unknown';
  isExpired = false;
  maySend = true;
  payments = 0;
  bookings = 0;
  /** Calls that have not reached the node yet, and answers that have not reached us. */
  calls = 0;
  answers = 0;
  readonly workers: Worker[] = [0, 1].map(() => ({ read: null, isSending: false }));

  read(of: number): void {
    const sighting: OutgoingSighting = this.state === 'paid' ? paid : { state: this.state };
    const isOver = { isExpired: this.isExpired, isGivenUp: false, isForgotten: false };
    this.workers[of]!.read = { record: this.record, ...isOver, sighting };
  }
  write(of: number): OutgoingStep['do'] | null {
    const worker = this.workers[of]!;
    const { read } = worker;
    worker.read = null;
    if (!read || read.record !== this.record) return null;
    const step = nextOutgoingStep({ ...read, maySend: this.maySend, isTooSoon: false });
    this.record = outgoingAfter(this.record, step);
    if (step.do === 'book') this.bookings += 1;
    worker.isSending = step.do === 'send';
    return step.do;
  }
  /** The call leaves us; when and whether it arrives is another matter. */
  send(of: number): void {
    const worker = this.workers[of]!;
    if (worker.isSending) this.calls += 1;
    worker.isSending = false;
  }
  arrive(isAnswered: boolean): void {
    if (!this.calls) return;
    this.calls -= 1;
    if (!this.isExpired && (this.state === 'unknown' || this.state === 'failed')) this.state = 'under way';
    if (isAnswered) this.answers += 1;
  }
  hear(): void {
    if (!this.answers) return;
    this.answers -= 1;
    this.record = answered(this.record);
  }
  resolve(isPaid: boolean): void {
    if (this.state !== 'under way') return;
    this.state = isPaid ? 'paid' : 'failed';
    if (isPaid) this.payments += 1;
  }
  /** One worker goes on, the invoice's time runs out, and the node ends what it has under way. */
  drain(isPaid: boolean): void {
    for (let round = 0; round < 30 && this.record.outcome === null; round += 1) {
      this.read(0);
      this.write(0);
      this.send(0);
      if (round > 3) this.isExpired = true;
      if (round > 5) this.resolve(isPaid);
    }
  }
}

type Act = readonly ['read' | 'write' | 'send' | 'arrive' | 'hear' | 'resolve' | 'kill' | 'expire' | 'stop', number];
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(fc.constantFrom('read', 'write', 'send'), fc.nat(1)) },
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom('arrive', 'hear', 'resolve'), fc.nat(1)) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('kill', 'expire', 'stop', 'stop', 'stop'), fc.nat(1)) },
) as fc.Arbitrary<Act>;

function play(world: World, [name, value]: Act): void {
  const acts: Record<Act[0], () => void> = {
    read: () => world.read(value),
    write: () => world.write(value),
    send: () => world.send(value),
    arrive: () => world.arrive(value === 0),
    hear: () => world.hear(),
    resolve: () => world.resolve(value === 0),
    kill: () => Object.assign(world.workers[value]!, { read: null, isSending: false }),
    expire: () => (world.isExpired = true),
    stop: () => (world.maySend = value === 1),
  };
  acts[name]();
}

it('an old look at the node decides nothing: a call may have begun and ended since', () => {
  const world = new World();
  const acts: readonly Act[] = [
    ...(['read', 'write', 'send'] as const).map((name): Act => [name, 0]),
    ...([
      ['arrive', 0],
      ['hear', 0],
      ['resolve', 1],
    ] as const), // it fails
    ['read', 1], // has failed, and no call is out
    ...(['read', 'write', 'send'] as const).map((name): Act => [name, 0]),
    ...([
      ['arrive', 0],
      ['hear', 0],
      ['stop', 0],
    ] as const), // under way once more, and no call is out
  ];
  for (const one of acts) play(world, one);
  expect(world.write(1)).toBeNull();
  world.drain(true);
  expect([world.record.outcome, world.payments]).toEqual(['paid', 1]);
});

it('no order of calls, answers, kills and expiry pays twice, or books what the node did not do', () => {
  const ends = { paid: 0, failed: 0, again: 0, early: 0 };
  fc.assert(
    fc.property(fc.array(act, { minLength: 5, maxLength: 80 }), fc.boolean(), (acts, isPaid) => {
      const world = new World();
      for (const one of acts) play(world, one);
      if (world.record.outcome === 'failed' && !world.isExpired) ends.early += 1;
      world.drain(isPaid);
      const { outcome, calls } = world.record;
      expect(outcome).not.toBeNull();
      // Whatever was still on its way arrives after all.
      for (const worker of [0, 1]) world.send(worker);
      while (world.calls) world.arrive(true);
      world.resolve(true);
      expect(world.payments).toBe(outcome === 'paid' ? 1 : 0);
      expect(world.bookings).toBe(world.payments);
      ends[outcome!] += 1;
      if (calls > 1) ends.again += 1;
    }),
    { numRuns: 2000, seed: 49 },
  );
  for (const count of Object.values(ends)) expect(count).toBeGreaterThan(10);
});
