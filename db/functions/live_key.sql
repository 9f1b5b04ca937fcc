-- Which incarnation of the database this is. Before the @: system identifier and timeline of the server, and the ids of
-- the database and of a table in it; they change with a failover, a restored backup and a reloaded dump. After it: when
-- the server was started, which changes with a file copy that was put back as well. Called by live_key and the signer.
CREATE OR REPLACE FUNCTION database_incarnation() RETURNS text LANGUAGE sql STABLE
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT concat_ws('/', c.system_identifier, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
                   (SELECT oid FROM pg_database WHERE datname = current_database()), 'key_epoch'::regclass::oid)
         || '@' || pg_postmaster_start_time()
    FROM pg_control_system() c
$$;

-- The keys that new addresses are derived from, with the branch that they belong to. Empty while the signer has not
-- confirmed this incarnation of the database, so that nobody draws an address that a lost transaction has drawn before.
-- Read wherever an index is drawn.
CREATE OR REPLACE VIEW live_key AS
  SELECT k.network, k.role, k.xpub, e.epoch AS branch, k.sequence_of
    FROM key_epoch e JOIN extended_key k ON e.incarnation = database_incarnation();
