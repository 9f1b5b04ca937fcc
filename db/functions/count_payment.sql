-- Keeps payment_day: what the payments of a merchant's day came to. Fires at the end of each transaction that made a
-- payment, or changed what is counted of one. At its end, because rows of payment_day are shared by all payments of a
-- day: transactions hold them for a moment only, and never while they wait for a balance or the counter of events.

-- What one payment adds to its day. Paid: enough of its money has been seen; a reorganisation takes that back.
CREATE OR REPLACE FUNCTION payment_share(p payment) RETURNS payment_day LANGUAGE sql STRICT AS $$
  SELECT p.merchant_id, (p.created_at AT TIME ZONE 'UTC')::date, p.fiat_currency,
         1::bigint, is_paid::int::bigint, is_settled::int::bigint,
         p.fiat_amount, CASE WHEN is_paid THEN received ELSE 0 END, CASE WHEN is_settled THEN received ELSE 0 END,
         (p.status = 'PARTIALLY_PAID')::int::bigint, (p.status = 'CROSS_CHAIN_PENDING')::int::bigint,
         ('underpaid' = ANY(p.exceptions))::int::bigint, ('overpaid' = ANY(p.exceptions))::int::bigint,
         ('paidLate' = ANY(p.exceptions))::int::bigint, ('wrongCurrency' = ANY(p.exceptions))::int::bigint,
         ('reorged' = ANY(p.exceptions))::int::bigint,
         (p.status = 'AWAITING_CURRENCY')::int::bigint, (p.status = 'WAITING')::int::bigint,
         (p.status = 'CONFIRMING')::int::bigint, (p.status = 'CONFIRMED')::int::bigint,
         (p.status = 'SWEEP_QUEUED')::int::bigint, (p.status = 'EXPIRED')::int::bigint,
         (p.status = 'CANCELLED')::int::bigint, (p.status = 'FAILED')::int::bigint
    FROM (SELECT p.status IN ('CONFIRMING', 'CONFIRMED', 'SWEEP_QUEUED', 'SETTLED') AS is_paid,
                 p.status = 'SETTLED' AS is_settled,
                 coalesce(p.value_paid, p.amount_paid * p.exchange_rate, 0) AS received) f;
$$;

CREATE OR REPLACE FUNCTION count_payment() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    -- The usual creation adds to a day that is there already: the statement below says the same, and costs more.
    IF TG_OP = 'INSERT' AND NEW.status IN ('AWAITING_CURRENCY', 'WAITING') AND NEW.exceptions = '{}' THEN
      UPDATE payment_day SET created = created + 1, created_fiat = created_fiat + NEW.fiat_amount,
             awaiting_currency = awaiting_currency + (NEW.status = 'AWAITING_CURRENCY')::int,
             waiting = waiting + (NEW.status = 'WAITING')::int
       WHERE merchant_id = NEW.merchant_id AND day = (NEW.created_at AT TIME ZONE 'UTC')::date
         AND fiat_currency = NEW.fiat_currency;
      IF FOUND THEN
        RETURN NULL;
      END IF;
    END IF;
    INSERT INTO payment_day AS d
      SELECT c.merchant_id, c.day, c.fiat_currency, sum(c.sign * c.created), sum(c.sign * c.paid),
             sum(c.sign * c.settled), sum(c.sign * c.created_fiat), sum(c.sign * c.paid_fiat),
             sum(c.sign * c.settled_fiat), sum(c.sign * c.partially_paid), sum(c.sign * c.cross_chain_pending),
             sum(c.sign * c.underpaid), sum(c.sign * c.overpaid), sum(c.sign * c.paid_late),
             sum(c.sign * c.wrong_currency), sum(c.sign * c.reorged), sum(c.sign * c.awaiting_currency),
             sum(c.sign * c.waiting), sum(c.sign * c.confirming), sum(c.sign * c.confirmed),
             sum(c.sign * c.sweep_queued), sum(c.sign * c.expired), sum(c.sign * c.cancelled), sum(c.sign * c.failed)
        FROM (SELECT 1 AS sign, * FROM payment_share(NEW) UNION ALL SELECT -1, * FROM payment_share(OLD)) c
       WHERE c.merchant_id IS NOT NULL
       GROUP BY c.merchant_id, c.day, c.fiat_currency
      -- A step that changes nothing here takes no lock.
      HAVING TG_OP <> 'UPDATE' OR count(*) < 2 OR (count(DISTINCT (c.paid, c.settled, c.paid_fiat, c.settled_fiat,
               c.created_fiat, c.partially_paid, c.cross_chain_pending, c.underpaid, c.overpaid, c.paid_late,
               c.wrong_currency, c.reorged, c.awaiting_currency, c.waiting, c.confirming, c.confirmed,
               c.sweep_queued, c.expired, c.cancelled, c.failed)) > 1)
       ORDER BY c.merchant_id, c.day, c.fiat_currency
      ON CONFLICT (merchant_id, day, fiat_currency) DO UPDATE SET
        created = d.created + EXCLUDED.created, paid = d.paid + EXCLUDED.paid,
        settled = d.settled + EXCLUDED.settled, created_fiat = d.created_fiat + EXCLUDED.created_fiat,
        paid_fiat = d.paid_fiat + EXCLUDED.paid_fiat, settled_fiat = d.settled_fiat + EXCLUDED.settled_fiat,
        partially_paid = d.partially_paid + EXCLUDED.partially_paid,
        cross_chain_pending = d.cross_chain_pending + EXCLUDED.cross_chain_pending,
        underpaid = d.underpaid + EXCLUDED.underpaid, overpaid = d.overpaid + EXCLUDED.overpaid,
        paid_late = d.paid_late + EXCLUDED.paid_late, wrong_currency = d.wrong_currency + EXCLUDED.wrong_currency,
        reorged = d.reorged + EXCLUDED.reorged, awaiting_currency = d.awaiting_currency + EXCLUDED.awaiting_currency,
        waiting = d.waiting + EXCLUDED.waiting, confirming = d.confirming + EXCLUDED.confirming,
        confirmed = d.confirmed + EXCLUDED.confirmed, sweep_queued = d.sweep_queued + EXCLUDED.sweep_queued,
        expired = d.expired + EXCLUDED.expired, cancelled = d.cancelled + EXCLUDED.cancelled,
        failed = d.failed + EXCLUDED.failed;
    RETURN NULL;
  END $$;

DROP TRIGGER IF EXISTS payment_counted ON payment;
CREATE CONSTRAINT TRIGGER payment_counted AFTER INSERT OR DELETE ON payment DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION count_payment();

DROP TRIGGER IF EXISTS payment_recounted ON payment;
CREATE CONSTRAINT TRIGGER payment_recounted AFTER UPDATE ON payment DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN ((OLD.merchant_id, OLD.created_at, OLD.fiat_currency, OLD.fiat_amount, OLD.status,
      OLD.exceptions, OLD.amount_paid, OLD.value_paid, OLD.exchange_rate) IS DISTINCT FROM
    (NEW.merchant_id, NEW.created_at, NEW.fiat_currency, NEW.fiat_amount, NEW.status,
      NEW.exceptions, NEW.amount_paid, NEW.value_paid, NEW.exchange_rate))
  EXECUTE FUNCTION count_payment();
