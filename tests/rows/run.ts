import type { World } from '../world';
import { sees, world, type Case } from './stage';

/** Cases that run beside each other before their tests ask what came of them, and what is asked of each. */

type Outcome = Readonly<{ promise: Promise<void>; end: (error?: unknown) => void }>;

/** What `act` makes of each of `all`, one after the other or beside each other. */
export function outcomesOf<One extends object>(all: readonly One[], act: (one: One) => Promise<unknown>) {
  const outcomes = new Map<One, Outcome>(
    all.map((one) => {
      let end!: Outcome['end'];
      const promise = new Promise<void>((resolve, reject) => {
        end = (error) => (error === undefined ? resolve() : reject(error as Error));
      });
      promise.catch(() => undefined); // its test says so
      return [one, { promise, end }];
    }),
  );
  const run = (one: One): Promise<void> => {
    const { end } = outcomes.get(one)!;
    return act(one).then(() => end(), end);
  };
  async function inOrder(some: readonly One[]): Promise<void> {
    for (const one of some) await run(one);
  }
  return {
    of: (one: One): Promise<void> => outcomes.get(one)!.promise,
    inOrder,
    /** So many at once. */
    async beside(some: readonly One[], abreast: number): Promise<void> {
      const left = [...some];
      const lane = async (): Promise<void> => {
        for (let one = left.shift(); one; one = left.shift()) await run(one);
      };
      await Promise.all(Array.from({ length: abreast }, lane));
    },
  };
}

let audits: Promise<unknown> = Promise.resolve();
let nextAudit: ReturnType<World['audit']> | null = null;
/** One audit after now, shared with whoever wants one meanwhile. */
export function audited(): ReturnType<World['audit']> {
  nextAudit ??= audits.then(() => {
    nextAudit = null;
    const audit = world.audit();
    audits = audit.catch(() => undefined);
    return audit;
  });
  return nextAudit;
}

/** Drives a case, and asks where it ended and what was told. */
export async function check({ drive, status, exceptions, told }: Case): Promise<void> {
  const invoice = await drive();
  const ends = typeof status === 'string' ? [status] : status;
  const payment = await sees(invoice, ends);
  if (exceptions !== 'any' && (exceptions || ends.length === 1)) expect(payment.exceptions).toEqual(exceptions ?? []);
  if (told === undefined) return;
  const types = await world.eventTypesOf(invoice.id);
  expect(types.map((type) => type.replace('payment.', '')).join(' ')).toBe(told);
}
