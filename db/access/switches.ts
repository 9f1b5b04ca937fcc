import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { platformSwitchEntity } from './entities';

/** What operators can turn off for everybody. A switch that was never touched is on. `unapproved-registration`: a
 *  registration counts at once; off: an operator decides about each. */
export const switches = ['registration', 'unapproved-registration', 'conversions'] as const;
export type Switch = (typeof switches)[number];

export type SwitchRow = RowOf<typeof platformSwitchEntity> & { name: Switch };

export async function isSwitchedOn(db: Queryable, name: Switch): Promise<boolean> {
  const [row] = await db.query<Array<Pick<SwitchRow, 'is_on'>>>('SELECT is_on FROM platform_switch WHERE name = $1', [
    name,
  ]);
  return row?.is_on ?? true;
}

/** Every switch that was touched. */
export const touchedSwitches = (db: Queryable): Promise<SwitchRow[]> =>
  db.query<SwitchRow[]>('SELECT * FROM platform_switch ORDER BY name');

export const setSwitch = (tx: Queryable, name: Switch, isOn: boolean, reason: string): Promise<unknown> =>
  tx.query(
    `INSERT INTO platform_switch (name, is_on, reason) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET is_on = EXCLUDED.is_on, reason = EXCLUDED.reason, changed_at = now()`,
    [name, isOn, reason],
  );
