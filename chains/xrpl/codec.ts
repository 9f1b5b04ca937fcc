import { HDKey } from '@scure/bip32';
import { keyRoles, type ChainCodec, type KeyRole, type Seeds } from '../../domain/chains/chain';
import type { Destination } from '../../domain/chains/tags';
import { branchedChildren, keyPairs } from '../child-key';
import { addressOf, normalise, readDestination, refusalOf, xAddressOf } from './addresses';
import type { XrplChain } from './chain';
import { signPayment, type PaymentPlan, type SignedPayment } from './payment';
import { readSigned, txIdOf } from './signing';

/** The half of an adapter that needs no node. What a `ChainCodec` has beside it does not fit this family: decision
 *  0054. */
export type XrplCodec = Pick<ChainCodec, 'derive' | 'normalise' | 'refusalOf' | 'extendedKey'> &
  Readonly<{
    /** Throws INVALID_ADDRESS, VALIDATION_ERROR: see `readDestination`. */
    readDestination(address: string, tag?: string): Destination;
    xAddress(destination: Destination): string;
    /** Deterministic. Throws INTENT_MISMATCH, KEY_MISMATCH. */
    sign(seeds: Seeds, plan: PaymentPlan): SignedPayment;
    /** Read back from raw bytes. `lastLedger` null: they never end. Throws INTENT_MISMATCH for bytes that are not
     *  signed. */
    decode(raw: string): Readonly<{ txId: string; account: string; sequence: number; lastLedger: number | null }>;
  }>;

/** Accounts under BIP 44: `m/44'/144'/role'/branch/index`. A role has one account, index 0: each account must hold the
 *  reserve, so receivers behind it are told apart by destination tags. */
export function xrplCodec(chain: XrplChain): XrplCodec {
  const childOf = branchedChildren('compressed');
  const account = (seed: Uint8Array, role: KeyRole): HDKey =>
    HDKey.fromMasterSeed(seed).derive(`m/44'/144'/${keyRoles.indexOf(role)}'`);
  const pairOf = keyPairs(account);

  return {
    derive: (xpub, index, branch = 0) => addressOf(childOf(xpub, branch, index)),
    normalise,
    refusalOf: (address) => refusalOf(chain, address),
    readDestination: (address, tag) => readDestination(chain, address, tag),
    xAddress: (destination) => xAddressOf(chain, destination),
    extendedKey: (seed, role) => account(seed, role).publicExtendedKey,
    sign: (seeds, plan) => signPayment(chain, plan, pairOf(seeds, plan.key)),
    decode(raw) {
      const fields = readSigned(raw);
      const last = fields.LastLedgerSequence;
      return {
        txId: txIdOf(raw),
        account: String(fields.Account),
        sequence: fields.Sequence as number,
        lastLedger: typeof last === 'number' ? last : null,
      };
    },
  };
}
