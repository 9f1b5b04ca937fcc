import { toFunctionSelector } from 'viem';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lostChains } from '../../sandbox/lost-chains';
import { databaseFor } from '../../sandbox/services';
import { checkParts, checkSettings, type Examined } from '../../workers/doctor/checks';
import { World } from '../world';

/** What `doctor` says of a whole installation on real parts, and of each thing that can be wrong with one. */

let world: World;
let env: Record<string, string>;
beforeAll(async () => {
  world = await World.start();
  env = { ...world.stack.env, DATABASE_URL: databaseFor(world.stack.postgres.url, 'payments') };
}, 180_000);
afterAll(() => world.stop(), 60_000);

const unread = (path: string): string => {
  throw new Error(`${path} is not to be read`);
};

/** The PostgreSQL of the tests forgets when the power fails, which is said of it in a test of its own. */
const isOfTests = ({ what }: Examined): boolean =>
  what.endsWith('is off: a crash of the server loses what it has confirmed');

/** What is not good about the installation with these settings changed. */
async function faultsWith(changed: Readonly<Record<string, string>>): Promise<Examined[]> {
  const { config, findings } = checkSettings({ ...env, ...changed }, unread);
  const all = config ? await checkParts(config, true) : findings;
  return all.filter((finding) => finding.state !== 'good' && !isOfTests(finding));
}
const one = (found: readonly Examined[], subject: string): Examined => {
  const about = found.filter((finding) => finding.subject === subject);
  if (about.length !== 1) throw new Error(`Of ${subject} there are ${JSON.stringify(about)}`);
  return about[0]!;
};

const nowhere = '127.0.0.1:1';

it('finds nothing wrong with an installation that works, and says what it has looked at', async () => {
  const { config, findings } = checkSettings(env, unread);
  expect(findings).toMatchObject([{ subject: 'Settings', state: 'good' }]);
  const found = await checkParts(config!, true);
  expect(found.filter((finding) => finding.state !== 'good' && !isOfTests(finding))).toEqual([]);
  const subjects = new Set(found.map(({ subject }) => subject));
  expect([...subjects].sort()).toEqual([
    'Bitcoin',
    'Ethereum',
    'Followers',
    'Keys',
    'Mail',
    'PostgreSQL',
    'Prices',
    'Temporal',
  ]);
  const said = found.map(({ what }) => what).join('\n');
  for (const what of [
    /^PostgreSQL \d+.* answers to cp_payments$/m,
    /^The schema is the one of this build$/m,
    /^\d+ at work on the queue chain-bitcoin$/m,
    /^The node is on regtest, block \d+$/m,
    /^It finds transactions by id$/m,
    /^The node is on chain 31337, block \d+$/m,
    /^It traces blocks$/m,
    /^It knows which blocks are final$/m,
    /^The sweeper contract is there$/m,
    /^USDT_ERC20 is there with 6 decimals$/m,
  ])
    expect(said).toMatch(what);
});

it('names every fault of the settings, each on its own', async () => {
  const found = await faultsWith({ TOKEN_CONTRACTS: 'x', ETH_SWEEPER_CONTRACT: '0x1', LANES: 'nothing' });
  expect(found.map(({ subject, state }) => [subject, state])).toEqual(
    Array.from({ length: found.length }, () => ['Settings', 'fault']),
  );
  expect(found.map(({ what }) => what.split(/[ :=]/)[0]).sort()).toEqual([
    'ETH_SWEEPER_CONTRACT',
    'LANES',
    'TOKEN_CONTRACTS',
  ]);
});

it('says of every part that does not answer where it was looked for, and looks at the others', async () => {
  const found = await faultsWith({
    DATABASE_URL: `postgres://cp_payments:x@${nowhere}/payments`,
    TEMPORAL_ADDRESS: nowhere,
    ETH_RPC_URL: `http://${nowhere}`,
    BTC_RPC_URL: `http://${nowhere}`,
    SMTP_URL: `smtp://${nowhere}`,
  });
  expect(found.map(({ subject, state }) => [subject, state])).toEqual([
    ['PostgreSQL', 'fault'],
    ['Temporal', 'fault'],
    ['Bitcoin', 'fault'],
    ['Ethereum', 'fault'],
    ['Mail', 'fault'],
  ]);
  for (const finding of found) expect((finding as { fix: string }).fix).toMatch(/\w/);
});

it('tells other chains than those configured, and contracts that are not there or no tokens', async () => {
  const zero = `0x${'00'.repeat(19)}01`;
  const wrong = await faultsWith({ BTC_NETWORK: 'signet', ETH_CHAIN_ID: '1337' });
  expect(one(wrong, 'Bitcoin').what).toBe('The node is on regtest, and BTC_NETWORK says signet');
  expect(one(wrong, 'Ethereum').what).toBe('The node is on chain 31337, and Ethereum is configured as 1337');
  const sweeper = env.ETH_SWEEPER_CONTRACT!;
  const empty = await faultsWith({
    ETH_SWEEPER_CONTRACT: `0x${'ab'.repeat(20)}`,
    TOKEN_CONTRACTS: JSON.stringify({ USDT_ERC20: zero, USDC_ERC20: sweeper }),
  });
  expect(empty.map(({ what }) => what.split(':')[0])).toEqual([
    `There is no contract at ETH_SWEEPER_CONTRACT 0x${'ab'.repeat(20)}`,
    `There is no USDT_ERC20 at ${zero}`,
    `What is at ${sweeper} is no token`,
  ]);
});

it('tells a token whose decimals are others', async () => {
  const node = await withDecimals(18);
  try {
    const found = await faultsWith({ ETH_RPC_URL: `http://127.0.0.1:${(node.address() as AddressInfo).port}` });
    expect(found.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^What is at 0x\w+ has 18 decimals, USDT_ERC20 has 6$/),
      expect.stringMatching(/^What is at 0x\w+ has 18 decimals, USDC_ERC20 has 6$/),
    ]);
  } finally {
    node.close();
  }
});

/** The real node, with another answer to the question for a token's decimals. */
async function withDecimals(decimals: number): Promise<Server> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await new Response(request as unknown as ReadableStream).text();
      const asked = JSON.parse(body) as { id: number; method: string };
      const result = `0x${decimals.toString(16).padStart(64, '0')}`;
      const answer =
        asked.method === 'eth_call' && body.includes(toFunctionSelector('decimals()'))
          ? JSON.stringify({ jsonrpc: '2.0', id: asked.id, result })
          : await (
              await fetch(env.ETH_RPC_URL!, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
            ).text();
      response.setHeader('content-type', 'application/json').end(answer);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

it('tells a network that nobody follows, without keys and without prices', async () => {
  const found = await faultsWith({
    NETWORKS: 'bitcoin,ethereum,litecoin',
    LTC_NETWORK: 'regtest',
    LTC_RPC_URL: `http://${nowhere}`,
  });
  expect(one(found, 'Temporal').what).toBe('Nobody works on the queue chain-litecoin');
  expect(one(found, 'Followers').what).toBe('Litecoin is not read yet');
  expect(one(found, 'Keys').what).toBe('Litecoin has no deposit, treasury, gas key');
  expect(one(found, 'Prices').what).toMatch(/^No price younger than \d+ s: LTC$/);
  expect(one(found, 'Litecoin').state).toBe('fault');
});

it('tells a chain that ends before where it was read, as the sandbox does at its start', async () => {
  expect(await lostChains(world.stack)).toEqual([]);
  const past = (blocks: number): Promise<unknown> =>
    world.db.query(`UPDATE chain_cursor SET height = height + $1 WHERE network = 'ethereum'`, [blocks]);
  await past(1000);
  try {
    await world.until('the follower has looked', async () => (await faultsWith({})).length > 0);
    expect(one(await faultsWith({}), 'Followers').what).toMatch(
      /^Ethereum stands still: The node is at block \d+, and was at \d+/,
    );
    expect(await lostChains(world.stack)).toEqual([expect.stringMatching(/^Ethereum ends at block \d+ and had \d+:/)]);
  } finally {
    await past(-1000);
  }
  await world.until('it goes on', async () => (await faultsWith({})).length === 0);
});

it('tells a namespace that is not there, and a database that an older build has left', async () => {
  const other = await faultsWith({ TEMPORAL_NAMESPACE: 'nowhere' });
  expect(other.find(({ subject }) => subject === 'Temporal')!.what).toBe("Temporal has no namespace 'nowhere'");
  const name = (await world.db.query('SELECT name FROM migration ORDER BY id DESC LIMIT 1'))[0].name as string;
  await world.db.query('UPDATE migration SET name = $1 WHERE name = $2', ['older', name]);
  try {
    expect(one(await faultsWith({}), 'PostgreSQL').what).toBe(`The schema is not the one of this build: ${name}`);
  } finally {
    await world.db.query('UPDATE migration SET name = $2 WHERE name = $1', ['older', name]);
  }
});

it('warns of a superuser, who owns the ledger', async () => {
  const found = await faultsWith({ DATABASE_URL: world.stack.postgres.url });
  expect(found).toMatchObject([
    { subject: 'PostgreSQL', state: 'warning', what: expect.stringContaining('superuser') },
  ]);
});

it('tells a database that loses in a crash what it has confirmed', async () => {
  const settings = ['synchronous_commit', 'fsync', 'full_page_writes'];
  const off = await world.db.query(`SELECT name FROM pg_settings WHERE name = ANY($1) AND setting = 'off'`, [settings]);
  const { config } = checkSettings(env, unread);
  const found = (await checkParts(config!, false)).filter(isOfTests);
  expect(found.map(({ what, state }) => [what.split(' ')[0], state]).sort()).toEqual(
    off.map(({ name }: { name: string }) => [name, 'fault']).sort(),
  );
});
