#!/bin/sh
# Makes the role and the two databases of Temporal, which has no right in the database of payments. PostgreSQL's image
# runs it once, when its data folder is empty.
set -eu
psql --username "$POSTGRES_USER" --set ON_ERROR_STOP=1 --set password="$DATABASE_PASSWORD_TEMPORAL" <<'SQL'
CREATE ROLE cp_temporal LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
CREATE DATABASE temporal OWNER cp_temporal;
CREATE DATABASE temporal_visibility OWNER cp_temporal;
REVOKE CONNECT ON DATABASE temporal, temporal_visibility FROM PUBLIC;
SQL
