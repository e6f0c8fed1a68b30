/// The tables of the control store: those of the SQLite store by the same names and columns, so that a store can be copied row by
/// row. Texts are compared by their bytes. A released version is never changed; new ones are added.
enum PostgresControlSchema {
    static let schema = PostgresSchema(
        part: "control",
        steps: [
            .version(version1), .addition(clientSchemas), .addition(migration), .addition(spelling),
            .addition(schemaVersions), .addition(changeFeed), .addition(audited),
        ])

    /// Every table, in an order in which a store can be copied.
    static let names = [
        "settings", "apps", "app_schema", "app_rules", "app_deletions", "app_deletion_slices", "users", "user_changes",
        "passwords", "login_sessions", "signing_keys", "login_settings", "api_keys", "external_identities",
        "mail_tokens", "admin_tokens", "admin_audit", "campaigns", "campaign_chunks", "campaign_realms",
        "parked_outcomes", "locks",
    ]

    private static let clientSchemas = ["ALTER TABLE apps ADD COLUMN client_schemas text COLLATE \"C\""]

    private static let migration = ["ALTER TABLE apps ADD COLUMN migration text COLLATE \"C\""]

    private static let spelling = ["ALTER TABLE passwords ADD COLUMN spelling text COLLATE \"C\""]

    private static let schemaVersions = ["ALTER TABLE apps ADD COLUMN schema_versions text COLLATE \"C\""]

    private static let changeFeed = ["ALTER TABLE apps ADD COLUMN change_feed text COLLATE \"C\""]
    private static let audited = [
        "ALTER TABLE admin_audit ADD COLUMN address text COLLATE \"C\"",
        "ALTER TABLE admin_audit ADD COLUMN dry_run boolean NOT NULL DEFAULT false",
    ]

    private static let version1 = [
        """
        CREATE TABLE settings (name text COLLATE "C" PRIMARY KEY, value text COLLATE "C" NOT NULL)
        """,
        """
        CREATE TABLE apps (
            id text COLLATE "C" PRIMARY KEY, sync_mode text COLLATE "C" NOT NULL, sync_state text COLLATE "C" NOT NULL,
            development_mode boolean NOT NULL, client_recovery boolean NOT NULL, max_offline_days bigint NOT NULL,
            generation bigint NOT NULL, anonymous_login boolean NOT NULL, email_password_login boolean NOT NULL,
            created_at bigint NOT NULL, compatibility text COLLATE "C" NOT NULL, rules_version bigint NOT NULL,
            users_version bigint NOT NULL, on_read_denied text COLLATE "C" NOT NULL,
            on_write_denied text COLLATE "C" NOT NULL, quotas text COLLATE "C" NOT NULL, schema_version bigint NOT NULL
        )
        """,
        """
        CREATE TABLE app_schema (
            app text COLLATE "C" NOT NULL, class text COLLATE "C" NOT NULL, property text COLLATE "C" NOT NULL,
            type text COLLATE "C" NOT NULL, author text COLLATE "C", PRIMARY KEY (app, class, property, type)
        )
        """,
        "CREATE INDEX app_schema_by_author ON app_schema (app, author) WHERE author IS NOT NULL",
        """
        CREATE TABLE app_rules (
            app text COLLATE "C" NOT NULL, version bigint NOT NULL, document bytea NOT NULL,
            author text COLLATE "C" NOT NULL, at bigint NOT NULL, PRIMARY KEY (app, version)
        )
        """,
        """
        CREATE TABLE app_deletions (
            app text COLLATE "C" PRIMARY KEY, deleted_by text COLLATE "C" NOT NULL, at bigint NOT NULL,
            slices bigint NOT NULL, finished_at bigint
        )
        """,
        """
        CREATE TABLE app_deletion_slices (
            app text COLLATE "C" NOT NULL, slice bigint NOT NULL, erased bigint NOT NULL, remaining bigint NOT NULL,
            done boolean NOT NULL, PRIMARY KEY (app, slice)
        )
        """,
        """
        CREATE TABLE users (
            app text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, identities text COLLATE "C" NOT NULL,
            email text COLLATE "C", disabled boolean NOT NULL, created_at bigint NOT NULL,
            custom_data text COLLATE "C", PRIMARY KEY (app, id)
        )
        """,
        """
        CREATE TABLE user_changes (
            app text COLLATE "C" NOT NULL, version bigint NOT NULL, "user" text COLLATE "C", PRIMARY KEY (app, version)
        )
        """,
        """
        CREATE TABLE passwords (
            app text COLLATE "C" NOT NULL, email text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL,
            "user" text COLLATE "C", pending text COLLATE "C", PRIMARY KEY (app, email)
        )
        """,
        """
        CREATE INDEX passwords_user ON passwords (app, "user")
        """,
        """
        CREATE TABLE login_sessions (
            id text COLLATE "C" PRIMARY KEY, app text COLLATE "C" NOT NULL, "user" text COLLATE "C" NOT NULL,
            device text COLLATE "C" NOT NULL, created_at bigint NOT NULL, last_used_at bigint NOT NULL,
            expires_at bigint NOT NULL, revoked boolean NOT NULL, origin text COLLATE "C"
        )
        """,
        "CREATE INDEX login_sessions_expiry ON login_sessions (expires_at)",
        """
        CREATE INDEX login_sessions_of_user ON login_sessions (app, "user", origin)
        """,
        """
        CREATE TABLE signing_keys (
            id text COLLATE "C" PRIMARY KEY, purpose text COLLATE "C" NOT NULL, pem text COLLATE "C" NOT NULL,
            created_at bigint NOT NULL
        )
        """,
        """
        CREATE TABLE login_settings (
            app text COLLATE "C" NOT NULL, provider text COLLATE "C" NOT NULL, settings bytea NOT NULL,
            PRIMARY KEY (app, provider)
        )
        """,
        """
        CREATE TABLE api_keys (
            id text COLLATE "C" PRIMARY KEY, app text COLLATE "C" NOT NULL, "user" text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL UNIQUE, disabled boolean NOT NULL,
            created_at bigint NOT NULL
        )
        """,
        """
        CREATE INDEX api_keys_of_user ON api_keys (app, "user", created_at)
        """,
        """
        CREATE TABLE external_identities (
            app text COLLATE "C" NOT NULL, provider text COLLATE "C" NOT NULL, external_id text COLLATE "C" NOT NULL,
            "user" text COLLATE "C" NOT NULL, profile text COLLATE "C" NOT NULL,
            PRIMARY KEY (app, provider, external_id)
        )
        """,
        """
        CREATE INDEX external_identities_of_user ON external_identities (app, "user")
        """,
        """
        CREATE TABLE mail_tokens (
            id text COLLATE "C" PRIMARY KEY, app text COLLATE "C" NOT NULL, email text COLLATE "C" NOT NULL,
            purpose text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL, hash text COLLATE "C",
            expires_at bigint NOT NULL
        )
        """,
        "CREATE INDEX mail_tokens_of_mailbox ON mail_tokens (app, email, purpose, expires_at)",
        "CREATE INDEX mail_tokens_expiry ON mail_tokens (expires_at)",
        """
        CREATE TABLE admin_tokens (
            name text COLLATE "C" PRIMARY KEY, digest text COLLATE "C" NOT NULL UNIQUE, role text COLLATE "C" NOT NULL,
            created_at bigint NOT NULL, created_by text COLLATE "C" NOT NULL
        )
        """,
        """
        CREATE TABLE admin_audit (
            number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, at bigint NOT NULL,
            token text COLLATE "C" NOT NULL, role text COLLATE "C" NOT NULL, method text COLLATE "C" NOT NULL,
            path text COLLATE "C" NOT NULL, details text COLLATE "C", status bigint
        )
        """,
        """
        CREATE TABLE campaigns (
            number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE,
            app text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, reason text COLLATE "C",
            partition text COLLATE "C", client_file bigint, started_at bigint NOT NULL, generation bigint NOT NULL,
            state text COLLATE "C" NOT NULL, slices_expected bigint NOT NULL, slices_reported bigint NOT NULL,
            closed_at bigint
        )
        """,
        "CREATE INDEX campaigns_app ON campaigns (app, number)",
        "CREATE INDEX campaigns_unpublished ON campaigns (number) WHERE state = 'publishing'",
        "CREATE INDEX campaigns_open ON campaigns (started_at) WHERE state IN ('counting', 'running')",
        """
        CREATE TABLE campaign_chunks (
            campaign text COLLATE "C" NOT NULL, slice bigint NOT NULL, chunks bigint NOT NULL, chunk bigint NOT NULL,
            PRIMARY KEY (campaign, slice, chunks, chunk)
        )
        """,
        // found_at is null while only a notification or an outcome has come: such a row counts nowhere.
        """
        CREATE TABLE campaign_realms (
            campaign text COLLATE "C" NOT NULL, partition text COLLATE "C" NOT NULL, client_file bigint NOT NULL,
            app text COLLATE "C" NOT NULL, "user" text COLLATE "C" NOT NULL, slice bigint, last_seen bigint NOT NULL,
            found_at bigint, notified_at bigint, outcome text COLLATE "C" NOT NULL, report text COLLATE "C",
            updated_at bigint NOT NULL, superseded_by text COLLATE "C", unproven boolean NOT NULL,
            reason text COLLATE "C", PRIMARY KEY (campaign, partition, client_file)
        )
        """,
        "CREATE INDEX campaign_realms_of_one ON campaign_realms (app, partition, client_file)",
        """
        CREATE INDEX campaign_realms_counts
            ON campaign_realms (campaign, outcome, found_at, notified_at, unproven)
        """,
        "CREATE INDEX campaign_realms_early ON campaign_realms (updated_at) WHERE found_at IS NULL",
        """
        CREATE TABLE parked_outcomes (
            number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, app text COLLATE "C" NOT NULL,
            partition text COLLATE "C" NOT NULL, client_file bigint NOT NULL, report text COLLATE "C" NOT NULL,
            UNIQUE (app, partition, client_file)
        )
        """,
        // Rows that are locked so that one process at a time decides.
        """
        CREATE TABLE locks (name text COLLATE "C" PRIMARY KEY)
        """,
        "INSERT INTO locks (name) VALUES ('admin_tokens'), ('campaigns'), ('signing_keys')",
    ]
}
