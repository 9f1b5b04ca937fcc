import dns from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Names of a resolver of our own, and what an attacker's would answer. Others go to the real one. Import it before
 *  what resolves. */
export const names: Record<string, readonly string[]> = {};

const realLookup = dns.lookup;
export const lookup: LookupFunction = (name, options, done) => {
  const found = names[name]?.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  if (!found) realLookup(name, options, done);
  else if (options.all) done(null, found);
  else done(null, found[0]!.address, found[0]!.family);
};
dns.lookup = lookup as typeof dns.lookup;
