-- Where settled money goes the API changes as a change of its own that has cooled off says, or back to where it went
-- before; a new wallet starts with an address of ours, that of Lightning with the key of our node. CP014: anything
-- else. Fires on writes to merchant_wallet and settlement_change.
CREATE OR REPLACE FUNCTION guard_settlement() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF TG_OP = 'INSERT' AND (NEW.custody <> 'platform'
        OR NEW.currency = 'BTC_LN' AND NOT EXISTS (
          SELECT FROM lightning_node n WHERE n.node_key = NEW.settlement_address)
        OR NEW.currency <> 'BTC_LN' AND NOT EXISTS (
          SELECT FROM address a WHERE a.address = NEW.settlement_address AND a.role = 'treasury'
             AND (a.merchant_id = NEW.merchant_id OR is_shared_account(a.network, a.address))))
      OR TG_OP = 'UPDATE' AND NOT EXISTS (
          SELECT FROM settlement_change c
           WHERE c.wallet_id = NEW.id
             AND (c.status = 'applied' AND c.address = NEW.settlement_address AND NEW.custody = 'external'
               OR c.status = 'stopped' AND c.before_address = NEW.settlement_address
                 AND c.before_custody = NEW.custody)) THEN
      RAISE EXCEPTION 'wallet % is not pointed there by a change that counts', NEW.id USING ERRCODE = 'CP014';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE FUNCTION guard_settlement_change() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF TG_OP = 'INSERT' AND (NEW.status NOT IN ('awaiting_approval', 'cooling_off')
          OR NEW.active_at < (
            SELECT greatest(now() + make_interval(hours => whitelist_delay_hours), whitelist_not_before)
              FROM merchant WHERE id = NEW.merchant_id)
          OR NOT EXISTS (
            SELECT FROM merchant_wallet w
             WHERE w.id = NEW.wallet_id AND w.merchant_id = NEW.merchant_id
               AND (w.settlement_address, w.custody) = (NEW.before_address, NEW.before_custody)))
      OR TG_OP = 'UPDATE' AND NEW.status <> OLD.status AND (OLD.status IN ('stopped', 'replaced')
          OR NEW.status = 'applied' AND (OLD.status <> 'cooling_off' OR OLD.active_at > now())) THEN
      RAISE EXCEPTION 'settlement change % does not wait for the cooling-off, or has ended', NEW.id
        USING ERRCODE = 'CP014';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER merchant_wallet_guarded BEFORE INSERT OR UPDATE OF settlement_address, custody
  ON merchant_wallet FOR EACH ROW WHEN (session_user = 'cp_api') EXECUTE FUNCTION guard_settlement();
CREATE OR REPLACE TRIGGER settlement_change_guarded BEFORE INSERT OR UPDATE ON settlement_change FOR EACH ROW
  WHEN (session_user = 'cp_api') EXECUTE FUNCTION guard_settlement_change();
