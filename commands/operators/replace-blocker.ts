import type { EntityManager } from 'typeorm';
import { networkOf } from '../../domain/chains/assets';
import { evmOf } from '../../domain/chains/costs';
import { compare, fit, times } from '../../domain/money';
import { bumpedPrice, limitsFor } from '../../domain/txmanager/fee-limits';
import { recordAct } from '../../db/access/audit-log';
import { isTreasury, markReplaced } from '../../db/txmanager/blockers';
import {
  attemptsOf,
  lockOpenIntent,
  lowestOpenNonces,
  type AttemptRow,
  type IntentRow,
} from '../../db/txmanager/intents';
import { invalid, notNow, type OperatorAct, type Payload } from './act';

const mostTimes = '10';

/** The intent, locked, and its newest transaction, where that is what holds up its wallet. */
async function blocker(tx: EntityManager, payload: Payload): Promise<{ intent: IntentRow; last: AttemptRow }> {
  const intent = await lockOpenIntent(tx, payload['intentId']!);
  if (!intent) throw notNow(`There is no open intent ${payload['intentId']}`);
  if (intent.replaced_at !== null) throw notNow(`Intent ${intent.id} is replaced already`);
  if (networkOf(intent.currency).kind !== 'account')
    throw notNow(`Transactions on ${intent.network} do not wait for one another`);
  const last = (await attemptsOf(tx, intent.id)).at(-1);
  if (!last) throw notNow(`Intent ${intent.id} is not signed: it blocks nothing`);
  if (!(await isTreasury(tx, intent.network, intent.from_address)))
    throw notNow(`Intent ${intent.id} is sent from ${intent.from_address}, which is no wallet of the treasury`);
  if (last.valid_from_height !== null)
    throw notNow(`Nothing replaces a transaction on ${intent.network}: it expires, and is signed anew or given back`);
  const lowest = (await lowestOpenNonces(tx, intent.network, [intent.from_address])).get(intent.from_address);
  if (lowest === undefined || last.nonce === null || lowest !== last.nonce)
    throw notNow(`Intent ${intent.id} does not block its wallet: nonce ${lowest} of its wallet comes first`);
  const least = bumpedPrice(last.unit_price, '0');
  const asked = payload['maxUnitPrice']!;
  if (compare(asked, least) < 0)
    throw notNow(`maxUnitPrice must be ${least} at least: nodes take an eighth more than the last price`);
  if (compare(asked, times(intent.max_unit_price, mostTimes, 18, 'up')) > 0)
    throw notNow(`maxUnitPrice is at most ten times the cap of ${fit(intent.max_unit_price, 3, 'down')}`);
  return { intent, last };
}

export const replaceBlocker: OperatorAct = {
  kind: 'replace-blocker',
  title: 'Replace the transaction that blocks a wallet by a transfer of the wallet to itself',
  fields: {
    intentId: 'Number of the intent, as `operator lanes` names it.',
    maxUnitPrice: 'Most wei per gas that the transfer may pay.',
  },
  async validate(tx, payload) {
    const { intentId, maxUnitPrice } = payload;
    if (!/^\d{1,18}$/.test(intentId!)) throw invalid('intentId must be the number of an intent');
    if (!/^\d{1,40}$/.test(maxUnitPrice!)) throw invalid('maxUnitPrice must be a whole number of wei');
    const checked = { intentId: intentId!, maxUnitPrice: maxUnitPrice! };
    await blocker(tx, checked);
    return checked;
  },
  async describe(tx, payload) {
    const { intent, last } = await blocker(tx, payload);
    return (
      `Replace ${intent.kind} ${intent.ref} (intent ${intent.id}, ${intent.currency}), nonce ${last.nonce} of ` +
      `${intent.from_address}, by a transfer of nothing to itself at up to ${payload['maxUnitPrice']} wei per gas; ` +
      'the payment fails, and its money is given back once that transfer is final'
    );
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const { intent, last } = await blocker(tx, payload);
    const maxUnitPrice = payload['maxUnitPrice']!;
    const { feeBudget } = limitsFor(maxUnitPrice, evmOf(networkOf(intent.currency).native).work.native);
    await markReplaced(tx, intent.id, { requestId, maxUnitPrice, feeBudget });
    await recordAct(tx, actor, {
      merchantId: intent.merchant_id,
      action: 'intent.replaced',
      target: intent.id,
      after: { wallet: intent.from_address, nonce: last.nonce, maxUnitPrice, reason, requestId },
    });
    return `Intent ${intent.id} is replaced: a transfer of ${intent.from_address} to itself takes nonce ${last.nonce}`;
  },
};
