import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { decodeAccountID } from 'ripple-address-codec';

/** What the simulated network remembers. Amounts are drops, as text. */

/** An AccountRoot (page accountroot). */
export type Account = Readonly<{
  Balance: string;
  Sequence: number;
  OwnerCount: number;
  Flags: number;
  PreviousTxnID?: string;
  PreviousTxnLgrSeq?: number;
}>;

export type Json = Readonly<Record<string, unknown>>;
/** A transaction in a ledger, with its metadata. */
export type Entry = Readonly<{ hash: string; blob: string; meta: Json }>;

export type Ledger = Readonly<{
  index: number;
  hash: string;
  parentHash: string;
  /** Seconds of the ledger's own epoch. */
  closeTime: number;
  parentCloseTime: number;
  totalCoins: string;
  transactionHash: string;
  accountHash: string;
  entries: readonly Entry[];
  /** Accounts as this ledger left them; those that it did not touch are in earlier ones. */
  changed: Readonly<Record<string, Account>>;
}>;

/** What an order can change at any time. */
export type Settings = {
  /** Drops. */
  baseFee: number;
  reserveBase: number;
  reserveInc: number;
  /** By how much a busy server multiplies the base fee (page transaction-cost, local load cost). */
  loadFactor: number;
  /** The least soft limit of transactions in an open ledger, before fees escalate. */
  leastSize: number;
  /** How many newer ledgers must be closed before one is validated: 0, as in stand-alone mode. */
  validateAfter: number;
  /** Whether `searched_all` is right for empty ledgers. Servers say false (XRPLF/rippled, issue 3750). */
  provesEmpty: boolean;
};

export type Fault = Readonly<{ fault: 'lose_answer' | 'cut' | 'duplicate' | 'swallow'; method: string }>;

export type State = {
  networkId: number;
  settings: Settings;
  /** Closed ledgers, oldest first. */
  ledgers: Ledger[];
  /** Signed bytes that are applied to the open ledger, in the order in which they came. */
  open: string[];
  /** Signed bytes that wait for a cheaper ledger, and those that wait for an earlier sequence. */
  queue: string[];
  held: string[];
  /** Soft limit and median fee level for the open ledger (page transaction-cost). */
  expectedSize: number;
  medianLevel: number;
  /** How the server sees the network: as it is, some ledgers late, or not at all since a ledger. */
  view: Readonly<{ kind: 'now' } | { kind: 'lag'; by: number } | { kind: 'still'; at: number }>;
  /** Through which ledger the server has no history any more; 0: it has all. */
  forgotten: number;
  /** Submitted while the server had no network. */
  unsent: string[];
  faults: Fault[];
  /** OwnerCount that accounts get with the next ledger. */
  owners: Record<string, number>;
  /** Drops that a payment of issued currency delivers, by its id. */
  deliveries: Record<string, string>;
  /** Accounts that others take deposits of, by whose word it is. States from before have none. */
  preauthorized?: Record<string, string[]>;
};

/** The account that has all XRP of a new network: of the seed `masterpassphrase` (page addresses). */
export const genesis = 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh';
const allDrops = '100000000000000000';
/** Seconds from the Unix epoch to 2000-01-01. */
const epoch = 946_684_800;

const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex');
/** SHA-512Half, upper case (page basic-data-types, hashes). */
export const halfHash = (...parts: readonly Uint8Array[]): string => {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 64).toUpperCase();
};

/** Id of the entry of an account: its space key and the account (page accountroot). */
export const entryIdOf = (address: string): string => halfHash(bytesOf('0061'), decodeAccountID(address));

/** Close times are rounded to ten seconds, and later than the parent's (page ledger-close-times). */
export const resolution = 10;
export const nowInLedger = (): number => Math.floor(Date.now() / 1000) - epoch;
export const isoOf = (time: number): string => `${new Date((time + epoch) * 1000).toISOString().slice(0, 19)}Z`;

/** The header's hash, of the fields that the page ledger-header names. The two roots in it are plain hashes over what
 *  they stand for, no trees. */
function headerHash(ledger: Omit<Ledger, 'hash' | 'entries' | 'changed'>): string {
  const header = Buffer.alloc(26);
  header.writeUInt32BE(ledger.index, 0);
  header.writeBigUInt64BE(BigInt(ledger.totalCoins), 4);
  header.writeUInt32BE(ledger.parentCloseTime, 12);
  header.writeUInt32BE(ledger.closeTime, 16);
  header.writeUInt8(resolution, 20);
  const roots = [ledger.parentHash, ledger.transactionHash, ledger.accountHash].map(bytesOf);
  return halfHash(bytesOf('4C575200'), header, ...roots);
}

type Content = Pick<Ledger, 'entries' | 'changed' | 'totalCoins'>;

/** The next ledger after `parent`. */
export function ledgerAfter(parent: Ledger | null, { entries, changed, totalCoins }: Content): Ledger {
  const parentCloseTime = parent?.closeTime ?? 0;
  const rounded = Math.round(nowInLedger() / resolution) * resolution;
  const header = {
    index: (parent?.index ?? 0) + 1,
    parentHash: parent?.hash ?? '0'.repeat(64),
    parentCloseTime,
    closeTime: Math.max(rounded, parentCloseTime + 1),
    totalCoins,
    transactionHash: halfHash(...entries.map(({ hash }) => bytesOf(hash))),
    accountHash: halfHash(Buffer.from(`${parent?.accountHash ?? ''}${JSON.stringify(changed)}`)),
  };
  return { ...header, hash: headerHash(header), entries, changed };
}

const usual: Settings = {
  baseFee: 10,
  reserveBase: 1_000_000,
  reserveInc: 200_000,
  loadFactor: 1,
  leastSize: 1000,
  validateAfter: 0,
  provesEmpty: false,
};

/** The least median fee level that the next ledger counts with (page transaction-cost, fee escalation). */
export const leastMedian = 128_000;

function newState(networkId: number): State {
  const all: Account = { Balance: allDrops, Sequence: 1, OwnerCount: 0, Flags: 0 };
  const first = ledgerAfter(null, { entries: [], changed: { [genesis]: all }, totalCoins: allDrops });
  return {
    networkId,
    settings: { ...usual },
    ledgers: [first],
    open: [],
    queue: [],
    held: [],
    expectedSize: usual.leastSize,
    medianLevel: leastMedian,
    view: { kind: 'now' },
    forgotten: 0,
    unsent: [],
    faults: [],
    owners: {},
    deliveries: {},
  };
}

/** The state in `file`, or a new network's; `save` replaces the file as a whole, so that a kill leaves the old one or
 *  the new one. */
export function openState(file: string, networkId: number): { state: State; save: () => void } {
  mkdirSync(dirname(file), { recursive: true });
  const state = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as State) : newState(networkId);
  if (state.networkId !== networkId) throw new Error(`${file} is of network ${state.networkId}, not ${networkId}`);
  const save = (): void => {
    const next = `${file}.next`;
    writeFileSync(next, JSON.stringify(state));
    renameSync(next, file);
  };
  save();
  return { state, save };
}
