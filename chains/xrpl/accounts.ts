import { readerOf, bodyOf, type Ask } from './answers';

/** Accounts, reserves and what the node says of itself. */

/** An account of the ledger. `at`: the ledger that it was read in. `needsTag`: payments without a tag fail.
 *  `isGuarded`: payments of accounts that it has not agreed to fail. */
export type XrplAccount = Readonly<{
  address: string;
  drops: bigint;
  /** Of its next transaction. */
  sequence: number;
  /** Entries of the ledger that it owns, each of which raises its reserve. */
  owned: number;
  needsTag: boolean;
  isGuarded: boolean;
  at: number;
}>;

/** In drops. They change when validators vote so. */
export type Reserves = Readonly<{ base: bigint; perOwned: bigint }>;

/** lsfRequireDestTag and lsfDepositAuth (xrpl.org: accountroot). */
const requiresTag = 0x0002_0000;
const requiresConsent = 0x0100_0000;

const readAccountAnswer = readerOf('account_info');
const readAuthorized = readerOf('deposit_authorized');
const readState = readerOf('server_state');
const readInfo = readerOf('server_info');

/** null: there is no such account in that ledger, so nothing can be sent from it, and only a payment of at least the
 *  base reserve can be sent to it. `at`: the index of a validated ledger, or the newest one. */
export async function readAccount(
  ask: Ask,
  address: string,
  at: number | 'validated' = 'validated',
): Promise<XrplAccount | null> {
  const read = readAccountAnswer;
  const { refused, body } = await ask('account_info', { account: address, ledger_index: at }, ['actNotFound']);
  if (refused !== null) return null;
  if (!read.yes(body, 'validated')) throw read.wrong(body, 'validated', 'sign of a validated ledger');
  const data = read.fields(body, 'account_data');
  if (data.Account !== address) throw read.wrong(data, 'Account', 'account that was asked about');
  const flags = read.whole(data, 'Flags');
  return {
    address,
    drops: read.drops(data, 'Balance'),
    sequence: read.whole(data, 'Sequence'),
    owned: read.whole(data, 'OwnerCount'),
    needsTag: (flags & requiresTag) !== 0,
    isGuarded: (flags & requiresConsent) !== 0,
    at: read.whole(body, 'ledger_index'),
  };
}

/** Whether an account takes payments of another, by what it has agreed to (xrpl.org: deposit_authorized). `at`: the
 *  index of a validated ledger that has both. */
export async function readConsent(ask: Ask, from: string, to: string, at: number): Promise<boolean> {
  const asked = { source_account: from, destination_account: to, ledger_index: at };
  const { refused, body } = await ask('deposit_authorized', asked, ['srcActNotFound']);
  // An account that is none has been agreed to by nobody.
  if (refused !== null) return false;
  if (body.destination_account !== to)
    throw readAuthorized.wrong(body, 'destination_account', 'account that was asked');
  return readAuthorized.yes(body, 'deposit_authorized');
}

/** By `server_state`, which writes drops: `server_info` writes XRP as a fraction (xrpl.org: reserves). */
export async function readReserves(ask: Ask): Promise<Reserves> {
  const state = readState.fields(await bodyOf(ask, 'server_state'), 'state');
  const ledger = readState.fields(state, 'validated_ledger');
  return {
    base: readState.writtenDrops(ledger, 'reserve_base'),
    perOwned: readState.writtenDrops(ledger, 'reserve_inc'),
  };
}

/** What an account can send, fees left out: the reserve stays, though it may be spent on fees. Never below 0. */
export function spendable({ drops, owned }: Pick<XrplAccount, 'drops' | 'owned'>, reserves: Reserves): bigint {
  const free = drops - reserves.base - BigInt(owned) * reserves.perOwned;
  return free > 0n ? free : 0n;
}

/** States in which a node follows the network (xrpl.org: xrpld-server-states). */
const following = new Set(['full', 'validating', 'proposing']);

/** What the node says of its own progress. `peers` is 0 of a node that stands alone. `ageSeconds`: of its newest
 *  validated ledger. `kept`: which ledgers it has, from and to; there may be gaps. */
export type NodeState = Readonly<{
  networkId: number;
  isFollowing: boolean;
  peers: number;
  validated: number;
  ageSeconds: number;
  kept: ReadonlyArray<readonly [from: number, to: number]>;
}>;

export async function readNodeState(ask: Ask): Promise<NodeState> {
  const read = readInfo;
  const info = read.fields(await bodyOf(ask, 'server_info'), 'info');
  const validated = read.fields(info, 'validated_ledger');
  return {
    // Nodes of the main network from before it had an id leave it out.
    networkId: info.network_id === undefined ? 0 : read.whole(info, 'network_id'),
    isFollowing: following.has(read.text(info, 'server_state')),
    peers: read.whole(info, 'peers'),
    validated: read.whole(validated, 'seq'),
    ageSeconds: read.whole(validated, 'age'),
    kept: rangesOf(read.text(info, 'complete_ledgers')),
  };
}

/** `5-9,11` or `empty`. */
function rangesOf(text: string): Array<readonly [number, number]> {
  if (text === 'empty') return [];
  return text.split(',').map((range) => {
    const [, from = '', to = from] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(range) ?? [];
    if (!from) throw readInfo.wrong({ complete_ledgers: text }, 'complete_ledgers', 'list of ranges');
    return [parseInt(from, 10), parseInt(to, 10)];
  });
}
