import type { Route } from './route';

/** The parameters of a path that are 24-hex ids and, where malformed, refused as such: on routes of envelope A. Request
 *  ids may be the caller's own. Contract: 7.2. */
export const idsIn = ({ path, envelope }: Pick<Route, 'path' | 'envelope'>): string[] =>
  envelope === 'A'
    ? [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).filter((name) => /^id$|(?<!^request)Id$/.test(name))
    : [];
