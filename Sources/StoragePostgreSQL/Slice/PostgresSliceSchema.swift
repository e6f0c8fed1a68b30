/// The tables of slices: those of a slice's file in SQLite, with the slice's number before each key. Nothing here or in the
/// statements needs an extension, a function or a trigger of the database's.
enum PostgresSliceSchema {
    static let schema = PostgresSchema(
        part: "slice",
        steps: [
            .version(version1), .addition(views), .addition(objectIndex), .addition(ahead),
            .addition(counted), .addition(events), .addition(told),
        ])

    /// Indexes have no room for values of any length, as clients choose them: a name goes by its digest, a long key by its
    /// beginning and its digest.
    private static let version1 =
        ownership + realms + histories + clientFiles + resets + messages + usage + erasures

    /// What flexible realms need.
    private static let views = [
        "ALTER TABLE realms ADD COLUMN imaged bytea NOT NULL DEFAULT ''::bytea",
        "ALTER TABLE history ADD COLUMN images bytea NOT NULL DEFAULT ''::bytea",
        "ALTER TABLE client_files ADD COLUMN views bytea NOT NULL DEFAULT ''::bytea",
    ]

    /// The index of flexible realms' objects by the values of their properties. A process that does not know of the
    /// index makes versions under its own salt, by which a process that does is told that entries are out of date.
    private static let objectIndex = [
        "ALTER TABLE realms ADD COLUMN indexed bytea NOT NULL DEFAULT ''::bytea",
        """
        CREATE TABLE object_index (
            slice bigint, realm bigint, table_id bigint, column_id bigint, value bytea, key_id bytea, key bytea NOT NULL,
            PRIMARY KEY (slice, realm, table_id, column_id, value, key_id))
        """,
    ]

    /// The column and the index for clients whose clocks are ahead.
    private static let ahead = [
        "ALTER TABLE client_files ADD COLUMN ahead bigint",
        "CREATE INDEX client_files_ahead ON client_files (slice, realm, ident) WHERE ahead IS NOT NULL",
    ]

    /// What of a row counts among its realm's bytes beside what has always counted. A process that does not know of it counts nothing, and
    /// leaves that what it was.
    private static let counted = [
        "ALTER TABLE history ADD COLUMN counted bigint NOT NULL DEFAULT 0",
        "ALTER TABLE client_files ADD COLUMN counted bigint NOT NULL DEFAULT 0",
    ]

    /// The column for the published event that made a version. A process that does not know of it leaves that open.
    private static let events = ["ALTER TABLE history ADD COLUMN event text NOT NULL DEFAULT ''"]

    /// The column for the last changes that were told. A process that does not know of it leaves it as it is: then a change says that it follows
    /// an earlier one than it does, which nobody misses.
    private static let told = ["ALTER TABLE realms ADD COLUMN told bytea NOT NULL DEFAULT ''::bytea"]

    private static let ownership = [
        // `owner` is NULL until somebody takes the slice; its lease lasts `lease` milliseconds from each renewal. `last_commit`
        // tells whether a commit has come through whose answer was lost.
        """
        CREATE TABLE ownership (
            slice bigint PRIMARY KEY, owner text, epoch bigint NOT NULL DEFAULT 0, lease_until bigint NOT NULL DEFAULT 0,
            lease bigint NOT NULL DEFAULT 0, released boolean NOT NULL DEFAULT false, last_commit bigint NOT NULL DEFAULT 0)
        """,
        "CREATE TABLE meta (slice bigint, key text, value text NOT NULL, PRIMARY KEY (slice, key))",
        """
        CREATE TABLE ownership_history (
            slice bigint, epoch bigint, owner text NOT NULL, at bigint NOT NULL, reason text NOT NULL, released_at bigint,
            PRIMARY KEY (slice, epoch))
        """,
    ]

    private static let realms = [
        """
        CREATE TABLE realms (
            slice bigint, id bigint, app text COLLATE "C" NOT NULL, partition text NOT NULL, name_id bytea NOT NULL,
            generation bigint NOT NULL, latest bigint NOT NULL, latest_salt bigint NOT NULL, salt bigint NOT NULL,
            salt_epoch bigint NOT NULL, history_base bigint NOT NULL, history_bytes bigint NOT NULL,
            next_ident bigint NOT NULL, schema bytea NOT NULL, compatibility text NOT NULL, lost_from bigint NOT NULL,
            lost_to bigint NOT NULL, stored_bytes bigint NOT NULL,
            PRIMARY KEY (slice, id), UNIQUE (slice, name_id))
        """,
        "CREATE INDEX realms_by_app ON realms (slice, app, id)",
        """
        CREATE TABLE objects (
            slice bigint, realm bigint, table_id bigint, key_id bytea, key bytea NOT NULL, body bytea NOT NULL,
            PRIMARY KEY (slice, realm, table_id, key_id))
        """,
    ]

    /// A base's changesets are in `history`, under its version instead of a generation, negative.
    private static let histories = [
        """
        CREATE TABLE history (
            slice bigint, realm bigint, generation bigint, version bigint, salt bigint NOT NULL, origin bigint NOT NULL,
            client_version bigint NOT NULL, timestamp bigint NOT NULL, cumulative bigint NOT NULL, changeset bytea NOT NULL,
            PRIMARY KEY (slice, realm, generation, version))
        """,
        """
        CREATE TABLE history_digests (
            slice bigint, realm bigint, generation bigint, after bigint NOT NULL, through bigint, body bytea NOT NULL,
            PRIMARY KEY (slice, realm, generation, through))
        """,
        """
        CREATE TABLE bases (
            slice bigint, realm bigint, version bigint, generation bigint NOT NULL, entries bigint NOT NULL,
            bytes bigint NOT NULL, history_bytes bigint NOT NULL, complete boolean NOT NULL, created_at bigint NOT NULL,
            PRIMARY KEY (slice, realm, version))
        """,
    ]

    private static let clientFiles = [
        """
        CREATE TABLE client_files (
            slice bigint, realm bigint, ident bigint, salt bigint NOT NULL, "user" text NOT NULL,
            generation bigint NOT NULL, state text NOT NULL, campaign text COLLATE "C", upload_client bigint NOT NULL,
            upload_server bigint NOT NULL, locked bigint NOT NULL, seen bigint NOT NULL, created_at bigint NOT NULL,
            last_seen bigint NOT NULL, connection text NOT NULL, protocol bigint NOT NULL, user_agent text NOT NULL,
            superseded_by bigint, reset_of bigint, start bigint, must_discard boolean NOT NULL,
            PRIMARY KEY (slice, realm, ident))
        """,
        """
        CREATE INDEX client_files_by_user ON client_files (slice, realm, md5("user"), state)
        """,
        """
        CREATE INDEX client_files_by_campaign ON client_files (slice, campaign, realm, ident)
            WHERE campaign IS NOT NULL
        """,
        "CREATE INDEX client_files_by_age ON client_files (slice, state, last_seen)",
        """
        CREATE TABLE reciprocals (
            slice bigint, realm bigint, ident bigint, version bigint, changeset bytea NOT NULL,
            PRIMARY KEY (slice, realm, ident, version))
        """,
    ]

    private static let resets = [
        """
        CREATE TABLE app_generations (
            slice bigint, app text COLLATE "C", generation bigint, campaign text COLLATE "C", at bigint NOT NULL,
            PRIMARY KEY (slice, app, generation))
        """,
        """
        CREATE INDEX app_generations_by_campaign ON app_generations (slice, campaign) WHERE campaign IS NOT NULL
        """,
        "CREATE INDEX app_generations_by_age ON app_generations (slice, at) WHERE campaign IS NOT NULL",
        """
        CREATE TABLE reset_cases (
            slice bigint, realm bigint, ident_old bigint, "user" text NOT NULL, is_open boolean NOT NULL, due_at bigint,
            body bytea NOT NULL, PRIMARY KEY (slice, realm, ident_old))
        """,
        """
        CREATE INDEX reset_cases_by_user ON reset_cases (slice, realm, md5("user"), ident_old) WHERE is_open
        """,
        "CREATE INDEX reset_cases_by_due ON reset_cases (slice, due_at) WHERE due_at IS NOT NULL",
        """
        CREATE TABLE reset_holds (
            slice bigint, app text COLLATE "C", held_since bigint, asked bigint NOT NULL, client_files bigint NOT NULL,
            allowed_until bigint, PRIMARY KEY (slice, app))
        """,
        """
        CREATE TABLE campaign_reasons (
            slice bigint, campaign text COLLATE "C", reason text NOT NULL, PRIMARY KEY (slice, campaign))
        """,
        """
        CREATE TABLE termination_steps (
            slice bigint, campaign text COLLATE "C", app text COLLATE "C" NOT NULL, generation bigint NOT NULL,
            last_realm bigint, last_ident bigint, marked boolean NOT NULL, chunks bigint, reported bigint NOT NULL,
            PRIMARY KEY (slice, campaign))
        """,
    ]

    private static let messages = [
        """
        CREATE TABLE seen_messages (
            slice bigint, id text COLLATE "C", number bigint NOT NULL, PRIMARY KEY (slice, id))
        """,
        "CREATE INDEX seen_messages_by_number ON seen_messages (slice, number)",
        """
        CREATE TABLE outbox (
            slice bigint, number bigint, id text COLLATE "C" NOT NULL, body bytea NOT NULL, PRIMARY KEY (slice, number),
            UNIQUE (slice, id))
        """,
    ]

    /// What apps have goes by their realms, however they come and go; a realm's bytes are counted by the commits.
    private static let usage = [
        """
        CREATE TABLE app_usage (
            slice bigint, app text COLLATE "C", realms bigint NOT NULL, client_files bigint NOT NULL, bytes bigint NOT NULL,
            PRIMARY KEY (slice, app))
        """,
        """
        CREATE TABLE user_usage (
            slice bigint, app text COLLATE "C", user_key bytea, "user" text NOT NULL, realms double precision NOT NULL,
            client_files double precision NOT NULL, bytes double precision NOT NULL, at bigint NOT NULL,
            PRIMARY KEY (slice, app, user_key))
        """,
        "CREATE INDEX user_usage_by_age ON user_usage (slice, at)",
    ]

    private static let erasures = [
        """
        CREATE TABLE erasures (
            slice bigint, realm bigint, app text COLLATE "C" NOT NULL, partition text NOT NULL, name_id bytea NOT NULL,
            generation bigint NOT NULL, version bigint NOT NULL, next_ident bigint NOT NULL, campaign text COLLATE "C",
            at bigint NOT NULL, found bigint NOT NULL, reported bigint NOT NULL, last_reported bigint NOT NULL,
            swept boolean NOT NULL, schema bytea NOT NULL, PRIMARY KEY (slice, realm))
        """,
        "CREATE INDEX erasures_by_name ON erasures (slice, name_id, realm)",
        "CREATE INDEX erasures_by_app ON erasures (slice, app)",
        "CREATE INDEX erasures_by_age ON erasures (slice, at)",
        "CREATE INDEX erasures_unswept ON erasures (slice, realm) WHERE NOT swept",
        "CREATE INDEX erasures_by_campaign ON erasures (slice, campaign) WHERE campaign IS NOT NULL",
        "CREATE TABLE app_erasures (slice bigint, app text COLLATE \"C\", realms bigint NOT NULL, PRIMARY KEY (slice, app))",
    ]
}
