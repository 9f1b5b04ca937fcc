import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import { createHash } from 'node:crypto';
import { decode, encode, encodeForSigning } from 'ripple-binary-codec';
import { pointFromScalar, sign, verify } from 'tiny-secp256k1';
import { DomainError } from '../../domain/errors';

/** Fields of a transaction as its JSON has them. Amounts of XRP are drops, as text. */
export type Fields = Readonly<Record<string, unknown>>;

const { Signature } = secp256k1;
/** `TXN` and a zero byte: what a signed transaction is hashed behind (xrpl.org: hash-prefixes). */
const idPrefix = '54584E00';

const upper = (bytes: Uint8Array): string => hex.encode(bytes).toUpperCase();
const bytesOf = (text: string): Uint8Array => hex.decode(text.toLowerCase());

/** The first half of SHA-512, by which the ledger names and signs everything. */
const halfOf = (text: string): Uint8Array => createHash('sha512').update(bytesOf(text)).digest().subarray(0, 32);

/** The id of a signed transaction. */
export const txIdOf = (raw: string): string => upper(halfOf(`${idPrefix}${raw}`));

/** Signs with one secp256k1 key: RFC 6979, low s, in DER. The same fields and key give the same bytes. */
export function signFields(fields: Fields, privateKey: Uint8Array): Readonly<{ txId: string; raw: string }> {
  const unsigned = { ...fields, SigningPubKey: upper(pointFromScalar(privateKey, true)!) };
  const signature = sign(halfOf(encodeForSigning(unsigned)), privateKey);
  const TxnSignature = upper(Signature.fromBytes(signature, 'compact').toBytes('der'));
  const raw = encode({ ...unsigned, TxnSignature });
  return { txId: txIdOf(raw), raw };
}

/** The fields of signed bytes. Throws INTENT_MISMATCH where they are not written the one way there is, or where their
 *  signature is not of the key that they name, or not canonical: anybody could then send them under another id. */
export function readSigned(raw: string): Fields {
  const fault = (reason: string): DomainError => new DomainError('INTENT_MISMATCH', `Signed bytes: ${reason}`);
  let fields: Fields;
  try {
    fields = decode(raw) as Fields;
  } catch (error) {
    throw fault((error as Error).message);
  }
  if (encode(fields) !== raw) throw fault('they are written in another way than the ledger writes them');
  const { TxnSignature, SigningPubKey } = fields;
  if (typeof TxnSignature !== 'string' || typeof SigningPubKey !== 'string') throw fault('there is no signature');
  const signature = Signature.fromBytes(bytesOf(TxnSignature), 'der');
  if (signature.hasHighS()) throw fault('the signature is not canonical');
  const digest = halfOf(encodeForSigning(fields));
  if (!verify(digest, bytesOf(SigningPubKey), signature.toBytes('compact'), true))
    throw fault('the signature is not of the key that they name');
  return fields;
}
