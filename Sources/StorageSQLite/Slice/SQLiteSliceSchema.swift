import GRDB
import Storage
import SyncModel

/// The tables of a slice's file. Numbers are stored by their bits: SQLite's integers are signed.
enum SQLiteSliceSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (name, sql) in steps { migrator.registerMigration(name) { try $0.execute(sql: sql) } }
        return migrator
    }

    /// The steps of the schema in their order. A released step is never changed; new ones are added.
    private static let steps: [(name: String, sql: String)] = [
        ("1: ownership, realms, history, client files, resets", version1),
        ("2: digests of the history", version2),
        ("bases of compacted histories", bases),
        ("ownership: when a slice was released", "ALTER TABLE ownership_history ADD COLUMN released_at INTEGER"),
        (
            "compatibility of realms",
            "ALTER TABLE realms ADD COLUMN compatibility TEXT NOT NULL DEFAULT 'stockClients'"
        ),
        (
            "messages that must arrive",
            "CREATE TABLE outbox (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL)"
        ),
        (
            "reasons of campaigns",
            "CREATE TABLE campaign_reasons (campaign TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID"
        ),
        (
            "idents that a restore has lost",
            """
            ALTER TABLE realms ADD COLUMN lost_from INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE realms ADD COLUMN lost_to INTEGER NOT NULL DEFAULT 0;
            """
        ),
        (
            "held resets",
            """
            CREATE TABLE reset_holds (
                app TEXT PRIMARY KEY, held_since INTEGER, asked INTEGER NOT NULL, client_files INTEGER NOT NULL,
                allowed_until INTEGER) WITHOUT ROWID
            """
        ),
        (
            "client files that may not recover",
            "ALTER TABLE client_files ADD COLUMN must_discard INTEGER NOT NULL DEFAULT 0"
        ),
        (
            "terminations by age",
            "CREATE INDEX app_generations_by_age ON app_generations (at) WHERE campaign IS NOT NULL"
        ),
        ("what apps have and users add", usage),
        ("erased realms and apps", erasures),
        ("terminations in steps", terminationSteps),
        (
            "views of flexible realms",
            """
            ALTER TABLE realms ADD COLUMN imaged BLOB NOT NULL DEFAULT x'';
            ALTER TABLE history ADD COLUMN images BLOB NOT NULL DEFAULT x'';
            ALTER TABLE client_files ADD COLUMN views BLOB NOT NULL DEFAULT x'';
            """
        ),
        ("indexes of flexible realms' objects", objectIndex),
        ("client files that are dated ahead", ahead),
        ("before images and views among what apps have", counted),
        ("events that made versions", "ALTER TABLE history ADD COLUMN event TEXT NOT NULL DEFAULT ''"),
        (
            "changes that were told last",
            // A process that does not know of it leaves it as it is: then a change says that it follows an earlier one than it does.
            "ALTER TABLE realms ADD COLUMN told BLOB NOT NULL DEFAULT x''"
        ),
    ]

    /// - Throws: `mismatch` if the file is another slice's.
    static func require(_ slice: SliceNumber, in place: String, _ db: Database) throws {
        let recorded = try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'slice'")
        guard recorded == slice.description else {
            throw StoreError(.mismatch, "\(place) holds slice \(recorded ?? "?"); expected slice \(slice)")
        }
    }

    private static let version1 = """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE ownership (
            id INTEGER PRIMARY KEY CHECK (id = 0), owner TEXT NOT NULL, epoch INTEGER NOT NULL,
            lease_until INTEGER NOT NULL, released INTEGER NOT NULL);
        CREATE TABLE ownership_history (
            epoch INTEGER PRIMARY KEY, owner TEXT NOT NULL, at INTEGER NOT NULL, reason TEXT NOT NULL);
        CREATE TABLE realms (
            id INTEGER PRIMARY KEY, app TEXT NOT NULL, partition TEXT NOT NULL, generation INTEGER NOT NULL,
            latest INTEGER NOT NULL, latest_salt INTEGER NOT NULL, salt INTEGER NOT NULL,
            salt_epoch INTEGER NOT NULL, history_base INTEGER NOT NULL, history_bytes INTEGER NOT NULL,
            next_ident INTEGER NOT NULL, schema BLOB NOT NULL, UNIQUE (app, partition));
        CREATE TABLE objects (
            realm INTEGER NOT NULL, table_id INTEGER NOT NULL, key BLOB NOT NULL, body BLOB NOT NULL,
            PRIMARY KEY (realm, table_id, key)) WITHOUT ROWID;
        CREATE TABLE history (
            realm INTEGER NOT NULL, generation INTEGER NOT NULL, version INTEGER NOT NULL, salt INTEGER NOT NULL,
            origin INTEGER NOT NULL, client_version INTEGER NOT NULL, timestamp INTEGER NOT NULL,
            cumulative INTEGER NOT NULL, changeset BLOB NOT NULL,
            PRIMARY KEY (realm, generation, version)) WITHOUT ROWID;
        CREATE TABLE client_files (
            realm INTEGER NOT NULL, ident INTEGER NOT NULL, salt INTEGER NOT NULL, user TEXT NOT NULL,
            generation INTEGER NOT NULL, state TEXT NOT NULL, campaign TEXT, upload_client INTEGER NOT NULL,
            upload_server INTEGER NOT NULL, locked INTEGER NOT NULL, seen INTEGER NOT NULL,
            created_at INTEGER NOT NULL, last_seen INTEGER NOT NULL, connection TEXT NOT NULL,
            protocol INTEGER NOT NULL, user_agent TEXT NOT NULL, superseded_by INTEGER, reset_of INTEGER,
            PRIMARY KEY (realm, ident)) WITHOUT ROWID;
        CREATE INDEX client_files_by_user ON client_files (realm, user, state);
        CREATE INDEX client_files_by_campaign ON client_files (campaign, realm, ident) WHERE campaign IS NOT NULL;
        CREATE INDEX client_files_by_age ON client_files (state, last_seen);
        CREATE TABLE reciprocals (
            realm INTEGER NOT NULL, ident INTEGER NOT NULL, version INTEGER NOT NULL, changeset BLOB NOT NULL,
            PRIMARY KEY (realm, ident, version)) WITHOUT ROWID;
        CREATE TABLE app_generations (
            app TEXT NOT NULL, generation INTEGER NOT NULL, campaign TEXT, at INTEGER NOT NULL,
            PRIMARY KEY (app, generation)) WITHOUT ROWID;
        CREATE INDEX app_generations_by_campaign ON app_generations (campaign) WHERE campaign IS NOT NULL;
        CREATE TABLE reset_cases (
            realm INTEGER NOT NULL, ident_old INTEGER NOT NULL, user TEXT NOT NULL, is_open INTEGER NOT NULL,
            due_at INTEGER, body BLOB NOT NULL, PRIMARY KEY (realm, ident_old)) WITHOUT ROWID;
        CREATE INDEX reset_cases_by_user ON reset_cases (realm, user) WHERE is_open;
        CREATE INDEX reset_cases_by_due ON reset_cases (due_at) WHERE due_at IS NOT NULL;
        CREATE TABLE seen_messages (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE);
        """

    private static let ahead = """
        ALTER TABLE client_files ADD COLUMN ahead INTEGER;
        CREATE INDEX client_files_ahead ON client_files (realm, ident) WHERE ahead IS NOT NULL;
        """

    /// What of a row counts among its realm's bytes beside what has always counted. A process that does not know of it counts nothing, and
    /// leaves that what it was.
    private static let counted = """
        ALTER TABLE history ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE client_files ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
        """

    /// A base's changesets are in `history`, under its version instead of a generation, negative. The client files that there
    /// are have begun with the history itself.
    private static let bases = """
        CREATE TABLE bases (
            realm INTEGER NOT NULL, version INTEGER NOT NULL, generation INTEGER NOT NULL, entries INTEGER NOT NULL,
            bytes INTEGER NOT NULL, history_bytes INTEGER NOT NULL, complete INTEGER NOT NULL,
            created_at INTEGER NOT NULL, PRIMARY KEY (realm, version)) WITHOUT ROWID;
        ALTER TABLE client_files ADD COLUMN start INTEGER;
        UPDATE client_files SET start = 0;
        """

    /// What an app has goes by its realms, however they come and go; a realm's bytes are counted by the commits. Client files of a
    /// realm may go before it or after it.
    private static let usage = """
        ALTER TABLE realms ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
        UPDATE realms SET stored_bytes =
            (SELECT coalesce(sum(length(body)), 0) FROM objects WHERE realm = realms.id)
            + (SELECT coalesce(sum(length(changeset)), 0) FROM history WHERE realm = realms.id);
        CREATE TABLE app_usage (
            app TEXT PRIMARY KEY, realms INTEGER NOT NULL, client_files INTEGER NOT NULL, bytes INTEGER NOT NULL
        ) WITHOUT ROWID;
        INSERT INTO app_usage SELECT app, count(*),
            (SELECT count(*) FROM client_files WHERE realm IN (SELECT id FROM realms AS r WHERE r.app = realms.app)),
            sum(stored_bytes) FROM realms GROUP BY app;
        CREATE TABLE user_usage (
            app TEXT NOT NULL, user TEXT NOT NULL, realms REAL NOT NULL, client_files REAL NOT NULL, bytes REAL NOT NULL,
            at INTEGER NOT NULL, PRIMARY KEY (app, user)) WITHOUT ROWID;
        CREATE TRIGGER realms_made AFTER INSERT ON realms BEGIN
            INSERT INTO app_usage (app, realms, client_files, bytes) VALUES (NEW.app, 1, 0, NEW.stored_bytes)
                ON CONFLICT (app) DO UPDATE SET realms = realms + 1, bytes = bytes + NEW.stored_bytes;
        END;
        CREATE TRIGGER realms_grown AFTER UPDATE OF stored_bytes ON realms BEGIN
            UPDATE app_usage SET bytes = bytes + NEW.stored_bytes - OLD.stored_bytes WHERE app = NEW.app;
        END;
        CREATE TRIGGER realms_gone AFTER DELETE ON realms BEGIN
            UPDATE app_usage SET realms = realms - 1, bytes = bytes - OLD.stored_bytes,
                client_files = client_files - (SELECT count(*) FROM client_files WHERE realm = OLD.id)
                WHERE app = OLD.app;
            DELETE FROM app_usage WHERE app = OLD.app AND realms <= 0;
        END;
        CREATE TRIGGER client_files_made AFTER INSERT ON client_files BEGIN
            UPDATE app_usage SET client_files = client_files + 1
                WHERE app = (SELECT app FROM realms WHERE id = NEW.realm);
        END;
        CREATE TRIGGER client_files_gone AFTER DELETE ON client_files BEGIN
            UPDATE app_usage SET client_files = client_files - 1
                WHERE app = (SELECT app FROM realms WHERE id = OLD.realm);
        END;
        """

    private static let erasures = """
        CREATE TABLE erasures (
            realm INTEGER PRIMARY KEY, app TEXT NOT NULL, partition TEXT NOT NULL, generation INTEGER NOT NULL,
            version INTEGER NOT NULL, next_ident INTEGER NOT NULL, campaign TEXT, at INTEGER NOT NULL,
            found INTEGER NOT NULL, reported INTEGER NOT NULL, last_reported INTEGER NOT NULL, swept INTEGER NOT NULL,
            schema BLOB NOT NULL);
        CREATE INDEX erasures_by_name ON erasures (app, partition);
        CREATE INDEX erasures_by_age ON erasures (at);
        CREATE INDEX erasures_unswept ON erasures (realm) WHERE NOT swept;
        CREATE INDEX erasures_by_campaign ON erasures (campaign) WHERE campaign IS NOT NULL;
        CREATE TABLE app_erasures (app TEXT PRIMARY KEY, realms INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// The index of realms is one by app and number: the latter is part of every index.
    private static let terminationSteps = """
        CREATE TABLE termination_steps (
            campaign TEXT PRIMARY KEY, app TEXT NOT NULL, generation INTEGER NOT NULL, last_realm INTEGER,
            last_ident INTEGER, marked INTEGER NOT NULL, chunks INTEGER, reported INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX realms_by_app ON realms (app);
        CREATE INDEX user_usage_by_age ON user_usage (at);
        """

    private static let objectIndex = """
        ALTER TABLE realms ADD COLUMN indexed BLOB NOT NULL DEFAULT x'';
        CREATE TABLE object_index (
            realm INTEGER NOT NULL, table_id INTEGER NOT NULL, column_id INTEGER NOT NULL, value BLOB NOT NULL,
            key BLOB NOT NULL, PRIMARY KEY (realm, table_id, column_id, value, key)) WITHOUT ROWID;
        """

    /// The table of digests, which has a rowid: a digest is longer than what a page of an index holds well.
    private static let version2 = """
        CREATE TABLE history_digests (
            realm INTEGER NOT NULL, generation INTEGER NOT NULL, after INTEGER NOT NULL, through INTEGER NOT NULL,
            body BLOB NOT NULL, PRIMARY KEY (realm, generation, through));
        """
}
