import type { KeyPath } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import type { KeyPair } from '../child-key';
import { addressOf, normalise } from './addresses';
import { dropsOf, largestUint32, namesNetwork, type XrplChain } from './chain';
import { readSigned, signFields, type Fields } from './signing';

/** A payment of XRP to sign. All that decides its bytes is in it, so that the same plan gives the same bytes. */
export type PaymentPlan = Readonly<{
  from: string;
  key: KeyPath;
  to: string;
  tag?: string;
  drops: bigint;
  /** Destroyed exactly as it is signed, whatever the ledger would have asked for. */
  feeDrops: bigint;
  sequence: number;
  /** The last ledger that may hold the transaction. It is void when a later one is validated. */
  lastLedger: number;
}>;

/** `lastLedger`: see the plan; kept beside the bytes, for nothing else tells when they are void. */
export type SignedPayment = Readonly<{ txId: string; raw: string; lastLedger: number }>;

/** A signature that has not the low s is refused wherever this flag means something (xrpl.org: common-fields). No
 *  other flag is set: neither a partial payment nor a path. */
const fullyCanonical = 0x8000_0000;
/** No payment needs more: a fee above it is a mistake in its making. One XRP. */
const mostFee = 1_000_000n;

const isUint32 = (value: number): boolean => Number.isInteger(value) && value > 0 && value <= largestUint32;

/** Throws INTENT_MISMATCH for what the ledger would refuse, or take and lose. */
function checkPlan({ from, to, tag, drops, feeDrops, sequence, lastLedger }: PaymentPlan): void {
  const faults: Array<[isFault: boolean, reason: string]> = [
    [normalise(from) === null, `${from} is no address`],
    [normalise(to) === null, `${to} is no address that can be paid`],
    [from === to, 'an account cannot pay itself'],
    [tag !== undefined && !isTag(tag), `${tag} is no destination tag`],
    [drops <= 0n || dropsOf(drops.toString()) === null, `${drops} drops cannot be paid`],
    [feeDrops <= 0n || feeDrops > mostFee, `a fee of ${feeDrops} drops is none or too much`],
    [!isUint32(sequence), `${sequence} is no sequence`],
    [!isUint32(lastLedger), `${lastLedger} is no ledger`],
  ];
  const fault = faults.find(([isFault]) => isFault);
  if (fault) throw new DomainError('INTENT_MISMATCH', `Payment of XRP: ${fault[1]}`);
}

const isTag = (tag: string): boolean => /^(0|[1-9]\d{0,9})$/.test(tag) && BigInt(tag) <= BigInt(largestUint32);

/** Every field that the bytes of a plan must have, and no other, but for key and signature. */
function fieldsOf(chain: XrplChain, plan: PaymentPlan): Fields {
  return {
    TransactionType: 'Payment',
    Flags: fullyCanonical,
    Account: plan.from,
    Destination: plan.to,
    ...(plan.tag === undefined ? {} : { DestinationTag: parseInt(plan.tag, 10) }),
    Amount: plan.drops.toString(),
    Fee: plan.feeDrops.toString(),
    Sequence: plan.sequence,
    LastLedgerSequence: plan.lastLedger,
    ...(namesNetwork(chain) ? { NetworkID: chain.networkId } : {}),
  };
}

/** Reads signed bytes back and compares each field with the plan, whoever has signed them. Throws INTENT_MISMATCH. */
export function checkSigned(chain: XrplChain, plan: PaymentPlan, raw: string): void {
  const { TxnSignature: _, SigningPubKey, ...signed } = readSigned(raw);
  const planned = fieldsOf(chain, plan);
  const names = new Set([...Object.keys(planned), ...Object.keys(signed)]);
  for (const name of names)
    if (signed[name] !== planned[name])
      throw new DomainError('INTENT_MISMATCH', `${name} is ${String(signed[name])}, planned: ${String(planned[name])}`);
  if (addressOf(Buffer.from(String(SigningPubKey), 'hex')) !== plan.from)
    throw new DomainError('INTENT_MISMATCH', `The bytes are signed by another key than that of ${plan.from}`);
}

/** Signs a plan and checks the bytes before they leave. Throws INTENT_MISMATCH, and KEY_MISMATCH where the key is not
 *  of the account that pays. */
export function signPayment(chain: XrplChain, plan: PaymentPlan, { publicKey, privateKey }: KeyPair): SignedPayment {
  checkPlan(plan);
  if (addressOf(publicKey) !== plan.from) throw new DomainError('KEY_MISMATCH', `The key is not of ${plan.from}`);
  const { txId, raw } = signFields(fieldsOf(chain, plan), privateKey);
  checkSigned(chain, plan, raw);
  return { txId, raw, lastLedger: plan.lastLedger };
}
