-- Refuses every change of a table that is only ever added to. Fires for each statement on the tables below.
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'CP001';
  END $$;

CREATE OR REPLACE TRIGGER payment_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER journal_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON journal
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER posting_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON posting
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER ledger_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER liability_tree_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON liability_tree
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER liability_leaf_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON liability_leaf
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER merchant_wallet_history_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON merchant_wallet_history
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER terms_consent_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON terms_consent
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER operator_confirmation_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_confirmation
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER aml_screen_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON aml_screen
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER deposit_change_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON deposit_change
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER destination_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON signer.destination
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER new_payment_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON signer.new_payment
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
-- Events may be deleted once they are old, but never changed.
CREATE OR REPLACE TRIGGER event_append_only BEFORE UPDATE OR TRUNCATE ON event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
