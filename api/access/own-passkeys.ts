import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { recordAct } from '../../db/access/audit-log';
import { addPasskey, deletePasskey, passkeyPage } from '../../db/access/passkeys';
import { lockUser } from '../../db/access/users';
import { readRegistration, registrationOptions } from './passkeys';
import { factorProps, withFactor } from './step-up';
import { actorOf } from './users';
import { route } from '../http/route';
import { line, named, nullable, pageOf, paging, time } from '../http/schemas';

/** A user's passkeys. Contract: 4.1, 5.4. */

const tag = 'Account';
const done = Type.Object({ success: Type.Literal(true) });
const idParams = (name: string) => Type.Object({ [name]: Type.String() });
const challenge = Type.Object({ options: Type.Unknown(), challengeKey: Type.String() });

const passkeySchema = named('Passkey', { id: Type.String(), name: Type.String(), createdAt: time });

export const listPasskeys = route({
  name: 'listPasskeys',
  method: 'get',
  path: '/api/v1/auth/passkeys',
  summary: 'List passkeys',
  tag,
  envelope: 'B',
  query: Type.Object(paging),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(Type.Object({ ...passkeySchema.properties, lastUsedAt: nullable(time) })),
      total: Type.Integer(),
    }),
    description: 'One page, oldest first, and how many there are in all.',
  },
  errors: [],
  async answer({ user, query }, { db }) {
    const { items, total } = await passkeyPage(db, user.id, pageOf(query));
    return {
      data: {
        total,
        items: items.map((row) => ({
          id: row.id,
          name: row.name,
          createdAt: row.created_at.toISOString(),
          lastUsedAt: row.last_used_at?.toISOString() ?? null,
        })),
      },
    };
  },
});

export const passkeyRegisterOptions = route({
  name: 'passkeyRegisterOptions',
  method: 'post',
  path: '/api/v1/auth/passkey/register-options',
  summary: 'What a browser needs to make a passkey',
  tag,
  envelope: 'B',
  body: Type.Object(factorProps),
  success: {
    status: 200,
    schema: challenge,
    description: 'WebAuthn creation options; the challenge serves once, for 5 minutes.',
  },
  errors: [],
  answer: async ({ body, user }, deps) => ({
    data: await withFactor(deps, user, 'passkey', body, (tx) => registrationOptions(tx, deps.config, user)),
  }),
});

export const passkeyRegister = route({
  name: 'passkeyRegister',
  method: 'post',
  path: '/api/v1/auth/passkey/register-verify',
  summary: 'Enrol a passkey',
  tag,
  envelope: 'B',
  body: Type.Object({
    passkeyResponse: Type.Unsafe<object>({ type: 'object', description: 'WebAuthn attestation.' }),
    challengeKey: Type.String({ maxLength: 100 }),
    name: Type.Optional(line(60, 'How its owner calls it.')),
  }),
  success: {
    status: 200,
    schema: Type.Object({ success: Type.Literal(true), passkey: passkeySchema }),
    description: 'Enrolled.',
  },
  errors: ['PASSKEY_REFUSED'],
  async answer({ body, user, ...from }, { db, config, sessions }) {
    const passkey = await db.transaction(async (tx) => {
      await lockUser(tx, user.id);
      const credential = await readRegistration(tx, config, {
        userId: user.id,
        challengeKey: body.challengeKey,
        response: body.passkeyResponse,
      });
      if (!credential) return null;
      const row = await addPasskey(tx, {
        userId: user.id,
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: credential.transports ?? [],
        name: body.name?.trim() || 'Passkey',
      });
      if (row)
        await recordAct(tx, actorOf(user, from), {
          merchantId: user.merchantId,
          action: 'user.passkey_added',
          target: row.id,
          after: { name: row.name },
        });
      return row;
    });
    if (!passkey) throw new DomainError('PASSKEY_REFUSED');
    sessions.forget();
    return {
      data: {
        success: true,
        passkey: { id: passkey.id, name: passkey.name, createdAt: passkey.created_at.toISOString() },
      },
    };
  },
});

export const removePasskey = route({
  name: 'removePasskey',
  method: 'delete',
  path: '/api/v1/auth/passkeys/{passkeyId}',
  summary: 'Remove a passkey',
  tag,
  envelope: 'B',
  params: idParams('passkeyId'),
  success: { status: 200, schema: done, description: 'It signs nobody in any more.' },
  errors: ['PASSKEY_NOT_FOUND'],
  async answer({ params, user, ...from }, { db, sessions }) {
    const passkeyId = String(params['passkeyId']);
    const isRemoved =
      isId(passkeyId) &&
      (await db.transaction(async (tx) => {
        const row = await deletePasskey(tx, user.id, passkeyId);
        if (!row) return false;
        await recordAct(tx, actorOf(user, from), {
          merchantId: user.merchantId,
          action: 'user.passkey_removed',
          target: passkeyId,
          before: { name: row.name },
        });
        return true;
      }));
    if (!isRemoved) throw new DomainError('PASSKEY_NOT_FOUND');
    sessions.forget();
    return { data: { success: true } };
  },
});
