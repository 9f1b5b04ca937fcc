import { DomainError } from '../../domain/errors';
import type { Rpc } from '../json-rpc';
import { dropsOf, largestUint32 } from './chain';
import type { Fields } from './signing';

/** What nodes answer, checked for its shape before anything rests on it. */

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A refusal of the node's own, by its code (xrpl.org: error-formatting). */
type Refused = Readonly<{ refused: string; body: Fields }>;
type Answer = Readonly<{ refused: null; body: Fields }> | Refused;
export type Ask = (method: string, params: Fields, expected?: readonly string[]) => Promise<Answer>;

const unreadable = (method: string, reason: string): DomainError =>
  new DomainError('NODE_UNREACHABLE', `${method}: ${reason}`);

/** Calls of a node in version 2 of its interface. Refusals that the caller does not expect throw NODE_UNREACHABLE:
 *  most of them say that the node is busy, starts or has no network, and none of them proves anything. What sends
 *  something is asked once. */
export const asking =
  (rpc: Rpc): Ask =>
  async (method, params, expected = []) => {
    const body = await rpc<unknown>(method, [{ api_version: 2, ...params }], method === 'submit' ? { tries: 1 } : {});
    if (!isFields(body)) throw unreadable(method, 'the answer is no object');
    if (body.error === undefined && body.status !== 'error') return { refused: null, body };
    const refused = String(body.error);
    if (expected.includes(refused)) return { refused, body };
    throw unreadable(method, `${refused}: ${String(body.error_message ?? body.error_exception ?? 'no reason given')}`);
  };

/** The body of an answer that is no refusal. */
export async function bodyOf(ask: Ask, method: string, params: Fields = {}): Promise<Fields> {
  return (await ask(method, params)).body;
}

/** Fields of an answer of `method` by their kinds. Each throws NODE_UNREACHABLE where the field is of another. */
export const readerOf = (method: string) => {
  const wrong = (fields: Fields, name: string, kind: string): DomainError =>
    unreadable(method, `${name} is ${JSON.stringify(fields[name])?.slice(0, 80)}, which is no ${kind}`);
  const reader = {
    fields(from: Fields, name: string): Fields {
      const value = from[name];
      if (!isFields(value)) throw wrong(from, name, 'object');
      return value;
    },
    list(from: Fields, name: string): readonly Fields[] {
      const value = from[name];
      if (!Array.isArray(value) || !value.every(isFields)) throw wrong(from, name, 'list of objects');
      return value;
    },
    texts(from: Fields, name: string): readonly string[] {
      const value = from[name];
      if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
        throw wrong(from, name, 'list of texts');
      return value;
    },
    text(from: Fields, name: string): string {
      const value = from[name];
      if (typeof value !== 'string') throw wrong(from, name, 'text');
      return value;
    },
    hash(from: Fields, name: string): string {
      const value = reader.text(from, name);
      if (!/^[0-9A-F]{64}$/.test(value)) throw wrong(from, name, 'hash');
      return value;
    },
    /** A count, an index, a time: never money. */
    whole(from: Fields, name: string): number {
      const value = from[name];
      if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > largestUint32)
        throw wrong(from, name, 'whole number');
      return value;
    },
    yes: (from: Fields, name: string): boolean => from[name] === true,
    drops(from: Fields, name: string): bigint {
      const drops = dropsOf(from[name]);
      if (drops === null) throw wrong(from, name, 'amount in drops');
      return drops;
    },
    /** Drops that the node writes as a JSON number, which is exact up to 2^53. */
    writtenDrops(from: Fields, name: string): bigint {
      const value = from[name];
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
        throw wrong(from, name, 'amount in drops');
      return BigInt(value);
    },
    wrong,
  };
  return reader;
};
