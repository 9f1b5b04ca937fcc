import type { EntityManager } from 'typeorm';
import { networkOf } from '../../domain/chains/assets';
import type { TransactionPlan } from '../../domain/chains/chain';
import { evmOf } from '../../domain/chains/costs';
import { fit } from '../../domain/money';
import type { AttemptRow, IntentRow } from '../../db/txmanager/intents';
import { limitsOf, noteCap } from '../fee-caps';
import { heldAt, minimum } from './account';
import { mayCost } from './fee-policy';
import { mostFee, offeredPrice, type Price } from './price';
import type { Signed, Signer } from './signer';
import { store } from './store';
import { keyOf } from './wallet';

/** What takes the nonce of a replaced intent: a transfer of nothing from its wallet to the same wallet. */
export async function signReplacement(
  signer: Signer,
  tx: EntityManager,
  intent: IntentRow,
  { last, price }: Readonly<{ last: AttemptRow; price: Price }>,
): Promise<Signed> {
  const { native } = networkOf(intent.currency);
  const from = intent.from_address;
  const gasLimit = evmOf(native).work.native;
  const feeUnits = mostFee(gasLimit, price);
  const cost = mayCost({
    limits: limitsOf(intent),
    price,
    feeUnits,
    from,
    neededUnits: feeUnits,
    heldUnits: await heldAt(tx, { ...intent, currency: native }),
  });
  if (cost.state === 'capped') return noteCap(tx, intent, last, cost.reason);
  if (cost.state === 'short') return { state: 'waiting', reason: cost.reason };
  const maxFeePerGas = offeredPrice(price);
  const plan: TransactionPlan = {
    kind: 'account',
    from,
    key: await keyOf(tx, intent.network, from),
    nonce: last.nonce!,
    to: from,
    value: 0n,
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas: minimum(maxFeePerGas, BigInt(fit(price.tipPrice, 0, 'up'))),
  };
  await store(signer, tx, intent, {
    n: last.n + 1,
    plan,
    price,
    outputs: [{ address: from, units: '0' }],
    maxFeeUnits: feeUnits,
    isReplacement: true,
  });
  return { state: 'stored' };
}
