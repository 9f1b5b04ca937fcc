import type { DataSource } from 'typeorm';
import type { MarkEnded } from './ended-lightning';

/** For the audit that looks again and again, and for no other: what the node has said of what ended by Lightning is not
 *  asked about again. */
export const markEnded =
  (db: DataSource): MarkEnded =>
  async (kind, { right, again, silent }) => {
    await db.query('DELETE FROM lightning_unaudited WHERE kind = $1 AND hash = ANY($2::text[])', [kind, right]);
    await db.query(
      `UPDATE lightning_unaudited
          SET compared_at = clock_timestamp(), tries = CASE WHEN hash = ANY($3::text[]) THEN least(tries + 1, 1000)
                                                            ELSE 0 END
        WHERE kind = $1 AND hash = ANY($2::text[])`,
      [kind, [...again, ...silent], silent],
    );
  };
