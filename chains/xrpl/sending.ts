import type { BroadcastAnswer } from '../../domain/chains/chain';
import { readerOf, bodyOf, type Ask } from './answers';
import { txIdOf } from './signing';

/** Fees in drops, of a payment. `base`: without load; `open`: to be in the very next ledger; `least`: below it a node
 *  takes nothing, not even into its queue. */
export type XrplFees = Readonly<{ base: bigint; open: bigint; least: bigint }>;

const readFee = readerOf('fee');
const readSubmit = readerOf('submit');

export async function readFees(ask: Ask): Promise<XrplFees> {
  const drops = readFee.fields(await bodyOf(ask, 'fee'), 'drops');
  return {
    base: readFee.drops(drops, 'base_fee'),
    open: readFee.drops(drops, 'open_ledger_fee'),
    least: readFee.drops(drops, 'minimum_fee'),
  };
}

/** What a node said to bytes that it was given. None of it is final, whatever its name: only a validated ledger is.
 *
 *  `accepted`: applied to the open ledger, perhaps as a failure that takes its fee, or queued; `known`: it is in the
 *  node's ledger already; `conflict`: its sequence is used up, by itself or by another; `early`: an earlier sequence is
 *  missing; `expired`: its last ledger is past; `refused`: for its fee, for want of funds, or for another reason.
 *  `isKept`: the node may send it later without being asked. */
export type SubmitAnswer = Readonly<
  { result: string; reason: string; isKept: boolean } & (
    | { outcome: 'accepted' | 'known' | 'conflict' | 'early' | 'expired' }
    | { outcome: 'refused'; why: 'fee' | 'funds' | 'other' }
  )
>;

type Outcome =
  | { outcome: 'accepted' | 'known' | 'conflict' | 'early' | 'expired' }
  | { outcome: 'refused'; why: 'fee' | 'funds' | 'other' };

const named: Readonly<Record<string, Outcome>> = {
  terQUEUED: { outcome: 'accepted' },
  tefALREADY: { outcome: 'known' },
  tefPAST_SEQ: { outcome: 'conflict' },
  tefMAX_LEDGER: { outcome: 'expired' },
  terPRE_SEQ: { outcome: 'early' },
  telINSUF_FEE_P: { outcome: 'refused', why: 'fee' },
  terINSUF_FEE_B: { outcome: 'refused', why: 'funds' },
  terNO_ACCOUNT: { outcome: 'refused', why: 'funds' },
};

/** By code, or by its first letters (xrpl.org: transaction-results). */
function outcomeOf(result: string): Outcome {
  const own = named[result];
  if (own) return own;
  if (result === 'tesSUCCESS' || result.startsWith('tec')) return { outcome: 'accepted' };
  return { outcome: 'refused', why: result.startsWith('telCAN_NOT_QUEUE') ? 'fee' : 'other' };
}

/** Hands over stored bytes, once. Throws NODE_UNREACHABLE where the outcome is unknown: send the same bytes again. */
export async function submit(ask: Ask, raw: string): Promise<SubmitAnswer> {
  const read = readSubmit;
  const { refused, body } = await ask('submit', { tx_blob: raw }, ['invalidTransaction']);
  if (refused !== null)
    return { outcome: 'refused', why: 'other', result: refused, reason: String(body.error_exception), isKept: false };
  const result = read.text(body, 'engine_result');
  const hash = read.hash(read.fields(body, 'tx_json'), 'hash');
  if (hash !== txIdOf(raw)) throw read.wrong({ hash }, 'hash', 'id of the bytes that were sent');
  return {
    ...outcomeOf(result),
    result,
    reason: read.text(body, 'engine_result_message'),
    isKept: read.yes(body, 'accepted') || read.yes(body, 'kept') || read.yes(body, 'queued'),
  };
}

/** The same answer in the words of the other families. `early` is a refusal: an earlier sequence is missing. */
export async function broadcast(ask: Ask, raw: string): Promise<BroadcastAnswer> {
  const said = await submit(ask, raw);
  const reason = `${said.result}: ${said.reason}`;
  if (said.outcome === 'refused') return { outcome: said.outcome, why: said.why, reason };
  if (said.outcome === 'early') return { outcome: 'refused', why: 'other', reason };
  if (said.outcome === 'conflict' || said.outcome === 'expired') return { outcome: said.outcome, reason };
  return { outcome: said.outcome };
}
