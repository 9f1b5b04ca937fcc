-- A transfer that moved something else than was signed ends by the word of two operators alone, about this mining of
-- it, once: they have confirmed an open request that names it, and what they have said stays until a reorganisation
-- takes its block. CP008: anything else. Fires on updates of attempts that are decided, or that end although they
-- differ.
CREATE OR REPLACE FUNCTION guard_decision() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  BEGIN
    IF OLD.decision IS NOT NULL THEN
      IF NEW.decision IS NULL AND NEW.decided_by IS NULL AND NEW.block_hash IS NULL THEN RETURN NEW; END IF;
      IF (NEW.decision, NEW.decided_by, NEW.moves, NEW.block_hash, NEW.differs_at IS NULL)
          IS DISTINCT FROM (OLD.decision, OLD.decided_by, OLD.moves, OLD.block_hash, OLD.differs_at IS NULL) THEN
        RAISE EXCEPTION 'attempt %: operators have said what it has paid', OLD.id USING ERRCODE = 'CP008';
      END IF;
    ELSIF NEW.decision IS NOT NULL AND (OLD.status <> 'mined' OR OLD.differs_at IS NULL OR NOT EXISTS (
        SELECT FROM operator_request r
         WHERE r.id = NEW.decided_by AND r.kind = 'decide-transfer' AND r.state = 'open'
           AND clock_timestamp() < r.expires_at AND (SELECT count(*) FROM operator_confirmation c
                                                      WHERE c.request_id = r.id) >= 2
           AND r.payload @> jsonb_build_object('intentId', NEW.intent_id::text, 'outcome', NEW.decision,
                              'txId', NEW.tx_id, 'blockHash', NEW.block_hash))) THEN
      RAISE EXCEPTION 'attempt %: two operators have not said what it has paid', OLD.id USING ERRCODE = 'CP008';
    END IF;
    IF NEW.status = 'final' AND NEW.differs_at IS NOT NULL AND (NEW.decision IS NULL OR NEW.success IS DISTINCT FROM (
        NEW.decision = 'paid' OR (SELECT kind = 'sweep' FROM intent WHERE id = NEW.intent_id))) THEN
      RAISE EXCEPTION 'attempt % differs, and ends only as two operators have said', OLD.id USING ERRCODE = 'CP008';
    END IF;
    RETURN NEW;
  END $$;

CREATE OR REPLACE TRIGGER attempt_decision_guarded BEFORE UPDATE ON attempt FOR EACH ROW
  WHEN (OLD.decision IS NOT NULL OR NEW.decision IS NOT NULL OR NEW.status = 'final' AND NEW.differs_at IS NOT NULL)
  EXECUTE FUNCTION guard_decision();
