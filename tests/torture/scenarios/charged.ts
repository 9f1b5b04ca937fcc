import type { Stage } from '../stage';

/** What a merchant has paid for what a recipient took above the quoted network fee, in force at the end. `hold`:
 *  `withdrawal/<id>` and the like. */
export async function chargedBeside(stage: Stage, hold: string): Promise<string> {
  const [row] = await stage.read<{ amount: string }>(
    `SELECT coalesce(sum(p.amount), 0)::text AS amount FROM journal j JOIN posting p ON p.journal_id = j.id
      WHERE j.key = ANY($1) AND NOT EXISTS (SELECT FROM journal r WHERE r.key = 'reversal/' || j.id)`,
    [[`hold/${hold}/gas`, `hold/${hold}/reverted`]],
  );
  return row!.amount;
}
