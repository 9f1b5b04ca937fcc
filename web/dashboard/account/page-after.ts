/** A path of this dashboard as its router writes it, with a filter and a fragment. No dot, colon, percent sign or
 *  backslash is in a path of it, so nothing is left that a browser could read as another host or scheme. */
const ownPage = /^\/(?:[\w-]+\/)*[\w-]*(?:[?#][^\s\\]*)?$/;

/** Where a person goes after signing in. `wanted` is what the address says: anybody may have written it, as a text or
 *  as anything else that a query can hold. It is asked where it is followed, because the router keeps what a check of
 *  the query leaves out. */
export const pageAfter = (wanted: unknown): string =>
  typeof wanted === 'string' && wanted.length <= 2_000 && ownPage.test(wanted) ? wanted : '/';
