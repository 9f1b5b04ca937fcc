import { ownAddress } from '../chains/address';
import { DomainError } from '../errors';
import { fit, fromUnits, times, toUnits } from '../money';

/** Who is paid by Lightning, and what it may cost. A whitelist names Lightning addresses, and nodes by their public
 *  keys: an invoice is signed by the node that it pays, and is itself of one payment alone. */

/** What the text of an invoice says, as far as whoever pays it asks. */
export type PayableInvoice = Readonly<{
  network: string;
  /** null: the payer chooses. */
  amountMsat: bigint | null;
  hash: string;
  payee: string;
  /** Hash of the text that it was given for; null: the invoice has the text itself. */
  descriptionHash: string | null;
  /** Unix seconds. */
  expiresAt: number;
  /** Blocks that the last part of the way must have left when it arrives. */
  cltvBlocks: number;
}>;

/** Reads invoices, and the name of the chain that they must be of. */
export type InvoiceReader = Readonly<{ read: (text: string) => PayableInvoice; network: string }>;

/** An invoice as it was given, without the scheme of a link and what stands around it. */
export const withoutScheme = (text: string): string => text.trim().replace(/^lightning:/i, '');
/** An invoice in the one spelling in which it is stored and compared. */
export const invoiceText = (given: string): string => withoutScheme(given).toLowerCase();
/** An invoice that was read, with its stored text. */
export type GivenInvoice = Readonly<{ text: string; invoice: PayableInvoice }>;

/** Half a percent is what a way of several nodes usually takes at the most; small amounts need more. */
const feeRatio = '0.005';
const leastFee = '0.0000001';
const decimals = 8;

/** What nodes on the way may take, in bitcoin. It is charged whole. */
export function wayFee(amount: string): string {
  const fee = times(amount, feeRatio, decimals, 'up');
  return toUnits(fee, decimals) < toUnits(leastFee, decimals) ? leastFee : fee;
}

/** A Lightning address (LUD-16) in lower case; null: it is none. */
export function lightningAddressIn(text: string): string | null {
  const [address, host] = /^[a-z0-9._+-]{1,64}@([a-z0-9-]+(?:\.[a-z0-9-]+)+)$/.exec(text.trim().toLowerCase()) ?? [];
  return address && host && host.length <= 120 ? address : null;
}

/** Who may be on a whitelist. Throws INVALID_ADDRESS. */
export const readLightningReceiver = (text: string): string => lightningAddressIn(text) ?? readNodeKey(text);

/** The public key of a node, also with its host behind it. Throws INVALID_ADDRESS. */
function readNodeKey(text: string): string {
  const [, key] = /^(0[23][0-9a-f]{64})(?:@\S{1,100})?$/.exec(text.trim().toLowerCase()) ?? [];
  if (key) return key;
  throw new DomainError(
    'INVALID_ADDRESS',
    'Neither a Lightning address nor the public key of a node: that is 66 hexadecimal digits and begins with 02 or 03',
  );
}

export const givenBefore = 'This invoice was given before: ask for a new one';

/** An invoice must last so long when it is given: it is to be approved and paid within that. */
const leastSeconds = 120;
/** After a lost answer its money waits until its end. Many wallets write a week, and clocks differ. */
const mostDays = 8;
/** For so long its receiver can keep a payment under way, and a place in our channels with it. Wallets ask for 9 to
 *  144. */
const mostBlocks = 288;

/** Refuses an invoice that is not to be paid from here. `net`: what is to arrive. Throws INVALID_ADDRESS,
 *  VALIDATION_ERROR. */
export function checkPayable(
  invoice: PayableInvoice,
  { net, network, ownKey, now }: Readonly<{ net: string; network: string; ownKey: string; now: Date }>,
): void {
  const wrong = (what: string): DomainError => new DomainError('INVALID_ADDRESS', `This invoice ${what}`);
  if (invoice.network !== network) throw wrong(`is of ${invoice.network}, and money here is of ${network}`);
  if (invoice.payee === ownKey) throw new DomainError('INVALID_ADDRESS', ownAddress);
  if (invoice.expiresAt * 1000 < now.getTime() + leastSeconds * 1000)
    throw wrong('expires too soon: ask for a new one');
  if (invoice.expiresAt * 1000 > now.getTime() + mostDays * 86_400_000)
    throw wrong(`lasts for more than ${mostDays} days: ask for one of a week`);
  if (invoice.cltvBlocks > mostBlocks)
    throw wrong(`asks for ${invoice.cltvBlocks} blocks at the end of its way, and ${mostBlocks} are the most`);
  if (invoice.amountMsat === null) throw wrong('names no amount: ask for one that does');
  if (invoice.amountMsat % 1000n !== 0n) throw wrong('asks for a part of a satoshi: ask for whole ones');
  const asked = fit(fromUnits(invoice.amountMsat / 1000n, decimals), decimals, 'down');
  if (toUnits(fit(net, decimals, 'down'), decimals) * 1000n !== invoice.amountMsat)
    throw new DomainError('VALIDATION_ERROR', `The invoice asks for ${asked} BTC, and ${net} BTC would be sent`);
}
