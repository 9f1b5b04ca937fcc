import type { WaitCause } from '../../domain/txmanager/waits';
import { networks, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec, ExpiringFamily, Seeds } from '../../domain/chains/chain';
import { DomainError, type ErrorCode } from '../../domain/errors';
import type { NewDestinationRules } from '../../domain/txmanager/new-destinations';
import type { SignatureRecord } from '../../db/recovery/lost';
import type { IntentRow } from '../../db/txmanager/intents';

/** `seed` (or each branch's) lives in the signer's process alone and goes nowhere. */
export type Signer = Readonly<{
  codecs: Readonly<Record<NetworkId, ChainCodec>>;
  seed: Seeds;
  /** Networks whose transactions expire, with a node of the signer's own for each. None of the registry is one yet. */
  expiring?: ExpiringFamilies | undefined;
  /** The usual ones unless told. */
  newDestinations?: NewDestinationRules | undefined;
  /** Where signatures are kept beside the database; a test may have none. */
  record?: Pick<SignatureRecord, 'keep'>;
}>;

type ExpiringFamilies = Readonly<Partial<Record<NetworkId, ExpiringFamily>>>;

/** `waiting`: not now (deposits are reorganised, asset frozen, price above the cap); ask again later. `dropped`:
 *  never. `cause`: what its merchant is told of the reason. `lookAgainInMs`: of what waits for its wallet alone; none
 *  from older releases. */
export type Signed = Readonly<{
  state: 'stored' | 'waiting' | 'dropped';
  reason?: string;
  cause?: WaitCause;
  lookAgainInMs?: number;
}>;

export const codecOf = ({ codecs }: Signer, { network }: Pick<IntentRow, 'network'>): ChainCodec =>
  codecs[network as NetworkId];
/** undefined: what is signed for the network never expires. */
export const familyOf = ({ expiring }: Signer, network: string): ExpiringFamily | undefined =>
  expiring?.[network as NetworkId];
export const networkKind = (network: string): 'utxo' | 'account' => networks[network as NetworkId].kind;

/** What the signer throws where it refuses. */
export const refusal = (verdict: Readonly<{ code: ErrorCode; reason: string }>): DomainError =>
  new DomainError(verdict.code, verdict.reason);
