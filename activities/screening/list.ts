import type { ScreeningProvider } from '../../domain/screening/screening';
import type { Queryable } from '../../db/query';

/** Addresses that we were given as risky: table `screening_list`. */
export const listProvider = (db: Queryable): ScreeningProvider => ({
  name: 'list',
  async screen(address, network) {
    const rows = await db.query<Array<{ category: string; score: number }>>(
      'SELECT category, score FROM screening_list WHERE network = $1 AND address = $2',
      [network, address],
    );
    return {
      outcome: 'answered',
      score: Math.max(0, ...rows.map((row) => row.score)),
      categories: rows.map((row) => row.category),
    };
  },
});
