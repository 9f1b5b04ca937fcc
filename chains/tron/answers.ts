/** What nodes answer, checked field by field. Nodes leave out what has the default of its type: no `balance` is 0. Each
 *  reader throws what is wrong, which `tronHttp` makes NODE_UNREACHABLE. */

type Fields = Readonly<Record<string, unknown>>;

export class Misshapen extends Error {}

/** An object. Nodes answer what they cannot do with `{"Error": "class … : …"}`. */
export function fields(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Misshapen(`${name} is no object: ${JSON.stringify(value)?.slice(0, 100)}`);
  const { Error: refusal } = value as { Error?: unknown };
  if (typeof refusal === 'string') throw new Misshapen(refusal.slice(0, 200));
  return value as Fields;
}

/** A list; absent: empty. */
export function list(value: unknown, name: string): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Misshapen(`${name} is no list`);
  return value;
}

export function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Misshapen(`${name} is no text`);
  return value;
}

/** Lower-case hex of `bytes` bytes. */
function digits(value: unknown, name: string, bytes: number): string {
  const given = text(value, name).toLowerCase();
  if (given.length !== 2 * bytes || !/^[0-9a-f]*$/.test(given))
    throw new Misshapen(`${name} is not hex of ${bytes} bytes`);
  return given;
}

/** An amount that is never negative; absent: 0. */
export function amount(value: unknown, name: string): bigint {
  if (value === undefined) return 0n;
  const whole = typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value as bigint | number) : -1n;
  if (whole < 0n) throw new Misshapen(`${name} is no amount`);
  return whole;
}

/** A height or a time; absent: 0. */
function count(value: unknown, name: string): number {
  if (value === undefined) return 0;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new Misshapen(`${name} is no number`);
  return value;
}

/** A transaction in a block. `transfer`: of TRX by the transaction itself. */
export type TxAnswer = Readonly<{
  txId: string;
  /** What the network made of it; absent in blocks of before contracts. */
  result: string | null;
  type: string;
  /** Whose transaction it is, 21 bytes in hex; null: it does not say. */
  owner: string | null;
  transfer: Readonly<{ from: string; to: string; units: bigint }> | null;
}>;

/** `time`: Unix milliseconds. */
type HeaderAnswer = Readonly<{ id: string; height: number; parentId: string; time: number }>;
export type BlockAnswer = HeaderAnswer & Readonly<{ transactions: readonly TxAnswer[] }>;

function txOf(given: unknown): TxAnswer {
  const tx = fields(given, 'A transaction');
  const [ret] = list(tx.ret, 'ret');
  const result = ret === undefined ? undefined : fields(ret, 'ret').contractRet;
  const [first] = list(fields(tx.raw_data, 'raw_data').contract, 'contract');
  const contract = fields(first, 'contract');
  const type = text(contract.type, 'type');
  const value = fields(fields(contract.parameter, 'parameter').value, 'value');
  const owner = value.owner_address === undefined ? null : digits(value.owner_address, 'owner_address', 21);
  const stated = type === 'TransferContract' ? value : null;
  return {
    txId: digits(tx.txID, 'txID', 32),
    result: result === undefined ? null : text(result, 'contractRet'),
    type,
    owner,
    transfer: stated && {
      from: digits(stated.owner_address, 'owner_address', 21),
      to: digits(stated.to_address, 'to_address', 21),
      units: amount(stated.amount, 'amount'),
    },
  };
}

/** Reference: /wallet/getblockbynum, /wallet/getnowblock. null: there is no such block, which is `{}`. */
export function blockOf(value: unknown): BlockAnswer | null {
  const block = fields(value, 'A block');
  if (block.blockID === undefined && block.block_header === undefined) return null;
  const header = fields(fields(block.block_header, 'block_header').raw_data, 'raw_data');
  const id = digits(block.blockID, 'blockID', 32);
  const height = count(header.number, 'number');
  if (!id.startsWith(height.toString(16).padStart(16, '0')))
    throw new Misshapen(`The id ${id} is not of a block ${height}`);
  return {
    id,
    height,
    parentId: digits(header.parentHash, 'parentHash', 32),
    time: count(header.timestamp, 'timestamp'),
    transactions: list(block.transactions, 'transactions').map(txOf),
  };
}

/** The same where there must be a block. */
export function someBlockOf(value: unknown): BlockAnswer {
  const block = blockOf(value);
  if (!block) throw new Misshapen('The node has no block');
  return block;
}

/** `contract`: 20 bytes, without 41. */
export type Log = Readonly<{ contract: string; topics: readonly string[]; data: string }>;

/** What came of a transaction. `fee`: sun that it burned. `result`: of a contract's call; null: it called none. */
export type InfoAnswer = Readonly<{
  txId: string;
  height: number;
  time: number;
  fee: bigint;
  isFailed: boolean;
  result: string | null;
  logs: readonly Log[];
  internal: readonly InternalAnswer[];
}>;

/** TRX that a contract sent inside a transaction, as a node tells that keeps them (`saveInternalTx`). `to`: 21 bytes
 *  in hex. */
type InternalAnswer = Readonly<{ to: string; units: bigint }>;

function logOf(value: unknown): Log {
  const log = fields(value, 'A log');
  const data = log.data === undefined ? '' : text(log.data, 'data').toLowerCase();
  return {
    contract: digits(log.address, 'address', 20),
    topics: list(log.topics, 'topics').map((topic) => digits(topic, 'topic', 32)),
    data,
  };
}

function internalOf(value: unknown): InternalAnswer[] {
  const call = fields(value, 'An internal transaction');
  if (call.rejected === true || call.transferTo_address === undefined) return [];
  const to = digits(call.transferTo_address, 'transferTo_address', 21);
  return list(call.callValueInfo, 'callValueInfo').flatMap((one) => {
    const { callValue, tokenId } = fields(one, 'callValueInfo');
    const units = amount(callValue, 'callValue');
    return units === 0n || tokenId !== undefined ? [] : [{ to, units }];
  });
}

function infoIn(info: Fields): InfoAnswer {
  const receipt = info.receipt === undefined ? {} : fields(info.receipt, 'receipt');
  return {
    txId: digits(info.id, 'id', 32),
    height: count(info.blockNumber, 'blockNumber'),
    time: count(info.blockTimeStamp, 'blockTimeStamp'),
    fee: amount(info.fee, 'fee'),
    isFailed: info.result === 'FAILED',
    result: receipt.result === undefined ? null : text(receipt.result, 'receipt.result'),
    logs: list(info.log, 'log').map(logOf),
    internal: list(info.internal_transactions, 'internal_transactions').flatMap(internalOf),
  };
}

/** Reference: /wallet/gettransactioninfobyid. null: not in a block of this node, which is `{}`. */
export function infoOf(value: unknown): InfoAnswer | null {
  const info = fields(value, 'A result');
  return info.id === undefined ? null : infoIn(info);
}

/** Reference: /wallet/gettransactioninfobyblocknum. */
export const infosOf = (value: unknown): InfoAnswer[] =>
  list(value, 'Results').map((one) => infoIn(fields(one, 'A result')));

/** Whether a transaction did what it says: of a contract's call its receipt tells, of others that it is in a block. */
export const isDone = ({ isFailed, result }: InfoAnswer): boolean =>
  !isFailed && (result === null || result === 'SUCCESS');
