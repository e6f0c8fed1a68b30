import GRDB
import Storage

/// The tables of the control store. Each step is applied once, in its own order, under one IMMEDIATE transaction, so
/// that processes that start together do not apply it twice. A released step is never changed; new ones are added.
enum SQLiteControlSchema {
    /// "SLCT": tells this file from any other SQLite file.
    static let applicationID: Int64 = 0x534C_4354

    static let steps = [
        """
        CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

        CREATE TABLE apps (
            id TEXT PRIMARY KEY, sync_mode TEXT NOT NULL, sync_state TEXT NOT NULL, development_mode INTEGER NOT NULL,
            client_recovery INTEGER NOT NULL, max_offline_days INTEGER NOT NULL, generation INTEGER NOT NULL,
            anonymous_login INTEGER NOT NULL, email_password_login INTEGER NOT NULL, created_at INTEGER NOT NULL
        ) WITHOUT ROWID;

        CREATE TABLE users (
            app TEXT NOT NULL, id TEXT NOT NULL, identities TEXT NOT NULL, email TEXT, disabled INTEGER NOT NULL,
            created_at INTEGER NOT NULL, PRIMARY KEY (app, id)
        ) WITHOUT ROWID;

        CREATE TABLE passwords (
            app TEXT NOT NULL, email TEXT NOT NULL, hash TEXT NOT NULL, user TEXT, PRIMARY KEY (app, email)
        ) WITHOUT ROWID;

        CREATE TABLE login_sessions (
            id TEXT PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, device TEXT NOT NULL,
            created_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
            revoked INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX login_sessions_expiry ON login_sessions (expires_at);

        CREATE TABLE signing_keys (
            id TEXT PRIMARY KEY, purpose TEXT NOT NULL, pem TEXT NOT NULL, created_at INTEGER NOT NULL
        ) WITHOUT ROWID;

        CREATE TABLE campaigns (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, app TEXT NOT NULL, kind TEXT NOT NULL,
            reason TEXT, partition TEXT, client_file INTEGER, started_at INTEGER NOT NULL, generation INTEGER NOT NULL,
            state TEXT NOT NULL, slices_expected INTEGER NOT NULL, slices_reported INTEGER NOT NULL, closed_at INTEGER
        );
        CREATE INDEX campaigns_app ON campaigns (app, number);
        CREATE INDEX campaigns_unpublished ON campaigns (number) WHERE state = 'publishing';

        CREATE TABLE campaign_chunks (
            campaign TEXT NOT NULL, slice INTEGER NOT NULL, chunks INTEGER NOT NULL, chunk INTEGER NOT NULL,
            PRIMARY KEY (campaign, slice, chunks, chunk)
        ) WITHOUT ROWID;

        -- found_at is null while only a notification or an outcome has come: such a row counts nowhere.
        CREATE TABLE campaign_realms (
            campaign TEXT NOT NULL, partition TEXT NOT NULL, client_file INTEGER NOT NULL, app TEXT NOT NULL,
            user TEXT NOT NULL, slice INTEGER, last_seen INTEGER NOT NULL, found_at INTEGER, notified_at INTEGER,
            outcome TEXT NOT NULL, report TEXT, updated_at INTEGER NOT NULL,
            PRIMARY KEY (campaign, partition, client_file)
        ) WITHOUT ROWID;
        CREATE INDEX campaign_realms_of_one ON campaign_realms (app, partition, client_file);
        CREATE INDEX campaign_realms_counts ON campaign_realms (campaign, outcome, found_at, notified_at);
        CREATE INDEX campaign_realms_early ON campaign_realms (updated_at) WHERE found_at IS NULL;

        CREATE TABLE parked_outcomes (
            number INTEGER PRIMARY KEY AUTOINCREMENT, app TEXT NOT NULL, partition TEXT NOT NULL,
            client_file INTEGER NOT NULL, report TEXT NOT NULL, UNIQUE (app, partition, client_file)
        );
        """,
        "ALTER TABLE apps ADD COLUMN compatibility TEXT NOT NULL DEFAULT 'stockClients';",
        """
        CREATE TABLE app_schema (
            app TEXT NOT NULL, class TEXT NOT NULL, property TEXT NOT NULL, type TEXT NOT NULL,
            PRIMARY KEY (app, class, property, type)
        ) WITHOUT ROWID;
        """,
        """
        ALTER TABLE campaign_realms ADD COLUMN superseded_by TEXT;
        ALTER TABLE campaign_realms ADD COLUMN unproven INTEGER NOT NULL DEFAULT 0;
        DROP INDEX campaign_realms_counts;
        CREATE INDEX campaign_realms_counts ON campaign_realms (campaign, outcome, found_at, notified_at, unproven);
        """,
        """
        ALTER TABLE login_sessions ADD COLUMN origin TEXT;
        CREATE INDEX login_sessions_of_user ON login_sessions (app, user, origin);
        """,
        // Apps of a time without rules keep what they had: everybody may do everything.
        """
        ALTER TABLE apps ADD COLUMN rules_version INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE apps ADD COLUMN users_version INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE apps ADD COLUMN on_read_denied TEXT NOT NULL DEFAULT 'keep';
        ALTER TABLE apps ADD COLUMN on_write_denied TEXT NOT NULL DEFAULT 'discard';
        ALTER TABLE users ADD COLUMN custom_data TEXT;
        CREATE INDEX passwords_user ON passwords (app, user);
        CREATE TABLE app_rules (
            app TEXT NOT NULL, version INTEGER NOT NULL, document BLOB NOT NULL, author TEXT NOT NULL,
            at INTEGER NOT NULL, PRIMARY KEY (app, version)
        ) WITHOUT ROWID;
        INSERT INTO app_rules SELECT id, 1, CAST('{"defaultRoles":[{"apply_when":{},"delete":true,"document_filters":\
        {"read":true,"write":true},"insert":true,"name":"readAndWriteAll","read":true,"search":true,"write":true}],\
        "generated":"upgrade","partition":{"read":true,"write":true}}' AS BLOB), 'upgrade',
            CAST(strftime('%s', 'now') AS INTEGER) * 1000 FROM apps;
        UPDATE apps SET rules_version = 1;
        """,
        // Without a user: of any.
        """
        CREATE TABLE user_changes (
            app TEXT NOT NULL, version INTEGER NOT NULL, user TEXT, PRIMARY KEY (app, version)
        ) WITHOUT ROWID;
        """,
        """
        CREATE TABLE admin_tokens (
            name TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, role TEXT NOT NULL, created_at INTEGER NOT NULL,
            created_by TEXT NOT NULL
        ) WITHOUT ROWID;

        CREATE TABLE admin_audit (
            number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, token TEXT NOT NULL, role TEXT NOT NULL,
            method TEXT NOT NULL, path TEXT NOT NULL, details TEXT, status INTEGER
        );
        """,
        """
        CREATE TABLE login_settings (
            app TEXT NOT NULL, provider TEXT NOT NULL, settings BLOB NOT NULL, PRIMARY KEY (app, provider)
        ) WITHOUT ROWID;

        CREATE TABLE api_keys (
            id TEXT PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE,
            disabled INTEGER NOT NULL, created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX api_keys_of_user ON api_keys (app, user, created_at);

        CREATE TABLE external_identities (
            app TEXT NOT NULL, provider TEXT NOT NULL, external_id TEXT NOT NULL, user TEXT NOT NULL,
            profile TEXT NOT NULL, PRIMARY KEY (app, provider, external_id)
        ) WITHOUT ROWID;
        CREATE INDEX external_identities_of_user ON external_identities (app, user);

        -- What belongs to a user goes with the user, whoever deletes it; so it is with apps.
        CREATE TRIGGER users_gone AFTER DELETE ON users BEGIN
            DELETE FROM api_keys WHERE app = OLD.app AND user = OLD.id;
            DELETE FROM external_identities WHERE app = OLD.app AND user = OLD.id;
        END;
        -- Not fired where a row is replaced: SQLite's recursive triggers are off.
        CREATE TRIGGER apps_gone AFTER DELETE ON apps BEGIN
            DELETE FROM login_settings WHERE app = OLD.id;
        END;
        """,
        """
        ALTER TABLE passwords ADD COLUMN pending TEXT;

        CREATE TABLE mail_tokens (
            id TEXT PRIMARY KEY, app TEXT NOT NULL, email TEXT NOT NULL, purpose TEXT NOT NULL, digest TEXT NOT NULL,
            hash TEXT, expires_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX mail_tokens_of_mailbox ON mail_tokens (app, email, purpose, expires_at);
        CREATE INDEX mail_tokens_expiry ON mail_tokens (expires_at);

        CREATE TRIGGER passwords_gone AFTER DELETE ON passwords BEGIN
            DELETE FROM mail_tokens WHERE app = OLD.app AND email = OLD.email;
        END;
        """,
        "ALTER TABLE apps ADD COLUMN quotas TEXT NOT NULL DEFAULT '{}';",
        """
        ALTER TABLE apps ADD COLUMN schema_version INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE app_schema ADD COLUMN author TEXT;
        CREATE INDEX app_schema_by_author ON app_schema (app, author) WHERE author IS NOT NULL;
        """,
        """
        CREATE TABLE app_deletions (
            app TEXT PRIMARY KEY, deleted_by TEXT NOT NULL, at INTEGER NOT NULL, slices INTEGER NOT NULL,
            finished_at INTEGER
        ) WITHOUT ROWID;
        CREATE TABLE app_deletion_slices (
            app TEXT NOT NULL, slice INTEGER NOT NULL, erased INTEGER NOT NULL, remaining INTEGER NOT NULL,
            done INTEGER NOT NULL, PRIMARY KEY (app, slice)
        ) WITHOUT ROWID;
        """,
        """
        ALTER TABLE campaign_realms ADD COLUMN reason TEXT;
        CREATE INDEX campaigns_open ON campaigns (started_at) WHERE state IN ('counting', 'running');
        """,
        "ALTER TABLE apps ADD COLUMN client_schemas TEXT;",
        "ALTER TABLE apps ADD COLUMN migration TEXT;",
        "ALTER TABLE passwords ADD COLUMN spelling TEXT;",
        "ALTER TABLE apps ADD COLUMN schema_versions TEXT;",
        "ALTER TABLE apps ADD COLUMN change_feed TEXT;",
        """
        ALTER TABLE admin_audit ADD COLUMN address TEXT;
        ALTER TABLE admin_audit ADD COLUMN dry_run INTEGER NOT NULL DEFAULT 0;
        """,
    ]

    static func migrate(_ database: any DatabaseWriter) throws {
        try database.writeWithoutTransaction { try $0.transact(migrate) }
    }

    private static func migrate(_ db: Database) throws {
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let application = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") ?? 0
        guard application == applicationID || (version == 0 && tables == 0) else {
            throw StoreError(.mismatch, "control.sqlite is another program's file")
        }
        guard version <= steps.count else {
            throw StoreError(
                .corrupt,
                "control.sqlite was written by a newer version: its schema is \(version), this one knows \(steps.count)"
            )
        }
        guard version < steps.count else { return }
        for step in steps[version...] { try db.execute(sql: step) }
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(steps.count)")
    }
}
