-- Watches an address of a payment on every other network where it is the same account: a payer who takes the wrong
-- network has paid this payment in another coin. Networks that are off are looked at once they are on. Called by
-- `newReceiver`; open_payment writes the same rows itself.
CREATE OR REPLACE FUNCTION watch_elsewhere(p_network text, p_address text, p_tag text) RETURNS void LANGUAGE sql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  INSERT INTO address (network, address, role, branch, key_index, currency, merchant_id, payment_id, is_elsewhere)
    SELECT other.network, a.address, a.role, a.branch, a.key_index, a.currency, a.merchant_id, a.payment_id, true
      FROM address a
      JOIN extended_key own ON own.network = a.network AND own.role = a.role
      JOIN extended_key other ON other.sequence_of = own.sequence_of AND other.role = a.role
       AND other.network <> a.network
     WHERE a.network = p_network AND a.address = p_address AND a.tag = p_tag AND a.role = 'deposit' AND p_tag = ''
$$;
