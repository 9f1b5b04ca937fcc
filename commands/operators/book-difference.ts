import type { EntityManager } from 'typeorm';
import { assetOf, findAsset } from '../../domain/chains/assets';
import { compare, isPositive, isZero, trim } from '../../domain/money';
import { recordAct } from '../../db/access/audit-log';
import { resolveIncident } from '../../db/incidents';
import {
  bookUnexplained,
  clearDifference,
  followedHeight,
  lockDifference,
  type Difference,
} from '../../db/ledger/unexplained';
import { invalid, notNow, type OperatorAct, type Payload } from './act';

/** A signed amount of an asset, as the reconciliation writes it. */
const signedAmount = /^-?\d{1,30}(\.\d{1,18})?$/;

/** The newest comparison must show exactly this difference, and must be of a block after the last booking. */
async function checkDifference(tx: EntityManager, { currency, amount }: Payload): Promise<Difference> {
  const found = await lockDifference(tx, currency!);
  if (!found || isZero(found.unexplained)) throw notNow(`The ledger and the chain agree about ${currency}`);
  if (compare(found.unexplained, amount!) !== 0)
    throw notNow(`The difference of ${currency} is ${found.unexplained} at block ${found.height}, not ${amount}`);
  if (found.bookedThrough !== null && compare(found.height, found.bookedThrough) <= 0)
    throw notNow(`The comparison at block ${found.height} is older than the last booking: wait for the next block`);
  return found;
}

export const bookDifference: OperatorAct = {
  kind: 'book-difference',
  title: 'Book a difference between the ledger and the chain',
  fields: {
    currency: 'Ticker.',
    amount:
      'What the chain holds beyond the ledger, exactly as the reconciliation shows it; below zero: what it lacks.',
  },
  async validate(tx, payload) {
    const asset = findAsset(payload['currency']!.toUpperCase());
    if (!asset) throw invalid(`No currency ${payload['currency']}`);
    if (!signedAmount.test(payload['amount']!)) throw invalid('amount must be a decimal number');
    const checked = { currency: asset.currency, amount: trim(payload['amount']!) };
    await checkDifference(tx, checked);
    return checked;
  },
  describe: (_tx, { currency, amount }) =>
    Promise.resolve(
      isPositive(amount!)
        ? `Book ${amount} ${currency} that the chain holds beyond the ledger as a gain (Q:unexplained)`
        : `Book ${amount!.slice(1)} ${currency} that the chain lacks as a loss (Q:unexplained)`,
    ),
  async execute(tx, payload, { requestId, reason, actor }) {
    const { height: comparedAt } = await checkDifference(tx, payload);
    const { currency, network } = assetOf(payload['currency']!);
    const amount = payload['amount']!;
    const height = await followedHeight(tx, network);
    await bookUnexplained(tx, {
      key: `operator/${requestId}`,
      currency,
      amount,
      details: { currency, height, comparedAt, requestId, reason },
    });
    await clearDifference(tx, currency);
    await resolveIncident(tx, {
      kind: 'unreconciled',
      subject: { kind: 'asset', id: currency },
      distinction: amount,
    });
    await recordAct(tx, actor, {
      merchantId: null,
      action: 'difference.booked',
      target: currency,
      after: { amount, requestId, reason },
    });
    return `${amount} ${currency} is booked to Q:unexplained`;
  },
};
