import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';
import { acts } from '../../web/dashboard/team/texts/acts-en';

/** Every act that code writes into the audit log has words on its page. */

const folders = ['api', 'commands', 'db', 'activities', 'txmanager', 'workers'];
const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, folder, name), 'utf8')),
);
/** Acts whose names are put together. */
const composed = [
  ...['added', 'removed'].map((change) => `whitelist.${change}`),
  ...['cancelled', 'underpaid_accepted', 'other_asset_accepted', 'other_asset_rejected'].map(
    (decision) => `payment.${decision}`,
  ),
];
const written = sources.flatMap((text) =>
  [...text.matchAll(/\baction: ([^`,}\n]*)/g)].flatMap(([, value]) =>
    [...value!.matchAll(/'([a-z_]+\.[a-z_]+)'/g)].map(([, action]) => action!),
  ),
);

describe('10: acts of the audit log', () => {
  it('have words, and no words are left over', () => {
    expect(written.length).toBeGreaterThan(60);
    expect(Object.keys(acts).sort()).toEqual([...new Set([...written, ...composed])].sort());
  });
});
