import { afterSettlement } from '../rows/after-settlement';
import { bitcoin } from '../rows/bitcoin';
import { ethereum } from '../rows/ethereum';
import { sideBySide } from '../rows/side-by-side';
import { world, setUp, tearDown, ticking, tick, sees, type Case } from '../rows/stage';
import type { World } from '../world';

/** Every row of the payment state machine on the whole stack: how it is driven, where it ends, what was told. Cases
 *  that mind nobody's blocks run side by side; then, on each chain by itself, those whose blocks must be their own;
 *  then those that cost us money. Invariants: 3. */

beforeAll(async () => {
  await setUp();
  begin();
});
afterAll(tearDown, 60_000);

const all = [...sideBySide, ...bitcoin, ...ethereum, ...afterSettlement];
type Outcome = { promise: Promise<void>; end: (error?: unknown) => void };
const outcomes = new Map<Case, Outcome>(
  all.map((one) => {
    let end!: Outcome['end'];
    const promise = new Promise<void>((resolve, reject) => {
      end = (error) => (error === undefined ? resolve() : reject(error as Error));
    });
    promise.catch(() => undefined); // its test says so
    return [one, { promise, end }];
  }),
);

let audits: Promise<unknown> = Promise.resolve();
let nextAudit: ReturnType<World['audit']> | null = null;
/** One audit after now, shared with whoever wants one meanwhile. */
function audited(): ReturnType<World['audit']> {
  nextAudit ??= audits.then(() => {
    nextAudit = null;
    const audit = world.audit();
    audits = audit.catch(() => undefined);
    return audit;
  });
  return nextAudit;
}

async function check({ drive, status, exceptions, told }: Case): Promise<void> {
  const invoice = await drive();
  const ends = typeof status === 'string' ? [status] : status;
  const payment = await sees(invoice, ends);
  if (exceptions !== 'any' && (exceptions || ends.length === 1)) expect(payment.exceptions).toEqual(exceptions ?? []);
  if (told !== undefined) {
    const types = await world.eventTypesOf(invoice.id);
    expect(types.map((type) => type.replace('payment.', '')).join(' ')).toBe(told);
  }
  expect(await audited()).toEqual([]);
}
async function run(one: Case): Promise<void> {
  await check(one).then(outcomes.get(one)!.end.bind(null, undefined), outcomes.get(one)!.end);
}
async function inOrder(cases: readonly Case[]): Promise<void> {
  for (const one of cases) await run(one);
}
const abreast = 6;
function begin(): void {
  void (async () => {
    const ticks = [tick('BTC'), tick('ETH')];
    const left = [...sideBySide];
    const lane = async (): Promise<void> => {
      for (let one = left.shift(); one; one = left.shift()) await run(one);
    };
    await Promise.all(Array.from({ length: abreast }, lane));
    ticking.clear();
    await Promise.all(ticks);
    await Promise.all([inOrder(bitcoin), inOrder(ethereum)]);
    await inOrder(afterSettlement);
  })();
}

it.each(all)('$rows: $name', (one) => outcomes.get(one)!.promise, 900_000);

it('drives each of the rows', () => {
  const driven = new Set(all.flatMap(({ rows }) => rows.match(/\d+/g)!.map(Number)));
  expect([...driven].sort((a, b) => a - b)).toEqual(Array.from({ length: 23 }, (_, n) => n + 1));
});
