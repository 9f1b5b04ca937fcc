-- Keeps since when a user holds each right: a right that comes, or comes back, is new; one that goes is forgotten. An
-- admin's rights are one, by the name of the role. Fires for each user who is added or changed.
CREATE OR REPLACE FUNCTION note_rights() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DECLARE v_held text[];
  BEGIN
    v_held := CASE WHEN NOT NEW.is_active OR NEW.removed_at IS NOT NULL THEN '{}'
                   WHEN NEW.role = 'merchant_member' THEN NEW.permissions
                   ELSE ARRAY[NEW.role] END;
    DELETE FROM user_right WHERE user_id = NEW.id AND name <> ALL(v_held);
    INSERT INTO user_right (user_id, name) SELECT NEW.id, unnest(v_held) ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;

CREATE OR REPLACE TRIGGER dashboard_user_rights
  AFTER INSERT OR UPDATE OF role, permissions, is_active, removed_at ON dashboard_user
  FOR EACH ROW EXECUTE FUNCTION note_rights();
