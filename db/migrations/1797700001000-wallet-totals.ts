import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What has come to an address of ours for good, and what has left it for good: one row for each currency, whatever its history.
 *  `arrived`: confirmed deposits; `moved` and `fees`: of transactions that are final, in base units, by the currency of their intent. */
const statements = [
  `CREATE TABLE wallet_total (
    network text NOT NULL, address text NOT NULL, currency text NOT NULL,
    arrived numeric(60, 18) NOT NULL DEFAULT 0, moved numeric(78, 0) NOT NULL DEFAULT 0, fees numeric(78, 0) NOT NULL DEFAULT 0,
    PRIMARY KEY (network, address, currency))`,
  `CREATE FUNCTION add_to_wallet(p_network text, p_address text, p_currency text, p_arrived numeric, p_moved numeric, p_fees numeric)
     RETURNS void LANGUAGE sql AS $$
      INSERT INTO wallet_total AS t (network, address, currency, arrived, moved, fees)
        VALUES (p_network, p_address, p_currency, p_arrived, p_moved, p_fees)
        ON CONFLICT (network, address, currency) DO UPDATE
          SET arrived = t.arrived + EXCLUDED.arrived, moved = t.moved + EXCLUDED.moved, fees = t.fees + EXCLUDED.fees $$`,
  `CREATE FUNCTION note_arrived() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' AND OLD.status = 'confirmed' AND OLD.currency IS NOT NULL THEN
        PERFORM add_to_wallet(OLD.network, OLD.address, OLD.currency, -OLD.amount, 0, 0);
      END IF;
      IF TG_OP <> 'DELETE' AND NEW.status = 'confirmed' AND NEW.currency IS NOT NULL THEN
        PERFORM add_to_wallet(NEW.network, NEW.address, NEW.currency, NEW.amount, 0, 0);
      END IF;
      RETURN NULL;
    END $$`,
  `CREATE FUNCTION note_gone() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' AND OLD.status = 'final' THEN
        PERFORM add_to_wallet(OLD.network, OLD.from_address, currency, 0, CASE WHEN OLD.success IS DISTINCT FROM false THEN -OLD.moved_units ELSE 0 END,
                              -coalesce(OLD.fee_units, OLD.max_fee_units)) FROM intent WHERE id = OLD.intent_id;
      END IF;
      IF TG_OP <> 'DELETE' AND NEW.status = 'final' THEN
        PERFORM add_to_wallet(NEW.network, NEW.from_address, currency, 0, CASE WHEN NEW.success IS DISTINCT FROM false THEN NEW.moved_units ELSE 0 END,
                              coalesce(NEW.fee_units, NEW.max_fee_units)) FROM intent WHERE id = NEW.intent_id;
      END IF;
      RETURN NULL;
    END $$`,
  // Triggers lock their tables, so that nothing changes before the rows below are there.
  `CREATE TRIGGER deposit_arrived AFTER INSERT ON deposit FOR EACH ROW WHEN (NEW.status = 'confirmed') EXECUTE FUNCTION note_arrived()`,
  `CREATE TRIGGER deposit_changed AFTER UPDATE ON deposit FOR EACH ROW
     WHEN ((OLD.status = 'confirmed' OR NEW.status = 'confirmed') AND (OLD.status, OLD.amount) IS DISTINCT FROM (NEW.status, NEW.amount))
     EXECUTE FUNCTION note_arrived()`,
  `CREATE TRIGGER deposit_removed AFTER DELETE ON deposit FOR EACH ROW WHEN (OLD.status = 'confirmed') EXECUTE FUNCTION note_arrived()`,
  `CREATE TRIGGER attempt_gone AFTER INSERT ON attempt FOR EACH ROW WHEN (NEW.status = 'final') EXECUTE FUNCTION note_gone()`,
  `CREATE TRIGGER attempt_changed AFTER UPDATE ON attempt FOR EACH ROW
     WHEN ((OLD.status = 'final' OR NEW.status = 'final') AND (OLD.status, OLD.success, OLD.moved_units, OLD.fee_units, OLD.max_fee_units)
       IS DISTINCT FROM (NEW.status, NEW.success, NEW.moved_units, NEW.fee_units, NEW.max_fee_units))
     EXECUTE FUNCTION note_gone()`,
  `CREATE TRIGGER attempt_removed AFTER DELETE ON attempt FOR EACH ROW WHEN (OLD.status = 'final') EXECUTE FUNCTION note_gone()`,
  `INSERT INTO wallet_total (network, address, currency, arrived, moved, fees)
    SELECT network, address, currency, sum(arrived), sum(moved), sum(fees) FROM (
      SELECT network, address, currency, amount AS arrived, 0::numeric AS moved, 0::numeric AS fees FROM deposit
       WHERE status = 'confirmed' AND currency IS NOT NULL
      UNION ALL
      SELECT a.network, a.from_address, i.currency, 0, CASE WHEN a.success IS DISTINCT FROM false THEN a.moved_units ELSE 0 END,
             coalesce(a.fee_units, a.max_fee_units) FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.status = 'final') one
     GROUP BY 1, 2, 3`,
  // What is not final of a wallet, and what no node was given of it.
  `CREATE INDEX attempt_open_from ON attempt (network, from_address) WHERE status IN ('stored', 'sent', 'mined')`,
  `CREATE INDEX attempt_unsent ON attempt (network, from_address, nonce) WHERE sent_at IS NULL AND status IN ('stored', 'sent')`,
  'DROP INDEX attempt_from',
  'CREATE INDEX attempt_nonce ON attempt (network, from_address, nonce)',
  `CREATE INDEX deposit_coins ON deposit (network, amount DESC, id) WHERE role = 'treasury' AND status = 'confirmed' AND spent_by_tx IS NULL`,
];

export class WalletTotals1797700001000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX deposit_coins');
    await q.query('DROP INDEX attempt_nonce');
    await q.query('CREATE INDEX attempt_from ON attempt (network, from_address)');
    await q.query('DROP INDEX attempt_unsent');
    await q.query('DROP INDEX attempt_open_from');
    for (const [trigger, table] of [
      ['deposit_arrived', 'deposit'],
      ['deposit_changed', 'deposit'],
      ['deposit_removed', 'deposit'],
      ['attempt_gone', 'attempt'],
      ['attempt_changed', 'attempt'],
      ['attempt_removed', 'attempt'],
    ] as const)
      await q.query(`DROP TRIGGER ${trigger} ON ${table}`);
    await q.query('DROP FUNCTION note_gone');
    await q.query('DROP FUNCTION note_arrived');
    await q.query('DROP FUNCTION add_to_wallet');
    await q.query('DROP TABLE wallet_total');
  }
}
