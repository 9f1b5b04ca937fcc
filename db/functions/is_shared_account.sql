-- Whether an address is the treasury's own account, which payments share where their network has destination tags.
CREATE OR REPLACE FUNCTION is_shared_account(p_network text, p_address text) RETURNS boolean LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM address WHERE network = p_network AND address = p_address AND tag = ''
                    AND role = 'treasury' AND key_index = 0 AND merchant_id IS NULL AND conversion_id IS NULL)
$$;
