import type { ExpiringFamily, ExpiringPlan, ExpiringTransfer, TermsAnswer } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { spendable } from './accounts';
import { dropsOf, type XrplChain } from './chain';
import { xrplCodec } from './codec';
import type { XrplNode } from './node';
import type { PaymentPlan } from './payment';
import { feeNow, refusalAt } from './planning';
import { readSigned, txIdOf } from './signing';

/** What the XRP Ledger brings to the signer. docs/decisions/0060-signing-what-expires.md */

/** Ledgers that a transaction lives: a minute or more, for a node that lags and an answer that is lost. */
const life = 20;
const native = 'XRP';

const mismatch = (reason: string): DomainError => new DomainError('INTENT_MISMATCH', `Payment of XRP: ${reason}`);

function paymentOf({ currency, last, sequence, on, units, feeLimit, ...plan }: ExpiringPlan): PaymentPlan {
  if (currency !== native) throw mismatch(`${currency} is another asset`);
  if (!('height' in last)) throw mismatch('it ends by a time');
  if (sequence === null) throw mismatch('it has no sequence');
  if (last.height <= on.height) throw mismatch(`its last ledger ${last.height} is not after ${on.height}`);
  const { from, key, to, tag } = plan;
  const payment = { from, key, to, drops: units, feeDrops: feeLimit, sequence, lastLedger: last.height };
  return tag === undefined ? payment : { ...payment, tag };
}

/** What a payment is signed on now. Who would get nothing is found before it costs a fee: accounts that ask for a tag,
 *  and new ones that would get less than the reserve. */
async function termsOf(node: Terms, asked: ExpiringTransfer): Promise<TermsAnswer> {
  const { from, to, units, isAll } = asked;
  // Deposits arrive in the treasury, and its reserve stays.
  if (isAll) return { state: 'unclear', reason: 'an account of the XRP Ledger is never emptied' };
  const { height, hash, time } = await node.head();
  const [sender, receiver, reserves, fees] = await Promise.all([
    node.account(from, height),
    node.account(to, height),
    node.reserves(),
    node.fees(),
  ]);
  if (!sender) return { state: 'short', reason: `${from} is no account of ledger ${height}` };
  const refusal = await refusalAt(node, receiver, asked, reserves);
  if (refusal !== null) return { state: 'fails', reason: refusal };
  const feeDrops = feeNow(fees);
  const free = spendable(sender, reserves);
  if (free < units || sender.drops < units + feeDrops)
    return { state: 'short', reason: `${from} can spend ${free} of the ${units} drops, and a fee of ${feeDrops}` };
  const terms = {
    on: { height, hash, time: time * 1000 },
    last: { height: height + life },
    sequence: sender.sequence,
    feeLimit: feeDrops,
    mostUnits: feeDrops,
  };
  return { state: 'done', terms };
}

type Terms = Pick<XrplNode, 'head' | 'account' | 'hasConsent' | 'reserves' | 'fees'>;

export function xrplFamily(chain: XrplChain, node: Terms & Pick<XrplNode, 'expiring'>): ExpiringFamily {
  const codec = xrplCodec(chain);
  return {
    sign(seed, plan) {
      const { txId, raw } = codec.sign(seed, paymentOf(plan));
      return { txId, raw };
    },
    read(raw) {
      const { TransactionType, Account, Destination, DestinationTag, Amount, Fee, Sequence, LastLedgerSequence } =
        readSigned(raw);
      const [units, feeLimit] = [dropsOf(Amount), dropsOf(Fee)];
      if (TransactionType !== 'Payment' || units === null || feeLimit === null)
        throw mismatch('the bytes are no payment of XRP');
      if (typeof LastLedgerSequence !== 'number' || typeof Sequence !== 'number') throw mismatch('the bytes never end');
      return {
        txId: txIdOf(raw),
        from: String(Account),
        currency: native,
        to: String(Destination),
        tag: typeof DestinationTag === 'number' ? DestinationTag.toString() : null,
        units,
        last: { height: LastLedgerSequence },
        sequence: Sequence,
        feeLimit,
      };
    },
    node: { fateOf: (signed) => node.expiring.fateOf(signed), termsOf: (transfer) => termsOf(node, transfer) },
  };
}
