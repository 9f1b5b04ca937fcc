import { join } from 'node:path';
import { finalStatuses, paymentStatuses, type PaymentStatus } from '../domain/payments/payment';
import { stateRows, type StateRow } from '../domain/payments/payment-states';
import { root } from './paths';

/** The page that `npm run docs:states` writes, from the rows in domain/payments/payment-states.ts. Its readers are
 *  integrators: it names nothing of the code. */
export const paymentStatesFile = join(root, 'docs', 'payment-states.md');

const width = 120;
const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

/** One list item, wrapped as Prettier leaves it. */
function item(text: string): string {
  const lines: string[] = [];
  let line = '-';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > width) {
      lines.push(line);
      line = ` `;
    }
    line += ` ${word}`;
  }
  return [...lines, line].join('\n');
}

/** A Markdown table with the padding of Prettier. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const lineOf = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  return [lineOf(head!), `| ${widths.map((size) => '-'.repeat(size)).join(' | ')} |`, ...body.map(lineOf)].join('\n');
}

const fromOf = ({ from }: StateRow): string => {
  const finals = from.filter((status) => finalStatuses.includes(status));
  if (from.length === 0) return 'none';
  if (finals.length < finalStatuses.length) return code(from);
  return [...from.filter((status) => !finals.includes(status)).map((status) => `\`${status}\``), 'any final'].join(
    ', ',
  );
};
const toOf = ({ to }: StateRow): string => (to === 'unchanged' ? to : to.map((status) => `\`${status}\``).join(' or '));

const rowOf = (state: StateRow): string =>
  [
    `### Row ${state.row}`,
    '',
    item(`Cause: ${state.cause}.`),
    item(`From ${fromOf(state)} to ${toOf(state)}.`),
    ...(state.guard ? [item(`When: ${state.guard}`)] : []),
    item(`Effect: ${state.effect}`),
    item(state.events.length ? `Events: ${code(state.events)}.` : 'Events: none.'),
  ].join('\n');

/** Each move once, with the numbers of its rows. */
function diagram(): string {
  const moves = new Map<string, number[]>();
  const add = (from: string, to: PaymentStatus, row: number): void => {
    const key = `${from} --> ${to}`;
    moves.set(key, [...(moves.get(key) ?? []), row]);
  };
  for (const { from, to, row } of stateRows) {
    if (to === 'unchanged') continue;
    for (const target of to) for (const source of from.length ? from : ['[*]']) add(source, target, row);
  }
  const ends = paymentStatuses.filter((status) => finalStatuses.includes(status)).map((status) => `${status} --> [*]`);
  const lines = [...moves]
    .filter(([move]) => {
      const [from, to] = move.split(' --> ');
      return from !== to;
    })
    .map(([move, rows]) => `${move}: ${rows.join(', ')}`);
  return ['```mermaid', 'stateDiagram-v2', ...[...lines, ...ends].map((line) => `  ${line}`), '```'].join('\n');
}

export const paymentStatesPage = (): string =>
  `# Payment states

This page lists every status of a payment and every change that is possible between them. Each change is a row with a
number. [Payments](guides/payments.md) says what a shop does about them.

## Which statuses exist?

${table([['Status', 'Meaning'], ...paymentStatuses.map((status) => [`\`${status}\``, meanings[status]])])}

A final status never changes. Money that arrives later becomes a child payment (row 18). The status says nothing of
exceptions such as \`underpaid\` or \`reorged\`: they are beside it.

## How is a deposit valued?

- **The value of a deposit is its amount at the quote's rate of the moment when the deposit was first seen.** A deposit
  seen after \`quoteExpiresAt\` gets a quote of that moment.
- The price is met when the values of all deposits, each at its own rate, reach the price less the merchant's tolerance.
  The rows call this the need.
- The current quote prices the missing part, in \`amount\`, \`amountRemaining\`, the page and its payment link.
- A deposit that vanishes takes its rate with it. An unconfirmed deposit loses its rate after a number of blocks of
  its network (12 on Bitcoin); when it is mined later, the rate at the time of its block counts.
- A replacement with an equal or larger amount for the address keeps, for the old amount, the time at which the first
  one was seen. What it pays above is first seen with it.

So the order and the timing of deposits, replacements and quotes never let a payer pay below the price.

A deposit is in time if a mempool or a block showed it by \`expiresAt\`. Deposits below the asset's dust, transfers of
zero and unknown tokens are stored and change nothing.

## The diagram

Numbers are rows. Rows that leave the status unchanged are not drawn.

${diagram()}

## The rows at a glance

${table([
  ['Row', 'From', 'To', 'Cause'],
  ...stateRows.map((state) => [`[${state.row}](#row-${state.row})`, fromOf(state), toOf(state), state.cause]),
])}

## The rows in detail

${stateRows.map(rowOf).join('\n\n')}
`;

const meanings: Readonly<Record<PaymentStatus, string>> = {
  AWAITING_CURRENCY: 'The payer has not chosen a currency yet.',
  WAITING: 'An address and a quote exist; no deposit is seen.',
  PARTIALLY_PAID: 'Deposits cover a part of the price.',
  CROSS_CHAIN_PENDING: 'Another supported asset arrived; the merchant decides.',
  CONFIRMING: 'The price is seen; confirmations are missing.',
  CONFIRMED: 'The deposits are confirmed and booked, not yet spendable.',
  SWEEP_QUEUED: 'A sweep to the settlement address is planned or on its way.',
  SETTLED: 'Final. The merchant is credited.',
  EXPIRED: 'Final. Nothing arrived in time.',
  CANCELLED: 'Final. Payer or merchant cancelled before a deposit.',
  FAILED: 'Final. Underpaid, not confirmed, or paid in an asset that was not accepted.',
};
