import type { EntityManager } from 'typeorm';
import { assetOf } from '../../domain/chains/assets';
import type { TransactionPlan } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { fit, toUnits } from '../../domain/money';
import type { PlannedOutput } from '../../domain/sweeps/sweep';
import { depositsById, type DepositRow } from '../../db/payments/deposits';
import { accountsOf, attemptsOf, sharesOf, type IntentRow } from '../../db/txmanager/intents';
import { limitsOf, noteCap } from '../fee-caps';
import { minimum } from './account';
import { waitForCap, type Own } from './new-destinations';
import { mayCost } from './fee-policy';
import { mostFee, offeredPrice, type Price } from './price';
import { codecOf, type Signed, type Signer } from './signer';
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
  const fault = codecOf(signer, intent).sweeperFault?.(intent.from_address) ?? null;
  if (fault !== null) return { state: 'waiting', reason: fault, cause: 'checked' };
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
  const [{ address: to }, rest] = intent.outputs as [PlannedOutput, PlannedOutput?];
  const units = unitsOf(intent, deposits);
  const restUnits = rest ? units - (await netOf(tx, intent, deposits)) : 0n;
  if (restUnits < 0n)
    throw new DomainError('INTENT_MISMATCH', `Batch intent ${intent.id}: its deposits are less than its net`);
  const outputs = [{ address: to, units: units - restUnits }, ...(rest ? [{ ...rest, units: restUnits }] : [])].filter(
    (output) => output.units > 0n,
  );
  const isNew = await waitForCap(signer, tx, intent, outputs, own);
  if (isNew) return isNew;
  // They all belong to payments of one merchant: who gives which part is the same to him and to us.
  let restLeft = restUnits;
  for (const address of addresses) {
    const here = deposits.filter((deposit) => deposit.address === address);
    const given = unitsOf(intent, here);
    const ours = minimum(restLeft, given);
    restLeft -= ours;
    accounts.push({
      address,
      key: await keyOf(tx, intent.network, address),
      nonce: known?.find((one) => one.address === address)?.nonce ?? (await takeNonce(tx, intent.network, address)),
      units: given,
      restUnits: ours,
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
    batch: { currency: intent.currency, to, ...(rest ? { restTo: rest.address } : {}), accounts },
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas: minimum(maxFeePerGas, BigInt(fit(price.tipPrice, 0, 'up'))),
  };
  await store(signer, tx, intent, {
    n,
    plan,
    price,
    outputs: outputs.map(({ address, units }) => ({ address, units: units.toString() })),
    maxFeeUnits: feeUnits,
    accounts,
  });
  return { state: 'stored' };
}

/** What deposits brought. Base units. */
function unitsOf({ currency }: IntentRow, deposits: readonly DepositRow[]): bigint {
  const { decimals } = assetOf(currency);
  return deposits.reduce((sum, one) => sum + toUnits(fit(one.amount, decimals, 'down'), decimals), 0n);
}

/** What the merchant's own address is to get of these deposits: the nets of the payments that all of theirs are in. */
async function netOf(tx: EntityManager, intent: IntentRow, deposits: readonly DepositRow[]): Promise<bigint> {
  const there = new Set(deposits.map(({ id }) => id));
  return (await sharesOf(tx, intent.id))
    .filter((share) => share.deposit_ids.every((id) => there.has(id)))
    .reduce((sum, share) => sum + BigInt(share.net_units ?? '0'), 0n);
}
