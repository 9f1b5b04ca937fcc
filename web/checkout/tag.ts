import { networks, type NetworkId } from '../../domain/chains/assets';
import { networkName } from './formats';
import { html, ltr, type Html } from './html';
import { fill, type Texts } from './texts';

/** Destination tags that payers give with an address of their own. */

const hasTags = (network: string | null): boolean =>
  network !== null && networks[network as NetworkId]?.destinationTags !== undefined;

/** Where the network has tags: the field of the form, empty where the address has its tag in it. `typed`: what was
 *  refused, to be mended. */
export const tagInput = (t: Texts, network: string | null, typed = ''): Html | false =>
  hasTags(network) &&
  html`<label for="tag">${fill(t.ownTag, { network: networkName(network) })}</label>
    <input
      id="tag"
      name="destinationTag"
      class="mono"
      type="text"
      inputmode="numeric"
      maxlength="64"
      value="${typed}"
      autocomplete="off"
    />`;

/** The tag behind an address that was given. */
export const tagLine = (t: Texts, tag: string | null): Html | false =>
  tag !== null &&
  html`<p class="label">${t.tag}</p>
    <p class="mono">${ltr(tag)}</p>`;
