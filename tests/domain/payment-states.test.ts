import { readFileSync } from 'node:fs';
import { paymentStatesFile, paymentStatesPage } from '../../sandbox/payment-states-page';
import { finalStatuses, legalMoves, paymentStatuses } from '../../domain/payments/payment';
import { stateRows } from '../../domain/payments/payment-states';

/** The rows are the only legal moves, and docs/payment-states.md shows them as they are. */
const changes = (moves: ReadonlyArray<readonly [string, string]>): string[] =>
  [...new Set(moves.filter(([from, to]) => from !== to).map(([from, to]) => `${from} > ${to}`))].sort();

it('numbers the rows from 1 to 23', () => {
  expect(stateRows.map(({ row }) => row)).toEqual(Array.from({ length: 23 }, (_, index) => index + 1));
});

it('has a row for each legal move, and no row for another', () => {
  const rows = stateRows.flatMap(({ from, to }) =>
    to === 'unchanged' ? [] : from.flatMap((source) => to.map((target) => [source, target] as const)),
  );
  const legal = paymentStatuses.flatMap((from) => legalMoves[from].map((to) => [from, to] as const));
  expect(changes(rows)).toEqual(changes(legal));
});

it('leads out of no final status', () => {
  const out = stateRows.filter(({ from, to }) => to !== 'unchanged' && from.some((one) => finalStatuses.includes(one)));
  expect(out).toEqual([]);
});

it('leads to every status', () => {
  const reached = new Set(stateRows.flatMap(({ to }) => (to === 'unchanged' ? [] : to)));
  expect([...reached].sort()).toEqual([...paymentStatuses].sort());
});

it('is in docs/payment-states.md as it is here: npm run docs:states', () => {
  expect(readFileSync(paymentStatesFile, 'utf8')).toBe(paymentStatesPage());
});
