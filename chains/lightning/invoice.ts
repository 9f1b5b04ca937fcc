import { bech32, hex } from '@scure/base';
import { createHash } from 'node:crypto';
import { recover, verify, type RecoveryIdType } from 'tiny-secp256k1';
import { withoutScheme } from '../../domain/lightning/receiver';
import { checkOtherField } from './other-fields';
import { bytesIn, refused, type Words } from './words';

/** Invoices of Lightning as text (BOLT 11), read in our own words: before a node is asked to pay one, and to see that a
 *  node has written what it was asked for. */

/** Bitcoin's networks by the prefixes of BIP 173. */
const prefixes = { bc: 'mainnet', tb: 'testnet', tbs: 'signet', bcrt: 'regtest', sb: 'simnet' } as const;
export type BitcoinNetwork = (typeof prefixes)[keyof typeof prefixes];

export type Invoice = Readonly<{
  network: BitcoinNetwork;
  /** null: the payer chooses. */
  amountMsat: bigint | null;
  /** SHA-256 of the preimage, lower-case hex like all bytes here. */
  hash: string;
  /** Keeps nodes on the way from probing the payee. */
  secret: string;
  /** The payee's node: a compressed public key. */
  payee: string;
  /** Exactly one of the two is there. It is the payee's text: to be escaped wherever it is shown. */
  description: string | null;
  descriptionHash: string | null;
  /** Unix seconds. */
  createdAt: number;
  expiresAt: number;
  /** Blocks that the last part of the way must have left when it arrives (`min_final_cltv_expiry_delta`). */
  cltvBlocks: number;
  /** May be paid in parts (`basic_mpp`). */
  takesParts: boolean;
}>;

/** What fits into one QR code of letters and digits; lnd takes no more either. */
const mostCharacters = 7089;
const timestampWords = 7;
const signatureWords = 104;
const usualExpirySeconds = 3600;
const usualCltvBlocks = 18;
/** 21 million bitcoin. */
const mostMsat = 2_100_000_000_000_000_000n;
/** Millisatoshi in one unit of each multiplier; of `p` ten units are one. */
const msatOf = { '': 100_000_000_000n, m: 100_000_000n, u: 100_000n, n: 100n } as const;

/** Types of fields, by their letters. */
const types = { p: 1, s: 16, d: 13, n: 19, h: 23, x: 6, c: 24, features: 5 } as const;
type Field = keyof typeof types;
/** Fields of this many words only; another length is of a future that we do not know, and is passed over. */
const fixed: Partial<Record<Field, number>> = { p: 52, s: 52, h: 52, n: 53 };

const mppBit = 16;
/** Other hashes than the invoice names. lnd pays it only where it is told to, and then all such invoices so. */
const ampBit = 31;
/** Even bits of invoices that our node knows (BOLT 9): variable onions, secrets, parts, blinded routes, metadata. */
const knownBits: ReadonlySet<number> = new Set([8, 14, mppBit, 24, 48]);

/** Reads an invoice, with `lightning:` before it or without. Throws INVALID_ADDRESS with what is wrong: checksum,
 *  signature, amount, a field that is missing, or a feature that it requires and nobody here knows. Whether it is of
 *  this network or has expired is for the caller to say. Source: BOLT 11. */
export function readInvoice(text: string): Invoice {
  const { prefix, words } = unpack(withoutScheme(text));
  const { network, amountMsat } = readPrefix(prefix);
  const fields = fieldsOf(words.slice(timestampWords, -signatureWords));
  const hash = bytesOf(fields, 'p');
  const secret = bytesOf(fields, 's');
  if (!hash || !secret) throw refused(`it has no ${hash ? 'payment secret' : 'payment hash'}`);
  const description = bytesOf(fields, 'd');
  const descriptionHash = bytesOf(fields, 'h');
  if (!description === !descriptionHash) throw refused('it needs a description or the hash of one, and not both');
  const createdAt = numberOf(words.slice(0, timestampWords));
  const bits = bitsOf(fields);
  return {
    network,
    amountMsat,
    hash: hex.encode(hash),
    secret: hex.encode(secret),
    payee: payeeOf(prefix, words, bytesOf(fields, 'n')),
    description: description && textOf(description),
    descriptionHash: descriptionHash && hex.encode(descriptionHash),
    createdAt,
    expiresAt: createdAt + (shortest(fields, 'x') ?? usualExpirySeconds),
    cltvBlocks: shortest(fields, 'c') ?? usualCltvBlocks,
    takesParts: bits.has(mppBit) || bits.has(mppBit + 1),
  };
}

type Fields = ReadonlyMap<number, Words>;

function unpack(text: string): Readonly<{ prefix: string; words: Words }> {
  if (text.length > mostCharacters) throw refused(`it is longer than ${mostCharacters} characters`);
  let unpacked: Readonly<{ prefix: string; words: Words }>;
  try {
    unpacked = bech32.decode(text as `${string}1${string}`, false);
  } catch {
    throw refused('a character is wrong or missing: copy it again');
  }
  if (unpacked.words.length < timestampWords + signatureWords) throw refused('it is too short');
  return unpacked;
}

function readPrefix(prefix: string): Pick<Invoice, 'network' | 'amountMsat'> {
  const [, code = '', digits, multiplier = ''] = /^ln(bcrt|bc|tbs|tb|sb)(?:(\d+)([munp]?))?$/.exec(prefix) ?? [];
  const network = prefixes[code as keyof typeof prefixes];
  if (!network) throw refused(`its beginning, ${prefix.slice(0, 20)}, is of no network and amount that are known here`);
  return { network, amountMsat: digits === undefined ? null : amountOf(digits, multiplier) };
}

function amountOf(digits: string, multiplier: string): bigint {
  if (!/^[1-9]\d{0,17}$/.test(digits)) throw refused('its amount is no amount');
  const units = BigInt(digits);
  if (multiplier === 'p' && units % 10n) throw refused('its amount is no whole number of millisatoshi');
  const msat = multiplier === 'p' ? units / 10n : units * msatOf[multiplier as keyof typeof msatOf];
  if (msat > mostMsat) throw refused('its amount is more than there will ever be');
  return msat;
}

/** The first field of each type, as lnd reads them: a second one changes nothing. */
function fieldsOf(words: Words): Fields {
  const found = new Map<number, Words>();
  for (let at = 0; at < words.length;) {
    const type = words[at]!;
    const start = at + 3;
    const length = numberOf(words.slice(at + 1, start));
    at = start + length;
    if (start > words.length || at > words.length) throw refused('its last field is cut off');
    const name = (Object.keys(types) as Field[]).find((one) => types[one] === type);
    const field = words.slice(start, at);
    if (!name) checkOtherField(type, field);
    else if ((fixed[name] ?? length) === length && !found.has(type)) found.set(type, field);
  }
  return found;
}

const wordsOf = (fields: Fields, name: Field): Words | undefined => fields.get(types[name]);

function bytesOf(fields: Fields, name: Field): Uint8Array | null {
  const words = wordsOf(fields, name);
  return words ? bytesIn(words, name) : null;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused('its description is no text');
  }
}

/** Words of five bits as one number, the highest first. */
function numberOf(words: Words): number {
  const value = words.reduce((sum, word) => sum * 32 + word, 0);
  if (!Number.isSafeInteger(value)) throw refused('it holds a number that is too large');
  return value;
}

/** A number written in as few words as it takes. */
function shortest(fields: Fields, name: Field): number | undefined {
  const words = wordsOf(fields, name);
  if (words?.[0] === 0) throw refused(`its field ${name} begins with a zero`);
  return words && numberOf(words);
}

/** Numbers of the features that it has. An even one must be known to whoever pays. */
function bitsOf(fields: Fields): ReadonlySet<number> {
  const words = wordsOf(fields, 'features') ?? [];
  if (words[0] === 0) throw refused('its features begin with a zero');
  const bits = new Set<number>();
  words.toReversed().forEach((word, n) => {
    for (let bit = 0; bit < 5; bit += 1) if (word & (1 << bit)) bits.add(5 * n + bit);
  });
  const unknown = [...bits].find((bit) => bit % 2 === 0 && !knownBits.has(bit));
  if (unknown !== undefined) throw refused(`it requires feature ${unknown}, which is not known here`);
  if (bits.has(ampBit)) throw refused(`it has feature ${ampBit}, by which our node does not pay`);
  return bits;
}

/** The key that signed it: the one that it names, or the one that the signature gives away. */
function payeeOf(prefix: string, words: Words, named: Uint8Array | null): string {
  const signature = bech32.fromWords([...words.slice(-signatureWords)]);
  const compact = signature.subarray(0, 64);
  const id = signature[64]!;
  const digest = createHash('sha256')
    .update(prefix)
    .update(padded(words.slice(0, -signatureWords)))
    .digest();
  try {
    if (named && verify(digest, named, compact, true)) return hex.encode(named);
    const key = !named && id < 4 ? recover(digest, compact, id as RecoveryIdType, true) : null;
    if (key) return hex.encode(key);
  } catch {
    // numbers that are of no signature, or of no key
  }
  throw refused('its signature is wrong');
}

/** Words as bytes, with zeros up to the end of the last one. */
function padded(words: Words): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((words.length * 5) / 8));
  words.forEach((word, n) => {
    for (let bit = 0; bit < 5; bit += 1)
      if (word & (16 >> bit)) {
        const at = 5 * n + bit;
        bytes[at >> 3]! |= 128 >> (at & 7);
      }
  });
  return bytes;
}
