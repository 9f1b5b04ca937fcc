import { assetOf } from '../../domain/chains/assets';
import { needsOwnModules } from '../own-modules';

/** XRP as a coin that may be sent without a tag, until the returned function is called. */
export function untaggedXrp(): () => void {
  needsOwnModules();
  const xrp = assetOf('XRP') as { requiresDestinationTag: boolean };
  xrp.requiresDestinationTag = false;
  return () => void (xrp.requiresDestinationTag = true);
}
