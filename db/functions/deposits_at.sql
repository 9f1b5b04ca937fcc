-- The deposits at these outpoints (`<transaction>:<index>`), as far as they are known. Called by `restore_signed` and
-- `take_over_lost`.
CREATE OR REPLACE FUNCTION deposits_at(p_network text, p_outpoints jsonb) RETURNS bigint[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(d.id ORDER BY o.n), '{}')
    FROM jsonb_array_elements_text(p_outpoints) WITH ORDINALITY AS o (outpoint, n)
    CROSS JOIN LATERAL (SELECT strpos(reverse(o.outpoint), ':') AS colon) c
    JOIN deposit d ON d.network = p_network AND d.tx_id = left(o.outpoint, length(o.outpoint) - c.colon)
     AND d.out_index = right(o.outpoint, c.colon - 1)::integer
$$;
