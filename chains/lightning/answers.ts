import { createHash } from 'node:crypto';

/** What lnd answers, checked field by field. It writes every field, whole numbers of 64 bits as text, and bytes in
 *  Base64. Each reader throws what is wrong, which `lndHttp` makes NODE_UNREACHABLE. */

export type Fields = Readonly<Record<string, unknown>>;

export class Misshapen extends Error {}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wrong = (value: unknown, name: string, kind: string): Misshapen =>
  new Misshapen(`${name} is ${JSON.stringify(value)?.slice(0, 80)}, which is no ${kind}`);

export function fields(value: unknown, name: string): Fields {
  if (!isFields(value)) throw wrong(value, name, 'object');
  return value;
}

export function list(from: Fields, name: string): readonly unknown[] {
  const value = from[name];
  if (!Array.isArray(value)) throw wrong(value, name, 'list');
  return value;
}

export function text(from: Fields, name: string): string {
  const value = from[name];
  if (typeof value !== 'string') throw wrong(value, name, 'text');
  return value;
}

export function yes(from: Fields, name: string): boolean {
  const value = from[name];
  if (typeof value !== 'boolean') throw wrong(value, name, 'yes or no');
  return value;
}

/** A whole number of 64 bits that is never negative: an amount, an index, a time. */
export function whole(from: Fields, name: string): bigint {
  const value = from[name];
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) throw wrong(value, name, 'whole number');
  return BigInt(value);
}

/** One that a JavaScript number carries exactly. */
export function counted(from: Fields, name: string): number {
  const value = whole(from, name);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw wrong(from[name], name, 'number of this size');
  return parseInt(value.toString(), 10);
}

/** A height or a count, of 32 bits. */
export function height(from: Fields, name: string): number {
  const value = from[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) throw wrong(value, name, 'height or count');
  return value;
}

const hexOf = (digits: string, value: unknown, name: string, bytes: number): string => {
  if (digits.length !== 2 * bytes || !/^[0-9a-f]*$/.test(digits)) throw wrong(value, name, `hex of ${bytes} bytes`);
  return digits;
};

/** Lower-case hex. */
export const hexText = (from: Fields, name: string, bytes: number): string =>
  hexOf(text(from, name).toLowerCase(), from[name], name, bytes);

/** Bytes in Base64, as lower-case hex. */
export const bytes = (from: Fields, name: string, count: number): string =>
  hexOf(Buffer.from(text(from, name), 'base64').toString('hex'), from[name], name, count);

export function oneOf<T extends string>(from: Fields, name: string, names: readonly T[]): T {
  const value = names.find((one) => one === from[name]);
  if (value === undefined) throw wrong(from[name], name, `${names.join(', ')}`);
  return value;
}

/** `code`: of gRPC. */
export type Refusal = Readonly<{ code: number; message: string }>;

/** An error as lnd writes one (google.rpc.Status); null where it is none. */
export function refusalIn(answer: unknown): Refusal | null {
  if (!isFields(answer) || typeof answer.code !== 'number' || typeof answer.message !== 'string') return null;
  const { code, message } = answer;
  return { code, message: message.slice(0, 300) || `code ${code}` };
}

/** Hex as lnd takes bytes in a body. */
export const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
/** Hex as lnd takes bytes in a path. */
export const base64InPath = (hex: string): string => base64(hex).replaceAll('+', '-').replaceAll('/', '_');
/** The hash that a preimage opens, both as hex. */
export const hashOf = (preimage: string): string =>
  createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
