import type { Route } from '../api/http/route';
import { partOf } from '../api/http/reference/parts';
import { routes } from '../api/routes';
import { rateClasses, type Limit } from '../domain/access/rate-limits';

/** Tables of what servers and pages may call, for the guides. */

/** A table with its columns in line, as the formatter writes it. */
function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const widths = head.map((title, at) => Math.max(3, title.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n');
}

const requestOf = ({ method, path }: Route): string => `\`${method.toUpperCase()} ${path}\``;
/** "30 a minute". */
const wordsOf = ({ points, seconds }: Limit): string => {
  if (seconds % 60) throw new Error(`No words for ${seconds} seconds`);
  return seconds === 60 ? `${points} a minute` : `${points} in ${seconds / 60} minutes`;
};

/** Tables of routes, one for each limit, the lowest limit first. */
function byLimit(limited: readonly Route[]): string {
  const limits = new Map<string, { perSecond: number; rows: string[][] }>();
  for (const route of limited) {
    if (route.rate === 'none') continue;
    const limit: Limit = rateClasses[route.rate];
    const title = `${wordsOf(limit)}${route.rate === 'standard' ? ', unless the operator changed it' : ''}`;
    const group = limits.get(title) ?? { perSecond: limit.points / limit.seconds, rows: [] };
    group.rows.push([route.summary, requestOf(route)]);
    limits.set(title, group);
  }
  return [...limits]
    .sort(([, one], [, other]) => one.perSecond - other.perSecond)
    .map(([title, { rows }]) => `**${title}**\n\n${table(['Operation', 'Request'], rows)}`)
    .join('\n\n');
}

/** What a secret or a publishable key may call, by limit. */
export const limitsOfKeys = (): string =>
  byLimit(routes.filter(({ may }) => may === 'publishable' || (typeof may === 'object' && may.key !== null)));

/** What shops and payers call without any credential, by limit. */
export const limitsWithoutKey = (): string =>
  byLimit(routes.filter((route) => route.may === 'public' && partOf(route) === 'integrators'));

/** What a caller without a right credential is left to try. */
export const limitOfWrongCredentials = (): string =>
  `Wrong credentials: ${wordsOf(rateClasses.unauthorised)} from one address, over all operations.`;
