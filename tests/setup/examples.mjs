// `npm run examples`: runs the tests that call routes, keeps what they sent and were answered, and writes the best of
// it as the examples of the API reference. Then it lets the command line trigger events in a sandbox, as a shop has
// them: they come before those of tests. `npm run examples -- tests/api/ledger`: runs those tests alone, and replaces
// the examples of what they call; `npm run examples -- shop`: replaces the events of the shop alone.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const target = join(root, 'api', 'http', 'reference', 'recorded.json');
const longest = 3000;

function record(patterns) {
  const folder = mkdtempSync(join(tmpdir(), 'examples-'));
  const { status } = spawnSync(process.execPath, [join(root, 'sandbox', 'launch.mjs'), 'test', ...patterns], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, RECORD_EXAMPLES: folder },
  });
  if (status !== 0) throw new Error('Not every test passed: the examples stay as they are');
  return folder;
}

/** Values that look like secrets are replaced, as are those under such names. */
const secretNames = [
  ...['setupToken', 'confirmToken', 'inviteCode', 'totpToken', 'token', 'secret', 'manualKey', 'claimUrl'],
  ...['challengeKey', 'challenge', 'attestationObject', 'authenticatorData', 'clientDataJSON'],
];
/** Keys and signatures of a device are long, and tell nobody anything. */
const isBytes = (text) => text.length > 500 && /^[\w+/=-]+$/.test(text);
function masked(value, name = '') {
  if (Array.isArray(value)) return value.slice(0, 1).map((one) => masked(one, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner, key)]));
  if (typeof value !== 'string') return value;
  if (name === 'backupCodes') return '0123456789abcdef';
  if (name === 'qrCode') return 'data:image/svg+xml;base64,PHN2Zz4=';
  if (name === 'claimUrl') return value.replace(/[^/#]+$/, 'example');
  if (/^(whsec|(svc|pk)_(live|test)|inv)_./.test(value)) return value.replace(/_[^_]*$/, '_example');
  if (secretNames.includes(name) || isBytes(value)) return 'example';
  return value.replace(/127\.0\.0\.1:\d+/g, 'localhost:3001');
}

/** Tests send JSON that is nested on purpose. */
function depthOf(text) {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '[' || character === '{') deepest = Math.max(deepest, (depth += 1));
    else if (character === ']' || character === '}') depth -= 1;
  }
  return deepest;
}

/** Of an API reference its beginning. */
function headOf(call) {
  const { openapi, info, servers } = call.answer ?? {};
  return openapi ? { ...call, answer: { openapi, info, servers } } : call;
}

/** How much a value shows: the parts of it that hold something. */
function fullness(value) {
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + fullness(one), 0);
  if (typeof value === 'object' && value !== null)
    return Object.values(value).reduce((sum, one) => sum + 1 + fullness(one), 0);
  return value === null || value === undefined ? 0 : 1;
}

/** The fullest of what was recorded under each name, where it is not too long. */
function best(folder) {
  const byName = new Map();
  if (!existsSync(folder)) return {};
  for (const file of readdirSync(folder).sort()) {
    const name = file.replace(/\.[0-9a-f]{12}\.json$/, '');
    const text = readFileSync(join(folder, file), 'utf8');
    const value = masked(headOf(JSON.parse(text)));
    if (depthOf(JSON.stringify(value)) > 10) continue;
    if (JSON.stringify(value).length > longest || !isReal(value)) continue;
    const score = fullness(value);
    if (score > (byName.get(name)?.score ?? -1)) byName.set(name, { score, value });
  }
  return Object.fromEntries([...byName].map(([name, { value }]) => [name, value]));
}

/** A refusal of each code and shape: with the most data, then of a call that many make, then the shortest. */
const known = ['createPayment', 'createRefund', 'executeConversion', 'createWithdrawal', 'queuePayouts', 'getPayment'];
function bestRefusals(folder) {
  const byName = new Map();
  for (const file of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const { route, answer } = masked(JSON.parse(readFileSync(join(folder, file), 'utf8')));
    const text = JSON.stringify(answer);
    if (text.length > longest) continue;
    const name = file.replace(/\.[0-9a-f]{12}\.json$/, '');
    const score = fullness(answer) + (known.includes(route) ? 0.5 : 0) + 0.1 / text.length;
    if (score > (byName.get(name)?.score ?? 0)) byName.set(name, { score, answer });
  }
  return Object.fromEntries([...byName].map(([name, { answer }]) => [name, answer]));
}
const sorted = (values) => Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Tests make up events too: what is no resource is no example. */
const isEvent = ({ type, data }) => '_id' in data || 'id' in data || type === 'webhook.test';
const isReal = (value) => {
  const answer = value.answer?.data ?? value.answer;
  if (value.seq !== undefined) return isEvent(value);
  return [answer, answer?.items?.[0]].every((one) => one?.seq === undefined || !one.data || isEvent(one));
};

const ofShop = [
  ['tests/e2e/test-mode', '-t', 'every scenario'], // blocks are replaced there alone
  ['tests/sdk/cli.test', '-t', 'triggers'],
];
const given = process.argv.slice(2);
const runs = { '': [['tests/(api|activities)/'], ...ofShop], shop: ofShop }[given.join(' ')] ?? [given];
const folders = runs.map(record);
const before = given.length ? JSON.parse(readFileSync(target, 'utf8')) : { calls: {}, events: {}, refusals: {} };
const all = (kind, read) =>
  sorted(Object.assign({ ...before[kind] }, ...folders.map((folder) => read(join(folder, kind)))));
const recorded = { calls: all('calls', best), events: all('events', best), refusals: all('refusals', bestRefusals) };
writeFileSync(target, await format(JSON.stringify(recorded), { ...(await resolveConfig(target)), parser: 'json' }));
for (const [kind, examples] of Object.entries(recorded)) console.log(`${Object.keys(examples).length} ${kind}`);
