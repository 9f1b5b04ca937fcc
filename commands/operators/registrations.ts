import type { EntityManager } from 'typeorm';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { registrationApprovedMail, registrationRefusedMail } from '../../domain/mail/mail';
import { recordAct, type Actor } from '../../db/access/audit-log';
import {
  createInviteCode,
  endInviteCode,
  lockInviteCode,
  type InviteCodeRow,
  type NewInviteCode,
} from '../../db/access/invite-codes';
import { findRegistration, lockApproval, setApproval, type Registration } from '../../db/operators/registrations';
import { notifyAdmins } from '../mail/notify-admins';
import { notNow } from './act';

/** Who may register, and which registrations count. From a page or from a shell. */

type Settings = Readonly<{ config: Pick<Config, 'SECRETS_KEY' | 'DASHBOARD_URL'> }>;

/** Lets a merchant in that has registered, or refuses it, and notifies its admins. A refusal can be taken back; who was
 *  let in is suspended like every other. Throws MERCHANT_NOT_FOUND, ACT_REFUSED. */
export async function decideRegistration(
  tx: EntityManager,
  { config }: Settings,
  actor: Actor,
  merchantId: string,
  decision: 'approved' | 'refused',
  reason: string,
): Promise<Registration> {
  const before = isId(merchantId) ? await lockApproval(tx, merchantId) : null;
  if (before === null) throw new DomainError('MERCHANT_NOT_FOUND');
  if (before === 'approved') throw notNow('The registration counts already');
  if (before === decision) throw notNow('The registration is refused already');
  await setApproval(tx, merchantId, decision);
  await recordAct(tx, actor, {
    merchantId,
    action: decision === 'approved' ? 'registration.approved' : 'registration.refused',
    target: merchantId,
    before: { approval: before },
    after: { approval: decision, reason },
  });
  const places = { dashboardUrl: config.DASHBOARD_URL };
  await notifyAdmins(tx, { config }, merchantId, (to) =>
    decision === 'approved' ? registrationApprovedMail(to, places) : registrationRefusedMail(to),
  );
  return (await findRegistration(tx, merchantId))!;
}

/** A code by which merchants register; the code itself is told this once. */
export async function makeInviteCode(
  tx: EntityManager,
  { config }: Settings,
  actor: Actor,
  wanted: NewInviteCode,
): Promise<{ row: InviteCodeRow; code: string }> {
  const made = await createInviteCode(tx, config.SECRETS_KEY, actor.name, wanted);
  await recordAct(tx, actor, {
    merchantId: null,
    action: 'invite_code.created',
    target: made.row.id,
    after: { ...wanted, last4: made.row.last4 },
  });
  return made;
}

/** Nobody registers by the code any more; who did stays. Throws INVITE_CODE_NOT_FOUND, ACT_REFUSED. */
export async function revokeInviteCode(
  tx: EntityManager,
  actor: Actor,
  id: string,
  reason: string,
): Promise<InviteCodeRow> {
  const code = isId(id) ? await lockInviteCode(tx, id) : null;
  if (!code) throw new DomainError('INVITE_CODE_NOT_FOUND');
  if (code.revoked_at) throw notNow('The code is revoked already');
  const row = await endInviteCode(tx, id, actor.name);
  await recordAct(tx, actor, { merchantId: null, action: 'invite_code.revoked', target: id, after: { reason } });
  return row;
}
