import { firstStatuses, legalMoves } from '../../domain/payments/payment';

/** SQL of the moves that `legalMoves` allows, so that the guard in the database and the code read the same table. */
export function paymentMovesSql(): string {
  const moves = Object.entries(legalMoves).flatMap(([from, all]) => all.map((to) => `('${from}', '${to}')`));
  return `-- Made from legalMoves and firstStatuses in domain/payments/payment.ts. Called by guard_payment.
CREATE OR REPLACE FUNCTION is_payment_move(p_from text, p_to text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (p_from, p_to) IN (${moves.join(', ')});
$$;

CREATE OR REPLACE FUNCTION is_first_payment_status(p_status text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_status IN (${firstStatuses.map((status) => `'${status}'`).join(', ')});
$$;
`;
}
