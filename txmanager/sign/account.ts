import type { EntityManager } from 'typeorm';
import { assetOf, networks, type NetworkId } from '../../domain/chains/assets';
import type { KeyPath, TransactionPlan } from '../../domain/chains/chain';
import { tagIn, type Destination } from '../../domain/chains/tags';
import { fit, toUnits } from '../../domain/money';
import { depositsById } from '../../db/payments/deposits';
import { attemptsOf, spendableAt, type IntentRow } from '../../db/txmanager/intents';
import { kinds } from '../../domain/txmanager/kinds';
import { limitsOf, noteCap } from '../fee-caps';
import { waitForCap, type Own } from './new-destinations';
import { mayCost } from './fee-policy';
import { mostFee, offeredPrice, type Price } from './price';
import type { Signed, Signer } from './signer';
import { store } from './store';
import { keyOf } from './wallet';

/** One transfer of one account, or what is left on it. */
export async function signAccount(
  signer: Signer,
  tx: EntityManager,
  intent: IntentRow,
  { price, n, nonce, isOutgoing, own }: Readonly<{ price: Price; n: number; nonce: number; isOutgoing: boolean } & Own>,
): Promise<Signed> {
  const asset = assetOf(intent.currency);
  const output = intent.outputs[0]!;
  const isToken = asset.contract !== null;
  const gasLimit = BigInt(intent.gas_limit!);
  const feeUnits = mostFee(gasLimit, price);
  let units: bigint;
  if (output.units !== null) units = BigInt(output.units);
  else units = (await leftOn(tx, intent)) - feeUnits;
  if (units <= 0n) return { state: 'waiting', reason: `a fee of ${feeUnits} wei leaves nothing to move` };
  const cost = mayCost({
    limits: limitsOf(intent),
    price,
    feeUnits,
    from: intent.from_address,
    neededUnits: units + (isToken ? 0n : feeUnits),
    heldUnits: await heldFor(tx, intent, isOutgoing),
  });
  if (cost.state === 'capped') return noteCap(tx, intent, (await attemptsOf(tx, intent.id)).at(-1), cost.reason);
  if (cost.state === 'short') return { state: 'waiting', reason: cost.reason };
  const isNew = await waitForCap(signer, tx, intent, [{ address: output.address, ...tagIn(output), units }], own);
  if (isNew) return isNew;
  const key = await keyOf(tx, intent.network, intent.from_address);
  const plan = transferOf(intent, output, units, { price, key, nonce });
  await store(signer, tx, intent, {
    n,
    plan,
    price,
    outputs: [{ address: output.address, ...tagIn(output), units: units.toString() }],
    maxFeeUnits: feeUnits,
  });
  return { state: 'stored' };
}

/** What its amount and its fee must fit in; null where it moves what is there, or a token whose gas is bought. A
 *  merchant's own address is paid a fixed amount: the fee is what the payment's own deposits leave beside it, whatever
 *  else came to their address. */
async function heldFor(tx: EntityManager, intent: IntentRow, isOutgoing: boolean): Promise<bigint | null> {
  if (isOutgoing) return heldAt(tx, intent);
  const isFixed = assetOf(intent.currency).contract === null && intent.outputs[0]!.units !== null;
  if (!isFixed || kinds[intent.kind].spends !== 'deposits') return null;
  return minimum(await heldAt(tx, intent), await leftOn(tx, intent));
}

type Transfer = Extract<TransactionPlan, { kind: 'account' }>;

/** A transfer of `units` as it is signed. */
export function transferOf(
  intent: Pick<IntentRow, 'currency' | 'from_address' | 'gas_limit'>,
  output: Destination & Readonly<{ units: string | null }>,
  units: bigint,
  { price, key, nonce }: Readonly<{ price: Price; key: KeyPath; nonce: number }>,
): Transfer {
  const isToken = assetOf(intent.currency).contract !== null;
  const maxFeePerGas = offeredPrice(price);
  const common = {
    kind: 'account' as const,
    from: intent.from_address,
    key,
    nonce,
    ...tagIn(output),
    gasLimit: BigInt(intent.gas_limit!),
    maxFeePerGas,
    // An emptying transfer pays its whole cap, so that nothing is stranded behind it.
    maxPriorityFeePerGas:
      output.units === null ? maxFeePerGas : minimum(maxFeePerGas, BigInt(fit(price.tipPrice, 0, 'up'))),
  };
  return isToken
    ? { ...common, to: output.address, value: 0n, token: { currency: intent.currency, to: output.address, units } }
    : { ...common, to: output.address, value: units };
}

/** What the intent's deposits brought, less what finished intents took off the same address, native fees included: also
 *  of those that have failed, such as a refund of these deposits that was reverted. */
export async function leftOn(tx: EntityManager, intent: IntentRow): Promise<bigint> {
  const decimals = assetOf(intent.currency).decimals;
  const deposits = await depositsById(tx, intent.deposit_ids);
  const brought = deposits.reduce((sum, deposit) => sum + toUnits(fit(deposit.amount, decimals, 'down'), decimals), 0n);
  const [row] = await tx.query<Array<{ gone: string }>>(
    `SELECT coalesce(sum(CASE WHEN a.success THEN a.moved_units ELSE 0 END + a.fee_units), 0)::text AS gone
       FROM attempt a JOIN intent i ON i.id = a.intent_id
      WHERE a.network = $1 AND a.from_address = $2 AND a.status = 'final' AND i.currency = $3 AND i.id <> $4
        AND i.deposit_ids && $5::bigint[]`,
    [intent.network, intent.from_address, intent.currency, intent.id, intent.deposit_ids],
  );
  return brought - BigInt(row!.gone);
}

/** What the intent's address can spend beside the intent itself, in base units. */
export async function heldAt(
  tx: EntityManager,
  intent: Pick<IntentRow, 'id' | 'network' | 'currency' | 'from_address'>,
): Promise<bigint> {
  const { decimals } = assetOf(intent.currency);
  const { arrived, goneUnits } = await spendableAt(tx, {
    network: intent.network,
    address: intent.from_address,
    currency: intent.currency,
    native: networks[intent.network as NetworkId].native,
    exceptIntentId: intent.id,
  });
  return toUnits(fit(arrived, decimals, 'down'), decimals) - BigInt(goneUnits);
}

export const minimum = (a: bigint, b: bigint): bigint => (a < b ? a : b);
