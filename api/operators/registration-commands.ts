import type { EntityManager } from 'typeorm';
import type { Config } from '../../domain/config';
import { decideRegistration, makeInviteCode, revokeInviteCode } from '../../commands/operators/registrations';
import type { Actor } from '../../db/access/audit-log';
import { listInviteCodes } from '../../db/access/invite-codes';
import { listRegistrations } from '../../db/operators/registrations';

/** Registrations and invitation codes, from a shell. */

export const registrationUsage = `  registrations                      lists registrations that wait for an operator
  approve <merchant id> <reason>     lets a merchant in that has registered
  refuse <merchant id> <reason>      refuses it
  invites                            lists invitation codes
  invite <uses> <days> <whom it is for>
                                     makes a code that opens the registration, also while it is off; printed once
  revoke-invite <id> <reason>        nobody registers by the code any more`;

type Settings = Readonly<{ config: Pick<Config, 'SECRETS_KEY' | 'DASHBOARD_URL'> }>;
type Run = (tx: EntityManager, deps: Settings, actor: Actor, args: readonly string[]) => Promise<string | null>;

const numberOf = (text: string | undefined, most: number): number | null => {
  const number = /^\d{1,4}$/.test(text ?? '') ? parseInt(text!, 10) : 0;
  return number >= 1 && number <= most ? number : null;
};

const decide =
  (decision: 'approved' | 'refused'): Run =>
  async (tx, deps, actor, [id = '', ...words]) => {
    if (!words.length) return null;
    const { merchant_name: name } = await decideRegistration(tx, deps, actor, id, decision, words.join(' '));
    return `${name} is ${decision === 'approved' ? 'approved' : 'refused'}`;
  };

/** Each answers what to print; null: it was called wrongly. Throws DomainError. */
export const registrationCommands: ReadonlyMap<string, Run> = new Map<string, Run>([
  [
    'registrations',
    async (tx) => {
      const rows = await listRegistrations(tx, { approval: 'waiting', inviteCodeId: null, cursor: null, limit: 100 });
      const lines = rows.map(
        (row) =>
          `${row.merchant_id}  ${row.created_at.toISOString()}  ${row.merchant_name}  ${row.email ?? '-'}` +
          `${row.is_verified ? '' : '  e-mail address not confirmed'}`,
      );
      return lines.join('\n') || 'No registration waits';
    },
  ],
  ['approve', decide('approved')],
  ['refuse', decide('refused')],
  [
    'invites',
    async (tx) => {
      const rows = await listInviteCodes(tx, { cursor: null, limit: 100 });
      const lines = rows.map(
        (row) =>
          `${row.id}  …${row.last4}  ${row.label}  used ${row.uses} of ${row.most_uses}, until ` +
          `${row.expires_at.toISOString()}, by ${row.created_by}` +
          `${row.revoked_at ? `, revoked by ${row.revoked_by}` : ''}`,
      );
      return lines.join('\n') || 'No invitation code yet';
    },
  ],
  [
    'invite',
    async (tx, deps, actor, [uses, days, ...words]) => {
      const [mostUses, validDays] = [numberOf(uses, 1000), numberOf(days, 365)];
      const label = words.join(' ');
      if (mostUses === null || validDays === null || !label || label.length > 100) return null;
      const wanted = { label, skipsApproval: false, feeBps: null, mostUses, validDays };
      const { row, code } = await makeInviteCode(tx, deps, actor, wanted);
      return `${code}  (${row.id}, ${mostUses} uses, until ${row.expires_at.toISOString()})`;
    },
  ],
  [
    'revoke-invite',
    async (tx, _deps, actor, [id = '', ...words]) => {
      if (!words.length) return null;
      const { label, last4 } = await revokeInviteCode(tx, actor, id, words.join(' '));
      return `…${last4} of ${label} is revoked`;
    },
  ],
]);
