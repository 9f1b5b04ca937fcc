-- What a payment must hear of the Lightning node before it may end. An older database does not know what the node has
-- taken since: until the node is asked about an invoice, that may be the money of its payment.

-- The moment up to which rows may be older than what the node knows: the newest recovery, or, until the signer has
-- confirmed this incarnation of the database, the start of its server. null: there was none.
CREATE OR REPLACE FUNCTION restored_at() RETURNS timestamptz LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT greatest((SELECT max(begun_at) FROM recovery),
    CASE WHEN NOT EXISTS (SELECT FROM key_epoch WHERE incarnation = database_incarnation())
         THEN pg_postmaster_start_time() END) $$;

-- Whether the money of a payment may have been taken in the time that a recovery has lost. Until the node is asked, the
-- payment keeps status, currency and quote: for a week at the most, so that one whose node is gone can be cancelled,
-- and beside an address for a day: a node that is gone must not keep money on the chain waiting.
CREATE OR REPLACE FUNCTION is_lightning_in_doubt(p_payment bpchar) RETURNS boolean LANGUAGE sql VOLATILE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
     WHERE i.payment_id = p_payment AND i.decision IS NULL AND wants_lightning(i.id)
       AND greatest(i.created_at, i.looked_at) < restored_at()
       AND clock_timestamp() < restored_at()
                               + CASE WHEN p.currency = i.currency THEN interval '7 days' ELSE interval '1 day' END) $$;

-- Whether the node has still to say that it neither holds nor has taken money that a payment waits for: it has an
-- invoice that is not over. The payment does not expire before that; of an invoice beside an address, for a day.
CREATE OR REPLACE FUNCTION awaits_lightning(p_payment bpchar) RETURNS boolean LANGUAGE sql VOLATILE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
     WHERE i.payment_id = p_payment AND i.decision IS NULL AND wants_lightning(i.id)
       AND (p.currency = i.currency
         OR clock_timestamp() < greatest(p.expires_at, restored_at()) + interval '1 day')) $$;
