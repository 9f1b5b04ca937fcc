import { isDeepStrictEqual } from 'node:util';
import type { ExpiringPlan, SignedTransaction } from '../../domain/chains/chain';
import type { IntentRow } from '../../db/txmanager/intents';
import { familyOf, refusal, type Signer } from './signer';

/** Signs a plan, and reads the bytes again: they say what the intent says, and end where the plan does. Throws
 *  INTENT_MISMATCH. */
export function signAndRead(signer: Signer, intent: IntentRow, plan: ExpiringPlan): SignedTransaction {
  const family = familyOf(signer, intent.network)!;
  const signed = family.sign(signer.seed, plan);
  const read = family.read(signed.raw);
  const [output] = intent.outputs;
  const wanted: typeof read = {
    txId: signed.txId,
    from: intent.from_address,
    currency: intent.currency,
    to: output!.address,
    tag: output!.tag ?? null,
    // All that is left is what the plan says, which the signer has counted.
    units: output!.units === null ? plan.units : BigInt(output!.units!),
    last: plan.last,
    sequence: plan.sequence,
    feeLimit: plan.feeLimit,
  };
  const names = Object.keys(wanted) as (keyof typeof wanted)[];
  const wrong = names.find((name) => !isDeepStrictEqual(read[name], wanted[name]));
  if (wrong === undefined) return signed;
  const reason = `Intent ${intent.id}: the signed bytes say another ${wrong}`;
  throw refusal({ code: 'INTENT_MISMATCH', reason });
}
