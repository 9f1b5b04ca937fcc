import type { ExpiringNetwork } from '../domain/chains/assets';
import type { ChainCodec } from '../domain/chains/chain';
import { DomainError } from '../domain/errors';

/** The half of a codec in the words of the other families that networks share whose transactions expire: what they
 *  sign is an `ExpiringPlan`, by their own family, and `sign` refuses every other. `ending`: what their transactions
 *  end with. */
export const expiringCodec = (
  network: ExpiringNetwork,
  { derive, normalise, refusalOf, extendedKey }: Pick<ChainCodec, 'derive' | 'normalise' | 'refusalOf' | 'extendedKey'>,
  ending: string,
): Pick<ChainCodec, 'network' | 'derive' | 'normalise' | 'refusalOf' | 'extendedKey' | 'sign'> => ({
  network: network.id,
  derive,
  normalise,
  refusalOf,
  extendedKey,
  sign() {
    throw new DomainError('INTENT_MISMATCH', `A transaction of ${network.name} ends with a ${ending}`);
  },
});
