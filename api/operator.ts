import { hostname, userInfo } from 'node:os';
import { readFileSync } from 'node:fs';
import type { DataSource, EntityManager } from 'typeorm';
import { createCodecs } from '../chains/codecs';
import { parseConfig, type Config } from '../domain/config';
import { payableAsset } from '../domain/chains/assets';
import { pairModes } from '../domain/conversions/conversion';
import { DomainError } from '../domain/errors';
import { isId } from '../domain/ids';
import { fit, isAmount } from '../domain/money';
import { dashboardLink } from '../domain/mail/mail';
import { recordAct, type Actor } from '../db/access/audit-log';
import { createDataSource } from '../db/data-source';
import { limitPosition, readExposure, setPair } from '../db/conversions/exposure';
import { everyCurrency, platformScope } from '../db/limits/outbound';
import { newResetToken } from '../db/access/factors';
import { findMerchant, listMerchants } from '../db/access/merchants';
import { randomBase62 } from '../db/sealing';
import { treasuryReport } from '../db/treasury/treasury';
import { switches, type Switch } from '../db/access/switches';
import { limitsScope, tightenLimits } from '../commands/limits/platform-limits';
import { actOf, operatorActs } from '../commands/operators';
import { find } from '../commands/operators/find';
import { changeFee, changeStatus } from '../commands/operators/merchant-status';
import { resolveByHand } from '../commands/operators/resolve-incident';
import { runbookOf } from '../commands/operators/runbooks';
import { flipSwitch, freezeCurrency } from '../commands/operators/switches';
import { isFeeBps } from '../domain/pricing/quote';
import { listIncidents } from '../db/operators/incidents';
import { confirmationsNeeded, fileRequest, requestHours } from '../commands/operators/requests';
import { listRequests } from '../db/operators/requests';
import { createUser, normalEmail } from '../db/access/users';
import { foundWords } from './operators/found-words';
import { recoveryReport } from './operators/recoveries';
import { registrationCommands, registrationUsage } from './operators/registration-commands';
import { laneList, wordsOf } from './operators/wallet-reports';
import { hashSecret } from './access/passwords';

/** Acts of the platform's operators from a shell, written into the audit log like those of the routes. */

const actLines = (): string =>
  operatorActs
    .map(
      ({ kind, fields }) =>
        `    ${kind} ${Object.keys(fields)
          .map((name) => `<${name}>`)
          .join(' ')}`,
    )
    .join('\n');
const usage = `Usage: operator <command>
  find <text>                        everything about a transaction, address, order id, slug, any id or e-mail
  merchants                          lists merchants, newest first
  suspend <merchant id> <reason>     signs its users out, refuses its keys and holds its outgoing money
  activate <merchant id> <reason>    lifts a suspension; what leaves stays held until the request lift-hold
  fee <merchant id> <hundredths of a percent> <reason>
                                     sets the commission of the payments that it makes from now on
  incidents                          lists open incidents, and the sections that say what to do
  resolve <incident> <reason>        ends an incident that no request of two operators ends
${registrationUsage}
  switch <name> on|off <reason>      turns something on or off for everybody: ${switches.join(', ')}
  exposure                           what the platform holds by converting, and what bounds it
  limit-exposure <currency> <usd>|none external|off <reason>
                                     bounds a position; beyond it, pairs that would enlarge it are executed elsewhere,
                                     or off
  pair <from> <to> internal|external|off <most usd>|default <reason>
                                     says how a pair is converted
  freeze <currency>|all <reason>     stops a currency, or everything, from leaving
  request <act> <fields> <reason>    asks for an act on money, which two operators confirm in the dashboard's API:
${actLines()}
  requests                           lists what was asked for and is open
  limit <merchant id>|platform <daily|hourly|approval> <number>|none <reason>
                                     tightens what leaves: dollars in 24 hours, number in an hour, dollars without a
                                     second person; looser is the request loosen-limits
  lanes                              shows what blocks our wallets, and what waits behind it
  treasury                           shows what is where: ledger, debts and addresses of each asset
  recoveries                         lists recoveries of the database, and money on addresses that they have forgotten
  add-super-admin <e-mail>           makes an operator; prints the link that sets the password
  erase payment|customer|email …     deletes what a payer said of themselves; in production: node dist/api/erase.js`;

/** What was asked for cannot be done; the message says why. */
class OperatorError extends Error {}

export type OperatorSettings = Pick<
  Config,
  'SECRETS_KEY' | 'DASHBOARD_URL' | 'networks' | 'chain' | 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'
>;

/** Carries one command out and answers what to print. Throws OperatorError. */
export async function operate(
  db: DataSource,
  config: OperatorSettings,
  [command, ...args]: readonly string[],
  actor: Actor = shellUser(),
): Promise<string> {
  const [first = '', ...rest] = args;
  const about = registrationCommands.get(command ?? '');
  if (about) return db.transaction(async (tx) => printed(await asShellError(about(tx, { config }, actor, args))));
  switch (command) {
    case 'find':
      if (!args.length) throw new OperatorError(usage);
      return foundWords({ config }, await find(db, createCodecs(config.chain), args.join(' '), actor));
    case 'merchants': {
      const rows = await listMerchants(db, { name: null, status: null, approval: null, cursor: null, limit: 1000 });
      return rows.map((row) => `${row.id}  ${row.status.padEnd(9)}  ${row.name}`).join('\n') || 'No merchant yet';
    }
    case 'suspend':
    case 'activate':
      return db.transaction((tx) => suspendOrActivate(tx, actor, command, first, rest.join(' ')));
    case 'fee':
      return db.transaction((tx) => fee(tx, actor, first, rest[0] ?? '', rest.slice(1).join(' ')));
    case 'incidents':
      return openIncidents(db);
    case 'resolve':
      return db.transaction((tx) => resolve(tx, actor, first, rest.join(' ')));
    case 'switch':
      return db.transaction((tx) => turn(tx, actor, first, rest[0] ?? '', rest.slice(1).join(' ')));
    case 'exposure':
      return exposureTable(await readExposure(db, config.networks));
    case 'limit-exposure':
      return db.transaction((tx) => limit(tx, actor, args));
    case 'pair':
      return db.transaction((tx) => pair(tx, actor, args));
    case 'request':
      return db.transaction((tx) => request(tx, actor, first, rest));
    case 'requests':
      return openRequests(db);
    case 'treasury':
      return (await db.transaction('REPEATABLE READ', (tx) => treasuryReport(tx, config.networks)))
        .map(wordsOf)
        .join('\n\n');
    case 'lanes':
      return laneList(db);
    case 'recoveries':
      return db.transaction('REPEATABLE READ', recoveryReport);
    case 'freeze':
      return db.transaction((tx) => stop(tx, actor, first, rest.join(' ')));
    case 'limit':
      return db.transaction((tx) =>
        limitOutbound(tx, actor, first, rest[0] ?? '', rest[1] ?? '', rest.slice(2).join(' ')),
      );
    case 'add-super-admin':
      return addSuperAdmin(db, config, actor, first);
    default:
      throw new OperatorError(usage);
  }
}

/** What is printed of a command; one that was called wrongly is told how. */
function printed(text: string | null): string {
  if (text === null) throw new OperatorError(usage);
  return text;
}

async function suspendOrActivate(
  tx: EntityManager,
  actor: Actor,
  command: 'suspend' | 'activate',
  merchantId: string,
  reason: string,
): Promise<string> {
  if (!isId(merchantId) || !reason) throw new OperatorError(usage);
  const status = command === 'suspend' ? 'suspended' : 'active';
  const row = await asShellError(changeStatus(tx, actor, merchantId, status, reason));
  const held = row.held_because === null ? '' : `; its outgoing money is held: ${row.held_because}`;
  return `${row.name} is ${status}${held}`;
}

async function fee(tx: EntityManager, actor: Actor, merchantId: string, bps: string, reason: string): Promise<string> {
  const feeBps = /^\d{1,4}$/.test(bps) ? parseInt(bps, 10) : 0;
  if (!isId(merchantId) || !isFeeBps(feeBps) || !reason) throw new OperatorError(usage);
  await asShellError(changeFee(tx, actor, merchantId, feeBps, reason));
  return `${merchantId}: the fee of new payments is ${feeBps} hundredths of a percent`;
}

async function openIncidents(db: DataSource): Promise<string> {
  const rows = await listIncidents(db, { state: 'open', kind: null, cursor: null, limit: 100 });
  const lines = rows.map(
    (row) =>
      `${row.id}  ${row.createdAt.toISOString()}  ${row.kind}  ${row.subjectKind} ${row.subjectId}  ` +
      `docs/${runbookOf(row.kind)}`,
  );
  return lines.join('\n') || 'No open incident';
}

async function resolve(tx: EntityManager, actor: Actor, id: string, reason: string): Promise<string> {
  if (!/^\d{1,18}$/.test(id) || !reason) throw new OperatorError(usage);
  const { kind, subjectKind, subjectId } = await asShellError(resolveByHand(tx, actor, id, reason));
  return `${kind} of ${subjectKind} ${subjectId} is resolved`;
}

/** A refusal, as a shell is told of it. */
const asShellError = <T>(act: Promise<T>): Promise<T> =>
  act.catch((error: unknown) => {
    throw error instanceof DomainError ? new OperatorError(error.message) : error;
  });

/** Files a request; a shell, of which only the user's name is known, neither confirms nor executes one. */
async function request(tx: EntityManager, actor: Actor, kind: string, words: readonly string[]): Promise<string> {
  const act = actOf(kind);
  const names = Object.keys(act?.fields ?? {});
  const reason = words.slice(names.length).join(' ');
  if (!act || !reason) throw new OperatorError(usage);
  const payload = Object.fromEntries(names.map((name, n) => [name, words[n]]));
  const { id, summary } = await asShellError(fileRequest(tx, actor, { kind, payload, reason }));
  return (
    `${summary}\nRequest ${id} is filed. It is executed once ${confirmationsNeeded} operators have confirmed it ` +
    `within ${requestHours} hours: POST /api/v1/platform/operator-requests/${id}/confirm`
  );
}

async function openRequests(db: DataSource): Promise<string> {
  const rows = await listRequests(db, { state: 'open', cursor: null, limit: 100 });
  const lines = rows.map(
    (row) =>
      `${row.id}  ${row.summary}  (${row.reason}; asked by ${row.asked_by_name}, ` +
      `${row.confirmations.length} of ${confirmationsNeeded} confirmations, until ${row.expires_at.toISOString()})`,
  );
  return lines.join('\n') || 'No open request';
}

async function turn(tx: EntityManager, actor: Actor, name: string, to: string, reason: string): Promise<string> {
  const known = switches.find((one): one is Switch => one === name);
  if (!known || !['on', 'off'].includes(to) || !reason) throw new OperatorError(usage);
  await flipSwitch(tx, actor, { name: known, isOn: to === 'on', reason });
  return `${known} is ${to}`;
}

const exposureTable = ({ assets, pairs }: Awaited<ReturnType<typeof readExposure>>): string =>
  [
    ...assets.map(
      (one) =>
        `${one.currency.padEnd(11)} position ${one.position} (${one.positionUsd ?? '?'} USD)  ` +
        `limit ${one.limitUsd === null ? 'none' : `${one.limitUsd} USD, then ${one.beyond}`}  ` +
        `treasury ${one.treasury}  owed ${one.owed}  free ${one.free} (${one.freeUsd ?? '?'} USD)`,
    ),
    ...pairs.map(
      ({ fromCurrency, toCurrency, mode, maximumUsd }) =>
        `${fromCurrency} → ${toCurrency}: ${mode}${maximumUsd === null ? '' : `, at most ${maximumUsd} USD`}`,
    ),
  ].join('\n');

/** `byLightning`: also bitcoin by Lightning. */
const currency = (text: string | undefined, byLightning = false): string => {
  const asset = payableAsset((text ?? '').toUpperCase(), byLightning);
  if (!asset) throw new OperatorError(`No currency ${text ?? ''}`);
  return asset.currency;
};
/** Dollars and cents; null for `word`. */
const dollars = (text: string | undefined, word: string): string | null => {
  if (text === word) return null;
  if (!isAmount(text)) throw new OperatorError(usage);
  return fit(text, 2, 'down');
};

async function limit(
  tx: EntityManager,
  actor: Actor,
  [name, usd, beyond, ...words]: readonly string[],
): Promise<string> {
  const reason = words.join(' ');
  if ((beyond !== 'external' && beyond !== 'off') || !reason) throw new OperatorError(usage);
  const asset = currency(name, true);
  await limitPosition(tx, actor, { currency: asset, limitUsd: dollars(usd, 'none'), beyond, reason });
  return `${asset}: limit ${usd}, then ${beyond}`;
}

async function pair(
  tx: EntityManager,
  actor: Actor,
  [from, to, wanted, usd, ...words]: readonly string[],
): Promise<string> {
  const mode = pairModes.find((one) => one === wanted);
  const reason = words.join(' ');
  const [fromCurrency, toCurrency] = [currency(from, true), currency(to)];
  const maximumUsd = dollars(usd, 'default');
  if (!mode || !reason || fromCurrency === toCurrency || maximumUsd === '0') throw new OperatorError(usage);
  await setPair(tx, actor, { fromCurrency, toCurrency, mode, maximumUsd, reason });
  return `${fromCurrency} → ${toCurrency} is ${mode}`;
}

async function stop(tx: EntityManager, actor: Actor, name: string, reason: string): Promise<string> {
  const currency = name === 'all' ? everyCurrency : payableAsset(name.toUpperCase(), true)?.currency;
  if (currency === undefined || !reason) throw new OperatorError(usage);
  const hasChanged = await freezeCurrency(tx, actor, currency, reason);
  return `${currency === everyCurrency ? 'Everything' : currency} is stopped${hasChanged ? '' : ', as before'}`;
}

const limitNames = { daily: 'dailyUsd', hourly: 'hourlyCount', approval: 'approvalUsd' } as const;

async function limitOutbound(
  tx: EntityManager,
  actor: Actor,
  scope: string,
  name: string,
  to: string,
  reason: string,
): Promise<string> {
  const known = Object.hasOwn(limitNames, name) ? limitNames[name as keyof typeof limitNames] : null;
  const isNumber = known === 'hourlyCount' ? /^\d{1,6}$/.test(to) : isAmount(to);
  if (!known || !(to === 'none' || isNumber) || !reason || !(scope === platformScope || isId(scope)))
    throw new OperatorError(usage);
  if (scope !== platformScope && !(await findMerchant(tx, scope))) throw new OperatorError(`No merchant ${scope}`);
  const of = { merchantId: scope === platformScope ? null : scope };
  const value = to === 'none' ? null : known === 'hourlyCount' ? parseInt(to, 10) : to;
  await tightenLimits(tx, actor, of, { [known]: value }, reason);
  return `${limitsScope(of)}: ${name} ${to}`;
}

async function addSuperAdmin(
  db: DataSource,
  config: Pick<Config, 'SECRETS_KEY' | 'DASHBOARD_URL'>,
  actor: Actor,
  email: string,
): Promise<string> {
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new OperatorError(usage);
  const passwordHash = await hashSecret(randomBase62(64));
  const token = randomBase62(64);
  await db.transaction(async (tx) => {
    const user = await createUser(tx, {
      email,
      displayName: email,
      role: 'super_admin',
      merchantId: null,
      passwordHash,
    });
    if (!user) throw new OperatorError(`${email} is registered already`);
    await newResetToken(tx, config.SECRETS_KEY, user.id, token);
    await recordAct(tx, actor, {
      merchantId: null,
      action: 'user.super_admin_added',
      target: user.id,
      after: { email },
    });
  });
  const places = { dashboardUrl: config.DASHBOARD_URL };
  const link = dashboardLink(places, '/reset-password', { email: normalEmail(email), token });
  return `Set the password within 15 minutes: ${link}`;
}

const shellUser = (): Actor => ({
  kind: 'operator',
  id: null,
  name: `${userInfo().username}@${hostname()}`,
  ip: 'shell',
  requestId: '',
});

/** Runs one command against the database of `config`; resolves to the exit code. */
export async function runOperator(config: Config, args: readonly string[]): Promise<number> {
  const db = createDataSource(config.DATABASE_URL, { pool: 1, name: 'operator' });
  await db.initialize();
  try {
    console.log(await operate(db, config, args));
    return 0;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    await db.destroy();
  }
}

if (require.main === module) {
  const config = parseConfig(process.env, (path) => readFileSync(path, 'utf8'), 'operator');
  runOperator(config, process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error: Error) => {
      console.error(error.message);
      process.exit(1);
    },
  );
}
