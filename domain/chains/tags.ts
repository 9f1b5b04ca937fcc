import { DomainError } from '../errors';
import { networks, type Asset, type Network } from './assets';

/** Destination tags (memos) tell the receivers behind one address apart: money that comes without its tag is lost. */

/** Families whose transactions we send with tags, and whose deposits we tell apart by them: none yet. */
const carriesTags: Readonly<Record<Network['kind'], boolean>> = { utxo: false, account: false };

type Tagged = Pick<Asset, 'currency' | 'network' | 'requiresDestinationTag'>;

/** Can the asset be received and sent? Not where it requires a tag that nothing would carry. */
export const isCarried = ({ network, requiresDestinationTag }: Tagged): boolean =>
  !requiresDestinationTag || carriesTags[networks[network].kind];

/** What is wrong with an address of the asset that is given with this tag, or without one; null: nothing. */
export function faultOfTag(
  { currency, requiresDestinationTag }: Tagged,
  tag: string | null | undefined,
): string | null {
  if (tag && !requiresDestinationTag) return `${currency} has no destination tags`;
  if (!tag && requiresDestinationTag) return `${currency} needs a destination tag`;
  return null;
}

/** Refuses a tag that its network would lose, and an address that needs one and has none. Throws VALIDATION_ERROR. */
export function checkTag(asset: Tagged, tag: string | null | undefined): void {
  const fault = faultOfTag(asset, tag);
  if (fault) throw new DomainError('VALIDATION_ERROR', `destinationTag: ${fault}`);
}

/** Refuses an asset that would be received or sent without the tag that it requires. Throws CURRENCY_NOT_AVAILABLE. */
export function checkCarried(asset: Tagged): void {
  if (!isCarried(asset)) throw new DomainError('CURRENCY_NOT_AVAILABLE');
}
