/** A payment URI of bitcoin that carries an invoice of Lightning too, so that one code serves every wallet: BIP 21 with
 *  the parameter `lightning` (https://bitcoinqr.dev). Wallets that know nothing of Lightning pass that over. */

export const withInvoice = (uri: string, invoice: string | null): string =>
  invoice === null ? uri : `${uri}${uri.includes('?') ? '&' : '?'}lightning=${invoice}`;

/** The invoice in a payment URI of bitcoin, in lower case; null where it has none. */
export function invoiceIn(uri: string): string | null {
  const [, query] = /^bitcoin:[^?]*\?(.*)$/i.exec(uri) ?? [];
  if (query === undefined) return null;
  const found = [...new URLSearchParams(query)].find(([name]) => name.toLowerCase() === 'lightning');
  return found?.[1].toLowerCase() ?? null;
}
