import { decode, DEFAULT_DEFINITIONS } from 'ripple-binary-codec';
import { isValidClassicAddress } from 'ripple-address-codec';
import type { Network } from './network';
import { depositAuth, leastFee } from './rules';
import { entryIdOf, isoOf, nowInLedger, resolution, type Account, type Entry, type Json, type Ledger } from './state';
import { Invalid, readTransaction, type Transaction } from './transactions';
import { viewOf, type View } from './views';

/** What a server answers, in version 2 of its interface, by the pages of xrpl.org that have the methods' names. */

/** A refusal by its code (page error-formatting). `more`: fields beside it. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    readonly number: number,
    message: string,
    readonly more: Json = {},
  ) {
    super(message);
  }
}

const invalid = (message: string): Refusal => new Refusal('invalidParams', 31, message);
const noLedger = (): Refusal => new Refusal('lgrNotFound', 21, 'ledgerNotFound');

/** `DeliverMax` is the name of `Amount` in this version (page payment). */
function shownTransaction(blob: string): Json {
  const { Amount: amount, ...rest } = decode(blob);
  return rest.TransactionType === 'Payment'
    ? { ...rest, DeliverMax: amount }
    : { ...rest, ...(amount && { Amount: amount }) };
}

/** A transaction of a validated ledger with what its ledger says of it (pages tx, account_tx, ledger). */
const shownEntry = ({ hash, blob, meta }: Entry, ledger: Ledger, isValidated: boolean): Json => ({
  close_time_iso: isoOf(ledger.closeTime),
  hash,
  ledger_hash: ledger.hash,
  ...(isValidated ? { ledger_index: ledger.index } : {}),
  meta,
  tx_json: shownTransaction(blob),
  validated: isValidated,
});

/** Which ledger a request means (page basic-data-types, specifying ledgers); null: the open one. */
function ledgerOf(view: View, params: Json): Ledger | null {
  const { ledger_index: wanted = 'current', ledger_hash: hash } = params;
  if (hash !== undefined) {
    for (let index = view.closed.index; index >= view.oldest; index -= 1)
      if (view.at(index)?.hash === hash) return view.at(index)!;
    throw noLedger();
  }
  if (wanted === 'validated') return view.validated;
  if (wanted === 'closed') return view.closed;
  if (wanted === 'current' || wanted === view.closed.index + 1) return null;
  if (typeof wanted !== 'number') throw invalid('ledgerIndexMalformed');
  const ledger = view.at(wanted);
  if (!ledger) throw noLedger();
  return ledger;
}

function ledger({ network }: Served, params: Json): Json {
  const view = viewOf(network);
  const found = ledgerOf(view, params);
  if (!found) {
    const index = view.closed.index + 1;
    const open = { closed: false, ledger_index: index, parent_hash: view.closed.hash };
    return { ledger: open, ledger_current_index: index, validated: false };
  }
  const isValidated = found.index <= view.validated.index;
  const entries = found.entries.map((entry) =>
    params.expand === true ? shownEntry(entry, found, isValidated) : entry.hash,
  );
  return {
    ledger: {
      account_hash: found.accountHash,
      close_flags: 0,
      close_time: found.closeTime,
      close_time_human: isoOf(found.closeTime),
      close_time_iso: isoOf(found.closeTime),
      close_time_resolution: resolution,
      closed: true,
      ledger_hash: found.hash,
      ledger_index: found.index,
      parent_close_time: found.parentCloseTime,
      parent_hash: found.parentHash,
      total_coins: found.totalCoins,
      transaction_hash: found.transactionHash,
      ...(params.transactions === true ? { transactions: entries } : {}),
    },
    ledger_hash: found.hash,
    ledger_index: found.index,
    validated: isValidated,
  };
}

/** Pages account_info and accountroot. */
function accountInfo({ network }: Served, params: Json): Json {
  const address = params.account;
  if (typeof address !== 'string') throw invalid("Missing field 'account'.");
  if (!isValidClassicAddress(address)) throw new Refusal('actMalformed', 35, 'Account malformed.');
  const view = viewOf(network);
  const found = ledgerOf(view, params);
  // A server that is behind has only its own, older open ledger.
  const isNow = view.closed.index === network.tip.index;
  const account = found || !isNow ? view.account(address, (found ?? view.closed).index) : network.pending(address);
  if (!account) throw new Refusal('actNotFound', 19, 'Account not found.', { account: address });
  return {
    account_data: { Account: address, LedgerEntryType: 'AccountRoot', ...account, index: entryIdOf(address) },
    account_flags: { requireDestinationTag: (account.Flags & 0x2_0000) !== 0 },
    ...(found
      ? { ledger_hash: found.hash, ledger_index: found.index, validated: found.index <= view.validated.index }
      : { ledger_current_index: view.closed.index + 1, validated: false }),
  };
}

/** Page deposit_authorized. */
function depositAuthorized({ network }: Served, params: Json): Json {
  const { source_account: from, destination_account: to } = params;
  if (typeof from !== 'string' || typeof to !== 'string') throw invalid('Missing field.');
  const view = viewOf(network);
  const found = ledgerOf(view, params) ?? view.closed;
  if (!view.account(from, found.index)) throw new Refusal('srcActNotFound', 67, 'Source account not found.');
  const receiver = view.account(to, found.index);
  if (!receiver) throw new Refusal('dstActNotFound', 50, 'Destination account not found.');
  const asks = (receiver.Flags & depositAuth) !== 0 && from !== to;
  return {
    deposit_authorized: !asks || network.isPreauthorized(from, to),
    destination_account: to,
    ledger_hash: found.hash,
    ledger_index: found.index,
    source_account: from,
    validated: found.index <= view.validated.index,
  };
}

/** `searched_all`, as servers count it: the ledgers of the range that have transactions (XRPLF/rippled, issue 3750). */
function isSearched(view: View, from: number, to: number, provesEmpty: boolean): boolean {
  for (let index = from; index <= to; index += 1) {
    const found = index <= view.validated.index ? view.at(index) : undefined;
    if (!found || (!found.entries.length && !provesEmpty)) return false;
  }
  return true;
}

/** What the server tells of a transaction that no validated ledger of its has. It is told from the server's cache
 *  before anything is looked up, whether or not it can still be in a ledger (xrpld's source: TransactionMaster, fetch).
 *  One whose ledger was validated is not, and where that ledger is forgotten, nothing is known of it. */
function unvalidated(network: Network, view: View, hash: string): Transaction | undefined {
  const isIn = ({ index, entries }: Ledger): boolean =>
    index <= view.validated.index && entries.some((one) => one.hash === hash);
  const recalled = network.recall(hash);
  if (recalled && !network.state.ledgers.some(isIn)) return recalled;
  return view.isFollowing ? network.isPending(hash) : undefined;
}

/** Page tx. */
function tx({ network }: Served, params: Json): Json {
  const { transaction: hash, min_ledger: from, max_ledger: to } = params;
  if (typeof hash !== 'string' || !/^[0-9A-Fa-f]{64}$/.test(hash)) throw new Refusal('notImpl', 74, 'Not implemented.');
  const view = viewOf(network);
  for (let index = view.closed.index; index >= view.oldest; index -= 1) {
    const found = view.at(index)!;
    const entry = found.entries.find((one) => one.hash === hash.toUpperCase());
    if (entry) return shownEntry(entry, found, index <= view.validated.index);
  }
  const waiting = unvalidated(network, view, hash.toUpperCase());
  if (waiting) return { hash: waiting.hash, tx_json: shownTransaction(waiting.blob), validated: false };
  const isRange = typeof from === 'number' && typeof to === 'number';
  if (isRange && to < from) throw new Refusal('invalidLgrRange', 79, 'Ledger range is invalid.');
  if (isRange && to - from > 1000) throw new Refusal('excessiveLgrRange', 80, 'Ledger range exceeds 1000.');
  const { provesEmpty } = network.state.settings;
  const more = isRange ? { searched_all: isSearched(view, from, to, provesEmpty) } : {};
  throw new Refusal('txnNotFound', 29, 'Transaction not found.', more);
}

const touches = ({ meta }: Entry, address: string): boolean => JSON.stringify(meta).includes(`"${address}"`);

/** Page account_tx. Entries come newest first, unless `forward`. */
function accountTx({ network }: Served, params: Json): Json {
  const { account, ledger_index_min: least, ledger_index_max: most, forward, marker } = params;
  if (typeof account !== 'string' || !isValidClassicAddress(account)) throw invalid('Account malformed.');
  const view = viewOf(network);
  const from = typeof least === 'number' && least >= 0 ? Math.max(least, view.oldest) : view.oldest;
  const to = typeof most === 'number' && most >= 0 ? Math.min(most, view.validated.index) : view.validated.index;
  const found: Array<{ ledger: Ledger; entry: Entry; seq: number }> = [];
  for (let index = from; index <= to; index += 1)
    view.at(index)?.entries.forEach((entry, seq) => {
      if (touches(entry, account)) found.push({ ledger: view.at(index)!, entry, seq });
    });
  if (forward !== true) found.reverse();
  const after = marker as { ledger: number; seq: number } | undefined;
  const start = after ? found.findIndex((one) => one.ledger.index === after.ledger && one.seq === after.seq) : 0;
  if (start < 0) throw invalid('Invalid field marker.');
  const limit = typeof params.limit === 'number' && params.limit > 0 ? params.limit : 200;
  const next = found[start + limit];
  return {
    account,
    ledger_index_min: from,
    ledger_index_max: to,
    limit,
    transactions: found.slice(start, start + limit).map((one) => shownEntry(one.entry, one.ledger, true)),
    validated: true,
    ...(next ? { marker: { ledger: next.ledger.index, seq: next.seq } } : {}),
  };
}

const ageOf = ({ closeTime }: Ledger): number => Math.max(0, nowInLedger() - closeTime);
const stateOf = (view: View): string => (view.isFollowing ? 'full' : 'connected');

/** What `server_info` and `server_state` have in common. */
function common({ network, startedAt }: Served, view: View): Json {
  return {
    build_version: 'simulator',
    complete_ledgers: view.oldest <= view.validated.index ? `${view.oldest}-${view.validated.index}` : 'empty',
    io_latency_ms: 1,
    network_id: network.state.networkId,
    peers: view.isFollowing ? 10 : 0,
    server_state: stateOf(view),
    time: new Date().toISOString(),
    uptime: Math.floor((Date.now() - startedAt) / 1000),
    validation_quorum: 1,
  };
}

/** Page server_info: amounts in XRP, as fractions. */
function serverInfo(served: Served): Json {
  const view = viewOf(served.network);
  const { baseFee, reserveBase, reserveInc, loadFactor } = served.network.state.settings;
  const validated_ledger = {
    age: ageOf(view.validated),
    base_fee_xrp: baseFee / 1e6,
    hash: view.validated.hash,
    reserve_base_xrp: reserveBase / 1e6,
    reserve_inc_xrp: reserveInc / 1e6,
    seq: view.validated.index,
  };
  return { info: { ...common(served, view), load_factor: loadFactor, validated_ledger } };
}

/** Page server_state: amounts in drops. */
function serverState(served: Served): Json {
  const view = viewOf(served.network);
  const { baseFee, reserveBase, reserveInc, loadFactor } = served.network.state.settings;
  const validated_ledger = {
    base_fee: baseFee,
    close_time: view.validated.closeTime,
    hash: view.validated.hash,
    reserve_base: reserveBase,
    reserve_inc: reserveInc,
    seq: view.validated.index,
  };
  return {
    state: { ...common(served, view), load_base: 256, load_factor: Math.ceil(256 * loadFactor), validated_ledger },
  };
}

/** Page fee. */
function fee({ network }: Served): Json {
  const { settings, queue, expectedSize, medianLevel } = network.state;
  const dropsOf = (level: number): string => String(Math.ceil((level * settings.baseFee) / 256));
  return {
    current_ledger_size: String(network.openSize),
    current_queue_size: String(queue.length),
    drops: {
      base_fee: String(settings.baseFee),
      median_fee: dropsOf(medianLevel),
      minimum_fee: String(leastFee(settings)),
      open_ledger_fee: String(network.openCost()),
    },
    expected_ledger_size: String(expectedSize),
    ledger_current_index: viewOf(network).closed.index + 1,
    levels: {
      median_level: String(medianLevel),
      minimum_level: '256',
      open_ledger_level: String(network.openLevel()),
      reference_level: '256',
    },
    max_queue_size: String(Math.max(2000, expectedSize * 20)),
  };
}

/** Numbers of result codes, which servers may change at any time (page transaction-results). */
const numberOf = (result: string): number => DEFAULT_DEFINITIONS.transactionResult.from(result).ordinal;

const sequenceAfter = (account: Account | undefined, waiting: number): number => (account?.Sequence ?? 0) + waiting;

/** Page submit, submit-only mode. `isHeard`: the network hears of it. */
function submit({ network, isHeard }: Served, params: Json): Json {
  const { tx_blob: blob } = params;
  if (blob === undefined) throw invalid("Missing field 'tx_blob'.");
  const { state } = network;
  try {
    const transaction = readTransaction(blob);
    network.remember(transaction);
    const isStill = state.view.kind === 'still';
    const said = isHeard && !isStill ? network.submit(blob) : network.imagine(blob);
    if (isHeard && isStill) state.unsent.push(transaction.blob);
    const sender = network.pending(String(transaction.json.Account));
    return {
      accepted: said.applied || said.queued || said.kept,
      account_sequence_available: sequenceAfter(sender, said.queued ? 1 : 0),
      account_sequence_next: sequenceAfter(sender, 0),
      applied: said.applied,
      broadcast: said.applied || said.queued,
      engine_result: said.result,
      engine_result_code: numberOf(said.result),
      engine_result_message: `Provisional: ${said.result}. Only a validated ledger is final.`,
      kept: said.kept || said.applied,
      open_ledger_cost: String(said.openLedgerCost),
      queued: said.queued,
      tx_blob: transaction.blob,
      tx_json: { ...shownTransaction(transaction.blob), hash: transaction.hash },
      validated_ledger_index: viewOf(network).validated.index,
    };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    throw new Refusal('invalidTransaction', 0, 'Transaction is invalid.', { error_exception: error.message });
  }
}

/** Page ledger_accept: as in stand-alone mode. */
function ledgerAccept({ network }: Served): Json {
  return { ledger_current_index: network.close().index + 1 };
}

/** What a method is answered from. */
export type Served = Readonly<{ network: Network; startedAt: number; isHeard: boolean }>;

export const methods: Readonly<Record<string, (served: Served, params: Json) => Json>> = {
  account_info: accountInfo,
  account_tx: accountTx,
  deposit_authorized: depositAuthorized,
  fee,
  ledger,
  ledger_accept: ledgerAccept,
  server_info: serverInfo,
  server_state: serverState,
  submit,
  tx,
};

/** Methods whose answers another version of the interface would give another shape. */
export const versioned: ReadonlySet<string> = new Set(['account_info', 'account_tx', 'ledger', 'submit', 'tx']);
