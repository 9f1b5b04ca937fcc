-- Whether a wallet of the merchant has ever settled a currency to this address.
CREATE OR REPLACE FUNCTION was_settled_to(p_merchant text, p_currency text, p_address text, p_custody text)
  RETURNS boolean LANGUAGE sql AS $$
    SELECT EXISTS (
      SELECT FROM merchant_wallet w JOIN merchant_wallet_history h ON h.wallet_id = w.id
       WHERE w.merchant_id = p_merchant::char(24) AND w.currency = p_currency
         AND h.settlement_address = p_address AND h.custody = p_custody);
  $$;
