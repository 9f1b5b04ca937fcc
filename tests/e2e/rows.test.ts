import { afterSettlement } from '../rows/after-settlement';
import { bitcoin } from '../rows/bitcoin';
import { ethereum } from '../rows/ethereum';
import { audited, check, outcomesOf } from '../rows/run';
import { sideBySide } from '../rows/side-by-side';
import { setUp, tearDown, ticking, tick } from '../rows/stage';

/** Every row of the payment state machine on the whole stack: how it is driven, where it ends, what was told. Cases
 *  that mind nobody's blocks run side by side; then, on each chain by itself, those whose blocks must be their own;
 *  then those that cost us money. Invariants: 3. */

beforeAll(async () => {
  await setUp();
  begin();
});
afterAll(tearDown, 60_000);

const all = [...sideBySide, ...bitcoin, ...ethereum, ...afterSettlement];
const outcomes = outcomesOf(all, async (one) => {
  await check(one);
  expect(await audited()).toEqual([]);
});

const abreast = 6;
function begin(): void {
  void (async () => {
    const ticks = [tick('BTC'), tick('ETH')];
    await outcomes.beside(sideBySide, abreast);
    ticking.clear();
    await Promise.all(ticks);
    await Promise.all([outcomes.inOrder(bitcoin), outcomes.inOrder(ethereum)]);
    await outcomes.inOrder(afterSettlement);
  })();
}

it.each(all)('$rows: $name', (one) => outcomes.of(one), 900_000);

it('drives each of the rows', () => {
  const driven = new Set(all.flatMap(({ rows }) => rows.match(/\d+/g)!.map(Number)));
  expect([...driven].sort((a, b) => a - b)).toEqual(Array.from({ length: 23 }, (_, n) => n + 1));
});
