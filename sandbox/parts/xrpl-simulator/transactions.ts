import { decode, encode, encodeForSigning } from 'ripple-binary-codec';
import { deriveAddress, verify } from 'ripple-keypairs';
import { halfHash, type Json } from './state';

/** A signed transaction, read from its bytes. `signer`: address of the key that has signed it. */
export type Transaction = Readonly<{ hash: string; blob: string; json: Json; signer: string }>;

/** The bytes are no transaction that any server takes (page submit, invalidTransaction). */
export class Invalid extends Error {}

/** Reads signed bytes and verifies their signature, as a server does before anything else. Throws Invalid. A signature
 *  with a high s is refused (page transaction-malleability). */
export function readTransaction(blob: unknown): Transaction {
  if (typeof blob !== 'string' || !/^([0-9A-Fa-f]{2})+$/.test(blob)) throw new Invalid('not hexadecimal');
  const bytes = blob.toUpperCase();
  let json: Json;
  try {
    json = decode(bytes);
    if (encode(json) !== bytes) throw new Error('not in canonical form');
  } catch (error) {
    throw new Invalid((error as Error).message);
  }
  const { SigningPubKey: key, TxnSignature: signature } = json;
  if (typeof key !== 'string' || typeof signature !== 'string' || !key)
    throw new Invalid('fails local checks: no single signature');
  if (!isSigned(json, signature, key)) throw new Invalid('fails local checks: Invalid signature.');
  return { hash: halfHash(Buffer.from(`54584E00${bytes}`, 'hex')), blob: bytes, json, signer: deriveAddress(key) };
}

function isSigned(json: Json, signature: string, key: string): boolean {
  try {
    return verify(encodeForSigning(json), signature, key);
  } catch {
    return false; // no signature or key by its form
  }
}
