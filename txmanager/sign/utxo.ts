import type { EntityManager } from 'typeorm';
import { assetOf, baseUnits } from '../../domain/chains/assets';
import type { Coin } from '../../domain/chains/chain';
import { tagIn, type Destination } from '../../domain/chains/tags';
import { fit, times, toUnits } from '../../domain/money';
import { depositsById } from '../../db/payments/deposits';
import { attemptsOf, lockCoinsFor, type IntentRow } from '../../db/txmanager/intents';
import { limitsOf, noteCap } from '../fee-caps';
import { waitForCap, type Own } from './new-destinations';
import { mayCost } from './fee-policy';
import { codecOf, type Signed, type Signer } from './signer';
import { store } from './store';

/** Confirmed deposits as coins, locked for this intent for good. */
async function lockCoins(tx: EntityManager, intent: IntentRow): Promise<Coin[]> {
  const deposits = await depositsById(tx, intent.deposit_ids);
  const coins: Coin[] = [];
  await lockCoinsFor(tx, intent);
  for (const deposit of deposits) {
    coins.push({
      txId: deposit.tx_id,
      vout: deposit.out_index,
      units: toUnits(fit(deposit.amount, assetOf(intent.currency).decimals, 'down'), assetOf(intent.currency).decimals),
      address: deposit.address,
      key: { role: deposit.role, branch: deposit.branch, index: deposit.key_index },
    });
  }
  return coins;
}

export async function signUtxo(
  signer: Signer,
  tx: EntityManager,
  intent: IntentRow,
  { unitPrice, n, own }: Readonly<{ unitPrice: string; n: number } & Own>,
): Promise<Signed> {
  const coins = await lockCoins(tx, intent);
  const earlier = await attemptsOf(tx, intent.id);
  const outpoints = coins.map((coin) => `${coin.txId}:${coin.vout}`);
  if (earlier.some((attempt) => !attempt.inputs.some((input) => outpoints.includes(input))))
    return { state: 'waiting', reason: 'an earlier transaction of it could be mined beside this one' };
  const total = coins.reduce((sum, coin) => sum + coin.units, 0n);
  const dust = baseUnits(intent.currency, assetOf(intent.currency).dust);
  const fixed = intent.outputs
    .filter((output) => output.units !== null)
    .map((output) => ({ address: output.address, ...tagIn(output), units: BigInt(output.units!) }));
  const spent = fixed.reduce((sum, output) => sum + output.units, 0n);
  const rest = intent.outputs.find((output) => output.units === null);
  // Whoever replaces a transaction pays more than it, whatever their sizes.
  const least = earlier.reduce((most, attempt) => larger(most, (BigInt(attempt.max_fee_units) * 9n) / 8n), 0n);
  const isShorter = earlier.some((attempt) => attempt.inputs.length > coins.length);
  const feeFor = (outputs: number): bigint => {
    const size = codecOf(signer, intent).sizeOf({ inputs: coins.length, outputs, currency: intent.currency });
    const fee = toUnits(times(unitPrice, size.toString(), 0, 'up'), 0);
    return isShorter ? larger(fee, least) : fee;
  };
  let feeUnits = feeFor(intent.outputs.length);
  let outputs: Array<Destination & { units: bigint }> = fixed;
  const left = total - spent - feeUnits;
  if (rest && left >= dust) outputs = [...fixed, { address: rest.address, units: left }];
  else if (fixed.length && total - spent >= feeFor(fixed.length)) feeUnits = total - spent;
  else return { state: 'waiting', reason: `a fee of ${feeUnits} satoshi leaves nothing to move` };
  const isKnown = earlier.some((one) => BigInt(one.max_fee_units) >= feeUnits);
  if (isKnown) return { state: 'waiting', reason: 'there is nothing left to raise its fee with' };
  const cost = mayCost({
    limits: limitsOf(intent),
    price: { unitPrice, dataPart: '0' },
    feeUnits,
    from: intent.from_address,
    neededUnits: 0n,
    heldUnits: null,
  });
  if (cost.state !== 'pay') return noteCap(tx, intent, earlier.at(-1), cost.reason);
  const isNew = await waitForCap(signer, tx, intent, outputs, own);
  if (isNew) return isNew;
  await store(signer, tx, intent, {
    n,
    plan: { kind: 'utxo', coins, outputs, feeUnits },
    price: { unitPrice, dataPart: '0' },
    outputs: outputs.map((output) => ({ ...output, units: output.units.toString() })),
    maxFeeUnits: feeUnits,
  });
  return { state: 'stored' };
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
