import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An end is an end, and what was debited completes or fails. `noStart`: what a claim may not become. */
const guardConversion = (
  noStart: string,
): string => `CREATE OR REPLACE FUNCTION guard_conversion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.status = 'completed' AND NEW.credit_amount IS DISTINCT FROM OLD.credit_amount THEN
        RAISE EXCEPTION 'conversion % is completed', OLD.id USING ERRCODE = 'CP013';
      END IF;
      IF NEW.status = OLD.status THEN RETURN NEW; END IF;
      IF OLD.status IN ('completed', 'failed', 'cancelled') OR ${noStart}
        OR OLD.status = 'pending' AND NEW.status NOT IN ('processing', 'completed', 'failed')
        OR OLD.status = 'processing' AND NEW.status NOT IN ('completed', 'failed')
        OR OLD.is_debited AND NOT NEW.is_debited OR NEW.state_version <= OLD.state_version THEN
        RAISE EXCEPTION 'conversion % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP013';
      END IF;
      RETURN NEW;
    END $$`;

/** What a conversion from our own balance sheet does while others wait for it, in one call; and a claim may end in one step. */
const statements = [
  // What the treasury holds of each asset, what merchants are owed of it, and what that leaves; of a frozen asset nothing.
  `CREATE FUNCTION free_of(p_assets text[]) RETURNS TABLE (asset text, treasury numeric, owed numeric, free numeric) LANGUAGE sql STABLE AS $$
    SELECT a.asset, h.treasury, h.owed, CASE WHEN z.currency IS NULL THEN h.treasury - h.owed ELSE 0 END
      FROM unnest(p_assets) AS a (asset)
      CROSS JOIN LATERAL (SELECT coalesce(sum(p.treasury), 0) AS treasury, coalesce(sum(p.owed), 0) AS owed FROM held_part p WHERE p.asset = a.asset) h
      LEFT JOIN egress_freeze z ON z.currency = a.asset $$`,
  // Moves two positions, in the order of their assets, and posts the journal. Returns both positions as they are now; of what is given,
  // also what was free before the journal. Each statement sees what whoever held the locks before has committed.
  `CREATE FUNCTION post_conversion(p_key text, p_postings jsonb, p_taken text, p_net numeric, p_given text, p_out numeric)
     RETURNS TABLE (asset text, "position" numeric, limit_usd numeric, beyond text, free numeric) LANGUAGE plpgsql AS $$
    DECLARE v_free numeric;
    BEGIN
      INSERT INTO fx_position AS f (asset, amount)
        SELECT c.asset, c.amount FROM (VALUES (p_taken, p_net), (p_given, -p_out)) AS c (asset, amount) ORDER BY c.asset COLLATE "C"
        ON CONFLICT ON CONSTRAINT fx_position_pkey DO UPDATE SET amount = f.amount + EXCLUDED.amount;
      SELECT h.free INTO v_free FROM free_of(ARRAY[p_given]) h;
      PERFORM post_journal(p_key, p_postings, NULL, '{}');
      RETURN QUERY SELECT f.asset, f.amount, f.limit_usd, f.beyond, CASE f.asset WHEN p_given THEN v_free END
        FROM fx_position f WHERE f.asset IN (p_taken, p_given);
    END $$`,
  // What holds for a pair now, by the database's clock: a row for what is given, then one for what is got. Planned once a connection.
  `CREATE FUNCTION conversion_terms(p_from text, p_to text, p_seconds double precision)
     RETURNS TABLE (now timestamptz, rate_id text, value text, is_fresh boolean, "position" text, limit_usd text, beyond text, mode text, max_usd text)
     LANGUAGE plpgsql STABLE AS $$
    BEGIN
      RETURN QUERY SELECT clock_timestamp(), r.rate_id::text, r.value::text, r.taken_at >= clock_timestamp() - make_interval(secs => p_seconds),
                          f.amount::text, f.limit_usd::text, f.beyond, c.mode, c.max_usd::text
        FROM (VALUES (1, p_from), (2, p_to)) AS side (n, currency)
        LEFT JOIN rate_latest r ON r.currency = side.currency AND r.fiat = 'USD'
        LEFT JOIN fx_position f ON f.asset = side.currency
        LEFT JOIN conversion_pair c ON c.from_currency = p_from AND c.to_currency = p_to
       ORDER BY side.n;
    END $$`,
  guardConversion(`NEW.status = 'initializing'`),
];

export class ConversionsAtOnce1797800000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP FUNCTION post_conversion, free_of, conversion_terms');
    await q.query(
      guardConversion(`OLD.status = 'initializing' AND NEW.status NOT IN ('pending', 'failed', 'cancelled')`),
    );
  }
}
