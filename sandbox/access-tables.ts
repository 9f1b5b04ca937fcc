import type { Route } from '../api/http/route';
import { partOf } from '../api/http/reference/parts';
import { routes } from '../api/routes';
import { opening, scopes, type Rights } from '../domain/access/access';
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

const operations = (some: readonly Route[]): string =>
  table(
    ['Operation', 'Request'],
    some.map((route) => [route.summary, requestOf(route)]),
  );

/** Tables of routes, one for each limit, the lowest limit first. */
function byLimit(limited: readonly Route[]): string {
  const limits = new Map<string, { perSecond: number; routes: Route[] }>();
  for (const route of limited) {
    if (route.rate === 'none') continue;
    const limit: Limit = rateClasses[route.rate];
    const title = `${wordsOf(limit)}${route.rate === 'standard' ? ', unless the operator changed it' : ''}`;
    const group = limits.get(title) ?? { perSecond: limit.points / limit.seconds, routes: [] };
    group.routes.push(route);
    limits.set(title, group);
  }
  return [...limits]
    .sort(([, one], [, other]) => one.perSecond - other.perSecond)
    .map(([title, group]) => `**${title}**\n\n${operations(group.routes)}`)
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

/** What a user needs to give a key this scope: the permissions that open the same operations to a session. */
function giversOf(opened: readonly Rights[]): string {
  const wanted = [
    ...new Set(
      opened.map((rights) =>
        opening(rights)
          .map((one) => `\`${one}\``)
          .join(' or '),
      ),
    ),
  ];
  const isIncluded = (one: string): boolean =>
    one.endsWith(':view`') && wanted.includes(one.replace(':view`', ':manage`'));
  return wanted.filter((one) => !isIncluded(one)).join(' and ');
}

/** Each scope of secret keys: who may give it, and what it opens. */
export const scopesOfKeys = (): string =>
  scopes
    .map((scope) => {
      const opened = routes.flatMap((route) =>
        typeof route.may === 'object' && route.may.key === scope ? [{ route, rights: route.may }] : [],
      );
      const givers = giversOf(opened.map(({ rights }) => rights));
      return [`### \`${scope}\``, `Given by users with ${givers}.`, operations(opened.map(({ route }) => route))].join(
        '\n\n',
      );
    })
    .join('\n\n');
