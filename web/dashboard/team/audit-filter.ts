import { dayOf, periodOf, stated, textOf } from '../design/filter';

/** Which acts are shown; all of it is in the address. */
export type AuditFilter = Readonly<{
  actor?: string | undefined;
  action?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}>;

export const auditFilterOf = (search: Readonly<Record<string, unknown>>): AuditFilter =>
  stated({
    actor: textOf(search['actor']),
    action: textOf(search['action']),
    from: dayOf(search['from']),
    to: dayOf(search['to']),
  });

/** The filter as the API reads it. */
export const auditQueryOf = ({ actor, action, from, to }: AuditFilter) => ({
  ...(actor ? { actor } : {}),
  ...(action ? { action } : {}),
  ...periodOf({ from, to }),
});
