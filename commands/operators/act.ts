import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import type { Actor } from '../../db/access/audit-log';

/** What a request asks for: names and texts, as `fields` of its act lists them. */
export type Payload = Readonly<Record<string, string>>;

/** Who confirmed it last, and the reason of the request, for the audit log. */
type ActContext = Readonly<{ requestId: string; reason: string; actor: Actor }>;

/** One act of operators on money. It runs in one transaction, after two operators have confirmed its request. */
export type OperatorAct = Readonly<{
  kind: string;
  title: string;
  /** What its payload has, in the order of the command line, with a description of each. */
  fields: Readonly<Record<string, string>>;
  /** The payload in its normal form, as far as the rows of now allow the act. Throws VALIDATION_ERROR, ACT_REFUSED. */
  validate(tx: EntityManager, payload: Payload): Promise<Payload>;
  /** What it does, in the words that operators confirm. `payload`: as `validate` returned it. */
  describe(tx: EntityManager, payload: Payload): Promise<string>;
  /** Does it, and says what came of it. Locks its rows and checks them again. Throws ACT_REFUSED. */
  execute(tx: EntityManager, payload: Payload, context: ActContext): Promise<string>;
}>;

export const invalid = (message: string): DomainError => new DomainError('VALIDATION_ERROR', message);
export const notNow = (message: string): DomainError => new DomainError('ACT_REFUSED', message);
