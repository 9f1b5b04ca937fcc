import type { EntityManager } from 'typeorm';
import { assetOf } from '../../domain/chains/assets';
import type { TransactionPlan } from '../../domain/chains/chain';
import { fit, toUnits } from '../../domain/money';
import { depositsById } from '../../db/payments/deposits';
import { accountsOf, attemptsOf, type IntentRow } from '../../db/txmanager/intents';
import { limitsOf, noteCap } from '../fee-caps';
import { minimum } from './account';
import { waitForCap, type Own } from './new-destinations';
import { mayCost } from './policy';
import { mostFee, offeredPrice, type Price } from './price';
import type { Signed, Signer } from './signer';
import type { BatchAccount } from './record';
import { store } from './store';
import { keyOf, takeNonce } from './wallet';

/** The tokens of many deposit addresses in one transaction of the gas wallet. Every attempt has the delegations of
 *  the first, so that whichever is mined uses up the same nonces; it moves what is there now of what the first
 *  moved. */
export async function signTokens(
  signer: Signer,
  tx: EntityManager,
  intent: IntentRow,
  { price, n, nonce, own }: Readonly<{ price: Price; n: number; nonce: number } & Own>,
): Promise<Signed> {
  const { decimals } = assetOf(intent.currency);
  const earlier = await attemptsOf(tx, intent.id);
  const [first] = earlier;
  const known = first ? await accountsOf(tx, first.id) : null;
  const deposits = (await depositsById(tx, intent.deposit_ids)).filter(
    (deposit) => !known || known.some((account) => account.deposit_ids.includes(deposit.id)),
  );
  if (!deposits.length) return { state: 'waiting', reason: 'none of its deposits is in the chain' };
  const accounts: BatchAccount[] = [];
  const addresses = known?.map((one) => one.address) ?? [...new Set(deposits.map((one) => one.address))].sort();
  const gasLimit = BigInt(intent.gas_limit!);
  const feeUnits = mostFee(gasLimit, price);
  // Before it uses up nonces.
  const cost = mayCost({
    limits: limitsOf(intent),
    price,
    feeUnits,
    from: intent.from_address,
    neededUnits: 0n,
    heldUnits: null,
  });
  if (cost.state !== 'pay') return noteCap(tx, intent, earlier.at(-1), cost.reason);
  const units = deposits.reduce((sum, one) => sum + toUnits(fit(one.amount, decimals, 'down'), decimals), 0n);
  const to = intent.outputs[0]!.address;
  const isNew = await waitForCap(signer, tx, intent, [{ address: to, units }], own);
  if (isNew) return isNew;
  for (const address of addresses) {
    const here = deposits.filter((deposit) => deposit.address === address);
    accounts.push({
      address,
      key: await keyOf(tx, intent.network, address),
      nonce: known?.find((one) => one.address === address)?.nonce ?? (await takeNonce(tx, intent.network, address)),
      units: here.reduce((sum, one) => sum + toUnits(fit(one.amount, decimals, 'down'), decimals), 0n),
      depositIds: here.map((one) => one.id),
    });
  }
  const maxFeePerGas = offeredPrice(price);
  const plan: TransactionPlan = {
    kind: 'account',
    from: intent.from_address,
    key: await keyOf(tx, intent.network, intent.from_address),
    nonce,
    to,
    value: 0n,
    batch: { currency: intent.currency, to, accounts },
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas: minimum(maxFeePerGas, BigInt(fit(price.tipPrice, 0, 'up'))),
  };
  await store(signer, tx, intent, {
    n,
    plan,
    price,
    outputs: [{ address: to, units: units.toString() }],
    maxFeeUnits: feeUnits,
    accounts,
  });
  return { state: 'stored' };
}
