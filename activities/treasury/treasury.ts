import type { DataSource } from 'typeorm';
import { firstOpen, type NextIntent } from '../../txmanager/next-intent';

/** Moves between our own addresses. */
export const treasuryActivities = ({ db }: Readonly<{ db: DataSource }>) => ({
  nextConsolidation: (ref: string): Promise<NextIntent> => firstOpen(db.manager, { kind: 'consolidate', id: ref }),
});
