import { invoiceMoves } from '../../domain/lightning/invoice-states';

/** SQL of the moves that `invoiceMoves` allows, so that the guard in the database and the code read the same table. */
export function lightningMovesSql(): string {
  const moves = Object.entries(invoiceMoves).flatMap(([from, all]) => all.map((to) => `('${from}', '${to}')`));
  return `-- Made from invoiceMoves in domain/lightning/invoice-states.ts. Called by guard_lightning_invoice.
CREATE OR REPLACE FUNCTION is_lightning_move(p_from text, p_to text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (p_from, p_to) IN (${moves.join(', ')});
$$;
`;
}
